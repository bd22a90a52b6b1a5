"""The map of an archive: the roles and families in each of many equal stretches, and how often each kind occurs."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from inspector.core.field import Census, Field, FieldTable
from inspector.core.kinds import Family, Role, declared_kinds, family_bit, family_of, role_bit, role_of
from inspector.core.program.progress import Progress
from inspector.core.span import Span
from inspector.operations.open.opening import Opened

_DATA_BITS = role_bit(Role.DATA) | family_bit(Family.CONTENT)


def in_kind_order(found: Census, archive: Opened) -> Census:
    """A census of an archive in the order of its format's kinds."""
    order = (*archive.decoder.kinds, *declared_kinds()) if archive.decoder else declared_kinds()
    place = {kind: at for at, kind in reversed(list(enumerate(order)))}
    return Counter(dict(sorted(found.items(), key=lambda item: (place[item[0][0]], item[0][1]))))


def overview(fields: Sequence[Field], size: int, rows: int, progress: Progress, *, sparing: bool = False) -> list[int]:
    """The set of roles and families in each of ``rows`` equal stretches of the bytes ``[0, size)``.

    A set holds bits (see ``role_bit``, ``family_bit``). Stretch ``i`` begins at ``i * size // rows`` and holds at least
    one byte. ``sparing``: no row of a table is made, which might read it; of one that reaches far, the beginning has
    all its roles and the rest is data. Raises Cancelled.
    """
    painter = _RolePainter(size, rows, progress, sparing=sparing)
    if size > 0 and rows > 0:
        painter.paint(fields, Role.DATA, None, size)
    return painter.sets


class _RolePainter:
    def __init__(self, size: int, rows: int, progress: Progress, *, sparing: bool) -> None:
        self.sets = [0] * max(0, rows)
        self._size = size
        self._rows = rows
        self._progress = progress
        self._sparing = sparing

    def paint(self, fields: Sequence[Field], inherited: Role, around: Family | None, stop: int) -> None:
        """Paint fields that end at ``stop`` at the latest, in a field of this role and family."""
        if isinstance(fields, FieldTable):
            self._table(fields, inherited, around, stop)
            return
        for field in fields:
            self._progress.advance(0)
            role, family = role_of(field.kind, inherited), family_of(field.kind, around)
            if field.children:
                self.paint(field.children, role, family, field.spans[-1].stop if field.spans else self._size)
                continue
            for span in field.spans:
                if span.size > 0:
                    self._mark(span, role_bit(role) | (0 if family is None else family_bit(family)))

    def _mark(self, span: Span, bits: int) -> None:
        for row in range(self._first(span.start), self._last(span.stop) + 1):
            self.sets[row] |= bits

    def _first(self, offset: int) -> int:
        """The first stretch that holds the byte; a small file's byte may be in several."""
        return min(-(-offset * self._rows // self._size), ((offset + 1) * self._rows - 1) // self._size)

    def _last(self, stop: int) -> int:
        """The last stretch that holds the byte before ``stop``."""
        return (stop * self._rows - 1) // self._size

    def _table(self, table: FieldTable, role: Role, family: Family | None, limit: int) -> None:
        """Rows that lie in one stretch count by their sets of roles; one that reaches further is looked into.

        Not where other rows have shown all that it could.
        """
        starts, at = table.starts, 0
        further: list[int] = []
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
                further.append(at)
                at += 1
        for at in further:
            start, roles = starts[at], table.role_set(at)
            stop = starts[at + 1] if at + 1 < len(starts) else limit
            reached = self.sets[self._first(start) : self._last(stop) + 1] if stop > start else ()
            if not self._sparing and not (reached and all(each & roles == roles for each in reached)):
                self.paint((table[at],), role, family, limit)
            elif self._sparing and stop > start:  # as it is known without making it
                self._mark(Span(start, start + 1), roles)
                self._mark(Span(start, stop), roles & _DATA_BITS or roles)


def _sets(table: FieldTable, first: int, stop: int) -> int:
    """The roles of rows that are followed by another one; rows without bytes count for nothing."""
    if isinstance(table.roles, int):
        return table.roles if table.starts[first] < table.starts[stop] else 0
    import numpy as np  # here because opening an archive need not wait for it

    starts = np.asarray(table.starts[first : stop + 1], np.int64)
    own = np.asarray(table.roles[first:stop], np.int64)
    return int(np.bitwise_or.reduce(own[np.diff(starts) > 0], initial=0))
