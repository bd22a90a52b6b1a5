"""An index in columns, and operations on whole columns of members (CAF.md, section 2, File Index Section)."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import lt, sub

from msgspec import Struct, field

from inspector.core.finding import FindingType
from inspector.core.member import Members
from inspector.core.span import Span, Spans
from inspector.formats.caf import codes

MAX_MEMBERS = 2_000_000
"""Members listed of one archive."""
MAX_PARTS = 256
"""Values of the index's outermost object that become fields; further ones are shown as syntax."""
MAX_PROBLEMS = 10_000
"""Problems kept of one index."""

UNLISTED = b"lost+found/bytes-%d-%d"
"""The name under which a repair lists the bytes, from where to where, whose entries an index has lost.

If no member had them, they would look as if they had been inserted, which puts every member in doubt."""
_INCOMPLETE_CODES = frozenset(
    (
        codes.ENTRY_DUPLICATE_KEY.code,
        codes.INDEX_DUPLICATE_KEY.code,
        codes.INDEX_MALFORMED.code,
        codes.INDEX_NO_FILES.code,
        codes.INDEX_WRONG_TYPE.code,
    )
)
"""Problems that leave entries unread, or read twice."""


class Problem(Struct, frozen=True):
    """A problem of the index itself; ``spans`` are file bytes, ``entry`` is the entry's position in the index."""

    what: FindingType
    message: str
    spans: Spans
    entry: int | None = None


class Part(Struct):
    """One value of the index's outermost object: its key, the span of its value, its entries ``[first, last)``."""

    key: bytes
    span: Span
    first: int = 0
    last: int = 0


class Index(Struct):
    """The entries of an index, in its own order.

    ``positions`` are the file offsets of the entries' opening quotes, ``starts`` and ``stops`` the ranges they give
    (half-open), ``marks`` the members' marks, ``unread`` the rest of the index if it could not be parsed to its end.
    """

    span: Span
    names: bytearray = field(default_factory=bytearray)
    name_stops: array[int] = field(default_factory=lambda: array("Q"))
    starts: array[int] = field(default_factory=lambda: array("Q"))
    stops: array[int] = field(default_factory=lambda: array("Q"))
    marks: array[int] = field(default_factory=lambda: array("B"))
    positions: array[int] = field(default_factory=lambda: array("Q"))
    parts: list[Part] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unread: Span | None = None

    @property
    def complete(self) -> bool:
        """Whether it was read to its end, and every entry as it stands there."""
        lost = any(each.what.code in _INCOMPLETE_CODES for each in self.problems)
        return self.unread is None and not lost

    def __len__(self) -> int:
        return len(self.positions)

    def name(self, entry: int) -> bytes:
        """The name in an entry."""
        return bytes(self.names[self.name_stops[entry - 1] if entry else 0 : self.name_stops[entry]])

    def add(self, position: int, name: bytes, start: int, stop: int, marks: int = 0) -> None:
        """Append an entry. The caller has checked that the numbers fit into 64 bits."""
        self.positions.append(position)
        self.names += name
        self.starts.append(start)
        self.stops.append(stop)
        self.marks.append(marks)
        self.name_stops.append(len(self.names))


_MEMBERS_PER_BLOCK = 16_384
_MAX_UNCHECKED_NAME_BYTES = 255
"""Longer names are always examined: only they can be too long or too deep."""


def archive_order(index: Index) -> Sequence[int]:
    """The entries in the order of their data: by start, stop and position in the index."""
    starts, stops = index.starts, index.stops
    if len(index) <= _MEMBERS_PER_BLOCK:  # fewer than numpy is worth its import for
        found = sorted(range(len(index)), key=lambda entry: (starts[entry], stops[entry]))
        return range(len(index)) if all(map(lt, found, found[1:])) else found
    import numpy as np

    lows, highs = np.frombuffer(starts, np.uint64), np.frombuffer(stops, np.uint64)
    if ((lows[1:] > lows[:-1]) | ((lows[1:] == lows[:-1]) & (highs[1:] >= highs[:-1]))).all():
        return range(len(index))
    order = array("I", (0,)) * len(index)
    np.frombuffer(order, np.uint32)[:] = np.lexsort((highs, lows))
    return order


