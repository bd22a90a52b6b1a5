"""Fills the columns that a format declares with the fields of an archive, some hundred at most, and links them.

What refers to what is declared by kinds of fields (``points_to``, ``is_range``, ``about_member``, ``is_hash``), so that
no format is known here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.collection import Range
from inspector.core.field import Field, FieldTable
from inspector.core.finding import Finding, Severity
from inspector.core.format import DiagramColumn
from inspector.core.kinds import Family, Kind, Role, Shape, family_of
from inspector.core.names import abridged, visible
from inspector.core.numbers import count, grouped, rounded
from inspector.core.source import is_sparing
from inspector.core.span import Span, Spans
from inspector.core.verdict import Checksum
from inspector.drawing.diagram import Box, Diagram, Link
from inspector.formats.datas3t.keys import base_name, range_name
from inspector.operations.open.opening import Opened

MAX_BOXES = 120
"""Rows of the longest list that are shown; lists inside others share them."""
MAX_REMOTE_BOXES = 12
"""The same of an archive whose rows cost requests."""
MAX_RANGES = 24
"""Archives of a collection that are shown."""
_LEAST_ROWS = 4
_LAST_ROWS = 3
"""Rows at the end of a list that are shown of more than fit."""
_MAX_FAMILIES = 4
_MAX_FINDINGS = 200
_RANGE_COLUMNS = (DiagramColumn("Keys", ()), DiagramColumn("Ranges", ()))
_ZEROS = re.compile(r"0{8,}(?=\d)")


def diagram_of(archive: Opened, *, named: bool = True, rows: int = MAX_BOXES, around: int = -1) -> Diagram:
    """The shape of one archive.

    ``named``: with the names of members. Lists are cut to ``rows`` rows, those at the byte ``around`` among them.
    Raises SourceError.
    """
    columns = archive.decoder.diagram if archive.decoder is not None else ()
    filling = _Filling(columns, archive, 0, named=named)
    filling.fill(min(rows, MAX_REMOTE_BOXES) if is_sparing(archive.source) else rows, around)
    return _joined(filling.columns, filling.boxes, [filling])


def diagram_of_all(
    archives: Sequence[Opened],
    ranges: Sequence[Range] = (),
    *,
    named: bool = True,
    rows: int = MAX_BOXES,
    around: int = 0,
    offset: int = -1,
) -> Diagram | None:
    """The shape of what a location holds: one archive, or the ranges of datasets. None where there is nothing to show.

    ``ranges`` are all that there are, if that is known; ``archives`` those opened so far, in the same order. Of many,
    the ``around``-th is shown among the first and the last ones, and in it what is at the byte ``offset``.
    Raises SourceError.
    """
    known = ranges_of(archives, ranges)
    if len(archives) == 1 and len(known) < 2:
        return diagram_of(archives[0], named=named, rows=rows, around=offset) if archives[0].source.size else None
    return _of_ranges(known, archives, named, rows, (around, offset)) if len(known) >= len(archives) else None


def ranges_of(archives: Sequence[Opened], ranges: Sequence[Range]) -> Sequence[Range]:
    """The ranges that are known, or else those that the names of the archives say."""
    return ranges or [each for archive in archives if (each := _range_of(archive))]


def _range_of(archive: Opened) -> Range | None:
    found = range_name(archive.source.name)
    name = base_name(archive.source.name)
    return Range("", found.first, found.last, name, "", "", archive.source.size) if found else None


def _of_ranges(
    ranges: Sequence[Range], archives: Sequence[Opened], named: bool, rows: int, around: tuple[int, int]
) -> Diagram:
    known = next((each.decoder for each in archives if each.decoder is not None), None)
    columns = (*_RANGE_COLUMNS, *(each for each in (known.diagram if known else ()) if not each.single))
    shown = list(_chosen(len(ranges), MAX_RANGES, around[0]))
    boxes: list[Box] = []
    fillings: list[_Filling] = []
    base, before = 0, -1
    for at in shown:
        each = ranges[at]
        place = (Span(base, base + max(1, each.size)),)
        if at - before > 1:
            boxes += _skipped(before + 1, at, base)
        elif at:
            boxes += _between(ranges[at - 1], each, at, base)
        boxes += _range_boxes(each, at, place, named=named)
        if at < len(archives) and archives[at].fields:
            filling = _Filling(columns, archives[at], at, named=named, base=base)
            filling.fill(max(_LEAST_ROWS, rows // len(shown)), around[1] if at == around[0] else -1)
            fillings.append(filling)
        base, before = place[0].stop, at
    boxes += (box for filling in fillings for box in filling.boxes)
    return _joined(columns, boxes, fillings)


def _range_boxes(each: Range, at: int, place: Spans, *, named: bool) -> Iterator[Box]:
    keys = grouped(each.first) if each.last == each.first else f"{grouped(each.first)} to {grouped(each.last)}"
    dataset = f"Dataset {visible(each.dataset)}." if each.dataset and named else ""
    spans = (Span(0, each.size),)
    detail = count(max(0, each.last - each.first) + 1, "key")
    yield Box(0, keys, detail, dataset, spans, place, (Family.INDEX,), archive=at)
    name = short_zeros(visible(each.name)) if named else f"range {at + 1:,}"
    yield Box(1, name, rounded(each.size), dataset, spans, place, (Family.CONTENT,), 1 + at % 2, archive=at)


def _skipped(first: int, stop: int, base: int) -> Iterator[Box]:
    for column in range(len(_RANGE_COLUMNS)):
        label = f"… {grouped(stop - first)} more"
        yield Box(column, label, place=(Span(base, base),), more=stop - first, archive=first)


def _between(one: Range, other: Range, at: int, base: int) -> Iterator[Box]:
    """A box for the keys between two ranges, or for those that are in both."""
    place = (Span(base, base),)
    first, last = one.last + 1, other.first - 1
    if one.dataset == other.dataset and first <= last:
        keys = grouped(first) if first == last else f"{grouped(first)} to {grouped(last)}"
        yield Box(0, f"no range: {keys}", place=place, families=(Role.GAP,), archive=at)
    elif one.dataset == other.dataset and first > last + 1:
        keys = grouped(last + 1) if first == last + 2 else f"{grouped(last + 1)} to {grouped(one.last)}"
        wrong = f"The keys {keys} are in both ranges."
        yield Box(0, f"in both: {keys}", place=place, families=(Role.GARBAGE,), archive=at, finding=wrong)


def short_zeros(name: str) -> str:
    """A name in which many zeros are left out."""
    return _ZEROS.sub("0…", name)


def _joined(columns: Sequence[DiagramColumn], boxes: Sequence[Box], fillings: Sequence[_Filling]) -> Diagram:
    placed = tuple(sorted(boxes, key=lambda box: box.column))
    links = [link for filling in fillings for link in filling.links(placed)]
    titles = tuple(each.title for each in columns)
    return Diagram(titles, tuple(each.apart for each in columns), placed, tuple(dict.fromkeys(links)))


def _chosen(number: int, most: int, around: int) -> Iterator[int]:
    """The rows of ``number`` that are shown: the first ones, those around one, the last ones."""
    if number <= most:
        yield from range(number)
        return
    last = min(_LAST_ROWS, most // 3)
    first = most - last
    if around >= first and around < number - last:
        first = max(1, first // 3)
        middle = most - last - first
        begin = min(max(first, around - middle // 2), number - last - middle)
        yield from range(first)
        yield from range(begin, begin + middle)
    else:
        yield from range(first)
    yield from range(number - last, number)


class _Inside(Struct, frozen=True):
    """What is around the fields being walked through: the box's column and kind, its member, how many rows may be."""

    column: int
    kind: Kind | None
    member: int | None
    rows: int


