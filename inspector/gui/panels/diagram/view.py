"""Draws a diagram, and lets the user go from box to box."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from inspector.core.kinds import Family, Role
from inspector.drawing.colouring import line_of
from inspector.drawing.diagram import ROW, TITLE, Box, Diagram, Layout, Points, Rect, laid_out
from inspector.drawing.palette import COLOURS, FAMILY_HUES, ROLE_HUES, Colours
from inspector.gui.hex.painting import hatching, scheme_for
from inspector.gui.kit.text import plain

MAX_WIDTH = 1_200
"""The widest page; wider views leave the rest free, because lines and names get too far apart."""
ZOOMS = (0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0)
_STRIPE, _PADDING, _MARK = 7, 7, 14
_WHEEL_STEP = 120


class DiagramView(QWidget):
    """The boxes of a diagram; one of them is current, and those with the selected bytes are framed.

    Signals:
        chosen(int number): the user went to a box.
        opened(int number): the user wants what a box stands for.
        zoomed(): the size changed.
    """

    chosen = Signal(int)
    opened = Signal(int)
    zoomed = Signal()

    def __init__(self) -> None:
        super().__init__(mouseTracking=True, focusPolicy=Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Diagram of the archive")
        self.diagram: Diagram | None = None
        self.current: int | None = None
        self.page = Layout(0, 0, (), (), ())
        self._marked: frozenset[int] = frozenset()
        self._room = 0
        self._zoom = ZOOMS.index(1.0)

    @property
    def zoom(self) -> float:
        """Pixels of a unit of the page."""
        return ZOOMS[self._zoom]

    def show_diagram(self, diagram: Diagram | None) -> None:
        """Show a diagram; no box of it is current."""
        self.diagram = diagram
        self.current, self._marked = None, frozenset()
        self.setAccessibleDescription("")
        self._lay_out()

    def fit(self, width: int) -> None:
        """Lay everything out for a view of this width."""
        if width != self._room:
            self._room = width
            self._lay_out()

    def _lay_out(self) -> None:
        if self.diagram is not None:
            self.page = laid_out(self.diagram, min(MAX_WIDTH, self._room / self.zoom))
        self.resize(self.sizeHint())
        self.update()

    def mark(self, boxes: Collection[int], current: int | None) -> None:
        """Frame these boxes, and make one of them the current one."""
        self._marked, self.current = frozenset(boxes), current
        if self.diagram is not None and current is not None:
            self.setAccessibleDescription(self.sentence(current))
        self.update()

    def sentence(self, at: int) -> str:
        """All that is to be said of a box."""
        assert self.diagram is not None
        box = self.diagram.boxes[at]
        said = [
            f"{link.text} {self.diagram.boxes[link.target].label}" for link in self.diagram.links if link.source == at
        ]
        return " ".join((f"{self.diagram.titles[box.column]}:", box.sentence, *(f"It {each}." for each in said)))

    def place(self, at: int) -> QRect:
        """Where a box is, in pixels."""
        return self._scaled(self.page.boxes[at][0]).toAlignedRect()

    def _scaled(self, rect: Rect) -> QRectF:
        return QRectF(*(each * self.zoom for each in rect))

    # ---- going from box to box ---------------------------------------------------------------------------------

    def zoom_by(self, steps: int) -> None:
        """Zoom in or out; 0 shows everything as wide as the view."""
        wanted = ZOOMS.index(1.0) if steps == 0 else max(0, min(len(ZOOMS) - 1, self._zoom + steps))
        if wanted != self._zoom:
            self._zoom = wanted
            self._lay_out()
            self.zoomed.emit()

    def _go(self, at: int | None) -> None:
        """Make a box the current one, as the user wants."""
        if at is not None:
            self.mark({at}, at)
            self.chosen.emit(at)

    def _step(self, step: int) -> int | None:
        """The next box of the column."""
        if self.diagram is None or not self.diagram.boxes:
            return None
        if self.current is None:
            return 0
        column = self.diagram.boxes[self.current].column
        own = [at for at, box in enumerate(self.diagram.boxes) if box.column == column]
        own.sort(key=lambda at: self.page.boxes[at][0].y)
        return own[max(0, min(len(own) - 1, own.index(self.current) + step))]

    def _across(self, step: int) -> int | None:
        """The box of the next column that is linked with the current one, or else stands beside it."""
        if self.diagram is None or self.current is None:
            return self._step(0)
        column = self.diagram.boxes[self.current].column + step
        linked = {each for link in self.diagram.links if self.current in link[:2] for each in link[:2]}
        beside = [at for at, box in enumerate(self.diagram.boxes) if box.column == column]
        y = self.page.boxes[self.current][0].y
        return min(beside, key=lambda at: (at not in linked, abs(self.page.boxes[at][0].y - y)), default=None)

    # ---- events ------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(round(self.page.width * self.zoom), round(self.page.height * self.zoom))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from box to box, Enter opens what is left out, plus and minus zoom."""
        rows = 10
        moves: dict[Qt.Key, Callable[[], int | None]] = {
            Qt.Key.Key_Up: lambda: self._step(-1),
            Qt.Key.Key_Down: lambda: self._step(1),
            Qt.Key.Key_PageUp: lambda: self._step(-rows),
            Qt.Key.Key_PageDown: lambda: self._step(rows),
            Qt.Key.Key_Home: lambda: self._step(-len(self.page.boxes)),
            Qt.Key.Key_End: lambda: self._step(len(self.page.boxes)),
            Qt.Key.Key_Left: lambda: self._across(-1),
            Qt.Key.Key_Right: lambda: self._across(1),
        }
        zooms = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1, Qt.Key.Key_Minus: -1, Qt.Key.Key_0: 0}
        key = Qt.Key(event.key())
        if key in moves:
            self._go(moves[key]())
        elif key in zooms:
            self.zoom_by(zooms[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current is not None:
            self.opened.emit(self.current)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl; else the page scrolls."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and event.angleDelta().y():
            self.zoom_by(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            event.ignore()

    def _at(self, place: QPointF) -> int | None:
        return self.page.at(place.x() / self.zoom, place.y() / self.zoom)

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

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    # ---- painting ----------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = COLOURS[scheme_for(self.palette())]
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), QColor(colours.base))
            if self.diagram is None:
                return
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.scale(self.zoom, self.zoom)
            seen = QRectF(event.rect())
            shown = QRectF(*(each / self.zoom for each in (seen.x(), seen.y(), seen.width(), seen.height())))
            painter.setPen(QColor(colours.quiet))
            for title, column in zip(self.diagram.titles, self.page.columns, strict=True):
                place = QRectF(column.x, 0, column.width, TITLE - 4)
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, _elided(painter, title, column.width))
            for at, (box, rects) in enumerate(zip(self.diagram.boxes, self.page.boxes, strict=True)):
                for number, rect in enumerate(rects):
                    if QRectF(*rect).adjusted(-4, -4, 4, 4).intersects(shown):
                        self._paint_box(painter, box, rect, colours, continued=number > 0, marked=at in self._marked)
            for link, points in zip(self.diagram.links, self.page.links, strict=True):
                is_near = bool({link.source, link.target} & self._marked)
                _paint_link(painter, points, _line(self.diagram.boxes[link.source], colours), thick=is_near)

    def _paint_box(
        self, painter: QPainter, box: Box, rect: Rect, colours: Colours, *, continued: bool, marked: bool
    ) -> None:
        place = QRectF(*rect)
        body = box.body
        if body is not None and not box.more:
            hatch = hatching(body, colours) if isinstance(body, Role) else None
            if hatch is not None:
                painter.fillRect(place, hatch)
            else:
                painter.fillRect(place, _fill(body, colours, 0 if box.unused else box.level))
        for at, each in enumerate(box.stripes):
            stripe = QRectF(rect.x + at * _STRIPE, rect.y, _STRIPE - 1, rect.height)
            painter.fillRect(stripe, _fill(each, colours, 2))
        dashed = box.unused or continued or bool(box.more)
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        line = colours.damage if box.finding else colours.rule if box.more else _line(box, colours)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(line), 2.2 if box.finding else 1.0, style))
        painter.drawRect(place)
        self._paint_label(painter, box, place, colours, continued=continued)
        if marked:
            painter.setPen(QPen(QColor(colours.outline), 3.0))
            painter.drawRect(place.adjusted(1, 1, -1, -1))

    def _paint_label(self, painter: QPainter, box: Box, place: QRectF, colours: Colours, *, continued: bool) -> None:
        left = place.left() + len(box.stripes) * _STRIPE + _PADDING
        row = QRectF(left, place.top(), place.right() - _PADDING - left, min(place.height(), ROW))
        painter.setPen(QColor(colours.quiet if box.unused or box.more else colours.text))
        label = f"{box.label}, continued" if continued else f"✗ {box.label}" if box.finding else box.label
        detail = "" if continued else box.detail
        metrics = painter.fontMetrics()
        room = row.width()
        if metrics.horizontalAdvance(label) + _MARK + metrics.horizontalAdvance(detail) <= room:
            painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, detail)
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, _elided(painter, label, room))


def _fill(what: Family | Role, colours: Colours, level: int) -> QColor:
    hue = FAMILY_HUES[what] if isinstance(what, Family) else ROLE_HUES.get(what)
    return QColor(colours.base if hue is None else colours.tones[hue].fills[level][0])


def _line(box: Box, colours: Colours) -> str:
    return line_of(box.body if isinstance(box.body, Family) else None, colours)


def _elided(painter: QPainter, text: str, width: float) -> str:
    return painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, int(width))


def _paint_link(painter: QPainter, points: Points, line: str, *, thick: bool) -> None:
    start, one, other, stop = (QPointF(*each) for each in points)
    painter.setPen(QPen(QColor(line), 2.8 if thick else 1.3))
    curve = QPainterPath(start)
    curve.cubicTo(one, other, stop)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(curve)
    back = 6 if other.x() > stop.x() else -6
    painter.drawPolyline([stop + QPointF(back, -4), stop, stop + QPointF(back, 4)])
