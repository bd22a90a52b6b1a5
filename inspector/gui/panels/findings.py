"""The findings: what is wrong, where, and so what."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QHeaderView, QVBoxLayout, QWidget

from inspector.gui.document import Document
from inspector.gui.models.findings import BYTES, CODE, MEMBER, MESSAGE, SEVERITY, FindingColumns
from inspector.gui.models.paged_table import PagedTable
from inspector.gui.panels.parts import Emptiable, table_view
from inspector.operations.views import FindingRow, Stage

ORIGIN = "findings"
WIDTHS = {SEVERITY: 90, BYTES: 170, MEMBER: 130, CODE: 150}


class FindingsPanel(QWidget):
    """Shows the findings of a document; choosing one shows its bytes."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.model = PagedTable(FindingColumns(document.client), self)
        self.table = table_view(self.model, WIDTHS, "Findings")
        header = self.table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(MESSAGE, QHeaderView.ResizeMode.Stretch)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        document.rowsChanged.connect(self.model.refetch)
        document.statusChanged.connect(self._choose_view)
        self.model.rowsInserted.connect(self._choose_view)
        self.model.rowsRemoved.connect(self._choose_view)
        self.table.clicked.connect(self._chosen)
        self.table.activated.connect(self._chosen)
        self._choose_view()

    def step(self, step: int) -> None:
        """Show the next (1) or previous (-1) finding."""
        row = self.table.currentIndex().row() + step
        if row < 0 and not self.table.currentIndex().isValid():
            row = self.model.rowCount() - 1
        index = self.model.index(row, 0)
        if index.isValid():
            self.table.setCurrentIndex(index)
            self._chosen(index)

    def _choose_view(self, *_: object) -> None:
        if self.model.rowCount():
            self._stack.show_view(self.table)
            return
        stage = self._document.status.stage
        if stage in (Stage.OPENING, Stage.DECODING):
            self._stack.show_sentence("Reading…")
        elif stage is Stage.FAILED:
            self._stack.show_sentence("Nothing could be opened.")
        else:
            self._stack.show_sentence(
                "Nothing wrong was seen while the structure was read. Contents were not verified."
            )

    def _chosen(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        if isinstance(row, FindingRow):
            self._document.select_finding(row, ORIGIN)
