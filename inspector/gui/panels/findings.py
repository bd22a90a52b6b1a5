"""The findings of a document, with filters by severity, export and repair."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from inspector.core.finding import Severity, first_sentence
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span, Spans
from inspector.gui.document.document import Document
from inspector.gui.kit.building import in_column, tool_button
from inspector.gui.kit.icons import icon, icon_of, mark_of
from inspector.gui.kit.item_views import ColumnWidener
from inspector.gui.kit.style import GRID, STRIPE_ROLE, Stripes
from inspector.gui.kit.table_models import PAGE_ROWS, Column
from inspector.gui.kit.text import loading_text
from inspector.gui.kit.widgets import Details, FlowLayout
from inspector.gui.panels.listing import ListPanel
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FindingRow, Stage

MAX_LISTED_SPANS = 8
"""Spans that are listed in full."""

ORIGIN = "findings"
LOADING = "Loading the findings…"
MIN_MESSAGE_PX = 240
"""Pixels for the message before other columns are shown; the details of the selected finding contain them too."""
MIN_WIDTH_BESIDE_PX = 860
"""Pixels of the panel from which the details stand beside the rows rather than below them."""
_SEVERITY_LABELS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Information"}


def _in_two_lines(row: FindingRow) -> str:
    cause = first_sentence(row.message)
    return f"{'↳ ' if row.beneath else ''}{cause}\n{row.message.removeprefix(cause).strip()}".rstrip()


COLUMNS = (
    Column(
        "Severity",
        lambda row: row.severity.value,
        92,
        icon=lambda row: icon_of(row.severity),
        roles={STRIPE_ROLE: lambda row: mark_of(row.severity)},
    ),
    Column("What was found", _in_two_lines, tip=lambda row: row.message),
    Column("Bytes", lambda row: spans_summary(row.spans), 140),
    Column("Member", lambda row: row.member_name, 110),
    Column("Code", lambda row: row.code, 130),
)
SEVERITY, MESSAGE, BYTES, MEMBER, CODE = range(len(COLUMNS))


class FindingsPanel(ListPanel):
    """Lists the findings of a document; selecting one shows its bytes.

    Signals:
        exportRequested(): write a report to a file.
        repairRequested(str code): plan a repair: its code, or the code of the finding while the repair is unknown.
    """

    exportRequested = Signal()
    repairRequested = Signal(str)
    name, request, columns, stretched = "Findings", ArchiveRequests.findings, COLUMNS, MESSAGE

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        self._wanted: tuple[Severity, ...] = tuple(Severity)
        super().__init__(document, parent)
        self.table.setWordWrap(True)
        self.table.setItemDelegateForColumn(SEVERITY, Stripes(self.table))
        ColumnWidener(self.table, MESSAGE)
        rows = self.table.verticalHeader()
        rows.setDefaultSectionSize(rows.defaultSectionSize() + self.table.fontMetrics().lineSpacing())
        self.severities = {severity: self._severity_button(severity) for severity in Severity}
        menu = QMenu(self)
        menu.addAction("&Selected Findings").triggered.connect(self.table.copy)
        menu.addAction("&All Findings Shown").triggered.connect(self.table.copy_all)
        self.copying = tool_button("Copy", "Copy findings as text", menu=menu)
        tip = "Write a report as HTML or PDF, or the findings as text or JSON"
        self.exporting = tool_button("Report…", tip, self.exportRequested)
        tip = "Plan repairs for the selected finding; nothing is written yet"
        self.repairing = tool_button("Repair…", tip, self.repair, icon("repair"))
        self.table.extend_menu = self._add_actions
        self.about = Details("The selected finding in full")
        self._had_rows = False  # whether there were rows
        bar = FlowLayout(GRID, GRID)
        bar.add(*self.severities.values(), self.repairing, self.copying, self.exporting)
        self._rows = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._rows.addWidget(self.stack, 3)
        self._rows.addWidget(self.about, 2)
        in_column(bar, (self._rows, 1), on=self)
        self.table.selectionModel().currentRowChanged.connect(self._show_details)
        self.model.dataChanged.connect(self._show_details)
        # On the press: the details that appear make the rows narrower, and the release may be beside them.
        self.table.pressed.connect(self.table.each_row(self.activate))
        self._show_details()
        self.refresh()

    def _severity_button(self, severity: Severity) -> QToolButton:
        label = _SEVERITY_LABELS[severity]
        button = tool_button(label, f"Show findings that are {label.lower()}", shown=icon_of(severity))
        button.setCheckable(True)
        button.setChecked(True)
        button.toggled.connect(self._filter)
        return button

    def arguments(self) -> tuple[tuple[Severity, ...]]:
        return (self._wanted,)

    def line(self, row: FindingRow) -> str:
        return line_text(row)

    def activate(self, row: FindingRow) -> None:
        self._document.select_finding(row, ORIGIN)

    # ---- layout ------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the selected finding beside the others where there is room: panels at the foot are wide and low."""
        super().resizeEvent(event)
        beside = self._is_beside
        self._rows.setDirection(QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom)
        height = QSizePolicy.Policy.Expanding if beside else QSizePolicy.Policy.Maximum
        self.about.setSizePolicy(QSizePolicy.Policy.Ignored, height)
        self._rows.setStretch(1, 2 if beside else 0)
        self._show_details()

    @property
    def _is_beside(self) -> bool:
        """Whether the details stand beside the rows rather than below them."""
        return self.width() >= MIN_WIDTH_BESIDE_PX

    def _show_columns(self) -> None:
        """Hide the columns for which the message leaves no room; the details contain them too."""
        beside = self._is_beside and not self.about.isHidden()
        room = self.width() * (3 if beside else 5) // 5 - COLUMNS[SEVERITY].width - MIN_MESSAGE_PX
        for column in (BYTES, MEMBER, CODE):
            room -= COLUMNS[column].width
            self.table.setColumnHidden(column, room < 0)

    # ---- rows --------------------------------------------------------------------------------------------------

    def step(self, step: int) -> None:
        """Show the next (1) or previous (-1) finding."""
        row = self.table.currentIndex().row() + step
        if row < 0 and not self.table.currentIndex().isValid():
            row = self.model.rowCount() - 1
        index = self.model.index(row, 0)
        if index.isValid():
            self.table.setCurrentIndex(index)
            self.table.each_row(self.activate)(index)

    def show_finding(self, finding: FindingRow) -> None:
        """Make the row of a finding current, if it is among the first rows."""
        self.severities[finding.severity].setChecked(True)
        wanted = (finding.code, finding.layer, finding.spans)
        for at in range(min(self.model.rowCount(), PAGE_ROWS)):
            index = self.model.index(at, 0)
            row: FindingRow | None = self.model.row(index)
            if row is not None and (row.code, row.layer, row.spans) == wanted:
                self.table.setCurrentIndex(index)
                return

    def _filter(self, *_: object) -> None:
        self._wanted = tuple(severity for severity, button in self.severities.items() if button.isChecked())
        self.table.clearSelection()
        self.table.setCurrentIndex(QModelIndex())
        self.refetch()

    def refresh(self, *_: object) -> None:
        status, has_rows = self._document.status, self.model.rowCount() > 0
        counts = dict(status.counts)
        for severity, button in self.severities.items():
            button.setText(f"{_SEVERITY_LABELS[severity]} ({grouped(counts.get(severity, 0))})")
        self.copying.setEnabled(has_rows)
        self.exporting.setEnabled(status.stage in (Stage.READY, Stage.CANCELLED))
        self.repairing.setEnabled(bool(self._repair_code()))
        super().refresh()
        if not has_rows and counts and self._is_filtered and not loading_text(status.stage):
            self.stack.show_sentence(self.why_empty(), "Show All", self._show_all)
        if self._had_rows != has_rows:
            self._had_rows = has_rows
            self._show_details()

    @property
    def _is_filtered(self) -> bool:
        return len(self._wanted) < len(Severity)

    def _show_all(self) -> None:
        for button in self.severities.values():
            button.setChecked(True)

    def why_empty(self) -> str:
        status = self._document.status
        if reason := loading_text(status.stage):
            return reason
        if status.counts:
            return "No match: all findings are hidden by the severity filter." if self._is_filtered else LOADING
        return status.judgement or "Nothing wrong was found before reading was cancelled."

    def _show_details(self, *_: object) -> None:
        """Show the selected finding in full, as its cell is often too narrow."""
        row = self.table.row()
        self.about.say(details_text(row) if row is not None else "")
        self._show_columns()
        self.repairing.setEnabled(bool(self._repair_code()))

    # ---- repairs -----------------------------------------------------------------------------------------------

    def _repair_code(self) -> str:
        """The code of the repair for the current finding, "" if there is none.

        Only a check determines the repair. Before that, the code of the finding is used instead, because
        planning repairs checks the archive.
        """
        row: FindingRow | None = self.table.row()
        if row is None:
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


