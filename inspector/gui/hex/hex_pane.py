"""The bytes: the switch between layers, the hex view with its map and legend, and content as text or image."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import or_

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from inspector.core.field import Run
from inspector.core.kinds import Role
from inspector.core.span import Span, Spans
from inspector.gui.document.document import Document, Selection
from inspector.gui.hex.accessible import spoken
from inspector.gui.hex.content_views import IMAGE_LIMIT, TEXT_LIMIT, ImageView, TextView
from inspector.gui.hex.copying import CopyFormat
from inspector.gui.hex.data_inspector import LOOKED_AT, DataInspector
from inspector.gui.hex.file_map import FileMap
from inspector.gui.hex.layer_bar import LayerBar, Mode
from inspector.gui.hex.legend import Legend
from inspector.gui.hex.pages import HexModel
from inspector.gui.hex.view import HexView
from inspector.gui.ipc.client import Job
from inspector.gui.kit.text import path_text, short
from inspector.gui.kit.widgets import ElidedLabel
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import ContentInfo, Explanation, LayerInfo

ORIGIN = "hex"
MOST_DAMAGE = 1_000
"""The most findings whose bytes are marked."""


def explained(explanation: Explanation) -> str:
    """What a byte is, in a few lines."""
    if not explanation.fields:
        return ""
    leaf = explanation.fields[-1]
    value = f" = {short(leaf.value)}" if leaf.value else ""
    wrong = [sentence for _, sentence in explanation.findings[:3]]
    lines = [path_text(explanation.fields) + value, short(leaf.note), *wrong]
    return "\n".join(line for line in lines if line)


class HexPane(QWidget):
    """Shows a document's layer and follows its selection.

    Signals:
        selectionChanged(object, object): the bytes selected in the hex view, half-open.
        menuWanted(QPoint): a menu is wanted at a place of the screen.
    """

    selectionChanged = Signal(object, object)
    menuWanted = Signal(QPoint)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self._info: LayerInfo | None = None
        self._model: HexModel | None = None
        self._navigation = False
        self._mapping: Job[list[int]] | None = None
        self._damage: list[Span] = []
        self._roles = 0
        self._judged = 0
        self._judging: Job[list[int]] | None = None
        self._edited: Spans = ()
        self.text_limit = TEXT_LIMIT
        self.strip = EditStrip()
        self.bar = LayerBar(document)
        self.hex = HexView()
        self.map = FileMap()
        self.legend = Legend()
        self.legend.hide()  # until there are bytes with colours
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
        layout.addWidget(self.strip)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self.legend)
        self._connect()

    def _connect(self) -> None:
        document = self._document
        document.layersChanged.connect(self._refresh)
        document.rowsChanged.connect(self._changed)
        document.explained.connect(self._explained)
        document.hovered.connect(self._hovered)
        document.selected.connect(self._follow)
        document.contentReady.connect(self._show_content)
        self.bar.modeChosen.connect(self._show_mode)
        self.hex.caretMoved.connect(self._caret_moved)
        self.hex.selectionChanged.connect(self.selectionChanged)
        self.hex.hovered.connect(document.hover)
        self.hex.said.connect(document.reported)
        self.hex.scrolled.connect(self.map.setShown)
        self.hex.menuRequested.connect(self._show_menu)
        self.map.wanted.connect(self._draw_map)
        self.map.jumped.connect(self._jump)

    def swatch(self, role: Role) -> QColor:
        """The colour of a role in the hex view."""
        return QColor(self.hex.look.colours.fill(role))

    # ---- what the window asks for ------------------------------------------------------------------------------

    def set_bytes_per_row(self, count: int) -> None:
        """Show so many bytes a row, 0 for as many as fit."""
        self.hex.setBytesPerRow(count)

    def set_zoom(self, steps: int) -> None:
        """Letters larger (or smaller) than usual by so many points."""
        self.hex.setZoom(steps)

    def set_offset_base(self, base: int) -> None:
        """Write offsets in base 16 or 10."""
        self.hex.setOffsetBase(base)

    def restyle(self) -> None:
        """Take over another font for bytes."""
        self.hex.restyle()
        self.inspector.restyle()
        self.text.restyle()

    def copy(self, how: CopyFormat | None = None) -> None:
        """Copy the selected bytes."""
        self.hex.copy(how)

    def select_all(self) -> None:
        """Select all bytes of the layer."""
        self.hex.selectAll()

    def set_edited(self, spans: Spans) -> None:
        """Underline the bytes of the layer that are not on disk yet."""
        self._edited = spans
        self.hex.setEdited(spans)
        self._explain_colours()

    def _show_menu(self, _: int, place: QPoint) -> None:
        self.menuWanted.emit(place)

    # ---- bytes -------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Show the document's layer, where it is another one now or has another size."""
        document = self._document
        info = document.layer_info(document.layer)
        if info is None or info == self._info:
            return
        is_new = self._info is None or self._info.layer != info.layer
        if self._info is None or (self._info.layer, self._info.size) != (info.layer, info.size):
            self.map.setSize(info.size)
        self._info = info
        if is_new:
            self._show_mode(Mode.HEX)
            self._model = HexModel(info.size, partial(self._fetch, info.layer))
            self.hex.setModel(self._model)  # which tells the map what it shows
            self.hex.setEmptyText("There are no bytes.")
        self._changed()

    def _changed(self) -> None:
        """All bytes and colours may be others."""
        if self._info is not None and self._model is not None:
            self._model.invalidate(self._info.size)
            self.map.setShown(*self.hex.shown())
            self._mark_damage()
            self._draw_map(self.map.rows())
            self._follow(self._document.selection)

    def _fetch(self, layer: int, start: int, stop: int, deliver: Callable[[bytes, list[Run]], None]) -> None:
        found: list[bytes] = []
        client = self._document.client
        client.ask(ArchiveRequests.read, layer, start, stop - start).then(found.append, self._document.reported.emit)
        client.ask(ArchiveRequests.runs, layer, start, stop).then(
            lambda runs: deliver(b"".join(found), runs), lambda _: deliver(b"".join(found), [])
        )

    def _mark_damage(self) -> None:
        layer = self._document.layer

        def take(spans: Spans) -> None:
            if layer != self._document.layer:
                return
            self._damage = list(spans)
            self.map.setDamage(self._damage)
            self._show_damage()
            self._explain_colours()

        self._document.client.ask(ArchiveRequests.damage, layer, MOST_DAMAGE).then(take)

    def _show_damage(self) -> None:
        """The bytes of the selected finding are marked even where it is one of very many."""
        selection = self._document.selection
        chosen = selection.spans if selection.wrong else ()
        self.hex.setDamage([*self._damage, *chosen])

    def _draw_map(self, rows: int) -> None:
        for job in (self._mapping, self._judging):
            if job is not None:
                job.supersede()
        if self._info is not None and rows > 0:
            client, layer = self._document.client, self._info.layer
            self._mapping = client.start(ArchiveRequests.overview, layer, rows).then(self._show_map)
            status = self._document.status
            if status.checked or status.judged:
                self._judging = client.start(ArchiveRequests.verdict_overview, layer, rows).then(self._show_verdicts)
            else:
                self._show_verdicts([])  # what was said of bytes that have changed since holds no more

    def _show_verdicts(self, sets: list[int]) -> None:
        self.map.setVerdicts(sets)
        self._judged = reduce(or_, sets, 0)
        self._explain_colours()

    def _show_map(self, sets: list[int]) -> None:
        self.map.setRows(sets)
        self._roles = reduce(or_, sets, 0)
        self._explain_colours()

    def _explain_colours(self) -> None:
        """The legend speaks of the colours that there are."""
        self.legend.setRoles(self._roles, bool(self._damage), self._judged, bool(self._edited))

    def _jump(self, offset: int) -> None:
        self._document.go_to(self._document.layer, offset, offset, "map")

    # ---- the selection -----------------------------------------------------------------------------------------

    def _caret_moved(self, offset: int) -> None:
        if not self._navigation:
            self._document.select_byte(self._document.layer, offset, ORIGIN)

    def _follow(self, selection: Selection) -> None:
        if self._info is None or selection.layer != self._info.layer:
            return
        self._navigation = True
        is_there = (selection.caret, selection.length) == (self.hex.caret(), self.hex.selection().size)
        if selection.origin != ORIGIN and not is_there:
            self.hex.goTo(selection.caret, selection.length)
        self.hex.setOutline(selection.spans)
        self.hex.setChecksum(selection.stored, selection.omitted)
        self._show_damage()
        self._navigation = False

    def _explained(self, explanation: Explanation) -> None:
        self.hex.setCaretDescription(spoken(explanation, self.hex.byteAtCaret()))
        place = (explanation.layer, explanation.offset)
        show = self.inspector.setBytes
        self._document.client.ask(ArchiveRequests.read, *place, LOOKED_AT).then(show, lambda _: show(b""))

    def _hovered(self, explanation: Explanation | None) -> None:
        if explanation is not None and explanation.layer == self._document.layer:
            self.hex.setHoverText(explanation.offset, explained(explanation))

    # ---- content -----------------------------------------------------------------------------------------------

    def _show_content(self, content: ContentInfo) -> None:
        """Show content in the way that suits it best."""
        mode = Mode.IMAGE if content.image else Mode.TEXT if content.encoding else Mode.HEX
        if content.sentence:
            self._document.reported.emit(content.sentence)
        self._refresh()
        self._show_mode(mode)

    def _show_mode(self, mode: Mode) -> None:
        self.bar.set_mode(mode)
        self._stack.setCurrentWidget(self._views[mode])
        self.legend.setVisible(mode is Mode.HEX)
        content = self._document.content
        if mode is Mode.HEX or content is None:
            return
        limit = min(content.layer.size, self.text_limit if mode is Mode.TEXT else IMAGE_LIMIT)
        self._document.read_start(content.layer.layer, limit, lambda data: self._take_content(mode, content, data))

    def _take_content(self, mode: Mode, content: ContentInfo, data: bytes) -> None:
        if content is not self._document.content:
            return
        if mode is Mode.TEXT:
            self.text.show_text(data, content.encoding or "latin-1", content.layer.size)
        else:
            self.image.show_image(data, content.image or "", content.layer.size)


class EditStrip(QFrame):
    """Is there while bytes are overwritten, and ends that.

    Signals:
        stopWanted(): no byte is to be overwritten any more.
    """

    stopWanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Highlight)
        self.mark = QLabel("EDIT")
        font = self.mark.font()
        font.setBold(True)
        self.mark.setFont(font)
        self.story = ElidedLabel(
            "Typing overwrites bytes. Nothing is written until you press Ctrl+S.", Qt.TextElideMode.ElideRight
        )
        for label in (self.mark, self.story):
            label.setForegroundRole(QPalette.ColorRole.HighlightedText)
        self.stop = QPushButton("Stop Editing")
        self.stop.setToolTip("Stop overwriting bytes; pending changes stay (Ctrl+Shift+B)")
        self.stop.setAutoDefault(False)
        self.stop.clicked.connect(self.stopWanted)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 6, 2)
        layout.addWidget(self.mark)
        layout.addWidget(self.story, 1)
        layout.addWidget(self.stop)
        self.hide()

    def minimumSizeHint(self) -> QSize:
        """See QWidget: the sentence gives way."""
        return QSize(0, super().minimumSizeHint().height())