class _Filling:
    """The boxes of one archive, and what each stands for."""

    def __init__(
        self, columns: Sequence[DiagramColumn], archive: Opened, number: int, *, named: bool, base: int = 0
    ) -> None:
        self.columns = columns
        self.boxes: list[Box] = []
        self._fields: dict[int, Field] = {}
        """What a box stands for, by the identity of the box."""
        self._archive = archive
        self._number = number
        self._named = named
        self._base = base
        self._around = -1
        self._own: list[tuple[int, Box, Field]] = []
        """Where each box of this archive stands among all, and what it stands for."""
        self._column_of = {kind: at for at, column in enumerate(columns) for kind in column.kinds}
        self._together = [at for at, column in enumerate(columns) if not column.apart and column.kinds]
        wrong = (each for each in archive.findings if each.severity is not Severity.INFO and each.spans)
        self._wrong: list[Finding] = list(islice(wrong, _MAX_FINDINGS))

    def fill(self, rows: int, around: int) -> None:
        """Make the boxes."""
        self._around = around
        self._level(self._archive.fields, _Inside(-1, None, None, rows))

    # ---- boxes -------------------------------------------------------------------------------------------------

    def _level(self, fields: Sequence[Field], inside: _Inside) -> None:
        number = len(fields)
        shown = list(_chosen(number, inside.rows, self._row_around(fields)))
        deeper = inside
        if isinstance(fields, FieldTable):  # what is in the rows of a list shares the room
            deeper = replace(inside, rows=max(_LEAST_ROWS, inside.rows // max(1, len(shown))))
        before, begin = -1, len(self.boxes)
        for at in shown:
            if at - before > 1:
                self._left_out(fields, before + 1, at, {box.column for box in self.boxes[begin:]})
            self._field(fields[at], at, deeper)
            before = at

    def _column_inside(self, inside: _Inside) -> int | None:
        """Where bytes are shown that nothing claims: beside the rows that they stand among, or what else is there."""
        among_rows = inside.kind is not None and inside.kind.rows is not None
        own = [at for at, each in enumerate(self.columns) if each.apart is among_rows and each.kinds]
        return next((at for at in own if at > inside.column), next((at for at in own if at != inside.column), None))

    def _row_around(self, fields: Sequence[Field]) -> int:
        if self._around < 0:
            return -1
        if isinstance(fields, FieldTable):
            return next(iter(fields.rows(self._around, self._around + 1)), -1)
        return next((at for at, each in enumerate(fields) if _holds(each.spans, self._around)), -1)

    def _left_out(self, fields: Sequence[Field], first: int, stop: int, columns: set[int]) -> None:
        """A box in each of these columns for rows that are left out."""
        low, high = fields[first], fields[stop]
        own = self._column_of.get(low.kind, -1)
        span = (Span(low.start, max(low.start, high.start)),) if low.spans and high.spans else ()
        for column in sorted(columns):
            label = f"… {grouped(stop - first)} more" if column == own or len(columns) == 1 else "…"
            self._add(Box(column, label, "", "", span, self._place(span), more=stop - first, archive=self._number), low)

    def _field(self, field: Field, at: int, inside: _Inside) -> None:
        member = field.member if field.member is not None else inside.member
        column = None if field.kind is inside.kind else self._column_of.get(field.kind)
        if field.kind.shape is Shape.UNCLAIMED and field.spans:
            column = self._column_inside(inside)
        if column is not None:
            self._add(self._box(field, column, at, member), field)
            self._payload(field, column)
            if not self.columns[column].opened and field.kind.rows is None:
                return
            inside = replace(inside, column=column, kind=field.kind)
        if field.children:
            self._level(field.children, replace(inside, member=member))

    def _payload(self, field: Field, column: int) -> None:
        """What follows a header whose field owns itself only, up to the next one or to its end."""
        payload = next((each for each in self._archive.fields if each.kind is field.kind.precedes), None)
        if payload is None or not field.spans:
            return
        own = next((each for each in payload.spans if each.start >= field.spans[-1].stop), None)
        if own is not None:
            box = Box(column, "payload", rounded(own.size), "", (own,), self._place((own,)), archive=self._number)
            self._add(box, payload)

    def _box(self, field: Field, column: int, at: int, member: int | None) -> Box:
        apart = self.columns[column].apart
        families = tuple(families_of(field, _MAX_FAMILIES)) or (field.kind.role or Role.DATA,)
        shown = field.shown if field.kind.about_member and isinstance(field.value, str) else ""
        label = short_zeros(abridged(visible(shown or field.label or field.name)))
        if not self._named and member is not None:
            label = field.kind.label if field.spans else str(field.kind)
        detail = _places(field) if apart or not field.spans else rounded(sum(span.size for span in field.spans))
        note = abridged(visible(field.note)) if self._named and field.kind is not Kind.DATA else ""
        note += "." if note and not note.endswith((".", "…")) else ""
        level = 0 if field.unused else 1 + (at & 1)
        spans, unused = (
            field.spans,
            field.unused or (field.kind.is_range and not (isinstance(field.value, list) and field.value[1])),
        )
        finding = self._finding(field, member)
        place = self._place(spans)
        return Box(column, label, detail, note, spans, place, families, level, self._number, member, 0, unused, finding)

    def _finding(self, field: Field, member: int | None) -> str:
        for each in self._wrong:
            concerned = any(_concerns(wrong, own) for wrong in each.spans for own in field.spans)
            if concerned or (not field.spans and member is not None and each.member == member):
                return abridged(visible(each.message)) if self._named else each.code
        return ""

    def _place(self, spans: Spans) -> Spans:
        return tuple(Span(start + self._base, stop + self._base) for start, stop in spans)

    def _add(self, box: Box, field: Field) -> None:
        self.boxes.append(box)
        self._fields[id(box)] = field

    # ---- links -------------------------------------------------------------------------------------------------

    def links(self, placed: Sequence[Box]) -> Iterator[Link]:
        """The lines from this archive's boxes; ``placed`` are those of all archives in their order."""
        own = [at for at, box in enumerate(placed) if id(box) in self._fields]
        self._own = [(at, placed[at], self._fields[id(placed[at])]) for at in own]
        for at, box, field in self._own:
            found = None if box.more else self._target(box, field)
            if found is not None and found[0] not in (None, at):
                yield Link(at, found[0] or 0, found[1])

    def _target(self, box: Box, field: Field) -> tuple[int | None, str] | None:
        """The box that another leads to, and how."""
        kind, members = field.kind, self._members_column()
        if kind.is_range:
            start = field.value[0] if isinstance(field.value, list) and not box.unused else None
            return (self._holding(members, start), "leads to") if isinstance(start, int) else None
        if kind.points_to:
            return next((at for at, _, each in self._own if each.kind in kind.points_to), None), "says where it begins"
        if kind.is_hash:
            return self._hashed(field), "is the hash of"
        if self.columns[box.column].apart and box.member is not None and (field.spans or field.value is not None):
            return self._of_member(members, box.member), "says where it is"
        return None

    def _members_column(self) -> int:
        kinds = [set(each.kinds) for each in self.columns]
        for wanted in (Kind.MEMBER, Kind.DATA):
            for at in self._together:
                if wanted in kinds[at]:
                    return at
        return 0

    def _of_member(self, column: int, member: int) -> int | None:
        found = (at for at, box, _ in self._own if box.column == column and box.member == member)
        exact = next(found, None)
        if exact is not None:
            return exact
        members = self._archive.members
        return self._holding(column, members.starts[member]) if member < len(members) else None

    def _holding(self, column: int, offset: int) -> int | None:
        return next((at for at, box, _ in self._own if box.column == column and _holds(box.spans, offset)), None)

    def _hashed(self, field: Field) -> int | None:
        """The box of what the hash in a field covers."""
        digests = (each for each in field.children if each.kind is Kind.DIGEST and each.spans)
        place = next((each.spans[0].start for each in digests), None)
        known = None if place is None else self._checksum(place)
        if known is None or not known.covers:
            return None
        column = next((at for at, each in enumerate(self.columns) if any(kind.hashed for kind in each.kinds)), -1)
        # The last byte: a hash may begin with the block that opens what it covers.
        return self._holding(column, known.covers[-1].stop - 1)

    def _checksum(self, place: int) -> Checksum | None:
        every = self._archive.checksums
        at = bisect_right(every, place, key=lambda each: each.place[0].start if each.place else -1)
        near = (*every[max(0, at - 2) : at + 1], *every[-2:])
        return next((each for each in near if _holds(each.place, place)), None)


def _holds(spans: Spans, offset: int) -> bool:
    at = bisect_left(spans, offset + 1, key=lambda span: span.start) - 1
    return at >= 0 and offset < spans[at].stop


def _concerns(wrong: Span, own: Span) -> bool:
    """Whether wrong bytes are among those of a structure, or reach into it; not where it is a mere part of them."""
    touches = wrong.start < own.stop and own.start < wrong.stop
    return touches and not (wrong != own and wrong.start <= own.start and own.stop <= wrong.stop)


def _places(field: Field) -> str:
    """The offsets that a record tells, in short."""
    if field.kind.is_range and isinstance(field.value, list):
        start, length = field.value
        return f"{start:,} + {length:,}" if length else "unused"
    found = [child.value for child in field.children if child.kind is Kind.OFFSET and isinstance(child.value, int)]
    return f"{found[0]:,} to {found[1]:,}" if len(found) > 1 else f"at {found[0]:,}" if found else ""


def families_of(field: Field, most: int) -> list[Family | Role]:
    """The families in a structure in order, each run of one once, the first few; unclaimed bytes as their role."""
    if field.kind.shape is Shape.UNCLAIMED:
        return [field.kind.role or Role.GAP]
    family = family_of(field.kind)
    if family is not None:
        return [family, Family.CONTENT] if field.kind.holds_data else [family]
    found: list[Family | Role] = []
    for child in islice(field.children, 2 * most):
        found += [each for each in families_of(child, most) if found[-1:] != [each]]
    return found[:most]
