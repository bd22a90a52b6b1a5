"""Layers: the byte sequences that can be shown, the fields in each, and fields as rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from inspector.core.field import Computed, Field, FieldTable, Unread, locate
from inspector.core.kinds import Family, Kind, Role, family_of, role_of
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span, Spans, subtract
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.views import (
    Explanation,
    FieldRow,
    FoundField,
    FoundFields,
    LayerInfo,
    LayerKind,
    Page,
)
from inspector.operations.session.members.members_view import Marks

MAX_CONTENTS = 16
"""Contents of members kept open; each may be a temporary file."""


class Layer(Struct, dict=True):
    """One layer. ``archive`` is the archive its bytes come from and ``at`` the number of that archive."""

    info: LayerInfo
    source: Source
    archive: Opened
    at: int
    _decoded: Sequence[Field] = ()
    _mapped: Sequence[Field] = ()

    def fields(self) -> Sequence[Field]:
        """The current fields, with offsets in this layer."""
        if self.info.kind is LayerKind.FILE:
            return self.archive.fields
        if self.info.kind is LayerKind.CONTENT:
            return (Field("content", Kind.DATA, (Span(0, self.source.size),), member=self.info.member),)
        laid = self.archive.fields
        if laid is not self._decoded:
            self._mapped, self._decoded = self._mapping.fields(laid), laid
        return self._mapped

    @cached_property
    def _mapping(self) -> StreamMapping:
        assert isinstance(self.source, SplicedSource)
        return StreamMapping(self.source)

    def in_file(self, spans: Spans) -> Spans:
        """Spans of this layer as spans of the file; none for decoded content."""
        if self.info.kind is not LayerKind.INNER:
            return spans if self.info.kind is LayerKind.FILE else ()
        assert isinstance(self.source, SplicedSource)
        return tuple(outer for span in spans for outer in self.source.outer(span.start, span.stop))

    def from_file(self, spans: Spans) -> Spans:
        """The parts of file spans that are in this layer, as its spans; none for decoded content."""
        if self.info.kind is not LayerKind.INNER:
            return spans if self.info.kind is LayerKind.FILE else ()
        return self._mapping.spans(spans)


class Layers:
    """All layers by number: first the files (0 for a single one), then inner streams and contents as created."""

    def __init__(self, files: int) -> None:
        self._all: dict[int, Layer] = {}
        self._next = files

    def add_file(self, at: int, title: str, archive: Opened) -> None:
        """Add the file of an archive; the layer has the archive's number."""
        info = LayerInfo(at, LayerKind.FILE, title, archive.source.size)
        self._all.setdefault(at, Layer(info, archive.source, archive, at))

    def __contains__(self, number: int) -> bool:
        return number in self._all

    def infos(self) -> tuple[LayerInfo, ...]:
        """All layers, sorted by number."""
        return tuple(layer.info for _, layer in sorted(self._all.copy().items()))

    def __getitem__(self, number: int) -> Layer:
        if (layer := self._all.get(number)) is None:
            raise OperationError(f"Layer {number} does not exist.")
        return layer

    def add_inner(self, at: int, archive: Opened) -> bool:
        """Add the inner stream of an archive when it has one; returns whether it was added now."""
        known = (each.at for each in tuple(self._all.values()) if each.info.kind is LayerKind.INNER)
        if archive.inner is None or at in known:
            return False
        self._add(LayerKind.INNER, "Inner stream", archive.inner, self._all[at], None)
        return True

    def add_content(self, title: str, source: Source, at: int, member: int) -> Layer:
        """Add a member's content; the oldest content is removed if there are too many."""
        contents = [number for number, layer in self._all.items() if layer.info.kind is LayerKind.CONTENT]
        if len(contents) >= MAX_CONTENTS:
            del self._all[contents[0]]
        return self._add(LayerKind.CONTENT, title, source, self._all[at], member)

    def _add(self, kind: LayerKind, title: str, source: Source, file: Layer, member: int | None) -> Layer:
        info = LayerInfo(self._next, kind, title, source.size, member)
        self._all[self._next] = Layer(info, source, file.archive, file.at)
        self._next += 1
        return self._all[info.layer]


MAX_SEARCHED_FIELDS = 100_000
"""Fields that a search looks at."""
MAX_FOUND_FIELDS = 1_000
MAX_FIELD_ROWS = 2_000
"""The largest number of rows in a page."""


class Around(NamedTuple):
    """The role and the family that a field takes from those around it."""

    role: Role = Role.DATA
    family: Family | None = None

    def inside(self, field: Field) -> Around:
        """Those of a field, which the fields in it take."""
        return Around(role_of(field.kind, self.role), family_of(field.kind, self.family))


