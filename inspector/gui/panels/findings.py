"""The findings: what is wrong, where, and so what."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QToolButton, QVBoxLayout, QWidget

from inspector.core.finding import Severity
from inspector.core.numbers import grouped
from inspector.gui.document.document import Document
from inspector.gui.kit.icons import icon, severity_icon
from inspector.gui.kit.item_views import RowTable
from inspector.gui.kit.table_models import PagedTable
from inspector.gui.kit.text import not_there_yet
from inspector.gui.kit.widgets import Details, Emptiable, FlowLayout
from inspector.gui.panels.models.findings import BYTES, CODE, MEMBER, MESSAGE, SEVERITY, FindingColumns, described, line
from inspector.operations.protocol.views import FindingRow, Stage

ORIGIN = "findings"
WIDTHS = {SEVERITY: 80, BYTES: 140, MEMBER: 110, CODE: 130}
LEAST = 240
"""Pixels of what was found before other columns are shown; what is in them is said of the selected finding too."""
_WORDS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Information"}


class FindingsPanel(QWidget):
    """Shows the findings of a document; choosing one shows its bytes.

    Signals:
        exportWanted(): a report is to be written to a file.
        repairWanted(str code): a finding is to be repaired: the code of its repair, or its own where that is not known.
    """

    exportWanted = Signal()
    repairWanted = Signal(str)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._columns = FindingColumns(document.client)
        self.model = PagedTable(self._columns, self)
        self.table = RowTable(self.model, WIDTHS, "Findings", line)
        header = self.table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.severities = {severity: self._severity_button(severity) for severity in Severity}
        self.copying = _button("Copy", "Copy findings as text")
        self.copying.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.copying)
        menu.addAction("&Selected Findings").triggered.connect(self.table.copy)
        menu.addAction("&All Findings Shown").triggered.connect(self.table.copy_all)
        self.copying.setMenu(menu)
        self.exporting = _button("Export…", "Write a report as text, JSON or HTML")
        self.exporting.clicked.connect(self.exportWanted)
        self.repairing = _button("Repair…", "Plan repairs for the selected finding; nothing is written yet")
        self.repairing.setIcon(icon("repair"))
        self.repairing.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.repairing.clicked.connect(self.repair)
        self.table.wanted = self._actions
        self.about = Details("The selected finding in full")
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self._stack)
        self._lay_out()
        document.rowsChanged.connect(self.model.refetch)
        document.statusChanged.connect(self._refresh)
        self.model.rowsInserted.connect(self._refresh)
        self.model.rowsRemoved.connect(self._refresh)
        self.table.selectionModel().currentRowChanged.connect(self._describe)
        self.model.dataChanged.connect(self._describe)
        self.table.clicked.connect(self._chosen)
        self.table.activated.connect(self._chosen)
        self._describe()
        self._refresh()

    def _severity_button(self, severity: Severity) -> QToolButton:
        button = _button(words := _WORDS[severity], f"Show findings that are {words.lower()}")
        button.setIcon(severity_icon(severity))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setCheckable(True)
        button.setChecked(True)
        button.toggled.connect(self._filter)
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.width() - WIDTHS[SEVERITY] - LEAST
        for column in (BYTES, MEMBER, CODE):
            room -= WIDTHS[column]
            self.table.setColumnHidden(column, room < 0)

    def _lay_out(self) -> None:
        bar = FlowLayout(2, 4)
        bar.add(*self.severities.values(), self.repairing, self.copying, self.exporting)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.about)

    def step(self, step: int) -> None:
        """Show the next (1) or previous (-1) finding."""
        row = self.table.currentIndex().row() + step
        if row < 0 and not self.table.currentIndex().isValid():
            row = self.model.rowCount() - 1
        index = self.model.index(row, 0)
        if index.isValid():
            self.table.setCurrentIndex(index)
            self._chosen(index)

    def empty_sentence(self) -> str:
        """Why there is nothing to see, empty where there is."""
        return self._stack.shown_sentence()

    def _filter(self, *_: object) -> None:
        self._columns.severities = tuple(severity for severity, button in self.severities.items() if button.isChecked())
        self.table.clearSelection()
        self.table.setCurrentIndex(QModelIndex())
        self.model.refetch()
        self._refresh()

    def _refresh(self, *_: object) -> None:
        counts = dict(self._document.status.counts)
        for severity, button in self.severities.items():
            button.setText(f"{_WORDS[severity]} ({grouped(counts.get(severity, 0))})")
        self.copying.setEnabled(self.model.rowCount() > 0)
        self.exporting.setEnabled(self._document.status.stage in (Stage.READY, Stage.CANCELLED))
        self.repairing.setEnabled(bool(self._repair()))
        if self.model.rowCount():
            self._stack.show_view(self.table)
        else:
            self._stack.show_sentence(self._why_empty())

    def _why_empty(self) -> str:
        status = self._document.status
        if early := not_there_yet(status.stage):
            return early
        if status.counts:
            return "All findings are hidden by the severity filter."
        return status.judgement or "Nothing wrong was found before reading was cancelled."

    def _describe(self, *_: object) -> None:
        """The cell of a finding is often too narrow for what it says."""
        row = self.model.row(self.table.currentIndex())
        self.about.say(described(row) if isinstance(row, FindingRow) else "")
        self.repairing.setEnabled(bool(self._repair()))

    def _repair(self) -> str:
        """The code of the repair that answers the current finding, empty where there is none.

        Which repair that is comes out when the archive is checked. Before that the code of the finding stands for it:
        planning checks the archive.
        """
        row = self.model.row(self.table.currentIndex())
        if not isinstance(row, FindingRow):
            return ""
        status = self._document.status
        may_be = row.severity is not Severity.INFO and status.stage is Stage.READY and not status.checked
        return row.repair or (row.code if may_be else "")

    def _actions(self, menu: QMenu) -> None:
        if self._repair():
            menu.addAction("&Repair…").triggered.connect(self.repair)
            menu.addSeparator()

    def repair(self) -> None:
        """Plan the repair that answers the current finding."""
        if code := self._repair():
            self.repairWanted.emit(code)

    def _chosen(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        if isinstance(row, FindingRow):
            self._document.select_finding(row, ORIGIN)


def _button(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAutoRaise(True)
    button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return button
