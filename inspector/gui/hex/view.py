"""The hex view: offsets, hex and text of one layer, coloured by what the bytes mean."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import shiboken6
from PySide6.QtCore import QBasicTimer, QEvent, QObject, QPoint, Qt, QTimerEvent, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QAccessibleInterface,
    QAccessibleValueChangeEvent,
    QAccessibleValueInterface,
    QContextMenuEvent,
    QCursor,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAccessibleWidget, QToolTip, QWidget

from inspector.core.numbers import grouped, in_bytes
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy
from inspector.gui.hex.lane import lay_out_brackets
from inspector.gui.hex.layout import MAX_COPY_BYTES, MOVES, CopyFormat, Cursor, Pane, formatted
from inspector.gui.hex.pages import HexModel, merged, overlapping
from inspector.gui.hex.painting import HATCH_PERIOD, MARKS_OF_SPANS, RowPainter, ViewState
from inspector.gui.hex.row_area import RowArea

_Key = QKeySequence.StandardKey
_LEFT = Qt.MouseButton.LeftButton
_AUTOSCROLL_MS = 40
"""Interval of autoscrolling while the pointer is dragged beyond the edge."""
_PIXELS_PER_ROW = 12
"""Pixels beyond the edge that add one row to a step."""
_COMMANDS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_DIGITS = "0123456789abcdef"


class HexView(RowArea):
    """Shows a HexModel and reads nothing itself: bytes that have not arrived are shown as ``--``.

    Signals:
        caretMoved(object offset): the caret moved, for whatever reason.
        selectionChanged(object start, object stop): the selected bytes; an empty range at the caret for none.
        hovered(object offset): the pointer is over another byte, None over no byte.
        menuRequested(object offset, QPoint position): show the context menu at a position on the screen.
        message(str sentence): a message for the user.
        overwritten(object offset, object old, object new, bool again): bytes were typed or pasted over others, which
            the receiver changes; ``again``: the second digit of the same byte.
    """

    caretMoved = Signal(object)
    selectionChanged = Signal(object, object)
    hovered = Signal(object)
    menuRequested = Signal(object, QPoint)
    message = Signal(str)
    overwritten = Signal(object, object, object, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        _install_accessible()
        self.model: HexModel | None = None
        self.scene = ViewState(self._layout, self._grid, self._cursor)
        self._colour_by = ColourBy.STRUCTURE
        self._timer = QBasicTimer()
        self._dragging: Pane | None = None
        self._pointer = QPoint()
        self._hovered: int | None = None
        self._tooltip_requested = False
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.setAccessibleName("Bytes")

    # ---- what is shown -----------------------------------------------------------------------------------------

    def setModel(self, model: HexModel | None) -> None:
        """Show another layer from its start, or nothing. The caller keeps ownership of the model."""
        if self.model is not None:
            self.model.changed.disconnect(self._arrived)
            self.model.resized.disconnect(self._resized)
        self.model = model
        self._size = model.size if model is not None else 0
        self._cursor = Cursor(self._size)
        self._scroll.top = 0
        kept = {name: getattr(self.scene, name) for name in ("bookmarks", "lit", "overwriting")}
        self.scene = ViewState(self._layout, self._grid, self._cursor, model, **kept)
        if model is not None:
            model.colour_by(self._colour_by)
            model.changed.connect(self._arrived)
            model.resized.connect(self._resized)
        self._shown = None
        self._relayout()

    def mark(self, **state: Any) -> None:
        """Change what ``ViewState`` holds, such as ``outline``; spans need not be merged."""
        for name, value in state.items():
            setattr(self.scene, name, merged(value, self._size) if name in MARKS_OF_SPANS else value)
        self._update_lane()
        self.viewport().update()

    def setColourBy(self, by: ColourBy) -> None:
        """Colour the bytes by their structures or by something else."""
        self._colour_by = by
        if self.model is not None:
            self.model.colour_by(by)
        self.viewport().update()

    def setCaretDescription(self, text: str) -> None:
        """Set and announce the description of the byte at the caret for screen readers."""
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            if QAccessible.isActive() and self.hasFocus():
                # It interrupts the announcement of an earlier byte.
                event = QAccessibleAnnouncementEvent(self, text)
                event.setPoliteness(QAccessible.AnnouncementPoliteness.Assertive)
                QAccessible.updateAccessibility(event)

    def setHoverText(self, offset: int, text: str) -> None:
        """Set the tooltip for the byte at ``offset``, and show it if it was asked for."""
        if offset == self._hovered:
            self.viewport().setToolTip(text)
            if self._tooltip_requested:
                QToolTip.showText(QCursor.pos(), text, self.viewport())

    def _hover(self, offset: int | None) -> None:
        if offset != self._hovered:
            self._hovered = offset
            self._tooltip_requested = False
            self.viewport().setToolTip("")
            QToolTip.hideText()
            self.hovered.emit(offset)

    def _update_lane(self) -> None:
        rows = -(-self.viewport().height() // self.look.line)
        structures = self.model.structures_at(*self.shown()) if self.model is not None else []
        brackets = lay_out_brackets(structures, self._layout.columns, self._scroll.top, rows)
        self.lane.show_rows(self.look, brackets, self._cursor.caret, self.scene.damage, torn=self.scene.torn)

    def _resized(self) -> None:
        assert self.model is not None
        self._size = self.model.size
        self._cursor.resize(self._size)
        self._relayout()

    def _arrived(self, start: int, stop: int) -> None:
        shown = self.shown()
        if start < shown.stop and shown.start < stop:
            self.viewport().update()
            self._update_lane()

    # ---- caret and selection -----------------------------------------------------------------------------------

    def caret(self) -> int:
        """The offset of the caret."""
        return self._cursor.caret

    def byteAtCaret(self) -> int | None:
        """The value of the byte at the caret, None until it has arrived."""
        data = self.model.bytes_at(self.caret(), self.caret() + 1) if self.model is not None else []
        return data[0][1][0] if data else None

    def selection(self) -> Span:
        """The selected bytes; an empty span at the caret if there are none."""
        return self._cursor.selection

    def goTo(self, offset: int, select_length: int = 0, reveal: bool = True) -> None:
        """Move the caret to ``offset``, select ``select_length`` bytes from there, and with ``reveal`` scroll to it."""
        self._change(lambda: self._cursor.select(offset, offset + select_length), reveal)

    def selectAll(self) -> None:
        """Select all bytes without scrolling."""
        self._change(lambda: self._cursor.select(0, self._size), reveal=False)

    def _place_caret(self, offset: int, pane: Pane, extend: bool) -> None:
        def place() -> None:
            self._cursor.pane = pane
            self._cursor.place(offset, extend)

        self._change(place)

    def copy(self, copy_format: CopyFormat | None = None) -> None:
        """Copy the selected bytes, or the byte at the caret; by default in the format of the pane with the focus."""
        if self.model is None:
            return
        caret = self._cursor.caret
        span = self.model.own(*(self._cursor.selected or Span(caret, min(caret + 1, self._size))))
        if not span.size:
            return
        if span.size > MAX_COPY_BYTES:
            limit = in_bytes(MAX_COPY_BYTES)
            self.message.emit(f"{in_bytes(span.size)} are too much for the clipboard: at most {limit} can be copied.")
            return
        form = copy_format or (CopyFormat.HEX if self._cursor.pane is Pane.HEX else CopyFormat.TEXT)
        size = in_bytes(span.size)

        def copied(data: bytes) -> None:
            if len(data) < span.size:
                self.message.emit(f"Nothing was copied: only {in_bytes(len(data))} of {size} could be read.")
            else:
                QGuiApplication.clipboard().setText(formatted(data, form))
                self.message.emit(f"{size} copied as {form.value}.")

        self.model.read(*span, copied)

    def _change(self, change: Callable[[], None], reveal: bool = True) -> None:
        """Run ``change`` on the cursor, repaint what differs, and emit signals."""
        cursor = self._cursor
        caret, selected, pane = cursor.caret, cursor.selected, cursor.pane
        change()
        if reveal and self._size:
            self.reveal(cursor.caret, cursor.pane, cursor.selection.stop)
        if (caret, selected, pane) != (cursor.caret, cursor.selected, cursor.pane):
            self.viewport().update()
        self._update_header()
        if caret != cursor.caret:
            self.scene.digit = 0
            if QAccessible.isActive():
                QAccessible.updateAccessibility(QAccessibleValueChangeEvent(self, cursor.caret))
            self.caretMoved.emit(cursor.caret)
        if selected != cursor.selected:
            self.selectionChanged.emit(*cursor.selection)

    # ---- overwriting -------------------------------------------------------------------------------------------

    def setOverwriting(self, on: bool) -> None:
        """Let keys replace the byte at the caret, and Paste those from the caret on; or leave them all alone."""
        self.mark(overwriting=on, digit=0)

    def _type(self, event: QKeyEvent) -> bool:
        """Type over the byte at the caret, half of it in the hex column; returns whether the key does that."""
        old, text, digit, at = self.byteAtCaret(), event.text(), self.scene.digit, self.caret()
        if event.matches(_Key.Paste):
            self._paste()
            return True
        if old is None or len(text) != 1 or event.modifiers() & _COMMANDS:
            return False
        if self._cursor.pane is Pane.HEX:
            value = _DIGITS.find(text.lower())
            new = old & 0xF0 | value if digit else value << 4 | old & 0x0F
            again, digit = bool(digit), 1 - digit
        else:
            value = new = ord(text) if " " <= text <= "~" else -1
            again, digit = False, 0
        if value < 0:
            return False
        self.mark(digit=digit)
        self.overwritten.emit(at, bytes((old,)), bytes((new,)), again)
        if not digit:
            self.goTo(at + 1)
        return True

    def _paste(self) -> None:
        model, text, start = self.model, QGuiApplication.clipboard().text(), self.selection().start
        data, what = text.encode("utf-8", "surrogatepass"), "text"
        if self._cursor.pane is Pane.HEX:
            what = "hexadecimal digits"
            try:
                data = bytes.fromhex(text.replace("0x", " ").replace("\\x", " ").replace(",", " "))
            except ValueError:
                data = b""
        if model is None or not data:
            self.message.emit(f"The clipboard holds no {what} to paste into this column.")
        elif start + len(data) > model.size:
            self.message.emit(f"{in_bytes(len(data))} do not fit before the end of the file.")
        else:
            model.read(start, start + len(data), lambda old: self.overwritten.emit(start, old, data, False))

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self.look.base)
            if self.model is None or not self._size:
                painter.setPen(self.look.quiet)
                text = "There are no bytes." if self.model is not None else "Nothing is shown."
                flags = int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap)
                painter.drawText(self.viewport().rect().adjusted(16, 16, -16, -16), flags, text)
                return
            self.model.request(*self.shown())
            painter.translate(-self.horizontalScrollBar().value(), 0)
            scene, line, top = self.scene, self.look.line, self._scroll.top
            # Anchor hatching to the bytes, so that scrolled rows match rows painted now.
            painter.setBrushOrigin(0, -(top * line) % HATCH_PERIOD)
            scene.layout, scene.grid, scene.focused = self._layout, self._grid, self.hasFocus()
            shows_structures = self._colour_by is not ColourBy.KIND
            scene.structures = self.model.structures_at(*self.shown()) if shows_structures else ()
            first, last = max(0, event.rect().top()) // line, event.rect().bottom() // line
            RowPainter(painter, self.look, scene).paint(range(top + first, top + last + 1), first * line)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = product(MOVES, ("MoveTo", "Select"))
        move, verb = next((way for way in ways if event.matches(getattr(_Key, way[1] + way[0]))), (None, ""))
        if move is not None:
            self._change(lambda: self._cursor.move(move, self._layout.columns, self._scroll.page, verb == "Select"))
        elif event.matches(_Key.Copy):
            self.copy()
        elif event.matches(_Key.SelectAll):
            self.selectAll()
        elif event.key() == Qt.Key.Key_Escape and self._cursor.selected is not None:
            self._change(self._cursor.clear, reveal=False)
        elif not (self.scene.overwriting and self._type(event)):
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Paste belongs to the view while bytes are overwritten, and not to the shortcuts of the window."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride and self.scene.overwriting:
            event.setAccepted(event.matches(_Key.Paste))
        return super().event(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Qt override: Tab changes between the panes; Shift+Tab leaves the view."""
        if not forward:
            return super().focusNextPrevChild(forward)
        other = Pane.HEX if self._cursor.pane is Pane.TEXT else Pane.TEXT
        self._change(lambda: setattr(self._cursor, "pane", other))
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is _LEFT and self._size:
            offset, self._dragging = self.nearest(event.position().toPoint())
            self._place_caret(offset, self._dragging, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select while the button is pressed, and scroll while the pointer is beyond the edge."""
        self._pointer = event.position().toPoint()
        if self._dragging is None:
            self._hover(self.over(self._pointer))
            return
        if not self._beyond():
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start(_AUTOSCROLL_MS, self)
        self._extend()

    def timerEvent(self, event: QTimerEvent) -> None:  # noqa: ARG002 - Qt's signature
        beyond = self._beyond()
        steps = 1 + abs(beyond) // _PIXELS_PER_ROW
        self.scroll_rows(steps if beyond > 0 else -steps)
        self._extend()

    def _beyond(self) -> int:
        """How many pixels the pointer is below the viewport, negative above it, 0 inside."""
        y = self._pointer.y()
        return y - max(0, min(y, self.viewport().height() - 1))

    def _extend(self) -> None:
        offset, pane = self.nearest(self._pointer - QPoint(0, self._beyond()), self._dragging)
        self._place_caret(offset, pane, extend=True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is _LEFT:
            self._dragging = None
            self._timer.stop()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the outlined bytes under the pointer."""
        offset = self.over(event.position().toPoint())
        if offset is not None and event.button() is _LEFT:
            for start, stop in overlapping(self.scene.outline, offset, offset + 1):
                self.goTo(start, stop - start, reveal=False)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    def viewportEvent(self, event: QEvent) -> bool:
        """A tooltip is shown now, or when its text arrives."""
        if event.type() is QEvent.Type.ToolTip:
            self._tooltip_requested = True
        return super().viewportEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Request the menu for the selection, or else for the byte under the pointer."""
        if not self._size:
            return
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            position = self.viewport().mapToGlobal(self.place_of(self._cursor.caret, self._cursor.pane).bottomLeft())
        else:
            position = event.globalPos()
            offset, pane = self.nearest(event.pos())
            if not self._cursor.selection.start <= offset < self._cursor.selection.stop:
                self._place_caret(offset, pane, extend=False)
        self.menuRequested.emit(self._cursor.caret, position)


# ---- screen readers --------------------------------------------------------------------------------------------------

# There is no text interface: PySide6 cannot implement parts of it (selections, attributes), and a reader that asked for
# them would get garbage.


class _Caret(QAccessibleValueInterface):
    """The caret offset as a value that assistive programs can read and set."""

    def __init__(self, view: HexView) -> None:
        super().__init__()
        self._view = weakref.ref(view)

    def currentValue(self) -> int:
        view = self._view()
        return view.caret() if view is not None else 0

    def setCurrentValue(self, value: Any) -> None:
        view = self._view()
        if view is not None:
            view.goTo(int(value))

    def maximumValue(self) -> int:
        view = self._view()
        model = view.model if view is not None else None
        return max(0, model.size - 1) if model is not None else 0

    def minimumValue(self) -> int:
        return 0

    def minimumStepSize(self) -> int:
        return 1


class _AccessibleBytes(QAccessibleWidget):
    """The hex view: its value is the caret offset, described by the byte there."""

    def __init__(self, view: Any) -> None:
        super().__init__(view, QAccessible.Role.Canvas, view.accessibleName())
        self._view: weakref.ref[HexView] = weakref.ref(view)
        self._caret = _Caret(view)

    def text(self, kind: QAccessible.Text) -> str:
        view = self._view()
        if kind is QAccessible.Text.Value and view is not None:
            return accessible_value(view)
        return str(super().text(kind))

    def interface_cast(self, kind: QAccessible.InterfaceType) -> Any:
        # PySide6 would take a plain None or 0 for an address, and a screen reader would dereference it.
        is_value = kind is QAccessible.InterfaceType.ValueInterface
        return shiboken6.VoidPtr(shiboken6.getCppPointer(self._caret)[0] if is_value else 0)


def accessible_value(view: HexView) -> str:
    """The byte at the caret and the size of the selection, as text."""
    if view.model is None or not view.shown().size:
        return "no bytes"
    selected = view.selection().size
    text = view.accessibleDescription() or f"offset {grouped(view.caret())}"
    return f"{text}, {in_bytes(selected)} selected" if selected else text


@cache
def _install_accessible() -> None:
    """Register the accessible interface of hex views. Qt does not keep the Python objects given to it alive."""
    interfaces: list[QAccessibleInterface] = []

    def factory(_: str, widget: QObject) -> QAccessibleInterface | None:
        if not isinstance(widget, HexView):
            return None
        interfaces[:] = [each for each in interfaces if shiboken6.isValid(each)]
        interfaces.append(_AccessibleBytes(widget))
        return interfaces[-1]

    QAccessible.installFactory(factory)
