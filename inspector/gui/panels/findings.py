"""The findings of a document, with filters by severity, export and repair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHeaderView, QMenu, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from inspector.core.finding import Severity, first_sentence
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span, Spans
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Client
from inspector.gui.kit.icons import icon, severity_icon, severity_mark
from inspector.gui.kit.item_views import ColumnWidener, RowTable
from inspector.gui.kit.style import GRID, STRIPE_ROLE, Stripes
from inspector.gui.kit.table_models import PAGE_ROWS, PagedTable, TableSource
from inspector.gui.kit.text import loading_text, plain, short
from inspector.gui.kit.widgets import Details, Emptiable, FlowLayout
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FindingRow, Page, Stage

TITLES = ("Severity", "What was found", "Bytes", "Member", "Code")
SEVERITY, MESSAGE, BYTES, MEMBER, CODE = range(len(TITLES))
MAX_LISTED_SPANS = 8
"""Spans that are listed in full."""

ORIGIN = "findings"
WIDTHS = {SEVERITY: 92, BYTES: 140, MEMBER: 110, CODE: 130}
MIN_MESSAGE_PX = 240
"""Pixels for the message before other columns are shown; the details of the selected finding contain them too."""
MIN_WIDTH_BESIDE_PX = 860
"""Pixels of the panel from which the details stand beside the rows rather than below them."""
_SEVERITY_LABELS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Information"}


class FindingsPanel(QWidget):
    """Lists the findings of a document; selecting one shows its bytes.

    Signals:
        exportRequested(): write a report to a file.
        repairRequested(str code): plan a repair: its code, or the code of the finding while the repair is unknown.
    """

    exportRequested = Signal()
    repairRequested = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._columns = FindingColumns(document.client)
        self.model = PagedTable(self._columns, self)
        self.table = RowTable(self.model, WIDTHS, "Findings", line_text)
        header = self.table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.setWordWrap(True)
        self.table.setItemDelegateForColumn(SEVERITY, Stripes(self.table))
        ColumnWidener(self.table, MESSAGE)
        rows = self.table.verticalHeader()
        rows.setDefaultSectionSize(rows.defaultSectionSize() + self.table.fontMetrics().lineSpacing())
        self.severities = {severity: self._severity_button(severity) for severity in Severity}
        self.copying = _button("Copy", "Copy findings as text")
        self.copying.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.copying)
        menu.addAction("&Selected Findings").triggered.connect(self.table.copy)
        menu.addAction("&All Findings Shown").triggered.connect(self.table.copy_all)
        self.copying.setMenu(menu)
        self.exporting = _button("Report…", "Write a report as HTML, PDF or Markdown, or the findings as text or JSON")
        self.exporting.clicked.connect(self.exportRequested)
        self.repairing = _button("Repair…", "Plan repairs for the selected finding; nothing is written yet")
        self.repairing.setIcon(icon("repair"))
        self.repairing.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.repairing.clicked.connect(self.repair)
        self.table.extend_menu = self._add_actions
        self.about = Details("The selected finding in full")
        self._had_rows = False  # whether there were rows
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self._stack)
        self._lay_out()
        document.rowsChanged.connect(self.model.refetch)
        document.statusChanged.connect(self._refresh)
        self.model.rowsInserted.connect(self._refresh)
        self.model.rowsRemoved.connect(self._refresh)
        self.table.selectionModel().currentRowChanged.connect(self._show_details)
        self.model.dataChanged.connect(self._show_details)
        # On the press: the details that appear make the rows narrower, and the release may be beside them.
        self.table.pressed.connect(self._show_bytes)
        self.table.activated.connect(self._show_bytes)
        self._show_details()
        self._refresh()

    def _severity_button(self, severity: Severity) -> QToolButton:
        button = _button(label := _SEVERITY_LABELS[severity], f"Show findings that are {label.lower()}")
        button.setIcon(severity_icon(severity))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setCheckable(True)
        button.setChecked(True)
        button.toggled.connect(self._filter)
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_details()
        self._show_details()

    def _show_columns(self) -> None:
        """Hide the columns for which the message leaves no room; the details contain them too."""
        beside = self._is_beside and not self.about.isHidden()
        room = self.width() * (3 if beside else 5) // 5 - WIDTHS[SEVERITY] - MIN_MESSAGE_PX
        for column in (BYTES, MEMBER, CODE):
            room -= WIDTHS[column]
            self.table.setColumnHidden(column, room < 0)

    def _lay_out(self) -> None:
        bar = FlowLayout(GRID, GRID)
        bar.add(*self.severities.values(), self.repairing, self.copying, self.exporting)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._rows = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._rows.addWidget(self._stack, 3)
        self._rows.addWidget(self.about, 2)
        layout.addLayout(bar)
        layout.addLayout(self._rows, 1)

    @property
    def _is_beside(self) -> bool:
        """Whether the details stand beside the rows rather than below them."""
        return self.width() >= MIN_WIDTH_BESIDE_PX

    def _place_details(self) -> None:
        """Show the selected finding beside the others where there is room: panels at the foot are wide and low."""
        beside = self._is_beside
        self._rows.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        height = QSizePolicy.Policy.Expanding if beside else QSizePolicy.Policy.Maximum
        self.about.setSizePolicy(QSizePolicy.Policy.Ignored, height)
        self._rows.setStretch(1, 2 if beside else 0)

    def step(self, step: int) -> None:
        """Show the next (1) or previous (-1) finding."""
        row = self.table.currentIndex().row() + step
        if row < 0 and not self.table.currentIndex().isValid():
            row = self.model.rowCount() - 1
        index = self.model.index(row, 0)
        if index.isValid():
            self.table.setCurrentIndex(index)
            self._show_bytes(index)

    def select(self, finding: FindingRow) -> None:
        """Make the row of a finding current, if it is among the first rows."""
        self.severities[finding.severity].setChecked(True)
        for at in range(min(self.model.rowCount(), PAGE_ROWS)):
            index = self.model.index(at, 0)
            row = self.model.row(index)
            if isinstance(row, FindingRow) and (row.code, row.layer, row.spans) == (
                finding.code,
                finding.layer,
                finding.spans,
            ):
                self.table.setCurrentIndex(index)
                return

    def empty_sentence(self) -> str:
        """Why the panel is empty; "" if it is not."""
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
            button.setText(f"{_SEVERITY_LABELS[severity]} ({grouped(counts.get(severity, 0))})")
        self.copying.setEnabled(self.model.rowCount() > 0)
        self.exporting.setEnabled(self._document.status.stage in (Stage.READY, Stage.CANCELLED))
        self.repairing.setEnabled(bool(self._repair_code()))
        if self.model.rowCount():
            self._stack.show_view(self.table)
        else:
            hidden = bool(counts) and not loading_text(self._document.status.stage)
            self._stack.show_sentence(self._why_empty(), *(("Show All", self._show_all) if hidden else ()))
        if self._had_rows != (self.model.rowCount() > 0):
            self._had_rows = self.model.rowCount() > 0
            self._show_details()

    def _show_all(self) -> None:
        for button in self.severities.values():
            button.setChecked(True)

    def _why_empty(self) -> str:
        status = self._document.status
        if reason := loading_text(status.stage):
            return reason
        if status.counts:
            return "No match: all findings are hidden by the severity filter."
        return status.judgement or "Nothing wrong was found before reading was cancelled."

    def _show_details(self, *_: object) -> None:
        """Show the selected finding in full, as its cell is often too narrow."""
        row = self.model.row(self.table.currentIndex())
        self.about.say(details_text(row) if isinstance(row, FindingRow) else "")
        self._show_columns()
        self.repairing.setEnabled(bool(self._repair_code()))

    def _repair_code(self) -> str:
        """The code of the repair for the current finding, "" if there is none.

        Only a check determines the repair. Before that, the code of the finding is used instead, because
        planning repairs checks the archive.
        """
        row = self.model.row(self.table.currentIndex())
        if not isinstance(row, FindingRow):
            return ""
        status = self._document.status
        may_be_repairable = row.severity is not Severity.INFO and status.stage is Stage.READY and not status.checked
        return row.repair or (row.code if may_be_repairable else "")

    def _add_actions(self, menu: QMenu) -> None:
        if self._repair_code():
            menu.addAction("&Repair…").triggered.connect(self.repair)
            menu.addSeparator()

    def repair(self) -> None:
        """Plan the repair of the current finding."""
        if code := self._repair_code():
            self.repairRequested.emit(code)

    def _show_bytes(self, index: QModelIndex) -> None:
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


class FindingColumns(TableSource):
    """Findings in the order in which they were found, each cause before them with what it explains beneath it."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client[ArchiveRequests]) -> None:
        self._client = client
        self.severities: tuple[Severity, ...] = tuple(Severity)

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        self._client.ask(ArchiveRequests.findings, first, count, self.severities).then(deliver)

    def data(self, row: FindingRow, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == SEVERITY:
            return severity_icon(row.severity)
        if role == STRIPE_ROLE and column == SEVERITY:
            return severity_mark(row.severity)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(row.message if column == MESSAGE else _text(row, column)))
        return None

    def header(self, column: int, role: int) -> Any:  # noqa: ARG002 - nothing but the titles
        return None


