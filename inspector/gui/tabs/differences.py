"""The differences of a comparison: their list, their map and the legend of their colours."""

from __future__ import annotations

from msgspec.structs import replace

from inspector.core.kinds import Role, role_bit
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.gui.hex.beside.file_map import FileMap
from inspector.gui.hex.beside.legend import DAMAGED, Legend, LegendEntry, role_entries
from inspector.gui.kit.table_models import Column
from inspector.gui.tabs.aligned_view import CHANGE_LABELS, ROLES
from inspector.operations.protocol.compare_views import Alignment, Level, Order, Side

_KINDS = {Level.RANGE: "range", Level.MEMBER: "member", Level.FIELD: "field", Level.BYTES: "bytes"}


# ---- the list of differences -------------------------------------------------------------------------------------


def _place(side: Side | None) -> str:
    if side is None or not side.spans:
        return ""
    start, stop = side.spans[0].start, side.spans[-1].stop
    return f"{grouped(start)}..{grouped(stop)}" if stop > start else grouped(start)


COLUMNS = (
    Column(
        "Kind",
        lambda row: f"{_KINDS[row.level]} {CHANGE_LABELS.get(row.change, row.change.value)}",
        116,
        sort=Order.FOUND,
    ),
    Column("Difference", lambda row: visible(row.message), sort=Order.WHAT),
    Column("In A", lambda row: _place(row.a), 116, sort=Order.A),
    Column("In B", lambda row: _place(row.b), 116, sort=Order.B),
    Column("Right", lambda row: (row.right or "").upper(), 52, sort=Order.RIGHT),
)
KIND, WHAT, IN_A, IN_B, RIGHT = range(len(COLUMNS))


# ---- the map and the legend --------------------------------------------------------------------------------------


def role_sets(alignment: Alignment, rows: int) -> list[int]:
    """The roles of the differences in each of ``rows`` equal stretches of aligned positions."""
    size, sets = alignment.size, [0] * rows
    if not size or not rows:
        return sets
    for row in range(rows):
        start, stop = row * size // rows, max(row * size // rows + 1, (row + 1) * size // rows)
        first = alignment.before(start + 1)
        runs = range(max(0, first - 1), min(alignment.before(stop), first + len(ROLES) + 1))
        for at in runs:
            run = alignment.run(at)
            if run.change is not None and run.start < stop and start < run.stop:
                sets[row] |= role_bit(ROLES[run.change])
    return sets


class DifferenceMap(FileMap):
    """All differences of both sides at their aligned positions."""

    def __init__(self) -> None:
        super().__init__()
        self._alignment = Alignment()
        self.setAccessibleName("Map of the differences")

    def show_alignment(self, alignment: Alignment) -> None:
        """Start a map of another alignment."""
        self._alignment = alignment
        self.setSize(alignment.size)

    def describe(self, y: int) -> str:
        """The tooltip for a row of pixels; empty where both sides are equal."""
        if not self._alignment.size or not 0 <= y < self.height():
            return ""
        roles = role_sets(self._alignment, self.height())[y]
        return ", ".join(label for change, label in CHANGE_LABELS.items() if roles & role_bit(ROLES[change]))


class DifferenceLegend(Legend):
    """What the backgrounds of the views mean."""

    def __init__(self) -> None:
        super().__init__()
        names: dict[Role, str] = {ROLES[change]: label for change, label in CHANGE_LABELS.items()}
        names[Role.GAP] = "nothing here"
        found = role_entries(sum(map(role_bit, names)))
        labelled = [
            replace(entry, label=names[role]) for entry in found for role in entry.lit if isinstance(role, Role)
        ]
        self.setEntries([*labelled, LegendEntry("the other side is right", mark=DAMAGED)])
