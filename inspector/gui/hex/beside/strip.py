"""What the strips beside the hex view share: the map and the byte bands spread bytes over their height."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import TypeVar

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.drawing.palette import COLOURS, Colours
from inspector.gui.hex.painting import scheme_for

Row = TypeVar("Row")
Part = TypeVar("Part")
MARGIN = 4
"""Free pixels on both sides; the frame around the bytes in view extends into them."""
_MIN_FRAME_HEIGHT = 7
"""The minimum height of the frame, in pixels."""
_FRAME_OPACITY = 0.12


def paint_rows(
    rows: Sequence[Row],
    place: QRect,
    parts_of: Callable[[Row], Sequence[tuple[Part, int]]],
    fill: Callable[[QRect, Part], object],
) -> None:
    """Fill rows of equal heights from the top to the foot of ``place``; the parts of each share its width by weight."""
    top = 0
    for row, same in groupby(rows):
        stop = top + len(list(same))
        low, high = (place.top() + at * place.height() // len(rows) for at in (top, stop))
        parts, before = parts_of(row), 0
        total = max(1, sum(weight for _, weight in parts))
        for part, weight in parts:
            left, right = (place.left() + at * place.width() // total for at in (before, before + weight))
            fill(QRect(left, low, max(1, right - left), max(1, high - low)), part)
            before += weight
        top = stop


def alike(parts: Sequence[Part]) -> list[tuple[Part, int]]:
    """Parts that share the width equally."""
    return [(part, 1) for part in parts]


class Strip(QWidget):
    """Bytes from the top to the foot, where a click goes to what is under the pointer.

    Signals:
        jumped(object offset): the user went to an offset.
        rowsRequested(int rows): so many rows are to be shown, or other bytes in them.
    """

    jumped = Signal(object)
    rowsRequested = Signal(int)
    width_wanted = 60

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = 0
        self._window = Span(0, 0)
        self._shown = Span(0, 0)
        self._picture: QPixmap | None = None
        """The rows, drawn once; None where they have to be drawn again."""
        self._scheme = scheme_for(self.palette())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)

    def redraw(self) -> None:
        """Draw the rows again."""
        self._picture = None
        self.update()

    def window_span(self) -> Span:
        """The bytes that are spread over the height."""
        return self._window

    def describe(self, y: int) -> str:
        """The tooltip for a row of pixels; empty outside."""
        if not self._size or not 0 <= y < self.height():
            return ""
        start, stop = self._bytes_at(y)
        return "\n".join(filter(None, (f"{hexadecimal(start, 8)} … {hexadecimal(stop, 8)}", *self._facts(y))))

    @abstractmethod
    def _facts(self, y: int) -> list[str]:
        """What there is to say of a row of pixels."""

    @abstractmethod
    def _rows_size(self) -> QSize:
        """The size of the picture of the rows; empty while there is none."""

    @abstractmethod
    def _draw_rows(self, painter: QPainter, size: QSize, colours: Colours) -> None: ...

    # ---- places ------------------------------------------------------------------------------------------------

    def _bytes_at(self, y: int) -> Span:
        """The bytes that a row of pixels represents; at least one."""
        window, height = self._window, max(1, self.height())
        start = window.start + y * window.size // height
        return Span(start, max(start + 1, window.start + (y + 1) * window.size // height))

    def _pixels(self, span: Span, minimum: int) -> tuple[int, int]:
        """Top and height of a span inside the strip, at least ``minimum`` pixels high."""
        (start, stop), all_of_it = self._window, self.height()
        size = max(1, stop - start)
        top = (span.start - start) * all_of_it // size
        height = max(minimum, -(-(span.stop - start) * all_of_it // size) - top)
        return max(0, min(top, all_of_it - height)), height

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

    # ---- painting ----------------------------------------------------------------------------------------------

    def paintEvent(self, _: QPaintEvent) -> None:
        colours = COLOURS[self._scheme]
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(colours.base))
            painter.fillRect(QRect(0, 0, 1, self.height()), QColor(colours.rule))
            if self._size:
                size = self._rows_size()
                if not size.isEmpty():
                    painter.drawPixmap(QRect(MARGIN, 0, size.width(), self.height()), self._drawn(size, colours))
                self._paint_marks(painter, colours)
                self._paint_frame(painter, colours)
                self._paint_names(painter, colours)

    def _drawn(self, size: QSize, colours: Colours) -> QPixmap:
        """All rows as a pixmap, drawn once."""
        if self._picture is None:
            ratio = self.devicePixelRatioF()
            self._picture = QPixmap(size * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(QColor(colours.base))
            with QPainter(self._picture) as painter:
                self._draw_rows(painter, size, colours)
        return self._picture

    def _paint_marks(self, painter: QPainter, colours: Colours) -> None:
        """What is painted below the frame."""

    def _paint_names(self, painter: QPainter, colours: Colours) -> None:
        """What is painted above the frame."""

    def _paint_frame(self, painter: QPainter, colours: Colours) -> None:
        top, height = self._pixels(self._shown, _MIN_FRAME_HEIGHT)
        colour = QColor(colours.selection if self.hasFocus() else colours.outline)
        inside = QColor(colour)
        inside.setAlphaF(_FRAME_OPACITY)
        painter.fillRect(QRect(2, top, self.width() - 4, height), inside)
        painter.setPen(QPen(colour, 2))
        painter.drawRect(QRect(2, top + 1, self.width() - 4, height - 2))

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(self.width_wanted, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.redraw()
        if self.height() != event.oldSize().height():
            self.rowsRequested.emit(self.height())

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours of the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._scheme = scheme_for(self.palette())
            self.redraw()

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
            self._jump(self._bytes_at(max(0, min(round(event.position().y()), self.height() - 1))).start)