def _text(row: FindingRow, column: int) -> str:
    if column == BYTES:
        return spans_summary(row.spans)
    cause = first_sentence(row.message)
    message = f"{'↳ ' if row.beneath else ''}{cause}\n{row.message.removeprefix(cause).strip()}".rstrip()
    texts = {SEVERITY: row.severity.value, MESSAGE: message, MEMBER: row.member_name, CODE: row.code}
    return short(texts[column])


def details_text(row: FindingRow) -> str:
    """A finding in full: the message, and below it the bytes, the member and the code."""
    places = [f"{_range(span, hexadecimal)} ({_range(span, grouped)})" for span in row.spans[:MAX_LISTED_SPANS]]
    if len(row.spans) > MAX_LISTED_SPANS:
        places.append(f"and {grouped(len(row.spans) - MAX_LISTED_SPANS)} more")
    return f"{row.message}\n{' · '.join(filter(None, (*_location_texts(row, places), row.code)))}"


def _location_texts(row: FindingRow, places: Sequence[str]) -> tuple[str, str]:
    """The bytes and the member, each "" if there is none."""
    bytes_ = f"bytes {', '.join(places)}" if places else ""
    return bytes_, f"member {row.member_name}" if row.member_name else ""


def _range(span: Span, number_text: Callable[[int], str]) -> str:
    return f"{number_text(span.start)}..{number_text(span.stop)}"


def line_text(row: FindingRow) -> str:
    """A finding as one line for the clipboard."""
    details = (row.code, *_location_texts(row, [_range(span, hexadecimal) for span in row.spans]))
    return f"{row.severity.value}: {row.message} [{', '.join(filter(None, details))}]"


def spans_summary(spans: Spans) -> str:
    """The first span, and how many more there are."""
    if not spans:
        return ""
    start, stop = spans[0]
    first = f"{hexadecimal(start)} ({in_bytes(stop - start)})"
    return f"{first} and {len(spans) - 1} more" if len(spans) > 1 else first
