"""Write a Chunk Archive: the index as the published Go writer emits it, and the state of a streaming writer.

CAF.md, "Creating a CAF File". The index is compact JSON with the names sorted by their bytes and escaped as Go's
``encoding/json`` does. Nothing here does I/O: the caller writes the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.formats.caf.locate import FOOTER_SIZE

MAX_ARCHIVE_BYTES = 32 << 30
"""The largest archive the specification allows, in bytes (its 32 GB taken as GiB)."""
TARGET_DATA_BYTES = 30 << 30
"""The size of data at which the specification begins a new archive, in bytes (its ~30 GB taken as GiB)."""
MAX_INDEX_SIZE = 2**32 - 1
"""The largest index size that the footer can hold, in bytes."""

_OPENING = b'{"format_version":"1.0","files":{'
_CLOSING = b"}}"
_PIECE_BYTES = 64 << 10
_ESCAPED = re.compile(rb'[\x00-\x1f"\\<>&]|\xe2\x80[\xa8\xa9]|\xed[\xa0-\xbf][\x80-\xbf]')
_SHORT = {b'"': b'\\"', b"\\": b"\\\\", b"\b": b"\\b", b"\f": b"\\f", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t"}


Extent = tuple[bytes, int, int]
"""A member by its name, and the half-open range of its bytes."""


class WriteError(Exception):
    """A member cannot be added; the message is for the user."""


def quoted(name: bytes) -> bytes:
    """A name as a JSON string, with its quotes.

    Lone surrogates, which UTF-8 cannot encode, become escapes; other bytes that are not UTF-8 stay as they are.
    """
    if not _ESCAPED.search(name):
        return b'"%s"' % name
    code = b"\\u%04x"
    return b'"%s"' % _ESCAPED.sub(
        lambda found: _SHORT.get(found[0]) or code % ord(found[0].decode("utf-8", "surrogatepass")), name
    )


def in_json(name: bytes) -> bytes:
    """The name as strict JSON can hold it: what is not UTF-8 becomes U+FFFD, lone surrogates stay."""
    if name.isascii():
        return name
    try:
        name.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return name.decode("utf-8", "replace").encode()
    return name


def entry(name: bytes, start: int, stop: int) -> bytes:
    """One entry of the index: the data of the member ``name`` is ``[start, stop)``."""
    return b'%s:{"start_byte":%d,"end_byte":%d}' % (quoted(name), start, stop)


def footer(index_size: int) -> bytes:
    """The footer of an index of ``index_size`` bytes. Raises WriteError if the index is too large."""
    if index_size > MAX_INDEX_SIZE:
        raise WriteError(
            f"The index is too large: it would have {in_bytes(index_size)}, and the footer can hold "
            f"{in_bytes(MAX_INDEX_SIZE)} at most. Put fewer members into one archive."
        )
    return index_size.to_bytes(FOOTER_SIZE, "little")


def index_pieces(entries: Iterable[Extent]) -> Iterator[bytes]:
    """An index and its footer in pieces of bounded size; ``entries`` are (name, start, stop), sorted by name."""
    size, piece, comma = 0, bytearray(_OPENING), b""
    for each in entries:
        piece += comma + entry(*each)
        comma = b","
        if len(piece) >= _PIECE_BYTES:
            size += len(piece)
            yield bytes(piece)
            piece.clear()
    piece += b"}}"
    yield bytes(piece + footer(size + len(piece)))


class Writer:
    """The index of an archive that is being written, member by member.

    The caller writes the members' bytes in the order in which it names them to ``member``, and ``finish`` last.
    ``size`` is that of the file if it were finished now, in bytes.
    """

    def __init__(self) -> None:
        self._ranges: dict[bytes, tuple[int, int]] = {}
        self._at = 0
        self.size = len(_OPENING) + len(_CLOSING) + FOOTER_SIZE

    def size_with(self, name: bytes, length: int) -> int:
        """What ``size`` would be with one more member of ``length`` bytes, to start the next archive in time."""
        return self.size + length + bool(self._ranges) + len(entry(name, self._at, self._at + length))

    def member(self, name: bytes, length: int, max_size: int) -> bool:
        """Add a member of ``length`` bytes unless the file would then be larger than ``max_size``.

        Returns whether it was added. Raises WriteError if the name is in use, or the index too large for the footer.
        """
        size, stop = self.size_with(name, length), self._at + length
        if size > max_size:
            return False
        if name in self._ranges:
            raise WriteError(
                f"The name '{visible(name)}' is in the archive already. Most readers would lose one of the two members."
            )
        footer(size - stop - FOOTER_SIZE)
        self._ranges[name], self._at, self.size = (self._at, stop), stop, size
        return True

    def finish(self) -> Iterator[bytes]:
        """The index and the footer, to be written after the members' bytes."""
        return index_pieces((name, *self._ranges[name]) for name in sorted(self._ranges))
