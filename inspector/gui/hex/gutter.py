"""The strip beside the rows in which arrows run from references to the bytes they point to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygon, QShowEvent
from PySide6.QtWidgets import QToolTip, QWidget

from inspector.core.numbers import count, grouped, hexadecimal
from inspector.gui.hex.painting import Look
from inspector.gui.kit.text import plain
from inspector.operations.protocol.views import Arrow

LANE_WIDTH = 5
"""Pixels between two lanes."""
HEAD_LENGTH = 4
"""Length of an arrow head and half of its height, in pixels."""
UP, DOWN = "At byte {place}, {rows} further up.", "At byte {place}, {rows} further down."
_HEAD_SPACE = HEAD_LENGTH + 4
"""Pixels between the first lane and the rows, for the heads."""
_HIT_DISTANCE = 3
"""The farthest a click may be from a line to hit it, in pixels."""
MIN_WIDTH, MAX_WIDTH = _HEAD_SPACE + LANE_WIDTH, _HEAD_SPACE + 6 * LANE_WIDTH
"""Width with one lane and with as many lanes as an eye can follow, in pixels."""


class RowSide(QWidget):
    """Drawn beside rows that are scrolled elsewhere; what has a tooltip can be clicked."""

    def __init__(self, parent: QWidget, look: Look, name: str, description: str) -> None:
        super().__init__(parent)
        self._look = look
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName(name)
        self.setAccessibleDescription(description)

    @abstractmethod
    def describe(self, place: QPoint) -> str:
        """The tooltip for a pixel; empty where there is nothing."""

    @abstractmethod
    def paint(self, painter: QPainter) -> None:
        """Paint what stands on the background."""

    def paintEvent(self, _: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._look.base)
            self.paint(painter)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        is_over = bool(self.describe(event.position().toPoint()))
        self.setCursor(Qt.CursorShape.PointingHandCursor if is_over else Qt.CursorShape.ArrowCursor)

    def event(self, event: QEvent) -> bool:
        """Show tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain(self.describe(event.pos())), self)
            return True
        return super().event(event)


