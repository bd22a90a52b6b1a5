"""Members of an archive, stored in columns (names in one blob, numbers in arrays), handed out one at a time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise, repeat
from operator import sub
from typing import Any, NamedTuple

from inspector.core.source import SplicedSource
from inspector.core.span import Span, Spans

LARGEST = 2**64 - 1
"""The largest number a column holds; larger numbers are clamped to it (and reported as findings)."""


class Codec(StrEnum):
    """How a member's bytes are stored."""

    STORED = "stored"
    ZSTD = "zstd"
    DEFLATE = "deflate"
    BZIP2 = "bzip2"
    LZMA = "lzma"
    XZ = "xz"
    UNKNOWN = "unknown"


_CODECS = tuple(Codec)


def codec_number(codec: Codec) -> int:
    """What stands for a codec in a column."""
    return _CODECS.index(codec)


FOLDER = 1
"""Mark: the member is a folder."""
UNREADABLE = 2
"""Mark: the entry does not say where its bytes are, so its content cannot be read."""
HAS_DIGEST = 4
"""Mark: the archive records a digest for it."""
SPECIAL = 8
"""Mark: not a regular file in the archive but a link, say, or a file elsewhere; it is listed, never extracted."""
UNREAD = 16
"""Mark: its header was not read, to save a request; its name is known in part and its place roughly."""
SHARED = 32
"""Mark: other members or the archive's own records claim some of its bytes; extracted only after confirming."""
MISPLACED = 64
"""Mark: bytes were lost or inserted before or in it, so it may lie elsewhere; extracted only after confirming."""
HOLES = 128
"""Mark: its content is longer than what is stored, by stretches of zeros (a sparse file of a tar)."""

STRETCH = 1_000
"""Members whose skipped headers are read together when all members are iterated."""


class Member(NamedTuple):
    """One archived file, folder or link.

    ``path`` is the name as bytes (UTF-8 if the format says so). ``size`` is the decoded size and ``stored`` the size in
    the archive, in bytes. ``spans`` are the stored bytes in the file. ``head`` is where the archive's own record of it
    begins (a local header, a block's varint), -1 if there is none. ``digest`` looks like ``crc32:0c0f2e38``.
    """

    index: int  # type: ignore[assignment]  # of a tuple, nobody needs of a member
    path: bytes
    size: int
    stored: int
    spans: Spans
    codec: Codec = Codec.STORED
    digest: str | None = None
    head: int = -1
    marks: int = 0

    @property
    def readable(self) -> bool:
        """Whether the entry says where its bytes are."""
        return not self.marks & UNREADABLE


def _one_span(start: int, stop: int) -> Spans:
    return (Span(start, stop),)


class PlainMembers(NamedTuple):
    """Consecutive members that lie in one span each, as columns: all of them can be read, and none is special."""

    paths: list[bytes]
    sizes: Sequence[int]
    stored: Sequence[int]
    starts: Sequence[int]
    stops: Sequence[int]
    codecs: Sequence[Codec]
    digests: Iterable[str]
    """To be read once; empty strings where none is recorded."""


