"""The structure: the fields of the shown layer as a tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.core.kinds import Kind
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import total
from inspector.gui.document.document import Document, Selection
from inspector.gui.ipc.client import Client, Job
from inspector.gui.kit.filter_line import FilterLine
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.item_views import ExpandedRows, FirstColumnFitter, by_positions
from inspector.gui.kit.style import Sentences
from inspector.gui.kit.table_models import Index, TitledTable
from inspector.gui.kit.text import ARROW, plain, short
from inspector.gui.kit.tree_model import PagedTree, TreeSource
from inspector.gui.kit.widgets import Emptiable, select_row, table_view, tree_view
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FieldRow, FoundField, FoundFields, LayerKind, Page, Stage

TITLES = ("Field", "Value", "Offset", "Size", "Meaning")
NAME, VALUE, OFFSET, SIZE, MEANING = range(len(TITLES))

ORIGIN = "structure"
WIDTHS = {NAME: 190, VALUE: 100, OFFSET: 90, SIZE: 70}


class StructurePanel(QWidget):
    """Shows the fields of a layer and follows the selection."""

    def __init__(self, document: Document, swatch: Callable[[FieldRow], QColor], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._is_following = False
        self._layer = document.layer
        self.fields = FieldTree(document.client, document.layer, swatch)
        self.model = PagedTree(self.fields, self)
        self.tree = tree_view(self.model, WIDTHS, "Fields")
        self.tree.setItemDelegateForColumn(MEANING, Sentences(self.tree))
        self.tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        FirstColumnFitter(self.tree, VALUE)
        self._expanded_rows = ExpandedRows(self.tree, by_positions)
        self.found = FoundModel(swatch, self)
        self.found_table = table_view(
            self.found, {0: WIDTHS[NAME], 1: WIDTHS[VALUE], 2: WIDTHS[OFFSET]}, "Fields found"
        )
        self.filter = FilterLine(self.found_table, "Filter fields", "Filter fields by name, value or meaning")
        self.filter.appear_on_typing(self.tree, self.found_table)
        self._search: Job[FoundFields] | None = None
        self._stack = Emptiable(self.tree, self.found_table)
        self.setFocusProxy(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.filter)
        layout.addWidget(self._stack)
        self.filter.applied.connect(self._apply_filter)
        self.found_table.selectionModel().currentRowChanged.connect(self._select_found)
        self.found_table.activated.connect(self._select_found)
        document.rowsChanged.connect(self._rows_changed)
        document.layersChanged.connect(self._change_layer)
        document.statusChanged.connect(self._update_view)
        document.selected.connect(self._follow)
        self.model.revealed.connect(self._show_revealed)
        self.model.rowsInserted.connect(self._update_view)
        self.model.modelReset.connect(self._update_view)
        self.tree.selectionModel().currentRowChanged.connect(self._select)
        self.model.fetchMore(QModelIndex())
        self._update_view()

    def _change_layer(self) -> None:
        if self._document.layer != self._layer:
            self._layer = self.fields.layer = self._document.layer
            self._expanded_rows.forget()
            self._refetch()

    def _rows_changed(self) -> None:
        """Reload, but not while decoding goes on: that would keep closing rows the user expanded."""
        if self._document.status.stage is not Stage.DECODING or not self.model.rowCount():
            self._refetch()

    def _refetch(self) -> None:
        self.model.refetch()
        self.model.fetchMore(QModelIndex())
        self._follow(self._document.selection)
        self._apply_filter(self.filter.wanted)

    # ---- the filter --------------------------------------------------------------------------------------------

    def _apply_filter(self, text: str) -> None:
        """Show the fields that contain a text as a list, or the tree again."""
        if self._search is not None:
            self._search.supersede()
            self._search = None
        if text:
            self._search = self._document.client.start(ArchiveRequests.find_fields, self._layer, text)
            self._search.then(self._show_found, lambda _: self._show_found(FoundFields((), True)))
        self._update_view()

    def _show_found(self, found: FoundFields) -> None:
        self._search = None
        self.found.show(found)
        self._update_view()

    def _select_found(self, index: QModelIndex) -> None:
        if index.isValid():
            self._document.select_field(self._layer, self.found.field(index.row()), ORIGIN)

    def _update_view(self, *_: object) -> None:
        if self.filter.wanted:
            if self.found.rowCount():
                self._stack.show_view(self.found_table)
            elif self._search is None:
                self._stack.show_sentence(self.filter.no_match("" if self.found.complete else "the first fields"))
            return
        if self.model.rowCount():
            self._stack.show_view(self.tree)
            return
        info = self._document.layer_info(self._layer)
        if self._document.status.stage is Stage.FAILED:
            self._stack.show_sentence("Nothing could be opened.")
        elif info is not None and info.kind is LayerKind.CONTENT:
            self._stack.show_sentence("A member's content has no known structure.")
        elif info is not None and not info.size:
            self._stack.show_sentence("There are no bytes.")
        else:
            self._stack.show_sentence("Reading…")

    def _select(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        if not self._is_following and isinstance(row, FieldRow):
            self._document.select_field(self._layer, row, ORIGIN)

    def _follow(self, selection: Selection) -> None:
        if selection.layer == self._layer and selection.field is not None and selection.origin != ORIGIN:
            self.model.reveal(selection.field)

    def _show_revealed(self, index: QModelIndex) -> None:
        self._is_following = True
        select_row(self.tree, index, self._document.selection.origin != ORIGIN)
        self._is_following = False


FOUND_TITLES = ("Field", "Value", "Offset", "In")


class FoundModel(TitledTable):
    """The fields that a filter found, with what is around each."""

    def __init__(self, swatch: Callable[[FieldRow], QColor], parent: QWidget) -> None:
        super().__init__(FOUND_TITLES, parent)
        self._swatch = swatch
        self.complete = True

    def show(self, found: FoundFields) -> None:
        """Show what was found."""
        self.beginResetModel()
        self._rows, self.complete = found.found, found.complete
        self.endResetModel()

    def field(self, row: int) -> FieldRow:
        """The field in a row."""
        found: FoundField = self._rows[row]
        return found.row

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        found: FoundField = self._rows[index.row()]
        row, column = found.row, index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            text = short(ARROW.join(found.around)) if column == len(FOUND_TITLES) - 1 else _text(row, column)
            return text if role == Qt.ItemDataRole.DisplayRole else plain(text)
        if role == Qt.ItemDataRole.DecorationRole and column == NAME:
            return severity_icon(row.wrong) if row.wrong is not None else _square(self._swatch(row).name(), _scale())
        return None


class FieldTree(TreeSource):
    """The fields of one layer in specification order."""

    titles: tuple[str, ...] = TITLES
    root: Any = ()

    def __init__(self, client: Client[ArchiveRequests], layer: int, swatch: Callable[[FieldRow], QColor]) -> None:
        self._client = client
        self.layer = layer
        self._swatch = swatch

    def fetch(self, key: Any, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        self._client.ask(ArchiveRequests.field_rows, self.layer, key, first, count).then(deliver)

    def key(self, row: FieldRow) -> Any | None:
        return row.path if row.children else None

    def data(self, row: FieldRow, column: int, role: int) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(row, column)
        if role == Qt.ItemDataRole.DecorationRole and column == NAME:
            return severity_icon(row.wrong) if row.wrong is not None else _square(self._swatch(row).name(), _scale())
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(row, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in (OFFSET, SIZE):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def range_text(self, first: int, stop: int) -> str:
        return f"{first + 1:,} – {stop:,}"


def _text(row: FieldRow, column: int) -> str:
    if column == OFFSET:
        return hexadecimal(row.spans[0].start, 8) if row.spans else ""
    if column == SIZE:
        return grouped(total(row.spans)) if row.spans else ""
    return short({NAME: _named(row), VALUE: row.value, MEANING: row.note}[column])


def _named(row: FieldRow) -> str:
    """The name of a field; what is of one member begins with that member's, which tells it from its neighbours."""
    is_named = (row.kind.about_member or row.kind is Kind.DATA) and row.value not in ("", row.name)
    return f"{row.value} · {row.name}" if is_named else row.name


def _tip(row: FieldRow, column: int) -> str:
    if column == OFFSET and row.spans:
        places = (f"bytes {grouped(start)} to {grouped(stop)}" for start, stop in row.spans[:8])
        return " and ".join(places)
    if column == SIZE and row.spans:
        return in_bytes(total(row.spans))
    mark = f" · {row.wrong.value}" if row.wrong is not None else ""
    texts = {NAME: f"{_named(row)} · {row.kind}{mark}", VALUE: row.value, MEANING: row.note}
    return plain(short(texts.get(column, "")))


def _scale() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


@cache
def _square(colour: str, scale: float) -> QPixmap:
    """A small square in a field's colour, as in the hex view."""
    picture = QPixmap(QSize(12, 12) * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    try:
        painter.setPen(QColor(128, 128, 128, 140))
        painter.setBrush(QColor(colour))
        painter.drawRect(0, 0, 11, 11)
    finally:
        painter.end()
    return picture
