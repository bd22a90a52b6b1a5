"""The map of a layer: which roles and verdicts each of many equal stretches has, exact at any size."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from inspector.core.field import Field, FieldTable
from inspector.core.kinds import Role, role_bit, role_of
from inspector.core.progress import Progress
from inspector.core.source import is_sparing
from inspector.core.span import Span
from inspector.operations.protocol.views import LayerKind
from inspector.operations.session.snapshot import Snapshot


class LayerMap:
    """What a session answers about whole layers at once."""

    _now: Snapshot

    def overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """The set of roles in each of ``rows`` equal stretches of a layer. Raises Cancelled."""
        shown = self._now.layers[layer]
        return overview(shown.fields(), shown.source.size, rows, progress, sparing=is_sparing(shown.source))

    def verdict_overview(self, progress: Progress, layer: int, rows: int) -> list[int]:
        """What checking has said of members (a set, see ``Judged``) in each stretch of ``overview``."""
        from inspector.operations.session.verdict_overview import BITS, verdict_overview  # brings numpy

        shown = self._now.layers[layer]
        if shown.info.member is not None:
            verdict = self._now.members.row(shown.info.member).verdict
            return [int(BITS[verdict]) if shown.source.size else 0] * rows
        return verdict_overview(shown.archive, shown.info.kind is LayerKind.INNER, rows, progress)


def overview(fields: Sequence[Field], size: int, rows: int, progress: Progress, *, sparing: bool = False) -> list[int]:
    """The set of roles (see ``role_bit``) in each of ``rows`` equal stretches of the bytes ``[0, size)``.

    Stretch ``i`` begins at ``i * size // rows`` and holds at least one byte. ``sparing``: no row of a table is made,
    which might read it; of one that reaches far, the beginning has all its roles and the rest is data. Raises
    Cancelled.
    """
    painter = _RolePainter(size, rows, progress, sparing=sparing)
    if size > 0 and rows > 0:
        painter.paint(fields, Role.DATA, size)
    return painter.sets


class _RolePainter:
    def __init__(self, size: int, rows: int, progress: Progress, *, sparing: bool) -> None:
        self.sets = [0] * max(0, rows)
        self._size = size
        self._rows = rows
        self._progress = progress
        self._sparing = sparing

    def paint(self, fields: Sequence[Field], role: Role, stop: int) -> None:
        """Paint fields that end at ``stop`` at the latest."""
        if isinstance(fields, FieldTable):
            self._table(fields, role, stop)
            return
        for field in fields:
            self._field(field, role)

    def _field(self, field: Field, inherited: Role) -> None:
        self._progress.advance(0)
        role = role_of(field.kind, inherited)
        if field.children:
            self.paint(field.children, role, field.spans[-1].stop if field.spans else self._size)
            return
        bit = role_bit(role)
        for span in field.spans:
            if span.size > 0:
                self._mark(span, bit)

    def _mark(self, span: Span, bits: int) -> None:
        for row in range(self._first(span.start), self._last(span.stop) + 1):
            self.sets[row] |= bits

    def _first(self, offset: int) -> int:
        """The first stretch that holds the byte; a small file's byte may be in several."""
        return min(-(-offset * self._rows // self._size), ((offset + 1) * self._rows - 1) // self._size)

    def _last(self, stop: int) -> int:
        """The last stretch that holds the byte before ``stop``."""
        return (stop * self._rows - 1) // self._size

    def _table(self, table: FieldTable, role: Role, limit: int) -> None:
        """Rows that lie in one stretch count by their sets of roles; one that reaches further is looked into."""
        starts, at = table.starts, 0
        while at < len(starts):
            self._progress.advance(0)
            row = min(self._last(starts[at] + 1), self._rows - 1)
            end = (row + 1) * self._size // self._rows
            # Of the rows that begin in this stretch the last may reach out of it.
            stop = bisect_left(starts, end, lo=at)
            within = stop if stop < len(starts) and starts[stop] == end else stop - 1
            if within > at and self._first(starts[at]) == row:
                self.sets[row] |= _sets(table, at, within)
                at = within
            else:
                if self._sparing:
                    self._unread(table, at, limit)
                else:
                    self._field(table[at], role)
                at += 1

    def _unread(self, table: FieldTable, at: int, limit: int) -> None:
        """A row as it is known without making it."""
        start, roles = table.starts[at], table.role_set(at)
        stop = table.starts[at + 1] if at + 1 < len(table) else limit
        if stop > start:
            self._mark(Span(start, start + 1), roles)
            self._mark(Span(start, stop), roles & role_bit(Role.DATA) or roles)


def _sets(table: FieldTable, first: int, stop: int) -> int:
    """The roles of rows that are followed by another one; rows without bytes count for nothing."""
    if isinstance(table.roles, int):
        return table.roles if table.starts[first] < table.starts[stop] else 0
    import numpy as np  # here because opening an archive need not wait for it

    starts = np.asarray(table.starts[first : stop + 1], np.int64)
    own = np.asarray(table.roles[first:stop], np.int64)
    return int(np.bitwise_or.reduce(own[np.diff(starts) > 0], initial=0))
