"""Rows of bytes in a scroll area: which are shown and where, without what is in them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMargins, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QFrame, QWidget

from inspector.core.span import Span
from inspector.gui.hex.cursor import Pane
from inspector.gui.hex.gutter import MAX_WIDTH, MIN_WIDTH, Gutter
from inspector.gui.hex.layout import GROUP, Layout, RowScroll, fitting
from inspector.gui.hex.painting import MARGIN, Grid, Look, look_for


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


_WHEEL_ROWS = 3
"""Rows that a notch of the wheel scrolls by."""
_NOTCH = 120
"""What Qt calls a notch."""
_RULE = 3
"""Pixels beneath the heads of the columns."""
_Action = QAbstractSlider.SliderAction


class RowArea(QAbstractScrollArea):
    """Scrolls over any number of rows. The position is an integer of its own, the scrollbar only mirrors it.

    Signals:
        scrolled(object start, object stop): other bytes are shown.
        zoomRequested(int steps): Ctrl and the wheel ask for larger or smaller letters.
    """

    scrolled = Signal(object, object)
    zoomRequested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = 0
        self._wanted_columns = 16
        self._zoom = 0
        self._base = 16
        self._wheel = 0
        self._shown: Span | None = None
        self._laying = False
        self._layout = Layout(0, 16)
        self._scroll = RowScroll()
        self._look = look_for(0, self.palette())
        self._grid = Grid(self._look, self._layout)
        self._heads = ColumnHeader(self)
        self.gutter = Gutter(self)
        self._beside = 0
        self._arrows_shown = True
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # The bar is always there, so that the width does not depend on the number of rows, which depends on the width.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().actionTriggered.connect(self._bar_action)
        # Every pixel is painted, which lets the viewport be scrolled by moving what it shows.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._set_margins()

    # ---- how it looks ------------------------------------------------------------------------------------------

    @property
    def look(self) -> Look:
        """The font and the colours in use."""
        return self._look

    def setBytesPerRow(self, count: int) -> None:
        """Show ``count`` bytes a row, or 0 for as many as fit."""
        self._wanted_columns = count
        self._relayout()

    def bytesPerRow(self) -> int:
        """How many bytes a row has at present."""
        return self._layout.columns

    def setOffsetBase(self, base: int) -> None:
        """Write offsets in base 16 or 10."""
        self._base = base
        self._relayout()

    def setArrowsShown(self, shown: bool) -> None:
        """Have room for arrows beside the rows, or not."""
        self._arrows_shown = shown
        self.gutter.setVisible(shown)
        self._relayout()

    def setZoom(self, steps: int) -> None:
        """Show letters ``steps`` points larger than usual."""
        if steps != self._zoom:
            self._zoom = steps
            self.restyle()

    def restyle(self) -> None:
        """Take over another font or another palette."""
        look = look_for(self._zoom, self.palette())
        if look is self._look:
            return
        self._look = look
        self._set_margins()
        self._relayout()

    def _relayout(self) -> None:
        """Have rows of the right length for the width; the first byte shown stays in the first row."""
        first = self._scroll.top * self._layout.columns
        look, total = self._look, self.viewport().width() + self._beside
        least = MIN_WIDTH if self._arrows_shown else 0
        if self._wanted_columns:
            self._layout = Layout(self._size, self._wanted_columns, self._base)
        else:
            self._layout = fitting(self._size, int((total - least - 2 * MARGIN) / look.cell), self._base)
        self._grid = Grid(look, self._layout)
        # Arrows take what the bytes leave, but never so little that none could be seen.
        self._set_margins(max(least, min(MAX_WIDTH, total - self._grid.width)) if least else 0)
        width = self.viewport().width()
        self._scroll.top = first // self._layout.columns
        self._scroll.resize(self._layout.rows, self.viewport().height() // look.line)
        sideways = self.horizontalScrollBar()
        sideways.setRange(0, max(0, self._grid.width - width) if self._size else 0)
        sideways.setPageStep(width)
        sideways.setSingleStep(round(look.cell))
        bar = self.verticalScrollBar()
        # A smaller range moves the bar's old value, which says nothing about where to be.
        self._laying = True
        bar.setRange(0, self._scroll.bar_maximum)
        bar.setPageStep(self._scroll.page)
        self._mirror()
        self._laying = False
        self.viewport().update()
        self._update_heads()
        self._tell_shown()

    def _set_margins(self, beside: int | None = None) -> None:
        """Leave room for the heads of the columns, and so many pixels beside the rows."""
        self._beside = self._beside if beside is None else beside
        margins = QMargins(self._beside, self._look.line + _RULE, 0, 0)
        if margins != self.viewportMargins():
            self.setViewportMargins(margins)
        area = self.viewport().geometry()
        self._heads.setGeometry(
            area.x() - self._beside, area.y() - margins.top(), area.width() + self._beside, margins.top()
        )
        self.gutter.setGeometry(area.x() - self._beside, area.y(), self._beside, area.height())

    def _caret_at(self) -> int | None:
        """The byte to mark above and beside the rows."""
        return None

    def _update_heads(self) -> None:
        layout, caret = self._layout if self._size else None, self._caret_at()
        left = self.horizontalScrollBar().value() - self._beside
        column = None if caret is None else caret % self._layout.columns
        self._heads.show_state(self._look, layout, column, left, self.hasFocus())
        self._update_gutter()

    def _update_gutter(self) -> None:
        caret, rows = self._caret_at(), -(-self.viewport().height() // self._look.line)
        self.gutter.show_rows(self._look, self._layout.columns, self._scroll.top, rows, -1 if caret is None else caret)

    # ---- where bytes are ---------------------------------------------------------------------------------------

    def shown(self) -> Span:
        """The bytes in the rows that are shown, wholly or in part."""
        rows = -(-self.viewport().height() // self._look.line)
        first = self._layout.span_of(self._scroll.top)
        return Span(first.start, max(first.start, self._layout.span_of(self._scroll.top + rows - 1).stop))

    def place_of(self, offset: int, pane: Pane) -> QRect:
        """Where a byte is in the viewport, in pixels; it may be outside."""
        row, column = divmod(offset, self._layout.columns)
        left, right = self._grid.edges(pane, column, column + 1)
        # Rows far away have no place that fits into 32 bits; just outside is as good.
        rows = max(-1, min(row - self._scroll.top, self._scroll.page + 1))
        return QRect(left - self.horizontalScrollBar().value(), rows * self._look.line, right - left, self._look.line)

    def over(self, place: QPoint) -> int | None:
        """The byte at a pixel of the viewport, None between bytes."""
        return self._layout.over(*self._row_and_cell(place))

    def nearest(self, place: QPoint, pane: Pane | None = None) -> tuple[int, Pane]:
        """The byte nearest to a pixel of the viewport, of a pane or of the one that the pixel is in."""
        row, cell = self._row_and_cell(place)
        if pane is None:
            pane = Pane.TEXT if self._layout.in_text(cell) else Pane.HEX
        return self._layout.byte_at(row, cell, pane is Pane.TEXT), pane

    def _row_and_cell(self, place: QPoint) -> tuple[int, float]:
        x = place.x() + self.horizontalScrollBar().value()
        return self._scroll.top + place.y() // self._look.line, self._look.cell_at(x)

    # ---- scrolling ---------------------------------------------------------------------------------------------

    def scroll_rows(self, rows: int) -> None:
        """Scroll down by so many rows, up for a negative number."""
        self._scroll_to(self._scroll.top + rows)

    def reveal(self, offset: int, pane: Pane, stop: int | None = None) -> None:
        """Scroll until the byte at ``offset``, and those before ``stop`` too if they fit, are shown."""
        layout = self._layout
        last = layout.row_of(stop - 1) + 1 if stop is not None and stop > offset else None
        self._scroll_to(self._scroll.revealing(layout.row_of(offset), last))
        place, sideways = self.place_of(offset, pane), self.horizontalScrollBar()
        if place.left() < 0:
            sideways.setValue(sideways.value() + place.left() - MARGIN)
        elif place.right() > self.viewport().width():
            sideways.setValue(sideways.value() + place.right() - self.viewport().width() + MARGIN)

    def _scroll_to(self, top: int) -> None:
        moved = self._scroll.to(top)
        if not moved:
            return
        if abs(moved) < self._scroll.page:
            self.viewport().scroll(0, -moved * self._look.line)
        else:
            self.viewport().update()
        self._mirror()
        self._update_gutter()
        self._tell_shown()

    def _mirror(self) -> None:
        self.verticalScrollBar().setValue(self._scroll.bar_value)

    def _tell_shown(self) -> None:
        shown = self.shown()
        if shown != self._shown:
            self._shown = shown
            self.scrolled.emit(*shown)

    def _bar_action(self, action: int) -> None:
        page = self._scroll.page
        steps = {
            _Action.SliderSingleStepAdd: 1,
            _Action.SliderSingleStepSub: -1,
            _Action.SliderPageStepAdd: page,
            _Action.SliderPageStepSub: -page,
        }
        step = steps.get(_Action(action))
        if step is not None:
            # One step of the bar may be many rows: what counts is our own position, which the bar then takes over.
            self.scroll_rows(step)
            self.verticalScrollBar().setSliderPosition(self._scroll.bar_value)

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Qt override: a scrollbar has another value."""
        if dx:
            self.viewport().update()
            self._update_heads()
        value = self.verticalScrollBar().value()
        if dy and not self._laying and value != self._scroll.bar_value:
            self._scroll_to(self._scroll.from_bar(value))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt override: scrolls by rows, sideways with Alt or Shift, changes the size of letters with Ctrl."""
        angle = event.angleDelta()
        modifiers = event.modifiers()
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            self._wheel += angle.y()
            notches = int(self._wheel / _NOTCH)
            if notches:
                self._wheel -= notches * _NOTCH
                self.zoomRequested.emit(notches)
        elif angle.x() or modifiers & Qt.KeyboardModifier.ShiftModifier:
            sideways = self.horizontalScrollBar()
            sideways.setValue(sideways.value() - round((angle.x() or angle.y()) / _NOTCH * 4 * self._look.cell))
        else:
            self._wheel += angle.y() * _WHEEL_ROWS
            rows = int(self._wheel / _NOTCH)
            self._wheel -= rows * _NOTCH
            self.scroll_rows(-rows)
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt override."""
        super().resizeEvent(event)
        self._relayout()

    def changeEvent(self, event: QEvent) -> None:
        """Qt override: colours follow the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange, QEvent.Type.ApplicationFontChange):
            self.restyle()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt override."""
        super().focusInEvent(event)
        self.viewport().update()
        self._update_heads()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Qt override."""
        super().focusOutEvent(event)
        self.viewport().update()
        self._update_heads()

    def sizeHint(self) -> QSize:
        """Qt override: sixteen bytes a row and some rows."""
        return QSize(
            Grid(self._look, Layout(0, 16)).width + self.verticalScrollBar().sizeHint().width(), 24 * self._look.line
        )

    def minimumSizeHint(self) -> QSize:
        """Qt override."""
        return QSize(24 * round(self._look.cell), 6 * self._look.line)
