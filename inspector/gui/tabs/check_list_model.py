"""The locations of a check of many, and what each came to: what the rows say."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, grouped
from inspector.core.verdict import State
from inspector.gui.kit.icons import icon, state_icon
from inspector.gui.kit.model_titled_table import Index, TitledTable
from inspector.gui.kit.text import plain, short
from inspector.operations.protocol.check_views import CheckLocation, Outcome

TITLES = ("Location", "State", "Errors", "Warnings", "What was found")
LOCATION, STATE, ERRORS, WARNINGS, SENTENCE = range(len(TITLES))
WAITING, CHECKING = "waiting", "being checked"
LEFT_OUT, CANCELLED = "no archive", "not checked"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_COUNTED = {ERRORS: Severity.ERROR, WARNINGS: Severity.WARNING}


@dataclass(slots=True)
class _Row:
    location: str
    doing: str = WAITING
    outcome: Outcome | None = None


class CheckListModel(TitledTable):
    """All locations, in their order; ``start`` is the path that they are told relative to."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, parent)
        self._rows: list[_Row] = []
        self._start = ""

    def fill(self, wanted: list[CheckLocation], start: str = "") -> None:
        """Show these locations, about which nothing is known yet."""
        self.beginResetModel()
        self._rows = [_Row(each.location) for each in wanted]
        self._start = start
        self.endResetModel()

    def begin(self, at: int) -> None:
        """Say that one is being checked."""
        self._rows[at].doing = CHECKING
        self._changed(at, at)

    def take(self, at: int, outcome: Outcome) -> None:
        """Say what one came to."""
        self._rows[at].outcome = outcome
        self._rows[at].doing = LEFT_OUT if outcome.left_out else ""
        self._changed(at, at)

    def cancel(self) -> None:
        """Say that the rest is not checked."""
        for row in self._rows:
            row.doing = CANCELLED if row.outcome is None else row.doing
        if self._rows:
            self._changed(0, len(self._rows) - 1)

    def _changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(TITLES) - 1))

    def location(self, index: Index) -> str:
        """The location in a row."""
        return self._rows[index.row()].location

    @property
    def done(self) -> int:
        """How many have been checked."""
        return sum(row.outcome is not None for row in self._rows)

    def summary(self) -> str:
        """What is known, in a sentence."""
        outcomes = [row.outcome for row in self._rows if row.outcome is not None]
        states = Counter(outcome.state for outcome in outcomes if not outcome.left_out)
        parts = [f"{grouped(states[state])} {_told(state)}" for state in State if states[state]]
        archives, told = count(states.total(), "archive"), ", ".join(parts)
        words = f"{archives} checked: {told}" if parts else f"{archives} checked"
        left_out = sum(outcome.left_out for outcome in outcomes)
        rest = len(self._rows) - len(outcomes)
        if left_out:
            words += "; " + count(left_out, "other file is no archive", "other files are no archives")
        return f"{words}; " + f"{grouped(rest)} not checked." if rest else f"{words}."

    # ---- overrides ---------------------------------------------------------------------------------------------

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.TextAlignmentRole and section in _COUNTED:
            return _RIGHT
        return super().headerData(section, orientation, role)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            return _icon(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(visible(row.location) if column == LOCATION else self._text(row, column)))
        return _RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and column in _COUNTED else None

    def _text(self, row: _Row, column: int) -> str:
        if column == LOCATION:
            return short(visible(row.location.removeprefix(self._start)))
        outcome = row.outcome
        if column == STATE:
            return row.doing or (outcome.state.value if outcome is not None else "")
        if outcome is None:
            return ""
        if column in _COUNTED:
            return grouped(dict(outcome.counts).get(_COUNTED[column], 0)) if not outcome.left_out else ""
        said = outcome.worst or outcome.sentence
        return "Its format is unknown." if outcome.left_out else short(visible(said))


def _told(state: State) -> str:
    return "with warnings" if state is State.WARNING else state.value


def _icon(row: _Row) -> Any:
    if row.outcome is not None and not row.outcome.left_out:
        return state_icon(row.outcome.state)
    return icon("reload") if row.doing == CHECKING else None