def details_text(row: FindingRow) -> str:
    """A finding in full: the message, and below it the bytes, the member and the code."""
    places = [f"{_range(span, hexadecimal)} ({_range(span, grouped)})" for span in row.spans[:MAX_LISTED_SPANS]]
    if len(row.spans) > MAX_LISTED_SPANS:
        places.append(f"and {grouped(len(row.spans) - MAX_LISTED_SPANS)} more")
    return f"{row.message}\n{' · '.join(filter(None, (*_location_texts(row, places), row.code)))}"


def _location_texts(row: FindingRow, places: Iterable[str]) -> tuple[str, str]:
    """The bytes and the member, each "" if there is none."""
    return f"bytes {', '.join(places)}" if row.spans else "", f"member {row.member_name}" if row.member_name else ""


def _range(span: Span, number_text: Callable[[int], str]) -> str:
    return f"{number_text(span.start)}..{number_text(span.stop)}"


def line_text(row: FindingRow) -> str:
    """A finding as one line for the clipboard."""
    details = (row.code, *_location_texts(row, (_range(span, hexadecimal) for span in row.spans)))
    return f"{row.severity.value}: {row.message} [{', '.join(filter(None, details))}]"


def spans_summary(spans: Spans) -> str:
    """The first span, and how many more there are."""
    if not spans:
        return ""
    start, stop = spans[0]
    first = f"{hexadecimal(start)} ({in_bytes(stop - start)})"
    return f"{first} and {len(spans) - 1} more" if len(spans) > 1 else first
