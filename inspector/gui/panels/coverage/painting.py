"""Painting of a band: fills, hatching, outlines, icons and captions; and its legend."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QIcon, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from inspector.core.kinds import Role
from inspector.core.verdict import State
from inspector.drawing.palette import Colours
from inspector.gui.hex.beside.legend import Legend, LegendEntry
from inspector.gui.hex.painting import hatching
from inspector.gui.kit.icons import state_icon
from inspector.gui.kit.style import GRID
from inspector.gui.panels.coverage.bands import GAP, ORPHAN, OVERLAP, Band, Run, bit, states_in
from inspector.operations.protocol.coverage_views import FAILED, RANGE_STATES, RangeState

_FILLS = {
    RangeState.NOT_READ: (Role.PADDING, 0),
    RangeState.NOT_CHECKED: (Role.DATA, 0),
    RangeState.CHECKING: (Role.NAME, 0),
    RangeState.VERIFIED: (Role.EXTENT, 0),
    RangeState.SOUND: (Role.DIRECTORY, 0),
    RangeState.WARNING: (Role.HEADER, 0),
    RangeState.TORN: (Role.CONTROL, 0),
    RangeState.DAMAGED: (Role.DIGEST, 0),
    RangeState.UNREADABLE: (Role.DIGEST, 0),
}
_ICONS = {
    RangeState.VERIFIED: State.SOUND,
    RangeState.WARNING: State.WARNING,
    RangeState.TORN: State.TORN,
    RangeState.DAMAGED: State.DAMAGED,
    RangeState.UNREADABLE: State.UNREADABLE,
}
_ICON_PX = 14
_SPACE_PX = 4
_MIN_MARK_PX = 3
"""Pixels: the minimum width of an error mark."""
_OVERLAP_PX = 5
"""Pixels: the height of an overlap mark."""
_FAILED = sum(bit(state) for state in FAILED)


def state_label(state: RangeState) -> str:
    """The label of a state in a band, shortened where its name is too long."""
    return "sound" if state is RangeState.SOUND else state.value


def icon_of(state: RangeState) -> QIcon | None:
    """The icon of a state, None if it has none."""
    return state_icon(_ICONS[state]) if state in _ICONS else None


def fill(state: RangeState, colours: Colours) -> QColor:
    """The background colour of a state."""
    return QColor(colours.fill(*_FILLS[state]))


def overlap_brush(colours: Colours) -> QBrush:
    """The pattern of an overlap, painted over the colour of the range."""
    return QBrush(QColor(colours.text), Qt.BrushStyle.Dense4Pattern)


class BandPainter:
    """Paints runs into ``box``."""

    def __init__(self, painter: QPainter, box: QRect, colours: Colours) -> None:
        self._painter = painter
        self._box = box
        self._colours = colours

    def paint(self, runs: list[Run], edges: Iterable[int]) -> None:
        """Paint the fills, the edges of ranges, outlines around failed ranges, and captions where they fit."""
        for run in runs:
            self._fill(run)
        self._painter.setPen(QPen(QColor(self._colours.quiet), 1))  # also between ranges of the same colour
        for x in edges:
            left = self._box.left() + x
            self._painter.drawLine(left, self._box.top(), left, self._box.bottom())
        self._mark_failed(runs)
        self._draw_captions(runs)

    def _rect(self, run: Run) -> QRect:
        return QRect(self._box.left() + run.left, self._box.top(), run.right - run.left, self._box.height())

    def _fill(self, run: Run) -> None:
        """Stack states that share a column, with a gap below them."""
        rect = self._rect(run)
        lanes = len(states := states_in(run.shown)) + bool(run.shown & GAP)
        for at, state in enumerate(states):
            self._painter.fillRect(_lane_rect(rect, at, lanes), fill(state, self._colours))
        if run.shown & GAP:
            strokes = hatching(Role.GAP, self._colours)
            assert strokes is not None
            self._painter.fillRect(_lane_rect(rect, lanes - 1, lanes), strokes)
        if run.shown & OVERLAP:
            rect.setHeight(_OVERLAP_PX)
            self._painter.fillRect(_widened(rect), overlap_brush(self._colours))
        if run.shown & ORPHAN:
            self._painter.setPen(QPen(QColor(self._colours.damage), 1, Qt.PenStyle.DashLine))
            self._painter.setBrush(Qt.BrushStyle.NoBrush)
            self._painter.drawRect(_widened(self._rect(run)).adjusted(0, 0, -1, -1))

    def _mark_failed(self, runs: list[Run]) -> None:
        self._painter.setPen(QPen(QColor(self._colours.damage), 2))
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        for run in _joined(runs, _FAILED):
            self._painter.drawRect(_widened(self._rect(run)).adjusted(1, 1, -1, -1))

    def _draw_captions(self, runs: list[Run]) -> None:
        """Draw captions from left to right; icons of failed ranges may exceed their range, texts must fit."""
        used_to = self._box.left() - 1
        others = [run for run in _joined(runs, 0) if not run.shown & _FAILED]
        for run in sorted((*_joined(runs, _FAILED), *others), key=lambda run: run.left):
            used_to = self._draw_caption(run, used_to)

    def _draw_caption(self, run: Run, used_to: int) -> int:
        rect = self._rect(run)
        text, icon, is_error = _caption(run.shown)
        width = self._painter.fontMetrics().horizontalAdvance(text)
        needed = width + (_ICON_PX + _SPACE_PX if icon is not None else 0)
        if needed + 2 * _SPACE_PX <= rect.width():
            left = rect.left() + (rect.width() - needed) // 2
            if len(states := states_in(run.shown)) == 1 and not run.shown & GAP:  # keep edges out of the text
                behind = QRect(left, rect.top(), needed, rect.height()).adjusted(
                    -_SPACE_PX, _OVERLAP_PX, _SPACE_PX, -_OVERLAP_PX
                )
                self._painter.fillRect(behind, fill(states[0], self._colours))
            if icon is not None:
                self._icon(icon, left)
                left += _ICON_PX + _SPACE_PX
            self._painter.setPen(QColor(self._colours.text))
            self._painter.drawText(
                QRect(left, rect.top(), width + 1, rect.height()), Qt.AlignmentFlag.AlignVCenter, text
            )
            return rect.right()
        left = rect.center().x() - _ICON_PX // 2
        if icon is not None and left > used_to and (is_error or rect.width() >= _ICON_PX):
            self._icon(icon, left)
            return left + _ICON_PX
        return used_to

    def _icon(self, icon: QIcon, left: int) -> None:
        top = self._box.top() + (self._box.height() - _ICON_PX) // 2
        icon.paint(self._painter, QRect(left, top, _ICON_PX, _ICON_PX))


def _caption(shown: int) -> tuple[str, QIcon | None, bool]:
    """The text and icon of a run, and whether it is an error."""
    states = states_in(shown)
    failed = [state for state in states if state in FAILED]
    if failed:
        return state_label(failed[-1]), icon_of(failed[-1]), True
    if shown & ORPHAN and not states:
        return "orphan", state_icon(State.DAMAGED), True
    if shown & GAP and not states:
        return "gap", None, False
    return (state_label(states[0]), icon_of(states[0]), False) if len(states) == 1 else ("", None, False)


def _joined(runs: list[Run], only: int) -> list[Run]:
    """Merge adjacent runs with equal states, ignoring overlaps; ``only`` keeps only runs with one of these bits."""
    joined: list[Run] = []
    for run in runs:
        shown = run.shown & (only or ~OVERLAP)
        if only and not shown:
            continue
        previous = joined[-1] if joined else None
        if previous is not None and previous.right == run.left and previous.shown == shown:
            joined[-1] = Run(previous.left, run.right, shown)
        else:
            joined.append(Run(run.left, run.right, shown))
    return joined


def _lane_rect(rect: QRect, at: int, lanes: int) -> QRect:
    top, bottom = at * rect.height() // lanes, (at + 1) * rect.height() // lanes
    return QRect(rect.left(), rect.top() + top, rect.width(), bottom - top)


def _widened(rect: QRect) -> QRect:
    """The rectangle, made wide enough to be visible."""
    if rect.width() < _MIN_MARK_PX:
        rect.setWidth(_MIN_MARK_PX)
    return rect


_ANY_WIDTH = 1 << 16
"""Pixels that every legend fits into."""


class CoverageLegend(Legend):
    """What the colours and marks of the bands mean, in one line; what does not fit is left out, the tooltip has all."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Meaning of the colours")

    def show_bands(self, bands: list[Band], states: bytes) -> None:
        """Show the states and marks that these bands contain."""
        shown = [(state_label(state), bit(state)) for state in RANGE_STATES if RANGE_STATES.index(state) in set(states)]
        marks = (("gap", GAP, "gaps"), ("overlap", OVERLAP, "overlaps"), ("orphan", ORPHAN, "orphans"))
        shown += [(label, mark) for label, mark, kinds in marks if any(getattr(band, kinds).firsts for band in bands)]
        self.setEntries([LegendEntry(label, mark=mark) for label, mark in shown])
        self.setToolTip(", ".join(self.labels()))

    def sizeHint(self) -> QSize:
        places = self._rects(_ANY_WIDTH)
        return QSize(places[-1].right() + 2 * GRID, places[-1].bottom() + 1) if places else QSize(0, 0)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paint_swatch(self, painter: QPainter, rect: QRect, entry: LegendEntry, colours: Colours) -> None:
        assert isinstance(entry.mark, int)
        _draw(painter, rect, entry.mark, colours)


def _draw(painter: QPainter, box: QRect, mark: int, colours: Colours) -> None:
    states = states_in(mark)
    pen = QPen(QColor(colours.quiet), 1)
    brush = QBrush(QColor(colours.base))
    if states:
        brush = QBrush(fill(states[0], colours))
        pen = QPen(QColor(colours.damage), 2) if states[0] in FAILED else pen
    elif mark == OVERLAP:
        brush = overlap_brush(colours)
    elif mark == GAP:
        brush = hatching(Role.GAP, colours) or brush
    else:
        pen = QPen(QColor(colours.damage), 1, Qt.PenStyle.DashLine)
    painter.fillRect(box, brush)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(box.adjusted(0, 0, -1, -1))
