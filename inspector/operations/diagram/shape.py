"""Fills the columns that a format declares with the fields of an archive, some hundred at most, and links them.

What refers to what is declared by kinds of fields (``points_to``, ``is_range``, ``about_member``, ``is_hash``), so that
no format is known here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from inspector.core.collection import Range
from inspector.core.field import Field, FieldTable
from inspector.core.finding import Finding, Severity
from inspector.core.format import DiagramColumn
from inspector.core.kinds import Family, Kind, Role, Shape, family_of
from inspector.core.names import abridged, visible
from inspector.core.numbers import count, grouped, rounded
from inspector.core.source import is_sparing
from inspector.core.span import Span, Spans
from inspector.drawing.diagram import Box, Diagram, Link
from inspector.formats.datas3t import base_name, range_name
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
    rows = min(rows, MAX_REMOTE_BOXES) if is_sparing(archive.source) else rows
    return _joined(columns, [], [_Filling(columns, archive, 0, rows, around, named=named)])


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
    known = ranges or [each for archive in archives if (each := _range_of(archive))]
    if len(archives) == 1 and len(known) < 2:
        return diagram_of(archives[0], named=named, rows=rows, around=offset) if archives[0].source.size else None
    return _of_ranges(known, archives, named, rows, (around, offset)) if len(known) >= len(archives) else None


def _range_of(archive: Opened) -> Range | None:
    """The range that the name of an archive says; None where it says none."""
    found = range_name(archive.source.name)
    name = base_name(archive.source.name)
    return Range("", found.first, found.last, name, "", "", archive.source.size) if found else None


def _of_ranges(
    ranges: Sequence[Range], archives: Sequence[Opened], named: bool, rows: int, around: tuple[int, int]
) -> Diagram:
    known = next((each.decoder for each in archives if each.decoder is not None), None)
    columns = (*_RANGE_COLUMNS, *(each for each in (known.diagram if known else ()) if not each.single))
    shown = _chosen(len(ranges), MAX_RANGES, around[0])
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
            own, offset = max(_LEAST_ROWS, rows // len(shown)), around[1] if at == around[0] else -1
            fillings.append(_Filling(columns, archives[at], at, own, offset, named=named, base=base))
        base, before = place[0].stop, at
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
    made = (box for filling in fillings for box, _ in filling.made)
    placed = tuple(sorted((*boxes, *made), key=lambda box: box.column))
    places = {id(box): at for at, box in enumerate(placed)}
    links = [link for filling in fillings for link in filling.links(places)]
    titles = tuple(each.title for each in columns)
    return Diagram(titles, tuple(each.apart for each in columns), placed, tuple(dict.fromkeys(links)))


def _chosen(number: int, most: int, around: int) -> Sequence[int]:
    """The rows of ``number`` that are shown: the first ones, those around one, the last ones."""
    if number <= most:
        return range(number)
    last = min(_LAST_ROWS, most // 3)
    first, middle, begin = most - last, 0, 0
    if first <= around < number - last:
        first = max(1, first // 3)
        middle = most - last - first
        begin = min(max(first, around - middle // 2), number - last - middle)
    return [*range(first), *range(begin, begin + middle), *range(number - last, number)]


class _Filling:
    """The boxes of one archive, and what each stands for."""

    def __init__(
        self,
        columns: Sequence[DiagramColumn],
        archive: Opened,
        number: int,
        rows: int,
        around: int,
        *,
        named: bool,
        base: int = 0,
    ) -> None:
        self.columns = columns
        self.made: list[tuple[Box, Field]] = []
        self._archive = archive
        self._number = number
        self._around = around
        self._named = named
        self._base = base
        self._own: list[tuple[int, Box, Field]] = []
        """Where each box of this archive stands among all, and what it stands for."""
        self._column_of = {kind: at for at, column in enumerate(columns) for kind in column.kinds}
        wrong = (each for each in archive.findings if each.severity is not Severity.INFO and each.spans)
        self._wrong: list[Finding] = list(islice(wrong, _MAX_FINDINGS))
        self._level(archive.fields, rows, -1, None, None)

    # ---- boxes -------------------------------------------------------------------------------------------------

    def _level(self, fields: Sequence[Field], rows: int, column: int, kind: Kind | None, member: int | None) -> None:
        """Boxes for fields beside each other, ``rows`` at most; the others say what is around them."""
        shown = _chosen(len(fields), rows, self._row_around(fields))
        if isinstance(fields, FieldTable):  # what is in the rows of a list shares the room
            rows = max(_LEAST_ROWS, rows // max(1, len(shown)))
        before, begin = -1, len(self.made)
        for at in shown:
            if at - before > 1:
                self._left_out(fields, before + 1, at, {box.column for box, _ in self.made[begin:]})
            self._field(fields[at], at, rows, column, kind, member)
            before = at

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
        spans = (Span(low.start, max(low.start, high.start)),) if low.spans and high.spans else ()
        for column in sorted(columns):
            label = f"… {grouped(stop - first)} more" if column == own or len(columns) == 1 else "…"
            self._add(low, Box(column, label, spans=spans, more=stop - first))

    def _field(self, field: Field, at: int, rows: int, around: int, kind: Kind | None, member: int | None) -> None:
        member = field.member if field.member is not None else member
        column = None if field.kind is kind else self._column_of.get(field.kind)
        if field.kind.shape is Shape.UNCLAIMED and field.spans:
            # Beside the rows that they stand among, or what else is there.
            among_rows = kind is not None and kind.rows is not None
            own = [at for at, each in enumerate(self.columns) if each.apart is among_rows and each.kinds]
            column = next((at for at in own if at > around), next((at for at in own if at != around), None))
        if column is not None:
            self._add(field, self._box(field, column, at, member))
            # What follows a header whose field owns itself only, up to the next one or to its end.
            payload = next((each for each in self._archive.fields if each.kind is field.kind.precedes), None)
            if payload is not None and field.spans:
                after = (each for each in payload.spans if each.start >= field.spans[-1].stop)
                for span in islice(after, 1):
                    self._add(payload, Box(column, "payload", rounded(span.size), spans=(span,)))
            if not self.columns[column].opened and field.kind.rows is None:
                return
            around, kind = column, field.kind
        if field.children:
            self._level(field.children, rows, around, kind, member)

    def _box(self, field: Field, column: int, at: int, member: int | None) -> Box:
        spans, value = field.spans, field.value
        shown = field.shown if field.kind.about_member and isinstance(value, str) else ""
        label = short_zeros(abridged(visible(shown or field.label or field.name)))
        if not self._named and member is not None:
            label = field.kind.label if spans else str(field.kind)
        sized = spans and not self.columns[column].apart
        note = abridged(visible(field.note)) if self._named and field.kind is not Kind.DATA else ""
        return Box(
            column,
            label,
            rounded(sum(span.size for span in spans)) if sized else _places(field),
            f"{note}." if note and not note.endswith((".", "…")) else note,
            spans,
            families=tuple(families_of(field, _MAX_FAMILIES)) or (field.kind.role or Role.DATA,),
            level=0 if field.unused else 1 + (at & 1),
            member=member,
            unused=field.unused or (field.kind.is_range and not (isinstance(value, list) and value[1])),
            finding=self._finding(field, member),
        )

    def _finding(self, field: Field, member: int | None) -> str:
        for each in self._wrong:
            concerned = any(_concerns(wrong, own) for wrong in each.spans for own in field.spans)
            if concerned or (not field.spans and member is not None and each.member == member):
                return abridged(visible(each.message)) if self._named else each.code
        return ""

    def _add(self, field: Field, box: Box) -> None:
        place = tuple(Span(start + self._base, stop + self._base) for start, stop in box.spans)
        self.made.append((box._replace(place=place, archive=self._number), field))

    # ---- links -------------------------------------------------------------------------------------------------

    def links(self, places: Mapping[int, int]) -> Iterator[Link]:
        """The lines from this archive's boxes; ``places`` says where each box, by its identity, stands among all."""
        self._own = sorted(((places[id(box)], box, field) for box, field in self.made), key=lambda each: each[0])
        for at, box, field in self._own:
            found = None if box.more else self._target(box, field)
            if found is not None and found[0] not in (None, at):
                yield Link(at, found[0] or 0, found[1])

    def _target(self, box: Box, field: Field) -> tuple[int | None, str] | None:
        """The box that another leads to, and how."""
        kind = field.kind
        beside = [(at, column.kinds) for at, column in enumerate(self.columns) if not column.apart]
        members = next((at for each in (Kind.MEMBER, Kind.DATA) for at, kinds in beside if each in kinds), 0)
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

    def _of_member(self, column: int, member: int) -> int | None:
        exact = next((at for at, box, _ in self._own if box.column == column and box.member == member), None)
        starts = self._archive.members.starts
        return self._holding(column, starts[member]) if exact is None and member < len(starts) else exact

    def _holding(self, column: int, offset: int) -> int | None:
        return next((at for at, box, _ in self._own if box.column == column and _holds(box.spans, offset)), None)

    def _hashed(self, field: Field) -> int | None:
        """The box of what the hash in a field covers."""
        every = self._archive.checksums
        digests = (each for each in field.children if each.kind is Kind.DIGEST and each.spans)
        for place in (each.spans[0].start for each in islice(digests, 1)):
            at = bisect_right(every, place, key=lambda each: each.place[0].start if each.place else -1)
            near = (*every[max(0, at - 2) : at + 1], *every[-2:])
            known = next((each for each in near if _holds(each.place, place)), None)
            if known is not None and known.covers:
                hashed = (at for at, each in enumerate(self.columns) if any(kind.hashed for kind in each.kinds))
                # The last byte: a hash may begin with the block that opens what it covers.
                return self._holding(next(hashed, -1), known.covers[-1].stop - 1)
        return None


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
