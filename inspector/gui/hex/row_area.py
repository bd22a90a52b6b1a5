"""The scroll area of the hex view: geometry, scrolling and zoom of rows, but not their content."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMargins, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSlider, QFrame, QWidget

from inspector.core.span import Span
from inspector.gui.hex.gutter import MAX_WIDTH, MIN_WIDTH, Gutter
from inspector.gui.hex.lane import MIN_LANE_WIDTH, WANTED_LANE_WIDTH, StructureLane
from inspector.gui.hex.layout import GROUP, Cursor, Layout, Pane, RowScroll, fitting
from inspector.gui.hex.painting import MARGIN, Grid, look_for


class ColumnHeader(QWidget):
    """Labels above the columns, that of the caret highlighted; a thick line below shows the keyboard focus."""

    def __init__(self, parent: QWidget, paint: Callable[[QPainter, QRect], None]) -> None:
        super().__init__(parent)
        self._paint = paint

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        with QPainter(self) as painter:
            self._paint(painter, self.rect())


_LANE, _LANE_INDENT = "structure", 8
"""What stands above the lane, and pixels before it."""
_WHEEL_ROWS = 3
"""Rows that one wheel notch scrolls by."""
_NOTCH = 120
"""The angle delta of one wheel notch in Qt."""
_LANE_COLUMNS = 16
"""Rows of so many bytes come before the lane."""
_MAX_LEAST_WIDTH = 600
"""Pixels that the view may ask for at least."""
_HEADER_GAP = 3
"""Pixels below the column labels."""
_Action = QAbstractSlider.SliderAction


class RowArea(QAbstractScrollArea):
    """Scrolls over any number of rows. The position is an integer of its own; the scroll bar only mirrors it.

    Signals:
        scrolled(object start, object stop): the bytes in view have changed.
        zoomRequested(int steps): the user turned the wheel with Ctrl held.
    """

    scrolled = Signal(object, object)
    zoomRequested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = 0
        self._requested_columns = 16
        self._zoom = 0
        self._base = 16
        self._wheel_delta = 0
        self._shown: Span | None = None
        self._in_relayout = False
        self._layout = Layout(0, 16)
        self._scroll = RowScroll()
        self._cursor = Cursor(0)
        self.look = look_for(0, self.palette())
        self._grid = Grid(self.look, self._layout)
        self._column_header = ColumnHeader(self, self._paint_header)
        self.gutter = Gutter(self, self.look)
        self.lane = StructureLane(self, self.look)
        self._gutter_width = self._lane_width = 0
        self._arrows_shown = True
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # Always on: the width must not depend on the number of rows, which depends on the width.
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().actionTriggered.connect(self._bar_action)
        # Every pixel is painted, so Qt can scroll the viewport by moving its pixels.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._set_margins()

    # ---- appearance --------------------------------------------------------------------------------------------

    def setBytesPerRow(self, count: int) -> None:
        """Show ``count`` bytes per row, 0 for as many as fit."""
        self._requested_columns = count
        self._relayout()

    def bytesPerRow(self) -> int:
        """The current number of bytes per row."""
        return self._layout.columns

    def setOffsetBase(self, base: int) -> None:
        """Write offsets in base 16 or 10."""
        self._base = base
        self._relayout()

    def setArrowsShown(self, shown: bool) -> None:
        """Show or hide the gutter with arrows."""
        self._arrows_shown = shown
        self.gutter.setVisible(shown)
        self._relayout()

    def setZoom(self, steps: int) -> None:
        """Enlarge the font by ``steps`` points."""
        if steps != self._zoom:
            self._zoom = steps
            self.restyle()

    def restyle(self) -> None:
        """Apply the current font and palette."""
        look = look_for(self._zoom, self.palette())
        if look is self.look:
            return
        self.look = look
        self._set_margins()
        self._relayout()

    def _relayout(self) -> None:
        """Recompute the layout for the width; the first visible byte stays in the first row."""
        first = self._scroll.top * self._layout.columns
        look, total = self.look, self.viewport().width() + self._gutter_width + self._lane_width
        minimum = MIN_WIDTH if self._arrows_shown else 0
        if self._requested_columns:
            self._layout = Layout(self._size, self._requested_columns, self._base)
        else:
            room = total - minimum - 2 * MARGIN
            # Bytes and text come before the lane, up to rows of 16; longer ones leave it what a name needs.
            short = fitting(self._size, int(room / look.cell), self._base, _LANE_COLUMNS)
            wide = fitting(self._size, int((room - WANTED_LANE_WIDTH) / look.cell), self._base)
            self._layout = max(short, wide, key=lambda layout: layout.columns)
        self._grid = Grid(look, self._layout)
        # Arrows take the space that the bytes leave, but at minimum one lane.
        self._gutter_width = max(minimum, min(MAX_WIDTH, total - self._grid.width)) if minimum else 0
        lane = total - self._grid.width - self._gutter_width
        self._lane_width = lane if lane >= MIN_LANE_WIDTH else 0
        self._set_margins()
        width = self.viewport().width()
        self._scroll.top = first // self._layout.columns
        self._scroll.resize(self._layout.rows, self.viewport().height() // look.line)
        horizontal = self.horizontalScrollBar()
        horizontal.setRange(0, max(0, self._grid.width - width) if self._size else 0)
        horizontal.setPageStep(width)
        horizontal.setSingleStep(round(look.cell))
        bar = self.verticalScrollBar()
        # A smaller range changes the value of the bar, which must not scroll.
        self._in_relayout = True
        bar.setRange(0, self._scroll.bar_maximum)
        bar.setPageStep(self._scroll.page)
        bar.setValue(self._scroll.bar_value)
        self._in_relayout = False
        self.viewport().update()
        self._update_header()
        self._emit_scrolled()

    def _set_margins(self) -> None:
        """Reserve space for the column labels, the gutter and the lane."""
        gutter, lane, top = self._gutter_width, self._lane_width, self.look.line + _HEADER_GAP
        margins = QMargins(gutter, top, lane, 0)
        if margins != self.viewportMargins():
            self.setViewportMargins(margins)
        area = self.viewport().geometry()
        self._column_header.setGeometry(area.x() - gutter, area.y() - top, area.width() + gutter + lane, top)
        self.lane.setGeometry(area.x() + area.width(), area.y(), lane, area.height())
        self.lane.setVisible(lane > 0)
        self.gutter.setGeometry(area.x() - gutter, area.y(), gutter, area.height())

    def _update_header(self) -> None:
        self._column_header.update()
        self._update_gutter()

    def _paint_header(self, painter: QPainter, place: QRect) -> None:
        look, layout, caret = self.look, self._layout, self._cursor.caret
        bar, colour = (2, look.colours.selection) if self.hasFocus() else (1, look.colours.rule)
        painter.fillRect(place, look.base)
        painter.fillRect(place.adjusted(0, place.height() - bar, 0, 0), QColor(colour))
        if not self._size:
            return
        left = self._gutter_width - self.horizontalScrollBar().value() + MARGIN

        def write(cell: int, text: str) -> None:
            painter.drawText(QPointF(left + cell * look.cell, look.baseline), text)

        painter.setFont(look.font)
        painter.setPen(look.quiet)
        labels = layout.column_labels
        write(0, "offset")
        write(layout.hex_start, "  ".join(" ".join(labels[i : i + GROUP]) for i in range(0, len(labels), GROUP)))
        write(layout.text_start, "text")
        if self._lane_width:
            painter.drawText(QPointF(place.width() - self._lane_width + _LANE_INDENT, look.baseline), _LANE)
        painter.setPen(look.text)
        write(layout.hex_cell(caret % layout.columns), labels[caret % layout.columns])

    def _update_gutter(self) -> None:
        caret, rows = self._cursor.caret if self._size else -1, -(-self.viewport().height() // self.look.line)
        self.gutter.show_rows(self.look, self._layout.columns, self._scroll.top, rows, caret)
        self._update_lane()

    def _update_lane(self) -> None:
        """Show the structures in view beside the rows."""

    # ---- positions of bytes-------------------------------------------------------------------------------------

    def shown(self) -> Span:
        """The bytes in the rows that are fully or partly visible."""
        rows = -(-self.viewport().height() // self.look.line)
        first = self._layout.span_of(self._scroll.top)
        return Span(first.start, max(first.start, self._layout.span_of(self._scroll.top + rows - 1).stop))

    def place_of(self, offset: int, pane: Pane) -> QRect:
        """The rectangle of a byte in viewport pixels; it may be outside the viewport."""
        row, column = divmod(offset, self._layout.columns)
        left, right = self._grid.edges(pane, column, column + 1)
        # The position of a distant row may not fit into 32 bits; just outside the viewport is as good.
        rows = max(-1, min(row - self._scroll.top, self._scroll.page + 1))
        return QRect(left - self.horizontalScrollBar().value(), rows * self.look.line, right - left, self.look.line)

    def over(self, place: QPoint) -> int | None:
        """The byte at a pixel of the viewport, None between bytes."""
        offset, pane = self.nearest(place)
        return offset if self._size and self.place_of(offset, pane).contains(place) else None

    def nearest(self, place: QPoint, pane: Pane | None = None) -> tuple[int, Pane]:
        """The byte nearest to a pixel of the viewport and its pane, which is ``pane`` if given."""
        row, cell = self._row_and_cell(place)
        if pane is None:
            pane = Pane.TEXT if self._layout.in_text(cell) else Pane.HEX
        return self._layout.byte_at(row, cell, pane is Pane.TEXT), pane

    def _row_and_cell(self, place: QPoint) -> tuple[int, float]:
        x = place.x() + self.horizontalScrollBar().value()
        return self._scroll.top + place.y() // self.look.line, (x - MARGIN) / self.look.cell

    # ---- scrolling ---------------------------------------------------------------------------------------------

    def scroll_rows(self, rows: int) -> None:
        """Scroll down by ``rows``; up if negative."""
        self._scroll_to(self._scroll.top + rows)

    def reveal(self, offset: int, pane: Pane, stop: int | None = None) -> None:
        """Scroll to the byte at ``offset``, showing the bytes up to ``stop`` too if they fit."""
        columns, last = self._layout.columns, max(offset, (stop or 0) - 1)
        self._scroll_to(self._scroll.revealing(offset // columns, last // columns + 1))
        place, horizontal = self.place_of(offset, pane), self.horizontalScrollBar()
        if place.left() < 0:
            horizontal.setValue(horizontal.value() + place.left() - MARGIN)
        elif place.right() > self.viewport().width():
            horizontal.setValue(horizontal.value() + place.right() - self.viewport().width() + MARGIN)

    def _scroll_to(self, top: int) -> None:
        moved = self._scroll.to(top)
        if not moved:
            return
        if abs(moved) < self._scroll.page:
            self.viewport().scroll(0, -moved * self.look.line)
        else:
            self.viewport().update()
        self.verticalScrollBar().setValue(self._scroll.bar_value)
        self._update_gutter()
        self._emit_scrolled()

    def _emit_scrolled(self) -> None:
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
        if step := steps.get(_Action(action)):
            # One step of the bar may be many rows, so scroll by our own position and let the bar follow.
            self.scroll_rows(step)
            self.verticalScrollBar().setSliderPosition(self._scroll.bar_value)

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Follow a scroll bar."""
        if dx:
            self.viewport().update()
            self._update_header()
        value = self.verticalScrollBar().value()
        if dy and not self._in_relayout and value != self._scroll.bar_value:
            self._scroll_to(self._scroll.from_bar(value))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by rows, horizontal with Alt or Shift; zoom with Ctrl."""
        angle, modifiers = event.angleDelta(), event.modifiers()
        zooms = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        if not zooms and (angle.x() or modifiers & Qt.KeyboardModifier.ShiftModifier):
            horizontal = self.horizontalScrollBar()
            horizontal.setValue(horizontal.value() - round((angle.x() or angle.y()) / _NOTCH * 4 * self.look.cell))
        else:
            self._wheel_delta += angle.y() * (1 if zooms else _WHEEL_ROWS)
            steps = int(self._wheel_delta / _NOTCH)
            self._wheel_delta -= steps * _NOTCH
            if not zooms:
                self.scroll_rows(-steps)
            elif steps:
                self.zoomRequested.emit(steps)
        event.accept()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._relayout()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours of the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange, QEvent.Type.ApplicationFontChange):
            self.restyle()

    def event(self, event: QEvent) -> bool:
        """The caret and the line below the labels show whether the keyboard works here."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.viewport().update()
            self._column_header.update()
        return super().event(event)

    def _width_of(self, layout: Layout) -> int:
        """Pixels of rows and the scroll bar."""
        return Grid(self.look, layout).width + self.verticalScrollBar().sizeHint().width()

    def sizeHint(self) -> QSize:
        """Sixteen bytes per row and 24 rows."""
        return QSize(self._width_of(Layout(0, 16)), 24 * self.look.line)

    def wantedWidth(self) -> int:
        """Rows of 16 bytes with their text, which come before the panels beside; less of them in a large font."""
        needed = self._width_of(Layout(self._size, _LANE_COLUMNS))
        return max(self.minimumSizeHint().width(), min(needed + MIN_WIDTH, _MAX_LEAST_WIDTH))

    def minimumSizeHint(self) -> QSize:
        """Less than is wanted, so that a window fits on half of a screen; the rest can be scrolled to."""
        return QSize(24 * round(self.look.cell), 6 * self.look.line)