class FieldView(Struct, frozen=True):
    """The fields of a layer as rows, with the findings of its archive.

    ``first`` is the number of the archive's first member among all members, None if they are not numbered yet.
    """

    layer: Layer
    marks: Marks
    first: int | None

    def member(self, field: Field) -> int | None:
        """The number of a field's member among all members."""
        if field.member is None or self.layer.info.kind is LayerKind.CONTENT:
            return field.member
        return None if self.first is None else self.first + field.member

    def row(self, path: tuple[int, ...], field: Field, around: Around) -> FieldRow:
        """One field as a row."""
        role, family = around.inside(field)
        below = field.below
        return FieldRow(
            path,
            field.name,
            field.kind,
            role,
            field.spans,
            field.shown,
            field.note,
            field.specification,
            below.known if isinstance(below, Unread) else len(below),
            self.member(field),
            self.marks.of_spans(self.layer.in_file(tuple(subtract(field.spans, field.foreign)))),
            family,
        )

    def _along(self, path: Sequence[int]) -> Iterator[tuple[Field, Around]]:
        """The fields on a path, as far as there are any, each with what is around it."""
        fields, around = self.layer.fields(), Around()
        for position in path:
            if not 0 <= position < len(fields):
                return
            field = fields[position]
            yield field, around
            fields, around = field.below, around.inside(field)

    def field(self, path: Sequence[int]) -> FieldRow | None:
        """The field at ``path``; None where there is none."""
        found = list(self._along(path))
        return self.row(tuple(path), *found[-1]) if found and len(found) == len(path) else None

    def rows(self, path: Sequence[int], first: int, count: int) -> Page[FieldRow]:
        """The children of the field at ``path``; the outermost fields for an empty path."""
        fields, around = self.layer.fields(), Around()
        if path:
            found = list(self._along(path))
            if len(found) < len(path):
                return Page(0, 0, ())
            fields, around = found[-1][0].below, found[-1][1].inside(found[-1][0])
        first = max(0, min(first, len(fields)))
        stop = min(len(fields), first + max(0, min(count, MAX_FIELD_ROWS)))
        return Page(len(fields), first, tuple(self.row((*path, at), fields[at], around) for at in range(first, stop)))

    def search(self, text: str, progress: Progress) -> FoundFields:
        """The fields whose name, value or meaning contains a text, outer ones first."""
        wanted, found, looked_at = text.casefold(), list[FoundField](), 0
        waiting: list[tuple[tuple[int, ...], tuple[str, ...], Sequence[Field], Around]] = [
            ((), (), self.layer.fields(), Around())
        ]
        while waiting:
            path, names, fields, around = waiting.pop(0)
            for at in range(len(fields)):
                if looked_at >= MAX_SEARCHED_FIELDS or len(found) >= MAX_FOUND_FIELDS:
                    return FoundFields(tuple(found), False)
                field = fields[at]
                looked_at += 1
                progress.advance(1)
                row = self.row((*path, at), field, around)
                if wanted in f"{row.name}\n{row.value}\n{row.note}".casefold():
                    found.append(FoundField(row, names))
                if field.children and not isinstance(field.children, Unread):
                    waiting.append(((*path, at), (*names, row.name), field.children, around.inside(field)))
        return FoundFields(tuple(found), True)

    def explain(self, offset: int, wanted: Sequence[int] | None = None) -> Explanation:
        """The fields that own the byte at ``offset``, and the findings on it.

        The last owns data, which is read only where the ``wanted`` path goes on inside it.
        """
        path = tuple(position for position, _ in locate(self.layer.fields(), offset))
        if wanted is not None and tuple(wanted[: len(path)]) == path:
            path = tuple(wanted)
        rows, member = list[FieldRow](), None
        for depth, (field, around) in enumerate(self._along(path), 1):
            rows.append(self.row(path[:depth], field, around))
            member = member if field.member is None else self.member(field)
        inside = 0 <= offset < self.layer.source.size
        outer = self.layer.in_file((Span(offset, offset + 1),)) if inside else ()
        findings = self.marks.at(outer[0].start) if outer else ()
        return Explanation(self.layer.info.layer, offset, tuple(rows), member, findings)


class StreamMapping:
    """Maps file offsets to offsets in a stream spliced from the file, whose outer spans ascend."""

    def __init__(self, stream: SplicedSource) -> None:
        self._outer = [span for span in stream.outer(0, stream.size) if span.size > 0]
        self._starts = [span.start for span in self._outer]
        self._bases = list(accumulate((span.size for span in self._outer), initial=0))

    def position(self, offset: int) -> int:
        """The stream offset of a file byte; for a byte outside the stream, that of the next byte inside."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return 0
        return self._bases[at] + min(offset, self._outer[at].stop) - self._outer[at].start

    def spans(self, spans: Iterable[Span]) -> Spans:
        """The stream spans of file spans; adjacent ones are merged."""
        found: list[Span] = []
        for span in spans:
            start, stop = self.position(span.start), self.position(span.stop)
            if start < stop and found and found[-1].stop == start:
                found[-1] = Span(found[-1].start, stop)
            elif start < stop:
                found.append(Span(start, stop))
        return tuple(found)

    def fields(self, fields: Sequence[Field]) -> Sequence[Field]:
        """The fields inside the stream. Tables stay tables and map each row on access."""
        if not isinstance(fields, FieldTable):
            return tuple(filter(None, map(self._mapped, fields)))

        def make(row: int) -> Field:
            field, at = fields.make(row), self.position(fields.starts[row])
            return self._mapped(field) or field._replace(spans=(Span(at, at),), children=())

        starts = Computed(len(fields.starts), lambda row: self.position(fields.starts[row]))
        return FieldTable(starts, make, fields.roles, fields.counts, fields.turn)

    def _mapped(self, field: Field) -> Field | None:
        """The field in the stream, None if it is outside."""
        if not field.spans:
            return field
        spans = self.spans(field.spans)
        if not spans:
            return None
        inside = Unread(lambda: self.fields(field.inside)) if field.inside else ()
        return field._replace(spans=spans, children=self.fields(field.children), inside=inside)
