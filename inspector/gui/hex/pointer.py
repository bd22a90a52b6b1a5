"""What the mouse does in the hex view: placing the caret, selecting, hovering."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QBasicTimer, QObject, QPoint, QTimerEvent, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QToolTip

from inspector.core.span import Span
from inspector.gui.hex.cursor import Pane
from inspector.gui.hex.row_area import RowArea

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
