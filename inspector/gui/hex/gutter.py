"""The strip beside the rows in which arrows run from what says a place to the bytes at that place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QLine, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygon, QShowEvent
from PySide6.QtWidgets import QToolTip, QWidget

from inspector.core.numbers import count, grouped, hexadecimal
from inspector.gui.hex.painting import Look
from inspector.gui.kit.text import plain
from inspector.operations.protocol.views import Arrow

LANE_WIDTH = 5
"""Pixels between two lanes."""
HEAD_LENGTH = 4
"""Pixels that the head of an arrow is long, and half of its height."""
UP, DOWN = "At byte {place}, {rows} further up.", "At byte {place}, {rows} further down."
_HEAD_SPACE = HEAD_LENGTH + 4
"""Pixels between the first lane and the rows: the heads are there."""
_HIT_DISTANCE = 3
"""Pixels beside a line in which it is still meant."""
MIN_WIDTH, MAX_WIDTH = _HEAD_SPACE + LANE_WIDTH, _HEAD_SPACE + 6 * LANE_WIDTH
"""Pixels that one lane takes, and as many lanes as an eye can follow."""


class Gutter(QWidget):
    """Draws arrows beside rows that are scrolled elsewhere.

    Signals:
        wanted(object arrow, bool forwards): an arrow was clicked, to go to its target or (False) to its source.
        shown(): it can be seen again, so arrows are worth knowing.
    """

    wanted = Signal(object, bool)
    shown = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._look: Look | None = None
        self._place = (0, 0, 0, 0)
        self._arrows: Sequence[Arrow] = ()
        self._strokes: list[Stroke] = []
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("References")
        self.setAccessibleDescription("Arrows from references to the bytes they point to")

    @property
    def strokes(self) -> list[Stroke]:
        """The arrows that are drawn."""
        return self._strokes

    def show_arrows(self, arrows: Sequence[Arrow]) -> None:
        """Draw these arrows."""
        self._arrows = arrows
        self._lay()

    def show_rows(self, look: Look, columns: int, top: int, rows: int, caret: int) -> None:
        """Draw beside the rows ``[top, top + rows)`` of so many bytes each, the caret at a byte."""
        place = (columns, top, rows, caret)
        if (look, place) != (self._look, self._place):
            moved = look is not self._look or place[:3] != self._place[:3]
            self._look, self._place = look, place
            self._lay(moved)

    def _lay(self, moved: bool = True) -> None:
        columns, top, rows, caret = self._place
        before = self._strokes
        self._strokes = strokes(self._arrows, columns, top, rows, self._lanes(), caret) if columns else []
        if self._strokes != before or (moved and before):
            self.update()

    def _lanes(self) -> int:
        return max(0, (self.width() - _HEAD_SPACE) // LANE_WIDTH)

    # ---- where lines are ---------------------------------------------------------------------------------------

    def _middle(self, row: int | None) -> int:
        assert self._look is not None
        assert row is not None
        return row * self._look.line + self._look.line // 2

    def _lane(self, stroke: Stroke) -> int:
        return self.width() - _HEAD_SPACE - stroke.lane * LANE_WIDTH - LANE_WIDTH // 2

    def line_of(self, stroke: Stroke) -> list[QPoint]:
        """The corners of a line, from its source to the point of its head."""
        edge, lane = self.width() - 1, self._lane(stroke)
        if stroke.leaves is None:
            if stroke.source is None:
                return [QPoint(0, self._middle(stroke.target)), QPoint(edge, self._middle(stroke.target))]
            first, last = self._middle(stroke.source), self._middle(stroke.target)
            return [QPoint(edge, first), QPoint(lane, first), QPoint(lane, last), QPoint(edge, last)]
        here = self._middle(stroke.target if stroke.source is None else stroke.source)
        out = [QPoint(edge, here), QPoint(lane, here), QPoint(lane, self._middle(stroke.leaves))]
        return out if stroke.target is None else out[::-1]

    def stroke_at(self, place: QPoint) -> Stroke | None:
        """The arrow whose line is nearest to a pixel, if one is near."""
        near = [(self._distance(stroke, place), not stroke.lit, at) for at, stroke in enumerate(self._strokes)]
        best = min(near, default=None)
        return self._strokes[best[2]] if best is not None and best[0] <= _HIT_DISTANCE else None

    def _distance(self, stroke: Stroke, place: QPoint) -> int:
        corners = self.line_of(stroke)
        return min(_distance(place, *pair) for pair in pairwise(corners))

    # ---- words -------------------------------------------------------------------------------------------------

    def words_of(self, stroke: Stroke) -> str:
        """What an arrow says, and where its other end is where that is not shown."""
        arrow = stroke.arrow
        lines = [arrow.source_words, f"→ {arrow.target_words}"]
        away = arrow.target if stroke.target is None else arrow.source if stroke.source is None else None
        if away is not None:
            columns, top, _, _ = self._place
            rows = away.start // columns - top - next(row for row in (stroke.source, stroke.target) if row is not None)
            place = f"{grouped(away.start)} ({hexadecimal(away.start)})"
            words = UP if rows < 0 else DOWN
            lines.append(words.format(place=place, rows=count(abs(rows), "row")))
        return "\n".join(lines)

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Qt override."""
        painter = QPainter(self)
        try:
            if self._look is not None:
                painter.fillRect(self.rect(), self._look.base)
                # Those at the caret lie over the others.
                for lit in (False, True):
                    self._draw(painter, [stroke for stroke in self._strokes if stroke.lit is lit], lit, self._look)
        finally:
            painter.end()

    def _draw(self, painter: QPainter, alike: list[Stroke], lit: bool, look: Look) -> None:
        colour = QColor(look.colours.outline if lit else look.colours.quiet)
        lines = [(stroke, self.line_of(stroke)) for stroke in alike]
        painter.setPen(QPen(colour, 2 if lit else 1))
        painter.drawLines([QLine(*pair) for _, corners in lines for pair in pairwise(corners)])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for stroke, corners in lines:
            painter.drawPolygon(_head(corners[-2], corners[-1]))
            if stroke.leaves is not None and stroke.source is None:  # it comes from where nothing is shown
                painter.drawPolygon(_head(corners[1], corners[0]))

    def showEvent(self, event: QShowEvent) -> None:
        """Qt override."""
        super().showEvent(event)
        self.shown.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt override: an arrow goes to the end that is not shown, or else to where the caret is not."""
        stroke = self.stroke_at(event.position().toPoint())
        if stroke is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        at_target = stroke.arrow.target.start == self._place[3]
        backwards = stroke.arrow.source is not None and (
            at_target or (stroke.target is not None and stroke.source is None)
        )
        self.wanted.emit(stroke.arrow, not backwards)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt override."""
        over = self.stroke_at(event.position().toPoint())
        self.setCursor(Qt.CursorShape.ArrowCursor if over is None else Qt.CursorShape.PointingHandCursor)

    def event(self, event: QEvent) -> bool:
        """Qt override: tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            over = self.stroke_at(event.pos())
            if over is None:
                QToolTip.hideText()
            else:
                QToolTip.showText(event.globalPos(), plain(self.words_of(over)), self)
            return True
        return super().event(event)


def _distance(place: QPoint, start: QPoint, stop: QPoint) -> int:
    """Pixels between a place and a line that runs along an axis, the larger of both directions."""
    box = QRect(start, stop).normalized()
    return max(box.left() - place.x(), place.x() - box.right(), box.top() - place.y(), place.y() - box.bottom(), 0)


def _head(before: QPoint, point: QPoint) -> QPolygon:
    """A triangle at ``point``, coming from ``before``."""
    if before.y() == point.y():
        back = point.x() - (HEAD_LENGTH if point.x() > before.x() else -HEAD_LENGTH)
        return QPolygon([point, QPoint(back, point.y() - HEAD_LENGTH), QPoint(back, point.y() + HEAD_LENGTH)])
    back = point.y() - (HEAD_LENGTH if point.y() > before.y() else -HEAD_LENGTH)
    return QPolygon([point, QPoint(point.x() - HEAD_LENGTH, back), QPoint(point.x() + HEAD_LENGTH, back)])


@dataclass(frozen=True, slots=True)
class Stroke:
    """How an arrow is drawn: along ``lane``, counted from the rows outwards, between two of the rows shown.

    ``source`` and ``target`` are the rows of its ends, counted from the first row shown, None where an end is not
    shown; the line then ends at the row ``leaves``, above or below the one that is. An arrow from beside the archive
    has its ``target`` alone and leaves for no row. ``lit`` tells whether the caret is at one of its ends.
    """

    arrow: Arrow
    lane: int
    source: int | None
    target: int | None
    leaves: int | None
    lit: bool

    @property
    def rows(self) -> tuple[int, int]:
        """The first and the last row that the line is beside."""
        ends = [row for row in (self.source, self.target, self.leaves) if row is not None]
        return min(ends), max(ends)


def strokes(arrows: Sequence[Arrow], columns: int, top: int, rows: int, lanes: int, caret: int) -> list[Stroke]:
    """The arrows that can be seen beside the rows ``[top, top + rows)`` of ``columns`` bytes, each with its lane.

    The one at the caret comes first, then short ones; what finds no lane free is left out.
    """
    seen = [stroke for arrow in arrows if (stroke := _stroke(arrow, columns, top, rows, caret)) is not None]
    seen.sort(key=lambda stroke: (not stroke.lit, stroke.rows[1] - stroke.rows[0], stroke.rows[0]))
    free: list[set[int]] = [set(range(-1, rows + 1)) for _ in range(lanes)]
    laid = []
    for stroke in seen:
        low, high = stroke.rows
        wanted = set(range(low, high + 1))
        lane = next((at for at, left in enumerate(free) if wanted <= left), None)
        if lane is not None:
            free[lane] -= wanted
            laid.append(Stroke(stroke.arrow, lane, stroke.source, stroke.target, stroke.leaves, stroke.lit))
    return laid


def _stroke(arrow: Arrow, columns: int, top: int, rows: int, caret: int) -> Stroke | None:
    source = None if arrow.source is None else _row(arrow.source.start, columns, top)
    target = _row(arrow.target.start, columns, top)
    lit = (arrow.source is not None and arrow.source.start <= caret < arrow.source.stop) or _leads_to(arrow, caret)
    shown = [row for row in (source, target) if row is not None and 0 <= row < rows]
    if source == target or not shown:
        return None
    if len(shown) == 2 or source is None:
        return Stroke(arrow, 0, source, target, None, lit)
    here = shown[0]
    there = target if here == source else source
    leaves = here + (1 if there > here else -1)
    return Stroke(arrow, 0, source if here == source else None, target if here == target else None, leaves, lit)


def _leads_to(arrow: Arrow, caret: int) -> bool:
    """Whether the caret is where an arrow ends. What it leads to may be long: then its beginning counts."""
    return arrow.target.start == caret


def _row(offset: int, columns: int, top: int) -> int:
    return offset // columns - top