class Members:
    """Columns of members in archive order. They only grow, and may be read meanwhile.

    ``starts`` and ``stops`` are the stored bytes, half-open, in coordinates of the file, or of ``stream`` if they lie
    in one (RCA's inner stream). Optional columns are None if every member has the same value: ``sizes``
    (the decoded size equals the stored one), ``codecs`` (all ``codec``), ``digests`` (none recorded), ``heads`` (no
    header), ``marks`` (none). ``path_stops`` is appended last: its length is the number of members.

    For a remote source a decoder may skip headers (``UNREAD``) and set ``reader``, which reads the headers of given
    members, calls ``settle`` for each, and raises SourceError and Cancelled. ``members[i]`` reads a skipped header;
    ``seen``, ``path`` and the columns give what is known without. ``misled`` is set if headers were not what the
    decoder assumed, so that the archive has to be decoded again.
    """

    def __init__(
        self,
        *,
        codec: Codec = Codec.STORED,
        digest: str = "",
        digest_digits: int = 0,
        sizes: bool = False,
        codecs: bool = False,
        heads: bool = False,
        marks: bool = False,
        stream: SplicedSource | None = None,
    ) -> None:
        self.codec = codec
        self.digest = digest
        self._digest_form = f"{digest}:%0{digest_digits}x"
        self.stream = stream
        self.place: Callable[[int, int], Spans] = _one_span if stream is None else stream.outer
        self.paths = bytearray()
        self.starts = array("Q")
        self.stops = array("Q")
        self.sizes = array("Q") if sizes else None
        self.codecs = array("B") if codecs else None
        self.digests = array("Q") if digest else None
        self.heads = array("Q") if heads else None
        self.marks = array("B") if marks else None
        self.path_stops = array("Q")
        self.reader: Callable[[Sequence[int]], None] | None = None
        self.misled = False
        self._settled: dict[int, bytes] = {}

    def append(
        self,
        path: bytes,
        start: int,
        stop: int,
        *,
        size: int | None = None,
        codec: Codec = Codec.STORED,
        digest: int | None = None,
        head: int = 0,
        marks: int = 0,
    ) -> int:
        """Append a member and return its index. Numbers too large for a column are clamped."""
        start, stop = max(0, min(start, LARGEST)), max(0, min(stop, LARGEST))
        self.paths += path
        self.starts.append(start)
        self.stops.append(stop)
        if self.sizes is not None:
            self.sizes.append(max(0, min(stop - start if size is None else size, LARGEST)))
        if self.codecs is not None:
            self.codecs.append(codec_number(codec))
        if self.digests is not None:
            self.digests.append(digest or 0)
            marks |= HAS_DIGEST if digest is not None else 0
        if self.heads is not None:
            self.heads.append(head)
        if self.marks is not None:
            self.marks.append(marks)
        self.path_stops.append(len(self.paths))
        return len(self.path_stops) - 1

    def extend(self, paths: bytes, stops: Any, columns: Mapping[str, Any]) -> None:
        """Append many members: their joined ``paths``, where each ends in them, and columns by name, arrays of numpy.

        A column that is not given has zeros.
        """
        base = len(self.paths)
        self.paths += paths
        for name in ("starts", "stops", "sizes", "codecs", "digests", "heads", "marks"):
            if (column := getattr(self, name)) is not None:
                column.frombytes(columns.get(name, 0 * stops).astype(column.typecode).tobytes())
        self.path_stops.frombytes((stops + base).astype(self.path_stops.typecode).tobytes())

    def __len__(self) -> int:
        return len(self.path_stops)

    def __iter__(self) -> Iterator[Member]:
        for index in range(len(self)):
            if self.reader is not None and index % STRETCH == 0:
                self.learn(range(index, min(index + STRETCH, len(self))))
            yield self.seen(index)

    def unread(self, index: int) -> bool:
        """Whether the header of a member was skipped and not read since."""
        return self.marks is not None and bool(self.marks[index] & UNREAD)

    def learn(self, indices: Iterable[int]) -> None:
        """Read the skipped headers of these members together. Raises SourceError and Cancelled."""
        if self.reader is not None and (skipped := [index for index in indices if self.unread(index)]):
            self.reader(skipped)

    def settle(self, index: int, path: bytes, start: int, stop: int) -> None:
        """Set what the skipped header of a member says; ``[start, stop)`` are its stored bytes."""
        assert self.marks is not None
        self.starts[index], self.stops[index] = start, stop
        if self.sizes is not None:
            self.sizes[index] = stop - start
        self._settled[index] = path
        self.marks[index] &= ~UNREAD & 0xFF

    @property
    def as_appended(self) -> bool:
        """Whether all names are in the columns: none was set by ``settle``."""
        return not self._settled

    @property
    def placed_as_is(self) -> bool:
        """Whether ``starts`` and ``stops`` are coordinates of the file."""
        return self.stream is None

    def path(self, index: int) -> bytes:
        """The name of a member."""
        if (settled := self._settled.get(index)) is not None:
            return settled
        return bytes(self.paths[self.path_stops[index - 1] if index else 0 : self.path_stops[index]])

    def size(self, index: int) -> int:
        """The decoded size of a member, in bytes."""
        return self.sizes[index] if self.sizes is not None else self.stored(index)

    def stored(self, index: int) -> int:
        """The stored size of a member, in bytes."""
        return max(0, self.stops[index] - self.starts[index])

    def head_of(self, index: int) -> int:
        """Where the archive's own record of a member begins, -1 if there is none."""
        return -1 if self.heads is None else self.heads[index]

    def marks_of(self, index: int) -> int:
        return self.marks[index] if self.marks is not None else (HAS_DIGEST if self.digests is not None else 0)

    def digest_at(self, index: int) -> str | None:
        """The digest recorded of a member's content, as ``algorithm:hexadecimal``; None if there is none."""
        if self.digests is None or not self.marks_of(index) & HAS_DIGEST:
            return None
        return self._digest_form % self.digests[index]

    def codec_at(self, index: int) -> Codec:
        return self.codec if self.codecs is None else _CODECS[self.codecs[index]]

    def codecs_in(self, start: int, stop: int) -> set[Codec]:
        return {self.codec} if self.codecs is None else {_CODECS[codec] for codec in set(self.codecs[start:stop])}

    def plain(self, start: int, stop: int) -> PlainMembers | None:
        """The members ``[start, stop)``, several times as fast as one by one; None if one of them is not plain."""
        marks = set() if self.marks is None else set(self.marks[start:stop])
        digests = self.digests
        has_digest = digests is not None and all(each & HAS_DIGEST for each in marks)
        plain = all(each & ~(FOLDER | HAS_DIGEST | SHARED | MISPLACED) == 0 for each in marks)
        if not plain or self._settled or (digests is not None and not has_digest):
            return None
        starts, stops = self.starts[start:stop], self.stops[start:stop]
        stored = list(map(sub, stops, starts))
        if (shift := self._shift(starts, stops, min(stored, default=0))) is None:
            return None
        ends = self.path_stops[start:stop]
        base = self.path_stops[start - 1] if start else 0
        paths = bytes(self.paths[base : ends[-1] if ends else base])
        begins = [0, *[end - base for end in ends]]
        count = len(ends)
        return PlainMembers(
            [paths[begin:end] for begin, end in pairwise(begins)],
            stored if self.sizes is None else self.sizes[start:stop],
            stored,
            starts if not shift else [each + shift for each in starts],
            stops if not shift else [each + shift for each in stops],
            [self.codec] * count if self.codecs is None else [_CODECS[each] for each in self.codecs[start:stop]],
            repeat("", count) if digests is None else map(self._digest_form.__mod__, digests[start:stop]),
        )

    def _shift(self, starts: Sequence[int], stops: Sequence[int], least: int) -> int | None:
        """How far from ``starts`` in the file members of at least ``least`` bytes lie; None if not all as far."""
        if least < 0:
            return None
        if self.stream is None or not len(starts):
            return 0
        first, last = min(starts), max(stops)
        around = self.stream.outer(first, last)
        return around[0].start - first if least and len(around) == 1 and last <= self.stream.size else None

    def __getitem__(self, index: int) -> Member:
        if not 0 <= index < len(self):
            raise IndexError(index)
        if self.reader is not None:
            self.learn((index,))
        return self.seen(index)

    def seen(self, index: int) -> Member:
        """A member as far as it is known without reading its header."""
        return Member(
            index,
            self.path(index),
            self.size(index),
            self.stored(index),
            self.place(self.starts[index], max(self.starts[index], self.stops[index])),
            self.codec_at(index),
            self.digest_at(index),
            self.head_of(index),
            self.marks_of(index),
        )
