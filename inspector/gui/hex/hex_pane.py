"""The central pane: layer bar, hex view with map and legend, and content as text or image."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import or_
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QImageReader, QPalette, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QSizePolicy, QStackedWidget, QWidget

from inspector.core.field import Census, Run, Structure
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.span import Spans, total
from inspector.core.verdict import State, Verdict
from inspector.drawing.byte_class import SMALL_BLOCK, ByteClass, look_of
from inspector.drawing.colouring import ColourBy
from inspector.drawing.palette import FAMILY_HUES
from inspector.gui.document.document import Document, Selection
from inspector.gui.hex.beside.data_inspector import READ_BYTES, DataInspector
from inspector.gui.hex.beside.legend import (
    DAMAGED,
    TORN,
    Legend,
    LegendEntry,
    class_entries,
    role_entries,
    structure_entries,
    verdict_entries,
)
from inspector.gui.hex.beside.strip import LABELLED_PX, NARROW_PX, WIDE_PX, ByteBand, FileMap, shares_of
from inspector.gui.hex.layer_bar import LayerBar, Mode
from inspector.gui.hex.pages import HexModel, deliver_both
from inspector.gui.hex.view import HexView
from inspector.gui.kit.building import dressed, in_column, in_row, page_of
from inspector.gui.kit.style import GRID, bold
from inspector.gui.kit.text import path_text, plain, short
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import ElidedLabel, push_button, sentence_label
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import ContentInfo, Explanation, FieldRow, LayerInfo, Reference, Target

MAX_TEXT_BYTES = 1 << 20
"""The most bytes shown as text."""
MAX_LINE_CHARACTERS = 4_000
"""The most characters shown of a line: Qt takes seconds to lay out a longer one."""
MAX_IMAGE_BYTES = 64 << 20
"""The size of the largest file shown as an image."""
MAX_DECODED_MIB = 256
"""The most memory for a decoded image, in MiB."""
ORIGIN = "hex"
EDIT_SENTENCE = "Typing overwrites bytes. Nothing is written until you press Ctrl+S."
EXPERIMENT_EDIT_SENTENCE = "Typing overwrites bytes, as steps of the experiment."
_BY_MEMBER = "each member with its header and entry in one colour"
MAX_DAMAGE_SPANS = 1_000
"""The most damaged spans that are marked."""


MAX_FINDINGS = 3
"""Findings said of one byte."""


def accessible_text(explanation: Explanation, byte: int | None) -> str:
    """``offset 14, byte 3 of 4, CRC-32, value 0x4d6c0647, reads 06``, then enclosing fields and findings.

    ``byte`` is the value of the byte, None while it has not been read.
    """
    parts = [f"offset {grouped(explanation.offset)}"]
    sentences = [sentence for _, sentence in explanation.findings[:MAX_FINDINGS]]
    if (more := len(explanation.findings) - MAX_FINDINGS) > 0:
        sentences.append(count(more, "more finding"))
    if explanation.fields:
        leaf = explanation.fields[-1]
        parts += [_position(leaf, explanation.offset), short(leaf.name)]
        parts += [f"value {short(leaf.value)}"] if leaf.value else []
        sentences += [short(leaf.note)] if leaf.note else []
    parts += [f"reads {byte:02X}"] if byte is not None else []
    parts += [f"in {short(row.name)}" for row in reversed(explanation.fields[:-1])]
    return ". ".join(each.rstrip(".") for each in (", ".join(filter(None, parts)), *sentences))


def _position(leaf: FieldRow, offset: int) -> str:
    """The position of a byte in a field, counted from one across all its spans."""
    before = 0
    for start, stop in leaf.spans:
        if start <= offset < stop:
            number, size = before + offset - start + 1, total(leaf.spans)
            return f"byte {grouped(number)} of {grouped(size)}"
        before += stop - start
    return ""


def hover_text(explanation: Explanation) -> str:
    """The tooltip for a byte: its field, value, note and first findings."""
    if not explanation.fields:
        return ""
    leaf = explanation.fields[-1]
    value = f" = {short(leaf.value)}" if leaf.value else ""
    findings = [sentence for _, sentence in explanation.findings[:MAX_FINDINGS]]
    lines = [path_text(explanation.fields) + value, short(leaf.note), *findings]
    return "\n".join(line for line in lines if line)


LANE_PX = 142
"""Pixels for the names of structures before the map has names too."""


class HexPane(QWidget):
    """Shows a document's layer and follows its selection.

    Signals:
        selectionChanged(object start, object stop): the selected bytes ``[start, stop)``.
        menuRequested(QPoint): show the context menu at a position on the screen.
        lookChanged(str): what the bytes around the caret look like, "" if that is not asked for.
    """

    selectionChanged = Signal(object, object)
    menuRequested = Signal(QPoint)
    lookChanged = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._info: LayerInfo | None = None
        self._following = False
        self._damage: Spans = ()
        self._marks: dict[str, Any] = {"bookmarks": (), "notes": (), "unread": (0, ())}
        self._counted: int | None = None
        """The layer of which structures and verdicts are counted as they are now; None if none is."""
        self._census: Census = Census()
        self._judged: dict[Verdict, int] = {}
        self.strip = ModeStrip("EDIT", "Stop Editing", "Stop overwriting bytes; pending changes stay (Ctrl+Shift+B)")
        self.strip.sentence.setText(EDIT_SENTENCE)
        self.experiment = ModeStrip("EXPERIMENT", "Leave Experiment", "Drop the steps and show the archive as it is")
        self.replay = ModeStrip("REPLAY", "Leave Replay", "Show the archive as it is")
        self.bar = LayerBar(document)
        self.hex = HexView()
        self.map = FileMap()
        self.map.setFixedWidth(NARROW_PX)
        self.band = ByteBand()
        self.band.hide()
        self._bands_wanted = False
        self.legend = Legend()
        self.legend.hide()  # until there are colours to explain
        self.inspector = DataInspector()
        self.inspected = (0, 0)
        """The layer and the offset of the bytes that the inspector reads."""
        self.text = TextView()
        self.image = ImageView()
        self.setFocusProxy(self.hex)
        bytes_side = page_of(in_row((self.hex, 1), self.map, self.band, gap=0))
        self._views: dict[Mode, QWidget] = {Mode.HEX: bytes_side, Mode.TEXT: self.text, Mode.IMAGE: self.image}
        self._stack = QStackedWidget()
        for view in self._views.values():
            self._stack.addWidget(view)
        in_column(self.bar, self.experiment, self.replay, self.strip, (self._stack, 1), self.legend, on=self)
        self._connect()

    def _connect(self) -> None:
        document = self._document
        document.layersChanged.connect(self._refresh)
        document.rowsChanged.connect(self._changed)
        document.explained.connect(self._describe_byte)
        document.hovered.connect(self._hovered)
        document.selected.connect(self._follow)
        document.contentReady.connect(self._show_content)
        self.bar.modeChosen.connect(self._show_mode)
        self.hex.caretMoved.connect(self._caret_moved)
        self.hex.selectionChanged.connect(self.selectionChanged)
        self.hex.hovered.connect(document.hover)
        self.hex.message.connect(document.reported)
        self.band.rowsRequested.connect(self._ask_bands)
        self.hex.menuRequested.connect(lambda _, place: self.menuRequested.emit(place))
        self.hex.lane.chosen.connect(self._choose_structure)
        self.legend.litChanged.connect(self._light)
        self.legend.stepRequested.connect(self._step)
        self.map.show_state(by=ColourBy.STRUCTURE)
        self.map.rowsRequested.connect(self._draw_map)
        for strip in (self.map, self.band):
            self.hex.scrolled.connect(strip.setShown)
            strip.jumped.connect(lambda offset: document.go_to(document.layer, offset, offset, "map"))

    def swatch(self, row: FieldRow) -> QColor:
        """The colour of a field in the hex view: of its structure, or of its role where that is asked for."""
        colours = self.hex.look.colours
        if self.map.by is ColourBy.KIND or row.family is None:
            return QColor(colours.fill(row.role))
        return QColor(colours.tones[FAMILY_HUES[row.family]].fills[1][0])

    # ---- settings and commands ---------------------------------------------------------------------------------

    def set_colour_by(self, by: ColourBy) -> None:
        """Colour bytes and map by structure or by something else."""
        self.hex.setColourBy(by)
        self.map.show_state(by=by)
        self._show_bands()
        self._update_legend()

    def show_bands(self, wanted: bool) -> None:
        """Show the byte bands beside the map, or only while bytes are coloured by their entropy."""
        self._bands_wanted = wanted
        self._show_bands()

    def _show_bands(self) -> None:
        is_shown = self._bands_wanted or self.map.by is ColourBy.ENTROPY
        if is_shown is self.band.isHidden():
            self.band.setVisible(is_shown)
            self._ask_bands()
            self._update_legend()
            self._describe_look()

    def _ask_bands(self, *_: object) -> None:
        band, info = self.band, self._info
        if info is not None and info.size and not band.isHidden() and band.height() > 0:
            job = self._document.start(ArchiveRequests.bands, info.layer, 0, info.size, band.height())
            job.then(partial(self._learn, band, "bands"))

    def restyle(self) -> None:
        """Apply the current fixed font."""
        self.hex.restyle()
        self.inspector.restyle()
        self.text.restyle()

    def wanted_width(self) -> int:
        """The width in pixels at which rows of 16 bytes are seen with their text, and the map beside them."""
        return self.minimumSizeHint().width() - self.hex.minimumSizeHint().width() + self.hex.wantedWidth()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Widen the map to name what it shows, where rows and the names of structures leave room."""
        super().resizeEvent(event)
        room = self.width() - self.wanted_width() + self.map.width() - LANE_PX
        wide = WIDE_PX if room >= WIDE_PX + LANE_PX else LABELLED_PX
        self.map.setFixedWidth(wide if room >= LABELLED_PX else NARROW_PX)

    def mark(self, **marks: Any) -> None:
        """Show other marks in the layer that they are of, on the bytes and in the map.

        ``bookmarks`` are layers, offsets and notes, ``notes`` layers and structures; ``unread`` are a layer and its
        bytes that a reader never reads.
        """
        self._marks |= marks
        self._show_marks()

    def set_edited(self, spans: Spans) -> None:
        """Underline the bytes of the layer that are not on disk yet."""
        self.hex.mark(edited=spans)
        self._update_legend()

    # ---- bytes -------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Show the current layer of the document if it or its size has changed."""
        document = self._document
        info = document.layer_info(document.layer)
        if info is None or info == self._info:
            return
        is_new = self._info is None or self._info.layer != info.layer
        if self._info is None or (self._info.layer, self._info.size) != (info.layer, info.size):
            self.map.setSize(info.size)
            self.band.setSize(info.size)
        self._info = info
        if is_new:
            self._show_mode(Mode.HEX)
            model = HexModel(info.size, partial(self._fetch, info.layer))
            model.changed.connect(self._describe_look)
            self._damage = ()
            self.hex.setModel(model)  # which also updates the frame of the map
            if self.hex.isVisible():
                model.request(*self.hex.shown())  # before all that the panels ask for
            self._show_changed()
        else:
            self._changed()

    def _changed(self) -> None:
        """Refetch bytes and colours, which may have changed."""
        if self._info is not None and (model := self.hex.model) is not None:
            model.invalidate(self._info.size)
            self._show_changed()

    def _show_changed(self) -> None:
        self._show_marks()
        self.map.setShown(*self.hex.shown())
        self._ask_bands()
        layer = self._document.layer

        def take(spans: Spans) -> None:
            if layer == self._document.layer:
                self._damage = spans
                self._show_marks()

        self._document.client.ask(ArchiveRequests.damage, layer, MAX_DAMAGE_SPANS).then(take)
        self._counted = None
        self._draw_map(self.map.height())
        self._follow(self._document.selection)

    def _fetch(self, layer: int, start: int, stop: int, deliver: Callable[[bytes, list[Run]], None]) -> None:
        document, client = self._document, self._document.client
        read = client.ask(ArchiveRequests.read, layer, start, stop - start)
        deliver_both(read, client.ask(ArchiveRequests.runs, layer, start, stop), deliver, document.reported.emit)

    def _show_marks(self) -> None:
        """Show what is marked in the layer shown, besides the selection."""
        if (model := self.hex.model) is None:
            return
        layer, size, marks = self._document.layer, model.size, self._marks
        model.set_notes([each for which, each in marks["notes"] if which == layer and each.stop <= size])
        there = {at: visible(note) for which, at, note in sorted(marks["bookmarks"]) if which == layer and at < size}
        unread = marks["unread"][1] if marks["unread"][0] == layer else ()
        torn = self._document.status.state is State.TORN
        self.hex.mark(bookmarks=list(there), unread=unread, damage=self._wrong(), torn=torn)
        self.map.show_state(bookmarks=there, unread=unread, damage=self._damage, torn=torn)
        self._update_legend()

    def _wrong(self) -> Spans:
        """The damage; the selected finding is always included, however many there are."""
        selection = self._document.selection
        return (*self._damage, *selection.spans) if selection.wrong else self._damage

    def _draw_map(self, rows: int) -> None:
        if self._info is None or rows <= 0:
            return
        document, layer = self._document, self._info.layer
        document.start(ArchiveRequests.overview, layer, rows).then(partial(self._learn, self.map, "sets"), bool)
        if layer != self._counted:
            # Structures and verdicts are the same however high the map is.
            document.start(ArchiveRequests.census, layer).then(partial(self._learn, self, "_census"), bool)
            document.start(ArchiveRequests.verdict_counts, layer).then(partial(self._learn, self, "_judged"), bool)
            self._counted = layer
        show_verdicts = partial(self._learn, self.map, "verdicts")
        if document.status.checked or document.status.judged:
            document.start(ArchiveRequests.verdict_overview, layer, rows).then(show_verdicts, bool)
        else:
            show_verdicts([])  # verdicts of an earlier version of the bytes

    def _learn(self, which: QWidget, name: str, found: object) -> None:
        """Take what the map, the bands or the legend are made of."""
        setattr(which, name, found)
        self.map.redraw()
        self.band.redraw()
        self._update_legend()

    def _update_legend(self) -> None:
        """Limit the legend to the colours in use."""
        entries, by = [LegendEntry(_BY_MEMBER)], self.map.by
        if by is ColourBy.STRUCTURE:
            entries = structure_entries(self._census)
        elif by is ColourBy.KIND:
            entries = role_entries(reduce(or_, self.map.sets, 0))
        elif by is ColourBy.VERDICT:
            entries = verdict_entries(self._judged)
        if not self.band.isHidden() and self.band.bands is not None:
            looks = class_entries(shares_of(self.band.bands))
            entries = looks if by is ColourBy.ENTROPY else [*entries, *looks]
        scene, judged = self.hex.scene, reduce(or_, self.map.verdicts, 0)
        damage = (TORN if scene.torn else DAMAGED) if self._damage else ""
        self.legend.setEntries(entries, damage, judged, bool(scene.edited), bool(scene.unread))

    def _light(self, entry: LegendEntry | None) -> None:
        """Light the bytes of an entry of the legend up, in the hex view and in the map."""
        self.hex.mark(lit=None if entry is None else entry.lit)
        self.map.show_state(lit=None if entry is None else entry.bits)
        self.band.show_state(lit=entry.mark if entry is not None and isinstance(entry.mark, ByteClass) else None)

    def _step(self, entry: LegendEntry, backwards: bool) -> None:
        """Go to the next structure of an entry of the legend."""
        document, selection = self._document, self._document.selection
        if entry.kind is None or self._info is None:
            return
        place = (self._info.layer, selection.caret, backwards, entry.kind, "", entry.unused)

        def show(target: Target | None) -> None:
            if target is not None:
                document.go_to(target.layer, target.start, target.stop, "step")

        document.start(ArchiveRequests.next_field, *place).then(show)

    def _choose_structure(self, structure: Structure) -> None:
        """Select the structure whose name was clicked, or the bytes of a note."""
        document, layer = self._document, self._document.layer

        def select(row: FieldRow | None) -> None:
            if row is not None:
                document.select_field(layer, row, "lane")

        if structure.path:
            document.client.ask(ArchiveRequests.field, layer, structure.path).then(select, document.reported.emit)
        else:
            document.go_to(layer, structure.start, structure.stop, "lane")

    # ---- the selection -----------------------------------------------------------------------------------------

    def _caret_moved(self, offset: int) -> None:
        if not self._following:
            self._document.select_byte(self._document.layer, offset, ORIGIN)

    def _follow(self, selection: Selection) -> None:
        if self._info is None or selection.layer != self._info.layer:
            return
        self._following = True
        is_current = (selection.caret, selection.length) == (self.hex.caret(), self.hex.selection().size)
        if selection.origin != ORIGIN and not is_current:
            self.hex.goTo(selection.caret, selection.length)
        marks = {"outline": selection.spans, "stored": selection.stored, "omitted": selection.omitted}
        self.hex.mark(**marks, damage=self._wrong())
        self._following = False

    def _describe_byte(self, explanation: Explanation) -> None:
        self.hex.setCaretDescription(accessible_text(explanation, self.hex.byteAtCaret()))
        self._light_covered(explanation)
        self._describe_look()
        place = (explanation.layer, explanation.offset)

        def show(data: bytes) -> None:
            self.inspected = place
            self.inspector.readings.setBytes(data)

        self._document.client.ask(ArchiveRequests.read, *place, READ_BYTES).then(show, lambda _: show(b""))

    def look_at(self, offset: int) -> str:
        """What the block around a byte looks like, in words; empty where no bands are shown or it has not arrived."""
        model, start = self.hex.model, offset // SMALL_BLOCK * SMALL_BLOCK
        if self.band.isHidden() or model is None:
            return ""
        pieces = model.bytes_at(start, min(start + SMALL_BLOCK, model.size))
        return look_of(pieces[0][1]).text if pieces and pieces[0][0] == start else ""

    def _describe_look(self, *_: object) -> None:
        self.lookChanged.emit(self.look_at(self._document.selection.caret))

    def _light_covered(self, explanation: Explanation) -> None:
        """Of a selected digest, outline exactly the bytes it covers, and mark its own and those it leaves out."""
        selection = self._document.selection
        is_digest = bool(explanation.fields) and explanation.fields[-1].kind is Kind.DIGEST
        if not is_digest or selection.length or selection.stored or selection.wrong:
            return

        def show(references: tuple[Reference, ...]) -> None:
            covering = next((each for each in references if each.place), None)
            if covering is not None and self._document.selection is selection:
                self.hex.mark(outline=covering.covers, stored=covering.place, omitted=covering.omits)

        place = (explanation.layer, explanation.offset, None)
        self._document.client.ask(ArchiveRequests.references, *place).then(show, self._document.reported.emit)

    def _hovered(self, explanation: Explanation | None) -> None:
        if explanation is not None and explanation.layer == self._document.layer:
            at = explanation.offset
            look, note = self.look_at(at), self.map.bookmarks.get(at)
            lines = [hover_text(explanation)]
            lines += [f"Looks like: {look}"] if look else []
            lines += [] if note is None else [f"Bookmark: {note}".rstrip(": ")]
            self.hex.setHoverText(at, plain("\n".join(lines)))

    # ---- content -----------------------------------------------------------------------------------------------

    def _show_content(self, content: ContentInfo) -> None:
        """Show content as an image, text or hex, whichever fits first."""
        mode = Mode.IMAGE if content.image else Mode.TEXT if content.encoding else Mode.HEX
        if content.sentence:
            self._document.reported.emit(content.sentence)
        self._refresh()
        self._show_mode(mode)

    def _show_mode(self, mode: Mode) -> None:
        self.bar.modes[mode].setChecked(True)
        self._stack.setCurrentWidget(self._views[mode])
        self.legend.setVisible(mode is Mode.HEX)
        content, view = self._document.content, self._views[mode]
        if content is None or not isinstance(view, (TextView, ImageView)):
            return

        def take(data: bytes) -> None:
            if content is self._document.content:
                view.show_content(data, content)

        self._document.read_start(content.layer.layer, min(content.layer.size, view.most_bytes), take)


