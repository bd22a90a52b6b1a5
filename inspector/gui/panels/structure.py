"""The structure: the fields of the shown layer as a tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from inspector.core.kinds import Kind
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import total
from inspector.gui.document.document import Document, Selection
from inspector.gui.ipc.client import Client
from inspector.gui.kit.building import in_column
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.item_views import ExpandedRows, FirstColumnFitter, PagedTree, by_positions
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import Sentences
from inspector.gui.kit.table_models import Column, Deliver, widths
from inspector.gui.kit.text import ARROW, loading_text
from inspector.gui.kit.widgets import Emptiable, FilterLine, select_row, tree_view
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FieldRow, FoundFields, LayerKind, Stage

ORIGIN = "structure"


def _scale() -> float:
    app = QGuiApplication.instance()
    return app.devicePixelRatio() if isinstance(app, QGuiApplication) else 1.0


@cache
def _square(colour: str, scale: float) -> QPixmap:
    """A small square in a field's colour, as in the hex view."""
    picture = QPixmap(QSize(12, 12) * scale)
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    with QPainter(picture) as painter:
        painter.setPen(QColor(128, 128, 128, 140))
        painter.setBrush(QColor(colour))
        painter.drawRect(0, 0, 11, 11)
    return picture


def _named(row: FieldRow) -> str:
    """The name of a field; what is of one member begins with that member's, which tells it from its neighbours."""
    is_named = (row.kind.about_member or row.kind is Kind.DATA) and row.value not in ("", row.name)
    return f"{row.value} · {row.name}" if is_named else row.name


def _places(row: FieldRow) -> str:
    return " and ".join(f"bytes {grouped(start)} to {grouped(stop)}" for start, stop in row.spans[:8])


def columns(swatch: Callable[[FieldRow], QColor]) -> tuple[Column, ...]:
    """The columns of fields, which have the colours of their bytes."""

    def mark(row: FieldRow) -> Any:
        return icon_of(row.wrong) if row.wrong is not None else _square(swatch(row).name(), _scale())

    def tip(row: FieldRow) -> str:
        return f"{_named(row)} · {row.kind}{f' · {row.wrong.value}' if row.wrong is not None else ''}"

    return (
        Column("Field", _named, 190, tip, mark),
        Column("Value", lambda row: row.value, 100),
        Column(
            "Offset",
            lambda row: hexadecimal(row.spans[0].start, 8) if row.spans else "",
            90,
            _places,
            is_number=True,
        ),
        Column(
            "Size",
            lambda row: grouped(total(row.spans)) if row.spans else "",
            70,
            lambda row: in_bytes(total(row.spans)) if row.spans else "",
            is_number=True,
        ),
        Column("Meaning", lambda row: row.note),
    )


NAME, VALUE, OFFSET, SIZE, MEANING = range(5)


def found_columns(swatch: Callable[[FieldRow], QColor]) -> tuple[Column, ...]:
    """The columns of the fields that a filter found, with what is around each."""

    def of_found(column: Column) -> Column:
        icon = column.icon
        shown = None if icon is None else lambda found: icon(found.row)
        return Column(column.title, lambda found: column.text(found.row), column.width, icon=shown)

    return (*map(of_found, columns(swatch)[:SIZE]), Column("In", lambda found: ARROW.join(found.around)))


class FieldTree(PagedTree):
    """The fields of one layer in specification order."""

    def __init__(
        self, client: Client[ArchiveRequests], layer: int, swatch: Callable[[FieldRow], QColor], parent: QObject
    ) -> None:
        super().__init__(columns(swatch), (), parent)
        self._client = client
        self.layer = layer

    def fetch(self, key: Any, first: int, count: int, deliver: Deliver) -> None:
        self._client.ask(ArchiveRequests.field_rows, self.layer, key, first, count).then(deliver)

    def key(self, row: FieldRow) -> Any | None:
        return row.path if row.children else None


class StructurePanel(QWidget):
    """Shows the fields of a layer and follows the selection."""

    def __init__(self, document: Document, swatch: Callable[[FieldRow], QColor], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._is_following = False
        self._layer = document.layer
        self.model = FieldTree(document.client, document.layer, swatch, self)
        self.tree = tree_view(self.model, widths(self.model.columns), "Fields")
        self.tree.setItemDelegateForColumn(MEANING, Sentences(self.tree))
        self.tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        FirstColumnFitter(self.tree, VALUE)
        self._expanded_rows = ExpandedRows(self.tree, by_positions)
        self.found = Rows(found_columns(swatch), self)
        self.found_table = ListView(self.found, "Fields found")
        self._found_all = True
        self.filter = FilterLine(self.found_table, "Filter fields", "Filter fields by name, value or meaning")
        self.filter.appear_on_typing(self.tree, self.found_table)
        self._is_searching = False
        self.stack = Emptiable(self.tree, self.found_table)
        self.setFocusProxy(self.stack)
        in_column(self.filter, self.stack, on=self)
        self.filter.applied.connect(self._apply_filter)
        select = self.found_table.each_row(lambda found: document.select_field(self._layer, found.row, ORIGIN))
        self.found_table.selectionModel().currentRowChanged.connect(select)
        self.found_table.activated.connect(select)
        document.rowsChanged.connect(self._rows_changed)
        document.layersChanged.connect(self._change_layer)
        document.selected.connect(self._follow)
        self.model.revealed.connect(self._show_revealed)
        for changed in (document.statusChanged, self.model.rowsInserted, self.model.modelReset):
            changed.connect(self._update_view)
        self.tree.selectionModel().currentRowChanged.connect(self._select)
        self.model.fetchMore(QModelIndex())
        self._update_view()

    def _change_layer(self) -> None:
        if self._document.layer != self._layer:
            self._layer = self.model.layer = self._document.layer
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
        self._is_searching = bool(text)
        if text:
            layer = self._layer

            def show(found: FoundFields) -> None:
                if (layer, text) == (self._layer, self.filter.wanted):
                    self._is_searching, self._found_all = False, found.complete
                    self.found.show(found.found)
                    self._update_view()

            search = self._document.start(ArchiveRequests.find_fields, layer, text)
            search.then(show, lambda _: show(FoundFields((), True)))
        self._update_view()

    def _update_view(self, *_: object) -> None:
        if self.filter.wanted:
            if self.found.rowCount():
                self.stack.show_view(self.found_table)
            elif not self._is_searching:
                self.stack.show_sentence(self.filter.no_match("" if self._found_all else "the first fields"))
        elif self.model.rowCount():
            self.stack.show_view(self.tree)
        else:
            self.stack.show_sentence(self._why_empty())

    def _why_empty(self) -> str:
        info = self._document.layer_info(self._layer)
        if reason := loading_text(self._document.status.stage):
            return reason
        if info is not None and info.kind is LayerKind.CONTENT:
            return "A member's content has no known structure."
        return "Reading…" if info is None or info.size else "There are no bytes."

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
