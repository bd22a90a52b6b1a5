"""The line above the bytes: the position of each column within its row."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from inspector.gui.hex.layout import GROUP, Layout
from inspector.gui.hex.painting import MARGIN, Look


class ColumnHeader(QWidget):
    """Numbers the columns and marks that of the caret; a bar at its foot tells that the keyboard works below."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._look: Look | None = None
        self._layout: Layout | None = None
        self._column: int | None = None
        self._left = 0
        self._focused = False

    def show_state(self, look: Look, layout: Layout | None, column: int | None, left: int, focused: bool) -> None:
        """Show the columns of ``layout`` scrolled by ``left`` pixels, that of the caret marked."""
        state = (look, layout, column, left, focused)
        if state != (self._look, self._layout, self._column, self._left, self._focused):
            self._look, self._layout, self._column, self._left, self._focused = state
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Qt override."""
        painter = QPainter(self)
        try:
            if self._look is not None:
                self._paint(painter, self._look)
        finally:
            painter.end()

    def _paint(self, painter: QPainter, look: Look) -> None:
        painter.fillRect(self.rect(), look.base)
        bar = 2 if self._focused else 1
        colour = look.colours.selection if self._focused else look.colours.rule
        painter.fillRect(QRect(0, self.height() - bar, self.width(), bar), QColor(colour))
        if self._layout is None:
            return
        painter.translate(-self._left, 0)
        painter.setFont(look.font)
        painter.setPen(look.quiet)
        layout = self._layout
        painter.drawText(QPointF(MARGIN, look.baseline), "offset")
        heads = layout.head_texts
        columns = "  ".join(" ".join(heads[i : i + GROUP]) for i in range(0, len(heads), GROUP))
        painter.drawText(QPointF(MARGIN + layout.hex_start * look.cell, look.baseline), columns)
        painter.drawText(QPointF(MARGIN + layout.text_start * look.cell, look.baseline), "text")
        if self._column is not None:
            painter.setPen(look.text)
            place = QPointF(MARGIN + layout.hex_cell(self._column) * look.cell, look.baseline)
            painter.drawText(place, heads[self._column])
