"""The checksums that an archive records, and the bytes that each covers or leaves out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Spans, total
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Client
from inspector.gui.kit.filter_line import FilterLine
from inspector.gui.kit.icons import verdict_icon
from inspector.gui.kit.item_views import RowTable
from inspector.gui.kit.table_models import PagedTable, TableSource
from inspector.gui.kit.text import loading_text, plain, short
from inspector.gui.kit.widgets import Details, Emptiable
from inspector.gui.panels.findings import spans_summary
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import MAX_SEARCHED_CHECKSUMS, ChecksumRow, Page, Status

TITLES = (
    "Checksum",
    "State",
    "Algorithm",
    "Stored",
    "Computed",
    "Covers",
)
NAME, STATE, ALGORITHM, STORED, COMPUTED, COVERS = range(len(TITLES))
MAX_LISTED_RANGES = 4
"""Byte ranges that are listed before the rest is only counted."""

ORIGIN = "digests"
WIDTHS = {NAME: 260, STATE: 118, ALGORITHM: 120, STORED: 150, COMPUTED: 150}


class ChecksumsPanel(QWidget):
    """Lists the checksums of a document. Selecting one highlights its bytes; double-click goes to the stored value."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._columns = ChecksumColumns(document.client)
        self.model = PagedTable(self._columns, self)
        self.table = RowTable(self.model, WIDTHS, "Checksums", line_text)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.filter = FilterLine(self.table, "Filter checksums", "Filter checksums by name, state or value")
        self.filter.appear_on_typing(self.table)
        self._total = 0
        self.about = Details("About the selected checksum")
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.filter)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.about)
        self.filter.applied.connect(self._apply_filter)
        self.model.modelReset.connect(self._choose_view)
        document.rowsChanged.connect(self.model.refetch)
        document.statusChanged.connect(self._choose_view)
        document.selected.connect(self._selection_changed)
        self.model.rowsInserted.connect(self._choose_view)
        self.model.rowsRemoved.connect(self._choose_view)
        self.model.dataChanged.connect(self._refresh_details)
        self.table.selectionModel().currentRowChanged.connect(self._select_row)
        self.table.clicked.connect(self._select_row)
        self.table.activated.connect(self._go_to_stored)
        self._choose_view()

    def empty_sentence(self) -> str:
        """Why the panel is empty; "" if it is not."""
        return self._stack.shown_sentence()

    def _apply_filter(self, text: str) -> None:
        if not self._columns.text:
            self._total = self.model.rowCount()
        self._columns.text = text
        self.model.refetch()
        self._choose_view()

    def _choose_view(self, *_: object) -> None:
        if self.model.rowCount():
            self._stack.show_view(self.table)
        elif self.filter.wanted:
            many = self._total > MAX_SEARCHED_CHECKSUMS
            searched = f"the first {grouped(MAX_SEARCHED_CHECKSUMS)} checksums" if many else ""
            self._stack.show_sentence(self.filter.no_match(searched))
            self.about.hide()
        else:
            self._stack.show_sentence(_why_empty(self._document.status))
            self.about.hide()

    def _row(self, index: QModelIndex) -> ChecksumRow | None:
        row = self.model.row(index)
        return row if isinstance(row, ChecksumRow) else None

    def _select_row(self, index: QModelIndex) -> None:
        row = self._row(index)
        if row is not None:
            self._show_details(row)
            self._document.select_checksum(row, ORIGIN)

    def _show_details(self, row: ChecksumRow) -> None:
        self.about.say(details_text(row))

    def _refresh_details(self, *_: object) -> None:
        row = self._row(self.table.currentIndex())
        if row is not None and not self.about.isHidden():
            self.about.say(details_text(row))

    def _selection_changed(self, *_: object) -> None:
        """Hide the details when something else is selected."""
        if self._document.selection.origin != ORIGIN:
            self.about.hide()

    def _go_to_stored(self, index: QModelIndex) -> None:
        row = self._row(index)
        if row is None:
            return
        if row.place:
            self._document.go_to(row.layer, *row.place[0], ORIGIN)
        else:
            text = "The stored value is in another file."
            self._document.reported.emit(f"{text} {row.note}".strip())


def _why_empty(status: Status) -> str:
    if reason := loading_text(status.stage):
        return reason
    if not status.has_checksums:
        return "The format records no checksums. A digest manifest next to the archive would be compared."
    if status.format == "bytes":
        return "The format is unknown, so no checksums are known."
    if status.checked:
        return "The archive records no checksum."
    return "The structure records no checksum. A check (Ctrl+K) also looks in the members."


class ChecksumColumns(TableSource):
    """Checksums in archive order."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client[ArchiveRequests]) -> None:
        self._client = client
        self.text = ""

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        self._client.ask(ArchiveRequests.checksums, first, count, self.text).then(deliver)

    def data(self, row: ChecksumRow, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == STATE:
            return verdict_icon(row.verdict)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(covered_text(row) if column == COVERS else f"{_text(row, column)}\n{row.note}".strip()))
        return None

    def header(self, column: int, role: int) -> Any:  # noqa: ARG002 - nothing but the titles
        return None


def _text(row: ChecksumRow, column: int) -> str:
    if column == COVERS:
        return spans_summary(row.covers)
    texts = {
        NAME: row.name,
        STATE: row.verdict.value,
        ALGORITHM: row.algorithm,
        STORED: row.stored,
        COMPUTED: row.computed or "not computed",
    }
    return short(texts[column])


def line_text(row: ChecksumRow) -> str:
    """A checksum as one line for the clipboard."""
    computed = f"computed {row.computed}" if row.computed else "not computed"
    stored = f"stored {row.stored}"
    return f"{row.verdict.value}: {row.name}, {row.algorithm}: {stored}, {computed}. {details_text(row)}"


def details_text(row: ChecksumRow) -> str:
    """A checksum in full: the bytes it covers and leaves out, where it is stored, and its note."""
    stored = "The stored value is in another file."
    if row.place:
        stored = f"The stored value is in {_ranges_text(row.place)}."
    left_out = f"It leaves out {_ranges_text(row.omits)}." if row.omits else ""
    note = row.note if not row.note or row.note.endswith(".") else f"{row.note[0].upper()}{row.note[1:]}."
    return " ".join(part for part in (covered_text(row), left_out, stored, note) if part)


def covered_text(row: ChecksumRow) -> str:
    """The bytes that a checksum covers, as a sentence."""
    if not row.covers:
        return "It covers bytes that are not in this file."
    size = f" ({in_bytes(total(row.covers))})" if len(row.covers) > 1 else ""
    return f"It covers {_ranges_text(row.covers) + size}."


def _ranges_text(spans: Spans) -> str:
    texts = [f"{hexadecimal(start)} to {hexadecimal(stop)}" for start, stop in spans[:MAX_LISTED_RANGES]]
    if len(spans) > MAX_LISTED_RANGES:
        texts.append(f"{grouped(len(spans) - MAX_LISTED_RANGES)} more ranges")
    size = f" ({in_bytes(spans[0].size)})" if len(spans) == 1 else ""
    return f"bytes {' and '.join(texts)}" + size
