"""The Diagram panel: the shape of the archive as boxes and links, in step with the selected bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from inspector.core.kinds import Family, Role
from inspector.core.numbers import count
from inspector.drawing.colouring import line_of
from inspector.drawing.diagram import ROW, TITLE, Box, Diagram, Layout, Points, Rect, laid_out
from inspector.drawing.palette import COLOURS, FAMILY_HUES, ROLE_HUES, Colours
from inspector.gui.document.document import Document, Selection
from inspector.gui.hex.painting import HATCHING, hatching
from inspector.gui.kit.building import LINE, in_column, scrolling
from inspector.gui.kit.style import scheme_for, secondary
from inspector.gui.kit.text import loading_text, plain
from inspector.gui.kit.widgets import ElidedLabel, Emptiable, debounce
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import LayerKind, Stage

ORIGIN = "diagram"
DELAY_MS = 150
"""Milliseconds after the last change of the archive before the diagram is made again."""
NOT_YET = "Open this panel with Debug > Show Diagram (Ctrl+Shift+G)."
MARGIN = 40
"""Pixels around a box that are shown with it."""
MAX_WIDTH = 1_200
"""The widest page; wider views leave the rest free, because lines and names get too far apart."""
PAGE_BOXES = 10
_STRIPE, _PADDING, _MARK = 7, 7, 14


class DiagramView(QWidget):
    """The boxes of a diagram; one of them is current, and those with the selected bytes are framed.

    Signals:
        chosen(int number): the user went to a box.
        opened(int number): the user wants what a box stands for.
    """

    chosen = Signal(int)
    opened = Signal(int)

    def __init__(self) -> None:
        super().__init__(focusPolicy=Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Diagram of the archive")
        self.diagram = Diagram((), (), (), ())
        self.current: int | None = None
        self.page = Layout(0, 0, (), (), ())
        self._marked: frozenset[int] = frozenset()
        self._room = 0

    def show_diagram(self, diagram: Diagram) -> None:
        """Show a diagram; no box of it is current."""
        self.diagram = diagram
        self.mark((), None)
        self._lay_out()

    def fit(self, width: int) -> None:
        """Lay everything out for a view of this width."""
        if width != self._room:
            self._room = width
            self._lay_out()

    def _lay_out(self) -> None:
        if self.diagram.boxes:
            self.page = laid_out(self.diagram, min(MAX_WIDTH, self._room))
        self.resize(self.sizeHint())
        self.update()

    def mark(self, boxes: Collection[int], current: int | None) -> None:
        """Frame these boxes, and make one of them the current one."""
        self._marked, self.current = frozenset(boxes), current
        self.setAccessibleDescription("" if current is None else self.sentence(current))
        self.update()

    def sentence(self, at: int) -> str:
        """All that is to be said of a box."""
        box = self.diagram.boxes[at]
        said = [
            f"It {link.text} {self.diagram.boxes[link.target].label}."
            for link in self.diagram.links
            if link.source == at
        ]
        return " ".join((f"{self.diagram.titles[box.column]}:", box.sentence, *said))

    def place(self, at: int) -> QRect:
        """Where a box is, in pixels."""
        return QRectF(*self.page.boxes[at][0]).toAlignedRect()

    # ---- going from box to box ---------------------------------------------------------------------------------

    def _go(self, at: int | None) -> None:
        """Make a box the current one, as the user wants."""
        if at is not None:
            self.mark({at}, at)
            self.chosen.emit(at)

    def _y(self, at: int) -> float:
        return self.page.boxes[at][0].y

    def _column(self, column: int) -> list[int]:
        return sorted((at for at, box in enumerate(self.diagram.boxes) if box.column == column), key=self._y)

    def _step(self, step: int) -> int | None:
        """The next box of the column."""
        if self.current is None:
            return 0 if self.diagram.boxes else None
        own = self._column(self.diagram.boxes[self.current].column)
        return own[max(0, min(len(own) - 1, own.index(self.current) + step))]

    def _across(self, step: int) -> int | None:
        """The box of the next column that is linked with the current one, or else stands beside it."""
        if self.current is None:
            return self._step(0)
        linked = {each for link in self.diagram.links if self.current in link[:2] for each in link[:2]}
        beside, y = self._column(self.diagram.boxes[self.current].column + step), self._y(self.current)
        return min(beside, key=lambda at: (at not in linked, abs(self._y(at) - y)), default=None)

    # ---- events ------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(round(self.page.width), round(self.page.height))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from box to box, Enter opens what is left out."""
        every = len(self.page.boxes)
        moves: dict[int, Callable[[], int | None]] = {
            Qt.Key.Key_Up: lambda: self._step(-1),
            Qt.Key.Key_Down: lambda: self._step(1),
            Qt.Key.Key_PageUp: lambda: self._step(-PAGE_BOXES),
            Qt.Key.Key_PageDown: lambda: self._step(PAGE_BOXES),
            Qt.Key.Key_Home: lambda: self._step(-every),
            Qt.Key.Key_End: lambda: self._step(every),
            Qt.Key.Key_Left: lambda: self._across(-1),
            Qt.Key.Key_Right: lambda: self._across(1),
        }
        if (move := moves.get(event.key())) is not None:
            self._go(move())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current is not None:
            self.opened.emit(self.current)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._go(self.page.at(*event.position().toTuple()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if (at := self.page.at(*event.position().toTuple())) is not None:
            self.opened.emit(at)

    def event(self, event: QEvent) -> bool:
        """Show tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            at = self.page.at(*event.pos().toTuple())
            QToolTip.showText(event.globalPos(), plain(self.sentence(at)) if at is not None else "", self)
            return True
        return super().event(event)

    # ---- painting ----------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        colours, shown = COLOURS[scheme_for(self.palette())], QRectF(event.rect())
        with QPainter(self) as painter:
            painter.fillRect(shown, QColor(colours.base))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QColor(colours.quiet))
            for title, column in zip(self.diagram.titles, self.page.columns, strict=False):
                place = QRectF(column.x, 0, column.width, TITLE - 4)
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, _elided(painter, title, column.width))
            for at, (box, rects) in enumerate(zip(self.diagram.boxes, self.page.boxes, strict=True)):
                for number, rect in enumerate(rects):
                    if QRectF(*rect).adjusted(-4, -4, 4, 4).intersects(shown):
                        _paint_box(painter, box, rect, colours, continued=number > 0, marked=at in self._marked)
            for link, points in zip(self.diagram.links, self.page.links, strict=True):
                is_near = bool({link.source, link.target} & self._marked)
                _paint_link(painter, points, _line(self.diagram.boxes[link.source], colours), thick=is_near)


def _paint_box(painter: QPainter, box: Box, rect: Rect, colours: Colours, *, continued: bool, marked: bool) -> None:
    place = QRectF(*rect)
    if (body := box.body) is not None and not box.more:
        fill = _fill(body, colours, 0 if box.unused else box.level)
        painter.fillRect(place, hatching(body, colours) if body in HATCHING else fill)
    for at, each in enumerate(box.stripes):
        stripe = QRectF(rect.x + at * _STRIPE, rect.y, _STRIPE - 1, rect.height)
        painter.fillRect(stripe, _fill(each, colours, 2))
    dashed = box.unused or continued or bool(box.more)
    line = colours.damage if box.finding else colours.rule if box.more else _line(box, colours)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
    painter.setPen(QPen(QColor(line), 2.2 if box.finding else 1.0, style))
    painter.drawRect(place)
    left = place.left() + len(box.stripes) * _STRIPE + _PADDING
    row = QRectF(left, place.top(), place.right() - _PADDING - left, min(place.height(), ROW))
    painter.setPen(QColor(colours.quiet if box.unused or box.more else colours.text))
    label = f"{box.label}, continued" if continued else f"✗ {box.label}" if box.finding else box.label
    metrics, detail = painter.fontMetrics(), "" if continued else box.detail
    if metrics.horizontalAdvance(label) + _MARK + metrics.horizontalAdvance(detail) <= row.width():
        painter.drawText(row, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, detail)
    painter.drawText(row, Qt.AlignmentFlag.AlignVCenter, _elided(painter, label, row.width()))
    if marked:
        painter.setPen(QPen(QColor(colours.outline), 3.0))
        painter.drawRect(place.adjusted(1, 1, -1, -1))


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


class DiagramPanel(QWidget):
    """Shows the diagram of what is opened, once the user asked for it."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self._document = document
        self.is_needed = False
        self._around = (0, -1)
        self._drawn: object = None
        """The state of the archive that the diagram is of."""
        self.view = DiagramView()
        self.area = scrolling(self.view)
        self.area.setWidgetResizable(False)
        self.area.setBackgroundRole(QPalette.ColorRole.Base)
        self.area.setFocusProxy(self.view)
        self.area.setAccessibleName(self.view.accessibleName())
        self.about = secondary(ElidedLabel("", Qt.TextElideMode.ElideRight))
        self.about.setContentsMargins(*LINE)
        self.stack = Emptiable(self.area)
        self.setFocusProxy(self.view)
        in_column((self.stack, 1), self.about, on=self)
        self._delay = debounce(self, DELAY_MS, self.ask)
        self.view.chosen.connect(self._choose)
        self.view.opened.connect(self._open)
        document.rowsChanged.connect(self._change)
        document.statusChanged.connect(self._change)
        document.selected.connect(self._follow)
        self.stack.show_sentence(NOT_YET)

    def open(self) -> None:
        """Show the shape of the archive; it is not made again where it is shown."""
        self.is_needed = True
        self._change()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    # ---- drawing -----------------------------------------------------------------------------------------------

    def _state(self) -> object:
        status = self._document.status
        return status.generation, status.counts, status.stage

    def _change(self) -> None:
        if self.is_needed and self._drawn != self._state():
            self._delay.start()

    def ask(self) -> None:
        """Have the diagram made; what it is about stays where it is."""
        stage = self._document.status.stage
        if stage is not Stage.READY:
            self.stack.show_sentence(loading_text(stage) or "The archive could not be read.")
            return
        self._drawn = self._state()
        self._document.start(ArchiveRequests.diagram, *self._around).then(self._take)

    def _take(self, diagram: Diagram | None) -> None:
        if diagram is None or not diagram.boxes:
            self.stack.show_sentence("There is no structure to draw.")
            return
        self.view.show_diagram(diagram)
        self.stack.show_view(self.area)
        self._fit()
        self._follow(self._document.selection)
        if self.view.current is None:
            wrong = sum(bool(box.finding) for box in diagram.boxes)
            boxes = count(len(diagram.boxes), "box", "boxes")
            self.about.setText(f"{boxes}; {count(wrong, 'is', 'are')} wrong." if wrong else f"{boxes}.")

    def _fit(self) -> None:
        self.view.fit(self.stack.width() - self.area.verticalScrollBar().sizeHint().width())

    # ---- selecting ---------------------------------------------------------------------------------------------

    def _choose(self, at: int) -> None:
        """Select the bytes of a box, or those of the one that it leads to."""
        diagram = self.view.diagram
        box = diagram.boxes[at]
        self._show(at)
        if box.spans and not box.more:
            self._document.select_spans(box.archive, box.spans, ORIGIN)
        elif box.member is not None:
            target = next((link.target for link in diagram.links if link.source == at), None)
            if target is not None:
                self._document.select_spans(box.archive, diagram.boxes[target].spans, ORIGIN)

    def _open(self, at: int) -> None:
        """Show what a box stands for: the rows that were left out, or the bytes in front."""
        box = self.view.diagram.boxes[at]
        if box.more:
            middle = (box.spans[0].start + box.spans[0].stop) // 2 if box.spans else -1
            self._around = (box.archive if box.spans else box.archive + box.more // 2, middle)
            self.ask()
        else:
            self._choose(at)

    def _follow(self, selection: Selection) -> None:
        """Frame the boxes with the selected bytes."""
        info = self._document.layer_info(selection.layer)
        if selection.origin != ORIGIN and info is not None and info.kind is LayerKind.FILE:
            found = self.view.diagram.at(selection.layer, selection.caret)
            self.view.mark(found, found[0] if found else None)
            if found:
                self._show(found[0])

    def _show(self, at: int) -> None:
        self.about.setText(self.view.sentence(at))
        place = self.view.place(at)
        self.area.ensureVisible(place.left() + min(place.width(), MARGIN), place.center().y(), MARGIN, MARGIN)
