"""What the colours and hatchings of the bands mean: those that are there, in words."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.core.kinds import Role
from inspector.gui.hex.painting import hatching, scheme_for
from inspector.gui.kit.palette import COLOURS, Colours
from inspector.gui.panels.coverage.bands import GAP, ORPHAN, OVERLAP, Band, bit, states_in
from inspector.gui.panels.coverage.painting import fill, overlap_brush, short_word
from inspector.operations.protocol.coverage_views import FAILED, RANGE_STATES

_SWATCH = 14
_SPACE = 5
_BETWEEN = 12
_MORE = {GAP: "gap", OVERLAP: "overlap", ORPHAN: "orphan"}


class Legend(QWidget):
    """A line of swatches with words; what does not fit is left out, the tooltip has all."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = 0
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Meaning of the colours")

    def show_bands(self, bands: list[Band], states: bytes) -> None:
        """Explain what these bands show."""
        shown = sum(bit(RANGE_STATES[code]) for code in set(states))
        for mark, kinds in ((GAP, "gaps"), (OVERLAP, "overlaps"), (ORPHAN, "orphans")):
            shown |= mark * any(getattr(band, kinds).firsts for band in bands)
        if shown != self._shown:
            self._shown = shown
            self.setToolTip(", ".join(self.words()))
            self.setAccessibleDescription(", ".join(self.words()))
            self.updateGeometry()
            self.update()

    def words(self) -> list[str]:
        """What is explained."""
        return [text for text, _ in self._entries()]

    def _entries(self) -> list[tuple[str, int]]:
        found = [(short_word(state), bit(state)) for state in states_in(self._shown)]
        return found + [(text, mark) for mark, text in _MORE.items() if self._shown & mark]

    def sizeHint(self) -> QSize:
        """Qt override."""
        metrics = self.fontMetrics()
        widths = (metrics.horizontalAdvance(text) + _SWATCH + _SPACE + _BETWEEN for text in self.words())
        return QSize(sum(widths), metrics.height() + 2)

    def minimumSizeHint(self) -> QSize:
        """Qt override."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - all of it is painted
        """Qt override."""
        colours = COLOURS[scheme_for(self.palette())]
        painter = QPainter(self)
        try:
            left, metrics = 0, painter.fontMetrics()
            for text, mark in self._entries():
                width = metrics.horizontalAdvance(text)
                if left + _SWATCH + _SPACE + width > self.width():
                    break
                box = QRect(left, (self.height() - _SWATCH) // 2, _SWATCH, _SWATCH)
                _draw(painter, box, mark, colours)
                painter.setPen(self.palette().color(self.foregroundRole()))
                place = QRect(left + _SWATCH + _SPACE, 0, width + 1, self.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, text)
                left += _SWATCH + _SPACE + width + _BETWEEN
        finally:
            painter.end()


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
