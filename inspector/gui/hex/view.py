"""The hex view: offsets, hex and text of one layer, coloured by what the bytes mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QBasicTimer, QEvent, QObject, QPoint, Qt, QTimerEvent, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from inspector.core.numbers import in_bytes
from inspector.core.span import Span
from inspector.gui.hex.accessible import announce, install, tell_caret
from inspector.gui.hex.copying import MAX_COPY_BYTES, CopyFormat, copied
from inspector.gui.hex.cursor import Cursor, Move, Pane
from inspector.gui.hex.highlights import joined
from inspector.gui.hex.pages import HexModel
from inspector.gui.hex.painting import HATCH, RowPainter, Scene
from inspector.gui.hex.row_area import RowArea

_Key = QKeySequence.StandardKey
_LEFT = Qt.MouseButton.LeftButton


class HexView(RowArea):
    """Shows a HexModel. It reads nothing itself: bytes that have not arrived are shown as ``--``.

    Signals:
        caretMoved(object offset): the caret is on another byte, by whatever way.
        selectionChanged(object start, object stop): other bytes are selected; an empty range at the caret for none.
        hovered(object offset): the pointer is over another byte, None when it is over none.
        menuRequested(object offset, QPoint place): a context menu is wanted, at a place on the screen.
        said(str sentence): something for the user.
    """

    caretMoved = Signal(object)
    selectionChanged = Signal(object, object)
    hovered = Signal(object)
    menuRequested = Signal(object, QPoint)
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        install(HexView)
        self._model: HexModel | None = None
        self._cursor = Cursor(0)
        self._outline: list[Span] = []
        self._damage: list[Span] = []
        self._stored: list[Span] = []
        self._omitted: list[Span] = []
        self._edited: list[Span] = []
        self._overwriting = False
        self._digit = 0
        self._empty_text = "Nothing is shown."
        self._pointer = Pointer(self)
        self._pointer.placed.connect(self._place_caret)
        self._pointer.hovered.connect(self.hovered)
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.setAccessibleName("Bytes")

    # ---- what is shown -----------------------------------------------------------------------------------------

    def setModel(self, model: HexModel | None) -> None:
        """Show another layer from its start, or nothing. The model stays its owner's."""
        if self._model is not None:
            self._model.changed.disconnect(self._arrived)
            self._model.resized.disconnect(self._resized)
        self._model = model
        self._size = model.size if model is not None else 0
        self._cursor = Cursor(self._size)
        self._scroll.top = 0
        self._outline, self._damage, self._stored, self._omitted, self._edited = [], [], [], [], []
        if model is not None:
            model.changed.connect(self._arrived)
            model.resized.connect(self._resized)
        self._shown = None
        self._relayout()

    def model(self) -> HexModel | None:
        """What is shown."""
        return self._model

    def setEmptyText(self, text: str) -> None:
        """Say this where there are no bytes."""
        self._empty_text = text
        self.viewport().update()

    def setOutline(self, spans: Iterable[tuple[int, int]]) -> None:
        """Draw a line around these bytes: the selected field."""
        self._outline = joined(spans, self._size)
        self.viewport().update()

    def setChecksum(self, stored: Iterable[tuple[int, int]], omitted: Iterable[tuple[int, int]]) -> None:
        """Mark where a checksum stands and what it leaves out; what it covers is outlined."""
        self._stored, self._omitted = joined(stored, self._size), joined(omitted, self._size)
        self.viewport().update()

    def setDamage(self, spans: Iterable[tuple[int, int]]) -> None:
        """Mark these bytes as damaged; an empty span is a place where something is missing."""
        self._damage = joined(spans, self._size)
        self.viewport().update()

    def setEdited(self, spans: Iterable[tuple[int, int]]) -> None:
        """Underline these bytes: they are not on disk yet."""
        self._edited = joined(spans, self._size)
        self.viewport().update()

    def setOverwriting(self, on: bool, digit: int = 0) -> None:
        """Show that what is typed goes over the byte at the caret, from the first (0) or second (1) of its digits."""
        self._overwriting, self._digit = on, digit
        self.viewport().update()

    def setCaretDescription(self, text: str) -> None:
        """Have this spoken of the byte at the caret."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            announce(self, text)

    def setHoverText(self, offset: int, text: str) -> None:
        """Explain the byte at ``offset`` beside the pointer, if it is still over it."""
        self._pointer.explain(offset, text)

    def _resized(self) -> None:
        assert self._model is not None
        self._size = self._model.size
        self._cursor.resize(self._size)
        self._relayout()

    def _arrived(self, start: int, stop: int) -> None:
        shown = self.shown()
        if start < shown.stop and shown.start < stop:
            self.viewport().update()

    # ---- caret and selection -----------------------------------------------------------------------------------

    def caret(self) -> int:
        """The byte that the caret is on."""
        return self._cursor.caret

    def byteCount(self) -> int:
        """How many bytes there are."""
        return self._size

    def byteAtCaret(self) -> int | None:
        """The value of the byte that the caret is on, None while it has not arrived."""
        here = self._model.bytes_at(self.caret(), self.caret() + 1) if self._model is not None else []
        return here[0][1][0] if here else None

    def pane(self) -> Pane:
        """The column that the keyboard works in."""
        return self._cursor.pane

    def selection(self) -> Span:
        """The selected bytes, an empty span at the caret for none."""
        return self._cursor.selection

    def goTo(self, offset: int, select_length: int = 0, reveal: bool = True) -> None:
        """Put the caret on the byte at ``offset``, select so many bytes from it, and scroll to it if asked to."""
        self._change(lambda: self._cursor.select(offset, offset + select_length), reveal)

    def selectAll(self) -> None:
        """Select every byte; what is shown stays."""
        self._change(lambda: self._cursor.select(0, self._size), reveal=False)

    def clearSelection(self) -> None:
        """Select nothing; the caret stays."""
        self._change(self._cursor.clear, reveal=False)

    def _place_caret(self, offset: int, pane: Pane, extend: bool) -> None:
        def place() -> None:
            self._cursor.pane = pane
            self._cursor.place(offset, extend)

        self._change(place)

    def copy(self, how: CopyFormat | None = None) -> None:
        """Put the selected bytes, or the one at the caret, on the clipboard: by default as the pane shows them."""
        span = self._cursor.chosen
        if self._model is None or not span.size:
            return
        if span.size > MAX_COPY_BYTES:
            size, most = in_bytes(span.size), in_bytes(MAX_COPY_BYTES)
            too_many = f"{size} are too much for the clipboard: at most {most} can be copied."
            self.said.emit(too_many)
            return
        form = how or (CopyFormat.HEX if self._cursor.pane is Pane.HEX else CopyFormat.TEXT)
        self._model.gather(*span, lambda data: self._copied(data, span.size, form))

    def _copied(self, data: bytes, wanted: int, form: CopyFormat) -> None:
        size, read = in_bytes(wanted), in_bytes(len(data))
        if len(data) < wanted:
            self.said.emit(f"Nothing was copied: only {read} of {size} could be read.")
            return
        QGuiApplication.clipboard().setText(copied(data, form))
        self.said.emit(f"{size} copied as {form.value}.")

    def _change(self, change: Callable[[], None], reveal: bool = True) -> None:
        """Change the cursor, paint what looks different now, and tell."""
        cursor = self._cursor
        caret, selected, pane = cursor.caret, cursor.selected, cursor.pane
        change()
        if reveal and self._size:
            stop = (
                cursor.selected.stop if cursor.selected is not None and cursor.caret == cursor.selected.start else None
            )
            self.reveal(cursor.caret, cursor.pane, stop)
        if selected != cursor.selected:
            self.viewport().update()
        elif caret != cursor.caret or pane is not cursor.pane:
            for offset in (caret, cursor.caret):
                self.viewport().update(self.place_of(offset, Pane.HEX))
                self.viewport().update(self.place_of(offset, Pane.TEXT))
        self._update_heads()
        if caret != cursor.caret:
            tell_caret(self, cursor.caret)
            self.caretMoved.emit(cursor.caret)
        if selected != cursor.selected:
            self.selectionChanged.emit(*cursor.selection)

    def _caret_at(self) -> int | None:
        return self._cursor.caret if self._size else None

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt override."""
        painter = QPainter(self.viewport())
        try:
            painter.fillRect(event.rect(), self._look.base)
            if self._model is None or not self._size:
                painter.setPen(self._look.quiet)
                flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
                painter.drawText(self.viewport().rect().adjusted(16, 16, -16, -16), flags, self._empty_text)
                return
            self._model.want(*self.shown())
            painter.translate(-self.horizontalScrollBar().value(), 0)
            # Hatching belongs to the bytes: scrolled rows fit together with those that are painted anew.
            painter.setBrushOrigin(0, -(self._scroll.top * self._look.line) % HATCH)
            scene = Scene(
                self._model,
                self._layout,
                self._grid,
                self._cursor,
                self._outline,
                self._damage,
                self.hasFocus(),
                self._stored,
                self._omitted,
                self._edited,
                self._overwriting,
                self._digit,
            )
            line = self._look.line
            first, last = max(0, event.rect().top()) // line, event.rect().bottom() // line
            top = self._scroll.top
            RowPainter(painter, self._look, scene).paint(range(top + first, top + last + 1), first * line)
        finally:
            painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt override."""
        move = move_of(event)
        if move is not None:
            self._change(lambda: self._cursor.move(move[0], self._layout.columns, self._scroll.page, move[1]))
        elif event.matches(_Key.Copy):
            self.copy()
        elif event.matches(_Key.SelectAll):
            self.selectAll()
        elif event.key() == Qt.Key.Key_Escape and self._cursor.selected is not None:
            self.clearSelection()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Qt override: Tab changes between the panes; Shift+Tab leaves the view."""
        if not forward:
            return super().focusNextPrevChild(forward)
        other = Pane.HEX if self._cursor.pane is Pane.TEXT else Pane.TEXT
        self._change(lambda: setattr(self._cursor, "pane", other))
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt override."""
        if event.button() is _LEFT and self._size:
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._pointer.press(event.position().toPoint(), extend)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt override."""
        self._pointer.move(event.position().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt override."""
        if event.button() is _LEFT:
            self._pointer.release()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt override: selects the outlined bytes that the pointer is over."""
        offset = self.over(event.position().toPoint())
        span = span_at(self._outline, offset) if offset is not None else None
        if event.button() is _LEFT and span is not None:
            self.goTo(span.start, span.size, reveal=False)

    def leaveEvent(self, event: QEvent) -> None:
        """Qt override."""
        super().leaveEvent(event)
        self._pointer.leave()

    def viewportEvent(self, event: QEvent) -> bool:
        """Qt override: tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            self._pointer.tip(event.globalPos())
            return True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt override: the menu is about the selection, or else about the byte under the pointer."""
        if not self._size:
            return
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            place = self.viewport().mapToGlobal(self.place_of(self._cursor.caret, self._cursor.pane).bottomLeft())
        else:
            place = event.globalPos()
            offset, pane = self.nearest(event.pos())
            if not self._cursor.selection.start <= offset < self._cursor.selection.stop:
                self._place_caret(offset, pane, extend=False)
        self.menuRequested.emit(self._cursor.caret, place)


_MOVES: tuple[tuple[_Key, _Key, Move], ...] = (
    (_Key.MoveToPreviousChar, _Key.SelectPreviousChar, Move.LEFT),
    (_Key.MoveToNextChar, _Key.SelectNextChar, Move.RIGHT),
    (_Key.MoveToPreviousLine, _Key.SelectPreviousLine, Move.UP),
    (_Key.MoveToNextLine, _Key.SelectNextLine, Move.DOWN),
    (_Key.MoveToPreviousPage, _Key.SelectPreviousPage, Move.PAGE_UP),
    (_Key.MoveToNextPage, _Key.SelectNextPage, Move.PAGE_DOWN),
    (_Key.MoveToStartOfLine, _Key.SelectStartOfLine, Move.ROW_START),
    (_Key.MoveToEndOfLine, _Key.SelectEndOfLine, Move.ROW_END),
    (_Key.MoveToStartOfDocument, _Key.SelectStartOfDocument, Move.FILE_START),
    (_Key.MoveToEndOfDocument, _Key.SelectEndOfDocument, Move.FILE_END),
)


def move_of(event: QKeyEvent) -> tuple[Move, bool] | None:
    """The move a key asks for and whether it selects; None for other keys."""
    for plain, selecting, move in _MOVES:
        if event.matches(plain):
            return move, False
        if event.matches(selecting):
            return move, True
    return None


_TICK = 40
"""Milliseconds between two steps while the pointer is held beyond the edge."""
_PIXELS_PER_ROW = 12
"""Pixels beyond the edge that make a step one row longer."""


def span_at(spans: Sequence[Span], offset: int) -> Span | None:
    """The span that holds the byte at ``offset``."""
    return next((span for span in spans if span.start <= offset < span.stop), None)


class Pointer(QObject):
    """Follows the mouse over the rows of a view.

    Signals:
        placed(object offset, object pane, bool extend): the caret is to go to a byte.
        hovered(object offset): the pointer is over another byte, None when it is over none.
    """

    placed = Signal(object, object, bool)
    hovered = Signal(object)

    def __init__(self, view: RowArea) -> None:
        super().__init__(view)
        self._view = view
        self._timer = QBasicTimer()
        self._dragging: Pane | None = None
        self._place = QPoint()
        self._hovered: int | None = None
        self._text: tuple[int, str] | None = None
        self._tip_wanted = False

    # ---- selecting ---------------------------------------------------------------------------------------------

    def press(self, place: QPoint, extend: bool) -> None:
        """The left button goes down."""
        offset, pane = self._view.nearest(place)
        self._dragging = pane
        self.placed.emit(offset, pane, extend)

    def move(self, place: QPoint) -> None:
        """The pointer goes somewhere, with the button down or not."""
        if self._dragging is None:
            self._hover(self._view.over(place))
            return
        self._place = place
        if self._beyond():
            if not self._timer.isActive():
                self._timer.start(_TICK, self)
        else:
            self._timer.stop()
        self._extend()

    def release(self) -> None:
        """The left button goes up."""
        self._dragging = None
        self._timer.stop()

    def leave(self) -> None:
        """The pointer leaves the viewport."""
        self._hover(None)

    def timerEvent(self, event: QTimerEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Qt override: the pointer is still held beyond the edge."""
        beyond = self._beyond()
        steps = 1 + abs(beyond) // _PIXELS_PER_ROW
        self._view.scroll_rows(steps if beyond > 0 else -steps)
        self._extend()

    def _beyond(self) -> int:
        """How many pixels the pointer is below the viewport, above it for a negative number."""
        height = self._view.viewport().height()
        return self._place.y() - height + 1 if self._place.y() >= height else min(0, self._place.y())

    def _extend(self) -> None:
        height = self._view.viewport().height()
        inside = QPoint(self._place.x(), max(0, min(self._place.y(), height - 1)))
        offset, pane = self._view.nearest(inside, self._dragging)
        self.placed.emit(offset, pane, True)

    # ---- hovering ----------------------------------------------------------------------------------------------

    def _hover(self, offset: int | None) -> None:
        if offset != self._hovered:
            self._hovered = offset
            self._tip_wanted = False
            QToolTip.hideText()
            self.hovered.emit(offset)

    def explain(self, offset: int, text: str) -> None:
        """The owner says what the byte at ``offset`` is."""
        self._text = (offset, text)
        if self._tip_wanted and offset == self._hovered:
            self.tip(QCursor.pos())

    def tip(self, place: QPoint) -> None:
        """Show the explanation of the byte under the pointer at a place on the screen, now or when it is there."""
        self._tip_wanted = self._hovered is not None
        if self._tip_wanted and self._text is not None and self._text[0] == self._hovered:
            QToolTip.showText(place, self._text[1], self._view.viewport())
