"""The tab that checks many archives and lists the result of each."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, grouped
from inspector.core.redaction import strip_credentials
from inspector.core.verdict import State
from inspector.gui.document.checking import ManyChecks
from inspector.gui.document.session import SIDES, OpenTab
from inspector.gui.kit.icons import icon, state_icon
from inspector.gui.kit.table_models import Index, TitledTable
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, push_button, table_view
from inspector.gui.tabs.audit_model import state_label
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.check_views import CheckTarget, Outcome
from inspector.sources.s3.connection import DEFAULT, Connection

TITLES = ("Location", "State", "Errors", "Warnings", "What was found")
LOCATION, STATE, ERRORS, WARNINGS, SENTENCE = range(len(TITLES))
WAITING, CHECKING = "waiting", "being checked"
LEFT_OUT, CANCELLED = "no archive", "not checked"
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_COUNTED = {ERRORS: Severity.ERROR, WARNINGS: Severity.WARNING}

WIDTHS = {LOCATION: 320, STATE: 130, ERRORS: 70, WARNINGS: 80, SENTENCE: 500}
REFRESH_MS = 100
"""Milliseconds between two updates of the progress sentence."""


class CheckTab(SideTab):
    """Checks many locations; the archives below them are searched when the check starts.

    Signals:
        chosen(str): open this location.
    """

    chosen = Signal(str)

    def __init__(self, locations: list[str], connection: Connection = DEFAULT) -> None:
        super().__init__(SIDES["check"])
        self._locations = locations
        self._error = ""
        self.checks = ManyChecks(locations, self, connection)
        self.model = CheckListModel(self)
        self.table = table_view(self.model, WIDTHS, "Checked archives")
        self.sentence = SelectableLabel()
        self.sentence.setAccessibleName("Progress of the checks")
        self.bar = QProgressBar()
        self.bar.setAccessibleName("Archives checked")
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        self.bar.setRange(0, 0)
        self.stop = QPushButton("Cancel")
        self.stop.setToolTip("Stop checking; finished results stay (Esc)")
        self.again = push_button("Check &Again", "Search for archives again and check all of them")
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self._stack)
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        self._refresh_timer.setInterval(REFRESH_MS)
        self._refresh_timer.timeout.connect(self._refresh_sentence)
        self._lay_out()
        self.checks.started.connect(self._started)
        self.checks.found.connect(self._archives_found)
        self.checks.began.connect(self.model.begin)
        self.checks.came.connect(self._outcome_received)
        self.checks.failed.connect(self._show_error)
        self.checks.finished.connect(self._finished)
        self.stop.clicked.connect(self.cancel)
        self.again.clicked.connect(self.checks.start)
        self.table.activated.connect(self._open)
        self._update_buttons()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(10, 6, 8, 6)
        head.setSpacing(8)
        head.addWidget(self.sentence, 1)
        head.addWidget(self.bar)
        head.addWidget(self.stop)
        head.addWidget(self.again)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._stack, 1)

    @property
    def settled(self) -> bool:
        return not self.checks.running

    @property
    def kept(self) -> OpenTab:
        places = tuple(map(strip_credentials, self._locations))
        return OpenTab(next(iter(places), ""), side="check", places=places)

    def show_locations(self) -> None:
        """List the locations of an earlier session without checking them again."""
        self.model.fill([CheckTarget(each) for each in self._locations])
        self.model.cancel()
        self._stack.show_view(self.table)
        self.sentence.setText("These archives were checked in an earlier session. Check Again repeats the check.")

    def cancel(self) -> None:
        self.checks.cancel()

    def _started(self) -> None:
        self._error = ""
        self.model.fill([])
        self._stack.show_sentence("Looking for archives…")
        self.bar.setRange(0, 0)
        self._update_buttons()
        self._refresh_sentence()

    def _update_buttons(self) -> None:
        running, had_focus = self.checks.running, self.again.hasFocus() or self.stop.hasFocus()
        for widget in (self.bar, self.stop):
            widget.setVisible(running)
        self.again.setVisible(not running)
        if had_focus:
            (self.stop if running else self.again).setFocus()

    def _archives_found(self, archives: list[CheckTarget]) -> None:
        self.model.fill(archives, _common_folder([each.location for each in archives]))
        self.bar.setRange(0, max(1, len(archives)))
        if archives:
            self._stack.show_view(self.table)
        else:
            self._stack.show_sentence("There is no file to check.")
        self._refresh_sentence()

    def _outcome_received(self, at: int, outcome: Outcome) -> None:
        self.model.take(at, outcome)
        if not self._refresh_timer.isActive():
            self._refresh_timer.start()

    def _show_error(self, sentence: str) -> None:
        self._error = sentence
        if not self.model.rowCount():
            self._stack.show_sentence(sentence)

    def _finished(self) -> None:
        self.model.cancel()
        self._update_buttons()
        self._refresh_timer.stop()
        self._refresh_sentence()

    def _refresh_sentence(self) -> None:
        total = self.model.rowCount()
        if self.checks.running:
            self.bar.setValue(self.model.done)
            where = visible(self._locations[0]) if len(self._locations) == 1 else "several places"
            done = "looking for archives"
            if total:
                done = f"{grouped(self.model.done)} of {grouped(total)} archives"
            text = f"Checking {where}: {done}."
            self.sentence.setText(f"{text} {self.model.summary() if total else ''}".strip())
        else:
            self.sentence.setText(f"{self.model.summary()} {self._error}".strip())

    def _open(self, index: QModelIndex) -> None:
        self.chosen.emit(self.model.location(index))


def _common_folder(locations: list[str]) -> str:
    """The common folder of all locations, with a trailing separator."""
    folders = {os.path.dirname(location) for location in locations}  # noqa: PTH120 - text, not a place on the disk
    if not folders:
        return ""
    start = os.path.commonpath(folders) if len(folders) > 1 else next(iter(folders))
    return start.rstrip(os.sep) + os.sep


@dataclass(slots=True)
class _Row:
    location: str
    progress: str = WAITING
    outcome: Outcome | None = None


class CheckListModel(TitledTable):
    """All locations in order."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, parent)
        self._rows: list[_Row] = []
        self._folder = ""

    def fill(self, archives: list[CheckTarget], folder: str = "") -> None:
        """Show these locations as waiting, relative to ``folder``."""
        self.beginResetModel()
        self._rows = [_Row(each.location) for each in archives]
        self._folder = folder
        self.endResetModel()

    def begin(self, at: int) -> None:
        """Mark a row as being checked."""
        self._rows[at].progress = CHECKING
        self._changed(at, at)

    def take(self, at: int, outcome: Outcome) -> None:
        """Show the outcome of a row."""
        self._rows[at].outcome = outcome
        self._rows[at].progress = LEFT_OUT if outcome.left_out else ""
        self._changed(at, at)

    def cancel(self) -> None:
        """Mark all rows without an outcome as not checked."""
        for row in self._rows:
            row.progress = CANCELLED if row.outcome is None else row.progress
        if self._rows:
            self._changed(0, len(self._rows) - 1)

    def _changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first, 0), self.index(last, len(TITLES) - 1))

    def location(self, index: Index) -> str:
        """The location of a row."""
        return self._rows[index.row()].location

    @property
    def done(self) -> int:
        """How many locations have an outcome."""
        return sum(row.outcome is not None for row in self._rows)

    def summary(self) -> str:
        """The counts of all outcomes, as a sentence."""
        outcomes = [row.outcome for row in self._rows if row.outcome is not None]
        states = Counter(outcome.state for outcome in outcomes if not outcome.left_out)
        parts = [f"{grouped(states[state])} {state_label(state.value)}" for state in State if states[state]]
        archives, text = count(states.total(), "archive"), ", ".join(parts)
        sentence = f"{archives} checked: {text}" if parts else f"{archives} checked"
        left_out = sum(outcome.left_out for outcome in outcomes)
        rest = len(self._rows) - len(outcomes)
        if left_out:
            sentence += "; " + count(left_out, "other file is not an archive", "other files are not archives")
        return f"{sentence}; " + f"{grouped(rest)} not checked." if rest else f"{sentence}."

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
            return short(visible(row.location.removeprefix(self._folder)))
        outcome = row.outcome
        if column == STATE:
            return row.progress or (outcome.state.value if outcome is not None else "")
        if outcome is None:
            return ""
        if column in _COUNTED:
            return grouped(dict(outcome.counts).get(_COUNTED[column], 0)) if not outcome.left_out else ""
        text = outcome.worst or outcome.sentence
        return "Its format is unknown." if outcome.left_out else short(visible(text))


def _icon(row: _Row) -> Any:
    if row.outcome is not None and not row.outcome.left_out:
        return state_icon(row.outcome.state)
    return icon("reload") if row.progress == CHECKING else None
