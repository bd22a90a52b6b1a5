"""What the strips beside the hex view share: the map and the byte bands spread bytes over their height."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from inspector.core.span import Span
from inspector.gui.hex.painting import scheme_for


class Strip(QWidget):
    """Bytes from the top to the foot, where a click goes to what is under the pointer.

    Signals:
        jumped(object offset): the user went to an offset.
    """

    jumped = Signal(object)

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = 0
        self._shown = Span(0, 0)
        self._picture: QPixmap | None = None
        """The rows, drawn once; None where they have to be drawn again."""
        self._scheme = scheme_for(self.palette())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)

    def describe(self, y: int) -> str:
        """The tooltip for a row of pixels; empty outside."""
        raise NotImplementedError

    def _offset_at(self, y: int) -> int:
        """The offset under the pointer, which may be above or below the strip."""
        raise NotImplementedError

    def _jump(self, offset: int) -> None:
        if self._size:
            self.jumped.emit(max(0, min(offset, self._size - 1)))

    def _target(self, event: QKeyEvent, line: int, page: int) -> int | None:
        """Where a key leads that goes through the bytes, by so many; None for other keys."""
        targets = {
            Qt.Key.Key_Up: self._shown.start - line,
            Qt.Key.Key_Down: self._shown.start + line,
            Qt.Key.Key_PageUp: self._shown.start - page,
            Qt.Key.Key_PageDown: self._shown.start + page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self._size - 1,
        }
        return targets.get(Qt.Key(event.key()))

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours of the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._scheme = scheme_for(self.palette())
            self._picture = None
            self.update()

    def event(self, event: QEvent) -> bool:
        """Show tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.describe(event.pos().y()), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go to the bytes under the pointer."""
        if event.buttons() & Qt.MouseButton.LeftButton and self.height():
            self._jump(self._offset_at(round(event.position().y())))
