"""The Strings panel: the strings in the bytes of the layer shown, with where each stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QSpinBox, QToolButton, QVBoxLayout, QWidget

from inspector.core.names import visible
from inspector.core.numbers import count, grouped, hexadecimal
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Client
from inspector.gui.kit.item_views import RowTable
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import PagedTable, TableSource
from inspector.gui.kit.text import loading_text, plain, short
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, FlowLayout, debounce, label_of, push_button
from inspector.operations.protocol.bytes_views import Encoding, StringRow, StringsFound
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Page, Stage
from inspector.sources.s3.address import is_s3
from inspector.sources.web.address import is_web

TITLES = ("Offset", "Encoding", "String", "Member", "Field")
OFFSET, ENCODING, STRING, MEMBER, FIELD = range(len(TITLES))
WIDTHS = {OFFSET: 110, ENCODING: 90, STRING: 420, MEMBER: 200}
ORIGIN = "strings"
LABELS = {
    Encoding.ASCII: "ASCII",
    Encoding.UTF8: "UTF-8",
    Encoding.UTF16LE: "UTF-16 LE",
    Encoding.UTF16BE: "UTF-16 BE",
}
FIRST_ENCODINGS = (Encoding.ASCII, Encoding.UTF8)
DEFAULT_MINIMUM = 6
DELAY_MS = 250
"""Milliseconds after the last change of an option before the search starts again."""
NOT_YET = "Open this panel with View > List Strings (Ctrl+Shift+T) to search the bytes for text."
REMOTE = "A search reads all of the object, which costs requests. Press Search to start it."


class StringsPanel(QWidget):
    """Searches the layer shown for strings. Selecting one selects its bytes everywhere."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._is_wanted = False
        self._searched: tuple[str, int] | None = None
        self._search_number = 0
        self.result: StringsFound | None = None
        self.encodings = {each: self._encoding_button(each) for each in Encoding}
        self.minimum = QSpinBox()
        self.minimum.setRange(1, 1_000)
        self.minimum.setValue(DEFAULT_MINIMUM)
        self.minimum.setToolTip("The shortest string to list, in characters")
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter strings")
        self.filter.setClearButtonEnabled(True)
        self.filter.setAccessibleName("Filter strings")
        self.searching: QPushButton = push_button("Search", "Search all bytes of the layer shown")
        self.about = ElidedLabel("", Qt.TextElideMode.ElideRight)
        self.about.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self.model = PagedTable(StringColumns(document.client), self)
        self.table = RowTable(self.model, WIDTHS, "Strings", line_text)
        self.table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._stack = Emptiable(self.table)
        self.setFocusProxy(self.table)
        bar = FlowLayout(GRID, GRID)
        bar.add(
            *self.encodings.values(), label_of("At least:", self.minimum), self.minimum, self.filter, self.searching
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.about)
        self._delay = debounce(self, DELAY_MS, self.search)
        self.minimum.valueChanged.connect(self._change)
        self.filter.textChanged.connect(self._change)
        self.searching.clicked.connect(lambda _=False: self.search())
        self.table.selectionModel().currentRowChanged.connect(self._row_changed)
        self.table.clicked.connect(self._select_row)
        self.table.activated.connect(self._select_row)
        self.model.rowsInserted.connect(self._refresh)
        self.model.rowsRemoved.connect(self._refresh)
        document.statusChanged.connect(self._bytes_changed)
        document.layersChanged.connect(self._bytes_changed)
        self._stack.show_sentence(NOT_YET)

    def _encoding_button(self, encoding: Encoding) -> QToolButton:
        button = QToolButton()
        button.setText(LABELS[encoding])
        button.setToolTip(f"Look for strings in {LABELS[encoding]}")
        button.setCheckable(True)
        button.setChecked(encoding in FIRST_ENCODINGS)
        button.toggled.connect(self._change)
        return button

    @property
    def is_needed(self) -> bool:
        """Whether the user asked for it."""
        return self._is_wanted

    def open(self) -> None:
        """Search the layer shown, unless that costs requests or it was searched already."""
        self._is_wanted = True
        self._bytes_changed()

    # ---- searching ---------------------------------------------------------------------------------------------

    def _bytes(self) -> tuple[str, int]:
        """What tells one state of the bytes shown from another."""
        status = self._document.status
        return f"{status.stamp} {status.size}", self._document.layer

    def _bytes_changed(self) -> None:
        if not self._is_wanted or self._searched == self._bytes():
            return
        if self._document.status.stage is not Stage.READY:
            self._stack.show_sentence(loading_text(self._document.status.stage) or "The archive could not be read.")
        elif is_s3(self._document.location) or is_web(self._document.location):
            self._searched = self._bytes()
            self._stack.show_sentence(REMOTE)
        else:
            self.search()

    def _change(self, *_: object) -> None:
        if self._is_wanted:
            self._delay.start()

    def search(self) -> None:
        """Search with the options as they are."""
        self._delay.stop()
        document = self._document
        if not document.layers:
            return
        encodings = tuple(each for each, button in self.encodings.items() if button.isChecked())
        self._searched = self._bytes()
        self.result = None
        self._search_number += 1
        number = self._search_number
        asked = (encodings, self.minimum.value(), self.filter.text())
        job = document.start(ArchiveRequests.find_strings, document.layer, *asked)
        job.then(lambda found: self._take(number, found))
        job.progressed.connect(lambda _: self._show_more(number))
        job.finished.connect(lambda _: self._ended(number))
        self.about.setText("Searching…")
        self._stack.show_sentence("Searching…")
        self.model.refetch()

    def _show_more(self, number: int) -> None:
        """Show what was found so far."""
        if number == self._search_number:
            self.model.refetch()

    def _take(self, number: int, found: StringsFound) -> None:
        if number == self._search_number:
            self.result = found
            self.model.refetch()
            self._refresh()

    def _ended(self, number: int) -> None:
        """Say so where it was cancelled; otherwise the result follows."""
        if number == self._search_number and self.result is None:
            self.about.setText("The search did not end; what was found so far is listed.")

    def _refresh(self, *_: object) -> None:
        if self.model.rowCount():
            self._stack.show_view(self.table)
        elif self.result is not None:
            self._stack.show_sentence("No string matches.")
        if self.result is not None:
            text = f"{count(self.result.count, 'string')}."
            if not self.result.complete:
                text = f"The first {grouped(self.result.count)} strings; filter or ask for longer ones to see others."
            self.about.setText(text)

    def empty_sentence(self) -> str:
        """Why the panel is empty; "" if it is not."""
        return self._stack.shown_sentence()

    def _row_changed(self, index: QModelIndex, before: QModelIndex) -> None:
        """Follow the user; the first row becomes the current one by itself and selects nothing."""
        if before.isValid():
            self._select_row(index)

    def _select_row(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        if isinstance(row, StringRow) and self._document.layer_info(row.layer) is not None:
            self._document.go_to(row.layer, row.text.start, row.text.stop, ORIGIN)


class StringColumns(TableSource):
    """Strings in the order in which they are found."""

    titles: tuple[str, ...] = TITLES

    def __init__(self, client: Client[ArchiveRequests]) -> None:
        self._client = client

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        self._client.ask(ArchiveRequests.string_rows, first, count).then(deliver)

    def data(self, row: StringRow, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return short(_text(row, column))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(_text(row, column))
        return None

    def header(self, column: int, role: int) -> Any:  # noqa: ARG002 - nothing but the titles
        return None


def _text(row: StringRow, column: int) -> str:
    texts = {
        OFFSET: hexadecimal(row.text.start, 8),
        ENCODING: LABELS[row.text.encoding],
        STRING: visible(row.text.text),
        MEMBER: row.member,
        FIELD: row.field,
    }
    return texts[column]


def line_text(row: StringRow) -> str:
    """A string as one line for the clipboard."""
    return "\t".join(_text(row, column) for column in (OFFSET, ENCODING, STRING, MEMBER, FIELD))