class ModeStrip(QFrame):
    """The strip above the bytes while a mode is on: its name, what it means, and a button that ends it.

    Signals:
        stopRequested(): the user wants to end the mode.
    """

    stopRequested = Signal()

    def __init__(self, name: str, stop: str, tip: str) -> None:
        super().__init__()
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Highlight)
        self.mark = QLabel(name)
        self.mark.setFont(bold(self.mark.font()))
        self.sentence = ElidedLabel("", Qt.TextElideMode.ElideRight)
        for label in (self.mark, self.sentence):
            label.setForegroundRole(QPalette.ColorRole.HighlightedText)
        self.stop = push_button(stop, tip, self.stopRequested)
        in_row(self.mark, (self.sentence, 1), self.stop, on=self, edge=(2 * GRID, 0, 2 * GRID, 0))
        self.hide()

    def minimumSizeHint(self) -> QSize:
        """The sentence may be cut off entirely."""
        return QSize(0, super().minimumSizeHint().height())


# ---- content as text and as an image, both read-only and limited in size -----------------------------------------


def _add_label_above(view: QWidget, parent: QWidget) -> QLabel:
    """Lay out ``view`` in ``parent`` below a label, which is returned."""
    sentence = sentence_label()
    sentence.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
    in_column(sentence, (view, 1), on=parent)
    return sentence


