"""The bytes: the switch between layers, the hex view with its map and legend, and content as text or image."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from inspector.core.field import Run
from inspector.core.kinds import Role
from inspector.gui.client import Job
from inspector.gui.document import Document, Selection
from inspector.gui.hex.copying import CopyFormat
from inspector.gui.hex.file_map import FileMap
from inspector.gui.hex.inspector import DataInspector
from inspector.gui.hex.legend import Legend
from inspector.gui.hex.model import HexModel
from inspector.gui.hex.view import HexView
from inspector.gui.panels.content_views import IMAGE_LIMIT, TEXT_LIMIT, ImageView, TextView
from inspector.gui.panels.layer_bar import LayerBar, Mode
from inspector.gui.reading import read_start
from inspector.operations.views import ContentInfo

ORIGIN = "hex"


class HexPane(QWidget):
    """Shows a document's layer and follows its selection.

    Signals:
        selectionChanged(object, object): the bytes selected in the hex view, half-open.
    """

    selectionChanged = Signal(object, object)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._layer = -1
        self._size = -1
        self._following = False
        self._mapping: Job | None = None
        self.bar = LayerBar(document)
        self.hex = HexView()
        self.map = FileMap()
        self.legend = Legend()
        self.inspector = DataInspector()
        self.text = TextView()
        self.image = ImageView()
        self.setFocusProxy(self.hex)
        bytes_side = QWidget()
        row = QHBoxLayout(bytes_side)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.hex, 1)
        row.addWidget(self.map)
        self._views: dict[Mode, QWidget] = {Mode.HEX: bytes_side, Mode.TEXT: self.text, Mode.IMAGE: self.image}
        self._stack = QStackedWidget()
        for view in self._views.values():
            self._stack.addWidget(view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.bar)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.legend)
        self._connect()

    def _connect(self) -> None:
        document = self._document
        document.layersChanged.connect(self._refresh)
        document.rowsChanged.connect(self._changed)
        document.selected.connect(self._follow)
        document.contentReady.connect(self._show_content)
        self.bar.modeChosen.connect(self._show_mode)
        self.hex.caretMoved.connect(self._caret_moved)
        self.hex.selectionChanged.connect(self.selectionChanged)
        self.hex.hovered.connect(document.hover)
        self.map.wanted.connect(self._draw_map)
        self.map.jumped.connect(self._jump)

    def swatch(self, role: Role) -> QColor:
        """The colour of a role in the hex view."""
        return self.hex.scheme().background(role)

    # ---- what the window asks for ------------------------------------------------------------------------------

    def set_bytes_per_row(self, count: int) -> None:
        """Show so many bytes a row, 0 for as many as fit."""
        self.hex.setBytesPerRow(count)

    def set_zoom(self, steps: int) -> None:
        """Letters larger (or smaller) than usual by so many points."""
        self.hex.setZoom(steps)

    def copy(self, how: CopyFormat | None = None) -> None:
        """Copy the selected bytes."""
        self.hex.copy(how)

    def select_all(self) -> None:
        """Select all bytes of the layer."""
        self.hex.selectAll()

    # ---- bytes -------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Show the document's layer, if it is another one now or has grown."""
        document = self._document
        if document.layer == self._layer and document.size == self._size:
            return
        if document.layer != self._layer:
            self._show_mode(Mode.HEX)
        self._layer, self._size = document.layer, document.size
        self._changed()

    def _changed(self) -> None:
        """All bytes and colours are fetched anew."""
        layer, client = self._layer, self._document.client
        if layer < 0:
            return

        def fetch(start: int, stop: int, deliver: Callable[[bytes, list[Run]], None]) -> None:
            def read(data: bytes) -> None:
                client.call("runs", layer, start, stop, done=lambda runs: deliver(data, runs))

            client.call("read", layer, start, stop - start, done=read)

        self.hex.setModel(HexModel(self._size, fetch))
        self._follow(self._document.selection)
        self._draw_map(self.map.rows())

    def _draw_map(self, rows: int) -> None:
        if self._mapping is not None and self._mapping.running:
            self._mapping.cancel()
        if self._layer >= 0 and rows > 0:
            self._mapping = self._document.client.job("overview", self._layer, rows, done=self.map.setRows)

    def _jump(self, offset: int) -> None:
        self._document.go_to(self._layer, offset, offset, "map")

    # ---- the selection -----------------------------------------------------------------------------------------

    def _caret_moved(self, offset: int) -> None:
        if not self._following:
            self._document.select_byte(self._layer, offset, ORIGIN)

    def _follow(self, selection: Selection) -> None:
        if selection.layer != self._layer or not self._size:
            return
        self._following = True
        if selection.origin != ORIGIN:
            self.hex.goTo(selection.caret)
        self.hex.setOutline(selection.spans)
        self._following = False

    # ---- content -----------------------------------------------------------------------------------------------

    def _show_content(self, content: ContentInfo) -> None:
        """Show content in the way that suits it best."""
        mode = Mode.IMAGE if content.image else Mode.TEXT if content.encoding else Mode.HEX
        if content.sentence:
            self._document.said.emit(content.sentence)
        self._refresh()
        self._show_mode(mode)

    def _show_mode(self, mode: Mode) -> None:
        self.bar.set_mode(mode)
        self._stack.setCurrentWidget(self._views[mode])
        self.legend.setVisible(mode is Mode.HEX)
        content = self._document.content
        if mode is Mode.HEX or content is None:
            return
        limit = min(content.layer.size, TEXT_LIMIT if mode is Mode.TEXT else IMAGE_LIMIT)
        read_start(
            self._document.client, content.layer.layer, limit, lambda data: self._take_content(mode, content, data)
        )

    def _take_content(self, mode: Mode, content: ContentInfo, data: bytes) -> None:
        if content is not self._document.content:
            return
        if mode is Mode.TEXT:
            self.text.show_text(data, content.encoding or "latin-1", content.layer.size)
        else:
            self.image.show_image(data, content.image or "", content.layer.size)
