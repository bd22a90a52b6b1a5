"""Draws a plot of sizes, and lets the user go from bar to bar."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPen

from inspector.core.drawing.colouring import line_of
from inspector.core.drawing.palette import COLOURS, FAMILY_HUES, Colours
from inspector.core.drawing.sizes import ALL, HEAD, ROW, SizePlot, how_to_read, laid_out, numbers_of
from inspector.core.kinds import Family
from inspector.gui.hex.painting import scheme_for
from inspector.gui.kit.style import GRID
from inspector.gui.panels.diagram.picture import MAX_WIDTH, Picture

_PAGE = 10
_NUMBER_WIDTH = 72


class SizesView(Picture):
    """The bars of a plot, one of which may be current.

    Signals:
        left(): the user wants all again.
    """

    left = Signal()

    def __init__(self) -> None:
        super().__init__("Sizes in the archive")
        self.plot: SizePlot | None = None
        self.page = laid_out(_EMPTY, 0)

    def show_plot(self, plot: SizePlot | None) -> None:
        """Show a plot; no bar of it is current."""
        self.plot, self.current = plot, None
        self.setAccessibleDescription("")
        self._lay_out()

    def _lay_out(self) -> None:
        if self.plot is not None:
            self.page = laid_out(self.plot, min(MAX_WIDTH, self._room))
        super()._lay_out()

    def mark(self, current: int | None) -> None:
        """Make a bar the current one."""
        self.current = current
        self.setAccessibleDescription(self.sentence(current) if current is not None else "")
        self.update()

    def sentence(self, at: int) -> str:
        """All that is to be said of a bar."""
        assert self.plot is not None
        bar = self.plot.bars[at]
        return f"{bar.sentence} Enter shows what it is made of." if bar.inside is not None else bar.sentence

    def place(self, at: int) -> QRect:
        """Where the row of a bar is, in pixels."""
        return QRectF(*self.page.row(at)).toAlignedRect()

    # ---- going from bar to bar ---------------------------------------------------------------------------------

    def _at(self, place: QPointF) -> int | None:
        return self.page.at(place.y())

    def sizeHint(self) -> QSize:
        return QSize(round(self.page.width), round(self.page.height))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from bar to bar, Enter shows what one is made of, Backspace all again."""
        key, last = Qt.Key(event.key()), len(self.page.bars) - 1
        steps = {
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_PageUp: -_PAGE,
            Qt.Key.Key_PageDown: _PAGE,
            Qt.Key.Key_Home: -last,
            Qt.Key.Key_End: last,
        }
        if key in steps and last >= 0:
            at = max(0, min(last, self.current + steps[key])) if self.current is not None else 0
            self._go(last if key == Qt.Key.Key_End else at)
        elif key == Qt.Key.Key_Backspace:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep Backspace, which elsewhere goes back."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            is_narrow = self.plot is not None and self.plot.scope != ALL
            if is_narrow and event.key() == Qt.Key.Key_Backspace:
                event.accept()
                return True
        return super().event(event)

    # ---- painting ----------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = COLOURS[scheme_for(self.palette())]
        painter = QPainter(self)
        try:
            painter.fillRect(event.rect(), QColor(colours.base))
            if self.plot is None:
                return
            self._paint_scale(painter, self.plot, colours)
            for at in range(len(self.plot.bars)):
                if self.place(at).intersects(event.rect()):
                    self._paint_bar(painter, self.plot, at, colours)
        finally:
            painter.end()

    def _paint_scale(self, painter: QPainter, plot: SizePlot, colours: Colours) -> None:
        page, half = self.page, ROW // 2
        painter.setPen(QColor(colours.quiet))
        said = ". ".join(filter(None, (plot.sentence, how_to_read(plot))))
        _write(painter, QRectF(page.label.x, GRID, page.width - 2 * page.label.x, ROW), said)
        for title, right in page.numbers:
            _write(painter, _number_place(right, HEAD - ROW), title, Qt.AlignmentFlag.AlignRight)
        foot = page.track.y + page.track.height - GRID
        for x, label in page.lines:
            painter.setPen(QColor(colours.quiet))
            place = QRectF(x - 5 * half, HEAD - ROW, 10 * half, ROW)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, label)
            painter.setPen(QColor(colours.rule))
            painter.drawLine(QPointF(x, HEAD), QPointF(x, foot))

    def _paint_bar(self, painter: QPainter, plot: SizePlot, at: int, colours: Colours) -> None:
        bar, row, (content, stored) = plot.bars[at], self.page.row(at), self.page.bars[at]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if stored is not None and stored.width:
            place = QRectF(QRectF(*stored).toRect())
            painter.fillRect(place, QColor(colours.tones[FAMILY_HUES[Family.CONTENT]].fills[2][0]))
            painter.setPen(QPen(QColor(line_of(Family.CONTENT, colours))))
            painter.drawRect(place)
        if content is not None and content.width and plot.is_compressed:
            painter.setPen(QPen(QColor(colours.quiet), 1, Qt.PenStyle.DashLine))
            painter.drawRect(QRectF(*content).toRect())
        painter.setPen(QColor(colours.text))
        label = QRectF(self.page.label.x, row.y, self.page.label.width, ROW)
        _write(painter, label, bar.label)
        for words, (_, right) in zip(numbers_of(plot, bar), self.page.numbers, strict=True):
            _write(painter, _number_place(right, row.y), words, Qt.AlignmentFlag.AlignRight)
        if at == self.current:
            painter.setPen(QPen(QColor(colours.outline), 2))
            painter.drawRect(QRectF(*row).adjusted(2, 1, -2, -1))


_EMPTY = SizePlot((), 0, "", "")


def _number_place(right: float, top: float) -> QRectF:
    return QRectF(right - _NUMBER_WIDTH, top, _NUMBER_WIDTH, ROW)


def _write(painter: QPainter, place: QRectF, text: str, side: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> None:
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, int(place.width()))
    painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter, shown)
