"""The checksums that an archive records, which bytes each covers, and which it leaves out."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.gui.document.document import Document
from inspector.gui.kit.item_views import RowTable
from inspector.gui.kit.table_models import PagedTable
from inspector.gui.kit.text import not_there_yet
from inspector.gui.kit.widgets import Details, Emptiable
from inspector.gui.panels.models.checksums import (
    ALGORITHM,
    COMPUTED,
    NAME,
    STATE,
    STORED,
    ChecksumColumns,
    described,
    line,
)
from inspector.operations.protocol.views import ChecksumRow, Status

ORIGIN = "digests"
WIDTHS = {NAME: 260, STATE: 118, ALGORITHM: 120, STORED: 150, COMPUTED: 150}


class DigestsPanel(QWidget):
    """Shows the checksums of a document; choosing one lights up its bytes, double-click goes to the stored value."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.model = PagedTable(ChecksumColumns(document.client), self)
        self.table = RowTable(self.model, WIDTHS, "Checksums", line)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.about = Details("About the selected checksum")
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.about)
        document.rowsChanged.connect(self.model.refetch)
        document.statusChanged.connect(self._choose_view)
        document.selected.connect(self._go_on)
        self.model.rowsInserted.connect(self._choose_view)
        self.model.rowsRemoved.connect(self._choose_view)
        self.model.dataChanged.connect(self._describe_again)
        self.table.selectionModel().currentRowChanged.connect(self._chosen)
        self.table.clicked.connect(self._chosen)
        self.table.activated.connect(self._go_to_stored)
        self._choose_view()

    def empty_sentence(self) -> str:
        """Why there is nothing to see, empty where there is."""
        return self._stack.shown_sentence()

    def _choose_view(self, *_: object) -> None:
        if self.model.rowCount():
            self._stack.show_view(self.table)
        else:
            self._stack.show_sentence(_why_empty(self._document.status))
            self.about.hide()

    def _row(self, index: QModelIndex) -> ChecksumRow | None:
        row = self.model.row(index)
        return row if isinstance(row, ChecksumRow) else None

    def _chosen(self, index: QModelIndex) -> None:
        row = self._row(index)
        if row is not None:
            self._describe(row)
            self._document.select_checksum(row, ORIGIN)

    def _describe(self, row: ChecksumRow) -> None:
        self.about.say(described(row))

    def _describe_again(self, *_: object) -> None:
        row = self._row(self.table.currentIndex())
        if row is not None and not self.about.isHidden():
            self.about.say(described(row))

    def _go_on(self, *_: object) -> None:
        """What is said about a checksum goes when something else is selected."""
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
            self._document.said.emit(f"{text} {row.note}".strip())


def _why_empty(status: Status) -> str:
    if early := not_there_yet(status.stage):
        return early
    if status.format == "caf":
        return "The format records no checksums. A digest manifest beside the archive would be compared."
    if status.format == "bytes":
        return "The format is unknown, so no checksums are known."
    if status.checked:
        return "No checksum is recorded here."
    return "The structure records no checksum. A check (Ctrl+K) looks further."
