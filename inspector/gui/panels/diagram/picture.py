"""What the pictures of an archive share: one of what they show is current, and pointer and Enter go there."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from inspector.gui.kit.text import plain

MAX_WIDTH = 1_200
"""The widest page; wider views leave the rest free, because lines and names get too far apart."""


class Picture(QWidget):
    """Boxes or bars by their numbers, laid out for the width of the view.

    Signals:
        chosen(int number): the user went to one.
        opened(int number): the user wants what one stands for.
    """

    chosen = Signal(int)
    opened = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.current: int | None = None
        self._room = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(name)

    def sentence(self, _at: int) -> str:
        """All that is to be said of one."""
        return ""

    def _at(self, _place: QPointF) -> int | None:
        """Which one is at a place in pixels; None for none."""
        return None

    def fit(self, width: int) -> None:
        """Lay everything out for a view of this width."""
        if width != self._room:
            self._room = width
            self._lay_out()

    def _lay_out(self) -> None:
        self.resize(self.sizeHint())
        self.update()

    def _go(self, at: int | None) -> None:
        """Make one the current one, as the user wants."""
        if at is not None:
            self.current = at
            self.setAccessibleDescription(self.sentence(at))
            self.update()
            self.chosen.emit(at)

    # ---- events ------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens the current one."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current is not None:
            self.opened.emit(self.current)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._go(self._at(event.position()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if (at := self._at(event.position())) is not None:
            self.opened.emit(at)

    def event(self, event: QEvent) -> bool:
        """Show tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            at = self._at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain(self.sentence(at)) if at is not None else "", self)
            return True
        return super().event(event)