class TextView(QWidget):
    """Content as text in the fixed font."""

    most_bytes = MAX_TEXT_BYTES

    def __init__(self) -> None:
        super().__init__()
        self.text = dressed(QPlainTextEdit(readOnly=True), "Content as text")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.restyle()
        self.sentence = _add_label_above(self.text, self)

    def restyle(self) -> None:
        """Apply the current fixed font."""
        self.text.setFont(fixed_font())

    def show_content(self, data: bytes, content: ContentInfo) -> None:
        """Decode and show ``data``, the first bytes of ``content``."""
        encoding, size = content.encoding or "latin-1", content.layer.size
        try:
            text = data.decode(encoding, "replace")
        except LookupError:
            text = data.decode("latin-1")
        lines = text.replace("\0", "␀").splitlines()
        self.text.setPlainText("\n".join(line[:MAX_LINE_CHARACTERS] for line in lines))
        message = f"Text in {encoding}, {grouped(len(lines))} lines."
        if size > len(data):
            part = in_bytes(len(data))
            message += f" Only the first {part} of {in_bytes(size)} are shown as text; the hex view has all."
        if any(len(line) > MAX_LINE_CHARACTERS for line in lines):
            message += f" Lines longer than {grouped(MAX_LINE_CHARACTERS)} characters are cut."
        self.sentence.setText(message)


