"""Counts what is stored of members, segments or ranges, and how much content that gives: some 100 bars at most."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

from inspector.core.collection import Range
from inspector.core.drawing.sizes import ALL, Bar, Scope, SizePlot
from inspector.core.field import Field, FieldTable
from inspector.core.finding import Severity
from inspector.core.member import FOLDER, UNREADABLE, Members
from inspector.core.names import abridged, visible
from inspector.core.numbers import count, grouped
from inspector.core.span import Span, Spans, united
from inspector.operations.diagram.shape import ranges_of, short_zeros
from inspector.operations.open.opening import Opened

MAX_BARS = 100
"""More members, segments or ranges share bars."""
_MAX_SPANS = 1_000
"""Spans of the members of one bar, where they do not follow each other in the file."""
_MEMBERS_STORED = "stored"
_SEGMENTS_STORED = "of compressed members"
_RANGES_STORED = "of files, headers and padding included,"


def sizes_of(
    archives: Sequence[Opened],
    ranges: Sequence[Range] = (),
    scope: Scope = ALL,
    *,
    named: bool = True,
    bars: int = MAX_BARS,
) -> SizePlot | None:
    """The sizes in what a location holds, or in a part of it. None where there are fewer than two to compare.

    ``ranges`` are all that there are, if that is known; ``archives`` those opened so far, in the same order. Several
    ranges are compared, or else the segments of an archive, if it has several, or else its members. What would be more
    than ``bars`` bars is joined, so many in each, and can be asked for. ``named``: with names. Raises SourceError.
    """
    if scope.is_collection:
        known = ranges_of(archives, ranges)
        stop = len(known) if scope.stop < 0 else min(scope.stop, len(known))
        if stop - scope.first > 1 and len(known) >= len(archives):
            found = tuple(_range_bars(archives, known, range(scope.first, stop), named, bars))
            return SizePlot(found, stop - scope.first, "range", _RANGES_STORED, scope)
        archive = scope.first if stop == scope.first + 1 else 0
        if archive >= len(archives) or (scope == ALL and len(archives) > 1):
            return None
        scope = Scope(archive, 0, len(archives[archive].members))
        return _of_archive(archives[archive], scope, ALL if len(known) < 2 else scope, named, bars)
    if not 0 <= scope.archive < len(archives):
        return None
    return _of_archive(archives[scope.archive], scope, scope, named, bars)


def _of_archive(archive: Opened, part: Scope, scope: Scope, named: bool, bars: int) -> SizePlot | None:
    counting = _Counting(archive, part.archive, named)
    first, stop = max(0, part.first), min(part.stop, len(archive.members))
    segments = counting.segments(first, stop)
    if len(segments) > 1:
        found = tuple(counting.segment_bars(segments, bars))
        return SizePlot(found, len(segments), "segment", _SEGMENTS_STORED, scope)
    number = counting.files(first, stop)
    found = tuple(counting.member_bars(first, stop, bars))
    return SizePlot(found, number, "member", _MEMBERS_STORED, scope) if len(found) > 1 else None


def _bins(first: int, stop: int, most: int) -> Iterator[tuple[int, int]]:
    """``[first, stop)`` in at most ``most`` parts of the same size; the last one may be smaller."""
    step = max(1, -(-(stop - first) // max(1, most)))
    for at in range(first, stop, step):
        yield at, min(at + step, stop)


def _numbered(thing: str, first: int, stop: int) -> str:
    """``member 1``, ``members 1 to 12``, counted from 1."""
    return f"{thing} {grouped(stop)}" if stop == first + 1 else f"{thing}s {grouped(first + 1)} to {grouped(stop)}"


def _range_bars(
    archives: Sequence[Opened], ranges: Sequence[Range], shown: range, named: bool, bars: int
) -> Iterator[Bar]:
    for first, stop in _bins(shown.start, shown.stop, bars):
        opened = [each.members for each in archives[first:stop]]
        is_known = len(opened) == stop - first
        content = sum(_sum_of_contents(each, 0, len(each)) for each in opened) if is_known else None
        stored = sum(each.size for each in ranges[first:stop])
        note = "" if is_known else "Not all was opened, so its content is not known."
        if stop > first + 1:
            yield Bar(_numbered("range", first, stop), stored, content, note=note, inside=Scope(-1, first, stop))
            continue
        label = short_zeros(visible(ranges[first].name)) if named else _numbered("range", first, stop)
        inside = Scope(first, 0, len(opened[0])) if opened and len(opened[0]) > 1 else None
        note = note or f"{count(len(opened[0]), 'member')}."
        yield Bar(label, stored, content, (Span(0, stored),) if opened else (), first, note, inside)


def _sum_of_contents(members: Members, first: int, stop: int) -> int:
    return sum(members.sizes[first:stop]) if members.sizes is not None else _sum_of_stored(members, first, stop)


def _sum_of_stored(members: Members, first: int, stop: int) -> int:
    starts, stops = members.starts[first:stop], members.stops[first:stop]
    return sum(max(0, end - start) for start, end in zip(starts, stops, strict=True))


class _Counting:
    """The sizes in one archive."""

    def __init__(self, archive: Opened, number: int, named: bool) -> None:
        self._archive = archive
        self._members = archive.members
        self._number = number
        self._named = named
        starts = self._members.starts
        self._is_in_order = all(one <= two for one, two in pairwise(starts))
        wrong = (each for each in archive.findings if each.severity is Severity.ERROR)
        self._wrong = united(span for each in wrong for span in each.spans)

    # ---- segments ----------------------------------------------------------------------------------------------

    def segments(self, first: int, stop: int) -> Sequence[Field]:
        """The stretches of members that one hash covers; none where the format has no such thing."""
        table = _hashed_rows(self._archive.fields)
        if table is None or (first, stop) != (0, len(self._members)):
            if table is None or stop <= first:
                return ()
            low, high = self._offset(first), self._offset(stop - 1)
            rows = range(table.rows(low, low + 1).start, table.rows(high, high + 1).stop)
            return [table[row] for row in rows]
        return table

    def segment_bars(self, segments: Sequence[Field], bars: int) -> Iterator[Bar]:
        """A bar for each segment, or for several."""
        begin = segments[0].value if isinstance(segments[0].value, int) else 1
        for low, high in _bins(0, len(segments), bars):
            whole = Span(segments[low].start, segments[high - 1].spans[-1].stop)
            spans = segments[low].spans if high == low + 1 else (whole,)
            first, stop = self._row_at(spans[0].start), self._row_at(spans[-1].stop)
            label = _numbered("segment", begin - 1 + low, begin - 1 + high)
            yield self._sum(label, spans, first, stop, is_decoded=True)

    def _row_at(self, offset: int) -> int:
        """The first member that begins at or after a byte."""
        return bisect_left(range(len(self._members)), offset, key=self._offset)

    def _offset(self, row: int) -> int:
        start = self._members.starts[row]
        return self._members.place(start, start + 1)[0].start

    # ---- members -----------------------------------------------------------------------------------------------

    def files(self, first: int, stop: int) -> int:
        """The members that are no folders."""
        marks = self._members.marks
        return stop - first if marks is None else sum(not mark & FOLDER for mark in marks[first:stop])

    def member_bars(self, first: int, stop: int, bars: int) -> Iterator[Bar]:
        """A bar for each member that is no folder, or for several members."""
        marks = self._members.marks
        if self.files(first, stop) <= bars:
            for row in range(first, stop):
                if marks is None or not marks[row] & FOLDER:
                    yield self._member(row)
            return
        for low, high in _bins(first, stop, bars):
            yield self._sum(_numbered("member", low, high), self._spans(low, high), low, high)

    def _member(self, row: int) -> Bar:
        members = self._members
        label = self._name(row) or _numbered("member", row, row + 1)
        if members.marks is not None and members.marks[row] & UNREADABLE:
            return Bar(label, None, None, archive=self._number, note="Its entry does not say where its bytes are.")
        return Bar(label, members.stored(row), members.size(row), self._spans(row, row + 1), self._number)

    def _name(self, row: int) -> str:
        return short_zeros(abridged(visible(self._members.path(row)))) if self._named else ""

    def _spans(self, first: int, stop: int) -> Spans:
        """The stored bytes of members; where these follow each other, with what is between them."""
        starts, stops = self._members.starts, self._members.stops
        if self._is_in_order:
            return self._members.place(starts[first], max(starts[first], *stops[first:stop]))
        rows = range(first, min(stop, first + _MAX_SPANS))
        return tuple(united(span for row in rows for span in self._members.seen(row).spans))

    def _sum(self, label: str, spans: Spans, first: int, stop: int, *, is_decoded: bool = False) -> Bar:
        stored, content = _sum_of_stored(self._members, first, stop), _sum_of_contents(self._members, first, stop)
        name = self._name(first) if stop > first else ""
        number = self.files(first, stop)
        names = f", from {name} on" if name and number > 1 else f", {name}" if name else ""
        said = [f"{count(number, 'member')}{names}."]
        is_wrong = any(wrong.start < own.stop and own.start < wrong.stop for wrong in self._wrong for own in spans)
        if is_decoded and is_wrong:
            said.append("An error concerns it: only what could be decoded is counted.")
        inside = Scope(self._number, first, stop) if stop > first + 1 else None
        return Bar(label, stored, content, spans, self._number, " ".join(said), inside)


def _hashed_rows(fields: Sequence[Field]) -> FieldTable | None:
    """The table of what is covered by a hash each, on the outermost two levels."""
    for field in fields if not isinstance(fields, FieldTable) else ():
        rows = field.children
        if isinstance(rows, FieldTable) and len(rows) and rows[0].kind.hashed:
            return rows
    return None
