"""Writing a Chunk Archive: the index as the published Go writer emits it, and the books a streaming writer keeps.

CAF.md, "Creating a CAF File". The index is compact JSON with the names sorted by their bytes, escaped as Go's
``encoding/json`` escapes them. Nothing here writes: the caller is given the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.formats.caf.search import FOOTER

INDEX_LIMIT = 2**32 - 1
"""The largest index whose size the footer can name, in bytes."""

_OPENING = b'{"format_version":"1.0","files":{'
_CLOSING = b"}}"
_PIECE = 64 << 10
_ESCAPED = re.compile(rb'[\x00-\x1f"\\<>&]|\xe2\x80[\xa8\xa9]|\xed[\xa0-\xbf][\x80-\xbf]')
_SHORT = {b'"': b'\\"', b"\\": b"\\\\", b"\b": b"\\b", b"\f": b"\\f", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t"}


class WriteError(Exception):
    """A member cannot be taken in: the message is a sentence for a person."""


def quoted(name: bytes) -> bytes:
    """A name as a JSON string, its quotes included.

    Lone surrogates, which have no UTF-8, become escapes; other bytes that are no UTF-8 stay as they are.
    """
    return b'"' + _ESCAPED.sub(_escape, name) + b'"'


def _escape(found: re.Match[bytes]) -> bytes:
    text = found[0]
    return _SHORT.get(text) or b"\\u%04x" % ord(text.decode("utf-8", "surrogatepass"))


def entry(name: bytes, start: int, stop: int) -> bytes:
    """One entry of the index: the data of the member ``name`` is ``[start, stop)``."""
    return b'%s:{"start_byte":%d,"end_byte":%d}' % (quoted(name), start, stop)


def footer(index_size: int) -> bytes:
    """The footer behind an index of so many bytes; raises WriteError where it cannot name them."""
    if index_size > INDEX_LIMIT:
        raise WriteError(
            f"The index would have {in_bytes(index_size)}, more than the {in_bytes(INDEX_LIMIT)} that the footer can "
            "name: put fewer members into one archive."
        )
    return index_size.to_bytes(FOOTER, "little")


def index_pieces(entries: Iterable[tuple[bytes, int, int]]) -> Iterator[bytes]:
    """An index and its footer in pieces of bounded size, from (name, start, stop) in the order of the names."""
    size, piece, comma = 0, bytearray(_OPENING), b""
    for each in entries:
        piece += comma + entry(*each)
        comma = b","
        if len(piece) >= _PIECE:
            size += len(piece)
            yield bytes(piece)
            piece.clear()
    piece += _CLOSING
    yield bytes(piece + footer(size + len(piece)))


class Writer:
    """The books of an archive that is being written, member by member.

    The caller writes the members' bytes one after another, tells of each run, and at the end writes ``finish``.
    ``size`` is how large the file would be if it were finished now, in bytes.
    """

    def __init__(self) -> None:
        self._ranges: dict[bytes, tuple[int, int]] = {}
        self._index = len(_OPENING) + len(_CLOSING)
        self._name: bytes | None = None
        self._start = self._at = 0

    @property
    def size(self) -> int:
        """See the class; a member that has begun counts with the bytes it has so far."""
        return self._at + self._index + FOOTER if self._name is None else self._with(self._name, self._start, self._at)

    def size_with(self, name: bytes, length: int) -> int:
        """What ``size`` would be with one more member of ``length`` bytes: for beginning the next archive in time."""
        return self._with(name, self._at, self._at + length)

    def _with(self, name: bytes, start: int, stop: int) -> int:
        return stop + self._index + bool(self._ranges) + len(entry(name, start, stop)) + FOOTER

    def begin(self, name: bytes) -> None:
        """Begin a member; raises WriteError where the name is taken."""
        assert self._name is None
        if name in self._ranges:
            raise WriteError(
                f"The name {visible(name)!r} is in the archive already: most readers would lose one of both."
            )
        self._name, self._start = name, self._at

    def add(self, count: int) -> None:
        """So many further bytes of the member have been written."""
        assert self._name is not None
        self._at += count

    def end(self) -> None:
        """End the member; raises WriteError where the index has become too large for the footer."""
        assert self._name is not None
        index = self.size - self._at - FOOTER
        footer(index)
        self._ranges[self._name], self._index, self._name = (self._start, self._at), index, None

    def finish(self) -> Iterator[bytes]:
        """The index and the footer, to be written behind the members' bytes."""
        assert self._name is None
        return index_pieces((name, *self._ranges[name]) for name in sorted(self._ranges))
