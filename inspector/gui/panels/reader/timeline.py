"""The order of a reader's reads: the file from left to right, the reads from top to bottom."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from inspector.core.kinds import Role
from inspector.core.numbers import count, in_bytes
from inspector.core.span import Span, Spans
from inspector.drawing.palette import COLOURS, Colours, Hue
from inspector.gui.hex.painting import hatching, scheme_for
from inspector.gui.kit.text import plain
from inspector.gui.panels.reader.steps import span_text
from inspector.operations.protocol.trace_views import ReadMark, TraceResult

_MARGIN = 4
_TWICE_HEIGHT = 5
"""The height of the band of bytes read more than once, in pixels."""
_LANE_HEIGHT = 8.0
"""The height of one read where there is room, in pixels."""
_MIN_WIDTH, _MIN_HEIGHT = 3.0, 2.0
"""The least size of a mark, so that a read of four bytes can be seen."""
_LATER_ALPHA = 110
"""How much is seen, of 255, of reads that come after the current step."""
_MAX_ARROWS = 300
"""Reads that are connected; of more the lines would cover the marks."""


class ReadTimeline(QWidget):
    """Draws the reads of a trace: those made so far, the last one of them outlined, and paler those to come.

    Signals:
        stepChosen(int step): the user clicked a read, which this step made.
    """

    stepChosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._result: TraceResult | None = None
        self._step = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setAccessibleName("Order of reads")
        self.setMouseTracking(True)

    def show_result(self, result: TraceResult | None) -> None:
        """Show the reads of a trace, or none."""
        self._result = result
        self.setAccessibleDescription(reads_text(result) if result is not None else "")
        self.updateGeometry()
        self.update()

    def show_step(self, step: int) -> None:
        """Outline the reads of a step."""
        self._step = step
        self.update()

    # ---- geometry ----------------------------------------------------------------------------------------------

    def _x(self, offset: int) -> float:
        size = max(1, self._result.size if self._result is not None else 1)
        return _MARGIN + (self.width() - 2 * _MARGIN) * min(offset, size) / size

    def _rect(self, span: Span, top: float, height: float) -> QRectF:
        left = self._x(span.start)
        return QRectF(left, top, max(_MIN_WIDTH, self._x(span.stop) - left), max(_MIN_HEIGHT, height))

    def _lanes(self) -> tuple[float, float]:
        """Where the lanes of the reads begin, and the height of each."""
        top = _MARGIN + _TWICE_HEIGHT + 2
        number = len(self._result.marks) if self._result is not None else 0
        return top, min(_LANE_HEIGHT, (self.height() - top - _MARGIN) / max(1, number))

    def mark_at(self, x: float, y: float) -> ReadMark | None:
        """The read nearest to a point, by its lane."""
        if self._result is None or not self._result.marks:
            return None
        top, lane = self._lanes()
        marks = self._result.marks
        near = range(max(0, int((y - 3 - top) / lane)), min(len(marks), int((y + 3 - top) / lane) + 1))
        found = [at for at in near if self._x(marks[at].span.start) - 3 <= x <= self._x(marks[at].span.stop) + 3]
        return marks[found[len(found) // 2]] if found else None

    # ---- overrides ---------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        lanes = len(self._result.marks) if self._result is not None else 0
        height = 2 * _MARGIN + _TWICE_HEIGHT + 2 + int(_LANE_HEIGHT) * lanes
        return QSize(400, min(76, max(self.minimumSizeHint().height(), height)))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 32)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        mark = self.mark_at(event.position().x(), event.position().y())
        if mark is not None and event.button() is Qt.MouseButton.LeftButton:
            self.stepChosen.emit(mark.step)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), plain(self._tip(event.pos().x(), event.pos().y())), self)
            return True
        return super().event(event)

    def _tip(self, x: float, y: float) -> str:
        result = self._result
        if result is None:
            return ""
        if (mark := self.mark_at(x, y)) is not None:
            return f"Step {mark.step:,} reads {in_bytes(mark.span.size)}, {span_text(mark.span)}"
        offset = int((x - _MARGIN) * result.size / max(1, self.width() - 2 * _MARGIN))
        if y <= _MARGIN + _TWICE_HEIGHT and (span := _around(result.twice, offset)) is not None:
            return f"{in_bytes(span.size)} read more than once, {span_text(span)}"
        span = _around(result.never, offset)
        return f"{in_bytes(span.size)} never read, {span_text(span)}" if span is not None else ""

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - all of it is painted
        colours, result = COLOURS[scheme_for(self.palette())], self._result
        top, lane = self._lanes()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(colours.base))
            painter.setPen(QColor(colours.rule))
            painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
            if result is None:
                return
            never = hatching(Role.GAP, colours) or QBrush()
            for span in result.never:
                painter.fillRect(self._rect(span, top, self.height() - top - _MARGIN), never)
            for span in result.twice:
                painter.fillRect(self._rect(span, _MARGIN, _TWICE_HEIGHT), QColor(colours.tones[Hue.PURPLE].line))
            self._paint_marks(painter, colours, result.marks, top, lane)

    def _paint_marks(
        self, painter: QPainter, colours: Colours, marks: tuple[ReadMark, ...], top: float, lane: float
    ) -> None:
        if len(marks) <= _MAX_ARROWS:
            painter.setPen(QPen(QColor(colours.quiet), 1.0, Qt.PenStyle.DotLine))
            for at, (mark, following) in enumerate(pairwise(marks)):
                start = QPointF(self._x(mark.span.stop), top + (at + 0.5) * lane)
                painter.drawLine(start, QPointF(self._x(following.span.start), top + (at + 1.5) * lane))
        made, current = QColor(colours.tones[Hue.BLUE].line), QColor(colours.damage)
        later = QColor(made)
        later.setAlpha(_LATER_ALPHA)
        last = max((mark.step for mark in marks if mark.step <= self._step), default=0)
        for at, mark in enumerate(marks):
            rect = self._rect(mark.span, top + at * lane, lane * 0.8)
            here = mark.step == last
            painter.fillRect(rect, current if here else made if mark.step < last else later)
            if here:
                painter.setPen(QPen(current, 1.0))
                painter.drawRect(rect.adjusted(-2, -2, 2, 2))


def _around(spans: Spans, offset: int) -> Span | None:
    """The span that a byte is in, of sorted ones."""
    at = bisect_right(spans, offset, key=lambda span: span.start) - 1
    return spans[at] if at >= 0 and offset < spans[at].stop else None


def reads_text(result: TraceResult, latency_ms: int = 0) -> str:
    """``19 reads of 1,007 bytes; 0 bytes read twice, 496 bytes never read.``, and what they cost over a network."""
    if not result.reads:
        return "Its reads cannot be seen."
    made = f"{count(result.reads, 'read')} of {in_bytes(result.total)}"
    text = f"{made}; {in_bytes(result.twice_bytes)} read twice, {in_bytes(result.never_bytes)} never read."
    time = f"{count(result.reads, 'request')}, {result.reads * latency_ms / 1000:,.1f} s at {latency_ms} ms"
    return f"{text} Over S3 with a request a read: {time}." if latency_ms else text
