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

    The caller writes the members' bytes one after another, reports them with ``add``, and writes ``finish`` last.
    """

    def __init__(self) -> None:
        self._ranges: dict[bytes, tuple[int, int]] = {}
        self._index = len(_OPENING) + len(_CLOSING)
        self._name: bytes | None = None
        self._start = self._at = 0

    @property
    def size(self) -> int:
        """The size of the file if it were finished now, in bytes, counting the bytes so far of an open member."""
        return (
            self._at + self._index + FOOTER_SIZE
            if self._name is None
            else self._with(self._name, self._start, self._at)
        )

    def size_with(self, name: bytes, length: int) -> int:
        """What ``size`` would be with one more member of ``length`` bytes, to start the next archive in time."""
        return self._with(name, self._at, self._at + length)

    def _with(self, name: bytes, start: int, stop: int) -> int:
        return stop + self._index + bool(self._ranges) + len(entry(name, start, stop)) + FOOTER_SIZE

    def member(self, name: bytes, length: int, max_size: int) -> bool:
        """Begin and end a member of ``length`` bytes unless the file would then be larger than ``max_size``.

        Returns whether it was added. Raises WriteError as ``begin`` and ``end`` do.
        """
        start, stop = self._at, self._at + length
        size = self._with(name, start, stop)
        if size > max_size:
            return False
        index = size - stop - FOOTER_SIZE
        if name in self._ranges or index > MAX_INDEX_SIZE:
            self.begin(name)
            footer(index)
        self._ranges[name], self._index, self._at = (start, stop), index, stop
        return True

    def begin(self, name: bytes) -> None:
        """Begin a member. Raises WriteError if the name is in use."""
        assert self._name is None
        if name in self._ranges:
            raise WriteError(
                f"The name '{visible(name)}' is in the archive already. Most readers would lose one of the two members."
            )
        self._name, self._start = name, self._at

    def add(self, count: int) -> None:
        """Record that ``count`` more bytes of the member were written."""
        assert self._name is not None
        self._at += count

    def end(self) -> None:
        """End the member. Raises WriteError if the index has become too large for the footer."""
        assert self._name is not None
        index = self.size - self._at - FOOTER_SIZE
        footer(index)
        self._ranges[self._name], self._index, self._name = (self._start, self._at), index, None

    def finish(self) -> Iterator[bytes]:
        """The index and the footer, to be written after the members' bytes."""
        assert self._name is None
        return index_pieces((name, *self._ranges[name]) for name in sorted(self._ranges))