class ImageView(QWidget):
    """An image, scaled down to fit and never scaled up."""

    most_bytes = MAX_IMAGE_BYTES

    def __init__(self) -> None:
        super().__init__()
        self._picture = QPixmap()
        self.image = dressed(QLabel(alignment=Qt.AlignmentFlag.AlignCenter), "Content as an image")
        self.image.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.sentence = _add_label_above(self.image, self)

    def show_content(self, data: bytes, content: ContentInfo) -> None:
        """Show the image file ``data``, the first bytes of ``content``, or the reason it cannot be shown."""
        kind, size = content.image or "", content.layer.size
        QImageReader.setAllocationLimit(MAX_DECODED_MIB)
        buffer = QBuffer()
        buffer.setData(QByteArray(data))
        reader = QImageReader(buffer, QByteArray(kind.encode()))
        reader.setAutoTransform(True)
        found, image = reader.size(), reader.read() if size <= len(data) else QImage()
        message = f"{kind.upper()} image, {grouped(found.width())} × {grouped(found.height())} pixels."
        if size > len(data):
            message = f"The image is {in_bytes(size)}; images larger than {in_bytes(MAX_IMAGE_BYTES)} are not shown."
        elif image.isNull():
            message = f"This {kind.upper()} image cannot be shown: {reader.errorString().rstrip('.')}."
        self._picture = QPixmap.fromImage(image)
        self.sentence.setText(message)
        self._scale()

    def _scale(self) -> None:
        room, picture, mode = self.image.size(), self._picture, Qt.TransformationMode.SmoothTransformation
        if picture.width() > room.width() or picture.height() > room.height():
            picture = picture.scaled(room, Qt.AspectRatioMode.KeepAspectRatio, mode)
        self.image.setPixmap(picture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._scale()
