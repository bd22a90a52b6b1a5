"""A tab that checks many archives and lists what each came to."""

from __future__ import annotations

import os

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout

from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.core.redaction import strip_credentials
from inspector.gui.document.check_many import ManyChecks
from inspector.gui.document.session import SIDES, OpenTab
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, push_button, table_view
from inspector.gui.tabs.check_list_model import ERRORS, LOCATION, SENTENCE, STATE, WARNINGS, CheckListModel
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.check_views import CheckLocation, Outcome
from inspector.sources.s3.connection import DEFAULT, Connection

WIDTHS = {LOCATION: 320, STATE: 130, ERRORS: 70, WARNINGS: 80, SENTENCE: 500}
TOLD = 100
"""Milliseconds between two sentences about how far it is."""


class CheckTab(SideTab):
    """The check of many locations: what is in them is found out when it begins.

    Signals:
        chosen(str): a location is to be opened.
    """

    chosen = Signal(str)

    def __init__(self, locations: list[str], connection: Connection = DEFAULT) -> None:
        super().__init__(SIDES["check"])
        self._locations = locations
        self._trouble = ""
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
        self.again = push_button("Check &Again", "Find and check all archives there")
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self._stack)
        self._told = QTimer(self)
        self._told.setSingleShot(True)
        self._told.setInterval(TOLD)
        self._told.timeout.connect(self._tell)
        self._lay_out()
        self.checks.started.connect(self._started)
        self.checks.found.connect(self._found)
        self.checks.began.connect(self.model.begin)
        self.checks.came.connect(self._came)
        self.checks.failed.connect(self._fail)
        self.checks.finished.connect(self._finished)
        self.stop.clicked.connect(self.cancel)
        self.again.clicked.connect(self.checks.start)
        self.table.activated.connect(self._open)
        self._show_work()

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

    def show_places(self) -> None:
        """Show what was checked in an earlier session, and wait until the user wants it checked again."""
        self.model.fill([CheckLocation(each) for each in self._locations])
        self.model.cancel()
        self._stack.show_view(self.table)
        self.sentence.setText("Checked in an earlier session, and not checked again automatically.")

    def cancel(self) -> None:
        self.checks.cancel()

    def _started(self) -> None:
        self._trouble = ""
        self.model.fill([])
        self._stack.show_sentence("Looking for archives…")
        self.bar.setRange(0, 0)
        self._show_work()
        self._tell()

    def _show_work(self) -> None:
        running, had_focus = self.checks.running, self.again.hasFocus() or self.stop.hasFocus()
        for widget in (self.bar, self.stop):
            widget.setVisible(running)
        self.again.setVisible(not running)
        if had_focus:
            (self.stop if running else self.again).setFocus()

    def _found(self, wanted: list[CheckLocation]) -> None:
        self.model.fill(wanted, _common_start([each.location for each in wanted]))
        self.bar.setRange(0, max(1, len(wanted)))
        if wanted:
            self._stack.show_view(self.table)
        else:
            self._stack.show_sentence("There is no file to check.")
        self._tell()

    def _came(self, at: int, outcome: Outcome) -> None:
        self.model.take(at, outcome)
        if not self._told.isActive():
            self._told.start()

    def _fail(self, sentence: str) -> None:
        self._trouble = sentence
        if not self.model.rowCount():
            self._stack.show_sentence(sentence)

    def _finished(self) -> None:
        self.model.cancel()
        self._show_work()
        self._told.stop()
        self._tell()

    def _tell(self) -> None:
        total = self.model.rowCount()
        if self.checks.running:
            self.bar.setValue(self.model.done)
            where = visible(self._locations[0]) if len(self._locations) == 1 else "several places"
            done = "looking for archives"
            if total:
                done = f"{grouped(self.model.done)} of {grouped(total)} archives"
            told = f"Checking {where}: {done}."
            self.sentence.setText(f"{told} {self.model.summary() if total else ''}".strip())
        else:
            self.sentence.setText(f"{self.model.summary()} {self._trouble}".strip())

    def _open(self, index: QModelIndex) -> None:
        self.chosen.emit(self.model.location(index))


def _common_start(locations: list[str]) -> str:
    """The folder that all locations are in, with the separator at its end."""
    folders = {os.path.dirname(location) for location in locations}  # noqa: PTH120 - text, not a place on the disk
    if not folders:
        return ""
    start = os.path.commonpath(folders) if len(folders) > 1 else next(iter(folders))
    return start.rstrip(os.sep) + os.sep
