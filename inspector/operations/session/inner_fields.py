"""The fields of a file in the coordinates of a stream spliced from it: what lies outside the stream drops out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from inspector.core.field import Field, FieldTable
from inspector.core.rows import LazyRows
from inspector.core.source import SplicedSource
from inspector.core.span import Span, Spans


class StreamMapping:
    """The way from outer to inner positions of one stream. Outer spans of the stream rise, as chunks do."""

    def __init__(self, stream: SplicedSource) -> None:
        self._outer = [span for span in stream.outer(0, stream.size) if span.size > 0]
        self._starts = [span.start for span in self._outer]
        self._bases: list[int] = []
        base = 0
        for span in self._outer:
            self._bases.append(base)
            base += span.size

    def position(self, offset: int) -> int:
        """The inner position of an outer byte; of one outside the stream that of the next byte inside."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return 0
        return self._bases[at] + min(offset, self._outer[at].stop) - self._outer[at].start

    def spans(self, spans: Iterable[Span]) -> Spans:
        """The inner bytes of outer spans; pieces that touch in the stream are one."""
        found: list[Span] = []
        for span in spans:
            moved = Span(self.position(span.start), self.position(span.stop))
            if moved.size <= 0:
                continue
            if found and found[-1].stop == moved.start:
                found[-1] = Span(found[-1].start, moved.stop)
            else:
                found.append(moved)
        return tuple(found)

    def fields(self, fields: Sequence[Field]) -> Sequence[Field]:
        """The fields inside the stream; tables stay tables, whose rows are moved when they are looked at."""
        if isinstance(fields, FieldTable):
            return self._table(fields)
        moved = (self._mapped(field) for field in fields)
        return tuple(field for field in moved if field is not None)

    def _table(self, table: FieldTable) -> FieldTable:
        def make(row: int) -> Field:
            field = table.make(row)
            at = self.position(table.starts[row])
            return self._mapped(field) or replace(field, spans=(Span(at, at),), children=())

        return FieldTable(_MappedStarts(table.starts, self), make, table.roles)

    def _mapped(self, field: Field) -> Field | None:
        """The field in the stream; None for one that lies outside of it."""
        if not field.spans:
            return field
        spans = self.spans(field.spans)
        if not spans:
            return None
        return replace(field, spans=spans, children=self.fields(field.children))


class _MappedStarts(LazyRows[int]):
    """The starts of a table's rows, moved one at a time."""

    def __init__(self, starts: Sequence[int], mapping: StreamMapping) -> None:
        self._starts = starts
        self._mapping = mapping

    def __len__(self) -> int:
        return len(self._starts)

    def row(self, at: int) -> int:
        return self._mapping.position(self._starts[at])