def members_in(order: Sequence[int], index: Index) -> Members:
    """The entries as members, in this order. Columns that are in order already are moved, not copied.

    Afterwards only the positions and marks of the index are valid: other columns are emptied to save memory.
    """
    members = Members(heads=True, marks=any(index.marks))
    if isinstance(order, range):
        members.paths, members.starts, members.stops = index.names, index.starts, index.stops
        members.marks = index.marks if members.marks is not None else None
        members.heads, members.path_stops = index.positions, index.name_stops
        return members

    def reordered(column: array[int]) -> array[int]:
        return array(column.typecode, map(column.__getitem__, order))

    members.starts, index.starts = reordered(index.starts), array("Q")
    for first in range(0, len(order), _MEMBERS_PER_BLOCK):
        members.paths += b"".join(map(index.name, order[first : first + _MEMBERS_PER_BLOCK]))
    sizes = array("Q", map(sub, index.name_stops, chain((0,), index.name_stops)))
    index.names, index.name_stops = bytearray(), array("Q")
    members.path_stops = array("Q", accumulate(map(sizes.__getitem__, order)))
    members.stops, index.stops = reordered(index.stops), array("Q")
    members.heads = reordered(index.positions)
    if members.marks is not None:
        members.marks = reordered(index.marks)
    return members


def inverse(order: Sequence[int]) -> Sequence[int]:
    """The position of each number in ``order``."""
    if isinstance(order, range):
        return order
    found = array("I", (0,)) * len(order)
    for place, entry in enumerate(order):
        found[entry] = place
    return found


def suspicious_names(members: Members) -> Iterator[int]:
    """Members whose names may be hazardous; all other names are not."""
    if len(members) <= _MEMBERS_PER_BLOCK // 4:
        yield from range(len(members))
        return
    for first in range(0, len(members), _MEMBERS_PER_BLOCK):
        yield from _suspicious(members, first, min(first + _MEMBERS_PER_BLOCK, len(members)))


def _suspicious(members: Members, first: int, last: int) -> Iterable[int]:
    import numpy as np

    base = members.path_stops[first - 1] if first else 0
    names = bytes(members.paths[base : members.path_stops[last - 1]])
    try:
        names.decode("utf-8")
    except UnicodeDecodeError:
        return range(first, last)
    stops = np.array(members.path_stops[first:last], np.int64) - base
    starts = np.concatenate((np.zeros(1, np.int64), stops[:-1]))
    # Three more bytes, so that an empty name at the end has two bytes to look at.
    data = np.frombuffer(names + b"aaa", np.uint8)
    suspicious = (
        np.frombuffer(data[starts].tobytes().translate(_BEGINNINGS), bool)
        | (data[starts + 1] == ord(":"))
        | (stops == starts)
        | (stops - starts > _MAX_UNCHECKED_NAME_BYTES)
    )
    if names.translate(None, _TIDY) or b"//" in names or b"/." in names:
        found = np.array([match.start() for match in _HAZARDOUS.finditer(names)], np.int64)
        suspicious[np.searchsorted(stops, found, "right")] = True
    return [first + int(place) for place in np.flatnonzero(suspicious)]


_TIDY = bytes(code for code in range(0x20, 0x7F) if code != ord("\\"))
"""Bytes that are harmless, but for what two of them mean."""
_BEGINNINGS = bytes(code in b"/." or 0x80 <= code < 0xC0 for code in range(256))
"""Whether a name that begins with a byte may be hazardous; from 0x80 on it goes on with the name before."""
_HAZARDOUS = re.compile(rb"[\x00-\x1f\x7f\\]|/[/.]|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe2[\x80\x81]|\xef\xbb")
"""What makes a name of UTF-8 suspicious."""
