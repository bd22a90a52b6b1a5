"""The structure: the tree of fields of the layer that is shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.core.kinds import Role
from inspector.gui.document.document import Document
from inspector.gui.document.selection import Selection
from inspector.gui.kit.item_views import FirstColumnFits, StaysOpen, by_positions
from inspector.gui.kit.tree_model import PagedTree
from inspector.gui.kit.widgets import Emptiable, select_row, tree_view
from inspector.gui.panels.models.fields import NAME, OFFSET, SIZE, VALUE, FieldTree
from inspector.operations.protocol.views import FieldRow, LayerKind, Stage

ORIGIN = "structure"
WIDTHS = {NAME: 190, VALUE: 100, OFFSET: 90, SIZE: 70}


class StructurePanel(QWidget):
    """Shows the fields of a document's layer and follows its selection."""

    def __init__(self, document: Document, swatch: Callable[[Role], QColor]) -> None:
        super().__init__()
        self._document = document
        self._navigation = False
        self._layer = document.layer
        self.fields = FieldTree(document.client, document.layer, swatch)
        self.model = PagedTree(self.fields, self)
        self.tree = tree_view(self.model, WIDTHS, "Fields")
        self.tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        FirstColumnFits(self.tree, VALUE)
        self._unfolded = StaysOpen(self.tree, by_positions)
        self._stack = Emptiable(self.tree)
        self.setFocusProxy(self._stack)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        document.rowsChanged.connect(self._changed)
        document.layersChanged.connect(self._change_layer)
        document.statusChanged.connect(self._choose_view)
        document.selected.connect(self._follow)
        self.model.revealed.connect(self._show_revealed)
        self.model.rowsInserted.connect(self._choose_view)
        self.model.modelReset.connect(self._choose_view)
        self.tree.selectionModel().currentRowChanged.connect(self._chosen)
        self.model.fetchMore(QModelIndex())
        self._choose_view()

    def _change_layer(self) -> None:
        if self._document.layer != self._layer:
            self._layer = self.fields.layer = self._document.layer
            self._unfolded.forget()
            self._refetch()

    def _changed(self) -> None:
        """Fetch anew; what the user has opened is not closed again and again while decoding goes on."""
        if self._document.status.stage is not Stage.DECODING or not self.model.rowCount():
            self._refetch()

    def _refetch(self) -> None:
        self.model.refetch()
        self.model.fetchMore(QModelIndex())
        self._follow(self._document.selection)

    def _choose_view(self, *_: object) -> None:
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

    def _chosen(self, index: QModelIndex) -> None:
        row = self.model.row(index)
        if not self._navigation and isinstance(row, FieldRow):
            self._document.select_field(self._layer, row, ORIGIN)

    def _follow(self, selection: Selection) -> None:
        if selection.layer == self._layer and selection.field is not None and selection.origin != ORIGIN:
            self.model.reveal(selection.field)

    def _show_revealed(self, index: QModelIndex) -> None:
        self._navigation = True
        select_row(self.tree, index, self._document.selection.origin != ORIGIN)
        self._navigation = False