class Gutter(RowSide):
    """Draws arrows.

    Signals:
        arrowClicked(object arrow, bool forwards): go to the target of an arrow or (False) to its source.
        shown(): the strip became visible and needs arrows.
    """

    arrowClicked = Signal(object, bool)
    shown = Signal()

    def __init__(self, parent: QWidget, look: Look) -> None:
        super().__init__(parent, look, "References", "Arrows from references to the bytes they point to")
        self._place = (0, 0, 0, 0)
        self._arrows: Sequence[Arrow] = ()
        self.strokes: list[DrawnArrow] = []

    def show_arrows(self, arrows: Sequence[Arrow]) -> None:
        """Replace the arrows."""
        self._arrows = arrows
        self._update_strokes()

    def show_rows(self, look: Look, columns: int, top: int, rows: int, caret: int) -> None:
        """Draw beside the rows ``[top, top + rows)`` of ``columns`` bytes each."""
        place = (columns, top, rows, caret)
        if (look, place) != (self._look, self._place):
            self._look, self._place = look, place
            self._update_strokes()

    def _update_strokes(self) -> None:
        columns, top, rows, caret = self._place
        before, lanes = self.strokes, max(0, (self.width() - _HEAD_SPACE) // LANE_WIDTH)
        self.strokes = lay_out_arrows(self._arrows, columns, top, rows, lanes, caret) if columns else []
        if before or self.strokes:
            self.update()

    # ---- geometry ----------------------------------------------------------------------------------------------

    def _middle(self, row: int | None) -> int:
        assert row is not None
        return row * self._look.line + self._look.line // 2

    def line_of(self, stroke: DrawnArrow) -> list[QPoint]:
        """The corners of a line from its source to the tip of its head."""
        edge, lane = self.width() - 1, self.width() - _HEAD_SPACE - stroke.lane * LANE_WIDTH - LANE_WIDTH // 2
        if stroke.exit_row is None:
            if stroke.source is None:
                return [QPoint(0, self._middle(stroke.target)), QPoint(edge, self._middle(stroke.target))]
            first, last = self._middle(stroke.source), self._middle(stroke.target)
            return [QPoint(edge, first), QPoint(lane, first), QPoint(lane, last), QPoint(edge, last)]
        here = self._middle(stroke.target if stroke.source is None else stroke.source)
        out = [QPoint(edge, here), QPoint(lane, here), QPoint(lane, self._middle(stroke.exit_row))]
        return out if stroke.target is None else out[::-1]

    def stroke_at(self, place: QPoint) -> DrawnArrow | None:
        """The arrow nearest to a pixel, None if none is close."""

        def away(stroke: DrawnArrow) -> tuple[int, bool]:
            return min(_distance(place, *pair) for pair in pairwise(self.line_of(stroke))), not stroke.lit

        best = min(self.strokes, key=away, default=None)
        return best if best is not None and away(best)[0] <= _HIT_DISTANCE else None

    # ---- tooltips----------------------------------------------------------------------------------------------

    def describe(self, place: QPoint) -> str:
        """What an arrow connects, and where its end is that is out of view."""
        stroke = self.stroke_at(place)
        if stroke is None:
            return ""
        arrow = stroke.arrow
        lines = [arrow.source_words, f"→ {arrow.target_words}"]
        away = arrow.target if stroke.target is None else arrow.source if stroke.source is None else None
        if away is not None:
            columns, top, _, _ = self._place
            rows = away.start // columns - top - next(row for row in (stroke.source, stroke.target) if row is not None)
            place_text = f"{grouped(away.start)} ({hexadecimal(away.start)})"
            lines.append((UP if rows < 0 else DOWN).format(place=place_text, rows=count(abs(rows), "row")))
        return "\n".join(lines)

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        for stroke in sorted(self.strokes, key=lambda stroke: stroke.lit):  # highlighted ones on top
            colours, corners = self._look.colours, self.line_of(stroke)
            colour = QColor(colours.outline if stroke.lit else colours.quiet)
            painter.setPen(QPen(colour, 2 if stroke.lit else 1))
            painter.drawPolyline(corners)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawPolygon(_head(corners[-2], corners[-1]))
            if stroke.exit_row is not None and stroke.source is None:  # its source is out of view
                painter.drawPolygon(_head(corners[1], corners[0]))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shown.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Follow an arrow to the end that is out of view, or else to the end without the caret."""
        stroke = self.stroke_at(event.position().toPoint())
        if stroke is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        at_target = stroke.arrow.target.start == self._place[3]
        backwards = stroke.arrow.source is not None and (
            at_target or (stroke.target is not None and stroke.source is None)
        )
        self.arrowClicked.emit(stroke.arrow, not backwards)


def _distance(place: QPoint, start: QPoint, stop: QPoint) -> int:
    """Chebyshev distance of a point from a horizontal or vertical line, in pixels."""
    box = QRect(start, stop).normalized()
    return max(box.left() - place.x(), place.x() - box.right(), box.top() - place.y(), place.y() - box.bottom(), 0)


def _head(before: QPoint, point: QPoint) -> QPolygon:
    """The triangle with its tip at ``point`` of a line that comes from ``before``."""
    is_level = before.y() == point.y()
    along = HEAD_LENGTH if (point.x() > before.x() if is_level else point.y() > before.y()) else -HEAD_LENGTH
    sides = (HEAD_LENGTH, -HEAD_LENGTH)
    corners = [QPoint(along, aside) if is_level else QPoint(aside, along) for aside in sides]
    return QPolygon([point, *(point - corner for corner in corners)])


class DrawnArrow(Struct, frozen=True):
    """How an arrow is drawn: along ``lane``, counted outwards from the rows.

    ``source`` and ``target`` are rows counted from the first visible row, None for an end out of view; the line then
    runs to ``exit_row``, next to the visible end. An arrow from a sibling file has a ``target`` only and no
    ``exit_row``. ``lit`` is set if the caret is at one of its ends.
    """

    arrow: Arrow
    lane: int
    source: int | None
    target: int | None
    exit_row: int | None
    lit: bool

    @property
    def rows(self) -> tuple[int, int]:
        """The first and the last row along the line."""
        ends = [row for row in (self.source, self.target, self.exit_row) if row is not None]
        return min(ends), max(ends)


def lay_out_arrows(
    arrows: Sequence[Arrow], columns: int, top: int, rows: int, lanes: int, caret: int
) -> list[DrawnArrow]:
    """The arrows visible beside the rows ``[top, top + rows)`` of ``columns`` bytes, each in a lane of its own.

    Arrows at the caret are placed first, then the shortest; an arrow that finds no free lane is left out.
    """
    visible = [stroke for arrow in arrows if (stroke := _stroke(arrow, columns, top, rows, caret)) is not None]
    visible.sort(key=lambda stroke: (not stroke.lit, stroke.rows[1] - stroke.rows[0], stroke.rows[0]))
    free: list[set[int]] = [set(range(-1, rows + 1)) for _ in range(lanes)]
    placed = []
    for stroke in visible:
        needed = set(range(stroke.rows[0], stroke.rows[1] + 1))
        lane = next((at for at, left in enumerate(free) if needed <= left), None)
        if lane is not None:
            free[lane] -= needed
            placed.append(replace(stroke, lane=lane))
    return placed


def _stroke(arrow: Arrow, columns: int, top: int, rows: int, caret: int) -> DrawnArrow | None:
    source = None if arrow.source is None else arrow.source.start // columns - top
    target = arrow.target.start // columns - top
    # A target may be long: only its first byte lights the arrow up.
    at_source = arrow.source is not None and arrow.source.start <= caret < arrow.source.stop
    lit = at_source or arrow.target.start == caret
    shown = [row for row in (source, target) if row is not None and 0 <= row < rows]
    if source == target or not shown:
        return None
    if len(shown) == 2 or source is None:
        return DrawnArrow(arrow, 0, source, target, None, lit)
    if source == shown[0]:
        return DrawnArrow(arrow, 0, source, None, source + (1 if target > source else -1), lit)
    return DrawnArrow(arrow, 0, None, target, target + (1 if source > target else -1), lit)
