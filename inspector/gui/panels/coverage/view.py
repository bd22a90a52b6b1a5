"""One dataset as a band over its keys, with a label to its left; and the texts that describe it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from inspector.core.collection import Range
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, rounded
from inspector.drawing.palette import COLOURS, Colours
from inspector.gui.hex.painting import scheme_for
from inspector.gui.kit.style import GRID, bold
from inspector.gui.kit.text import plain
from inspector.gui.panels.coverage.bands import Band, Keys, Run, limits_of
from inspector.gui.panels.coverage.painting import BandPainter
from inspector.operations.protocol.coverage_views import RANGE_STATES, DatasetRow, RangeMetadata, RangeState

_MARGIN_PX = 2 * GRID
_LABEL_PX = 210
"""Pixels: the width of the label, or less if the view is narrow."""
_MIN_RANGE_PX = 5
"""Pixels: the average width of ranges above which their edges are drawn."""
_WHEEL_STEP = 120
"""The wheel angle of one step, in eighths of a degree."""
_PAN_DIVISOR = 8
"""A pan by keyboard moves by the width of the band divided by this."""


class BandView(QWidget):
    """The band of one dataset; its ranges are numbered from 0.

    Signals:
        chosen(int at): open this range.
        described(str): the text for the range under the pointer or the one selected by keyboard.
        rangeSelected(): a range was selected by keyboard or click.
        focusLeft(int step): move the focus to the next (1) or previous (-1) dataset.
    """

    chosen = Signal(int)
    described = Signal(str)
    rangeSelected = Signal()
    focusLeft = Signal(int)

    def __init__(self, dataset: DatasetRow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dataset = dataset
        self.band: Band | None = None
        self.at: int | None = None
        self._rows: list[Range] = []
        self._states = b""
        self._keys: Keys | None = None
        self._runs: list[Run] | None = None
        self._pressed: tuple[int, Keys] | None = None
        self._dragged = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"Coverage of {visible(dataset.name)}")
        self._describe()

    # ---- data --------------------------------------------------------------------------------------------------

    def set_ranges(self, rows: list[Range]) -> None:
        """Show these ranges, all in the first state."""
        self._rows = rows
        self._states = bytes(len(rows))
        orphans = [(each.first, each.last) for each in self.dataset.orphans]
        self.band = Band([row.first for row in rows], [row.last for row in rows], self.dataset.overlaps, orphans)
        self._describe()
        self._repaint()

    def set_states(self, states: bytes) -> None:
        """Set the state of each range, as positions in RANGE_STATES."""
        if self.band is not None and states != self._states and len(states) == len(self.band):
            self._states = states
            self.band.set_states(states)
            self._describe()
            self._repaint()

    @property
    def states(self) -> bytes:
        """The state of each range, as positions in RANGE_STATES."""
        return self._states

    @property
    def keys(self) -> Keys:
        """The visible keys."""
        width = max(1, self._box().width())
        if self._keys is None:
            self._keys = self._limits()
        if self._keys.width != width:
            self._keys = self._keys.sized(width)
        return self._keys

    def _limits(self) -> Keys:
        return limits_of(self.dataset.first, self.dataset.last, self._box().width())

    def _show_keys(self, keys: Keys) -> None:
        self._keys = keys
        self._repaint()

    def _repaint(self) -> None:
        self._runs = None
        self.update()

    def _describe(self) -> None:
        text = dataset_text(self.dataset, self.band)
        if self.at is not None:
            text = f"{self._range_text(self.at)} {text}"
        self.setAccessibleDescription(text)

    def _range_text(self, at: int) -> str:
        return range_text(self._rows[at], RANGE_STATES[self._states[at]], at + 1, len(self._rows))

    def text_at(self, place: QPoint) -> str:
        """The text for a point of this view."""
        x = place.x() - self._box().left()
        if self.band is None or not 0 <= x < self.keys.width:
            return dataset_text(self.dataset, self.band)
        return column_text(self.band, self._rows, self._states, self.keys.column(x))

    # ---- navigation --------------------------------------------------------------------------------------------

    def zoom(self, steps: int, x: int | None = None) -> None:
        """Zoom in (1) or out (-1) around a pixel of the band, else around the selected range or the middle."""
        keys = self.keys
        if x is None:
            x = keys.width // 2
            if self.at is not None and 0 <= (there := keys.x(self._rows[self.at].first)) < keys.width:
                x = there
        self._show_keys(keys.zoomed(steps, x, self._limits()))

    def show_all(self) -> None:
        """Show all keys."""
        self._show_keys(self._limits())

    def pan(self, pixels: int) -> None:
        """Move the visible keys right by ``pixels``."""
        self._show_keys(self.keys.moved(pixels, self._limits()))

    def select(self, at: int | None) -> None:
        """Select a range and scroll to it, or clear the selection."""
        if at != self.at:
            self.at = at
            if at is not None:
                row = self._rows[at]
                self._show_keys(self.keys.showing(row.first, row.last, self._limits()))
            self._describe()
            self.update()

    def _step_to(self, at: int) -> None:
        if self._rows:
            self.select(max(0, min(at, len(self._rows) - 1)))
            assert self.at is not None
            self.described.emit(self._range_text(self.at))
            self.rangeSelected.emit()

    # ---- painting ----------------------------------------------------------------------------------------------

    def _box(self) -> QRect:
        """The rectangle of the band."""
        line = self.fontMetrics().height()
        label = min(_LABEL_PX, self.width() * 3 // 10)
        return QRect(label + _MARGIN_PX, _MARGIN_PX // 2, max(1, self.width() - label - 2 * _MARGIN_PX), 2 * line - 2)

    def sizeHint(self) -> QSize:
        return QSize(400, 3 * self.fontMetrics().height() + _MARGIN_PX)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - all of it is painted
        colours = COLOURS[scheme_for(self.palette())]
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(colours.base))
            self._paint_label(painter, colours)
            box = self._box()
            if self.band is not None:
                if self._runs is None:
                    self._runs = self.band.runs(self.keys)
                painter.setClipRect(box)
                BandPainter(painter, box, colours).paint(self._runs, self.band.edges(self.keys, _MIN_RANGE_PX))
                self._paint_selected(painter, box, colours)
                painter.setClipping(False)
            painter.setPen(QColor(colours.rule))
            painter.drawRect(box.adjusted(-1, -1, 0, 0))
            self._paint_ticks(painter, box, colours)
            if self.hasFocus():
                painter.setPen(QPen(QColor(colours.selection), 2))
                painter.drawRect(self.rect().adjusted(1, 1, -1, -1))

    def _paint_label(self, painter: QPainter, colours: Colours) -> None:
        metrics, line = painter.fontMetrics(), self.fontMetrics().height()
        width = self._box().left() - 2 * _MARGIN_PX
        texts = (visible(self.dataset.name), summary_text(self.dataset), remarks_text(self.dataset, self.band))
        fonts = bold(QFont(painter.font())), QFont(painter.font())
        for at, text in enumerate(texts):
            painter.setFont(fonts[at > 0])
            painter.setPen(QColor(colours.quiet if at else colours.text))
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width - (_MARGIN_PX if at == 0 else 0))
            painter.drawText(_MARGIN_PX, _MARGIN_PX // 2 + at * line + metrics.ascent(), elided)
        painter.setFont(fonts[1])

    def _paint_selected(self, painter: QPainter, box: QRect, colours: Colours) -> None:
        if self.at is None:
            return
        row, keys = self._rows[self.at], self.keys
        left, right = max(-4, keys.x(row.first)), min(keys.width + 4, keys.x(row.last + 1))
        place = QRect(box.left() + left, box.top(), max(4, right - left), box.height())
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.outline), 2))
        painter.drawRect(place.adjusted(1, 1, -1, -1))

    def _paint_ticks(self, painter: QPainter, box: QRect, colours: Colours) -> None:
        metrics = painter.fontMetrics()
        painter.setPen(QColor(colours.quiet))
        widest = metrics.horizontalAdvance(f"{self.keys.stop:,}") + 2 * _MARGIN_PX
        used_to = box.left() - _MARGIN_PX
        for key in self.keys.ticks(widest):
            x = box.left() + self.keys.x(key)
            painter.drawLine(x, box.bottom() + 1, x, box.bottom() + 4)
            text = f"{key:,}"
            room = metrics.horizontalAdvance(text)
            left = max(box.left(), min(x - room // 2, box.right() - room))
            if left >= used_to + _MARGIN_PX:
                painter.drawText(left, box.bottom() + 3 + metrics.ascent(), text)
                used_to = left + room

    # ---- pointer and keyboard ----------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        """Show tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain(self.text_at(event.pos())), self)
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._runs = None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer, or pan with a sideways wheel; next to the band, scroll the list."""
        x = round(event.position().x()) - self._box().left()
        turned = event.angleDelta()
        if x < 0:
            event.ignore()
            return
        if turned.x() or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.pan(-(turned.x() or turned.y()))
        elif turned.y():
            steps = turned.y() // _WHEEL_STEP or (1 if turned.y() > 0 else -1)
            self.zoom(steps, min(x, self.keys.width - 1))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._pressed = (round(event.position().x()), self.keys)
            self._dragged = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while dragging; otherwise describe the range under the pointer."""
        if self._pressed is None:
            self.described.emit(self.text_at(event.position().toPoint()))
            return
        x, keys = self._pressed
        moved = x - round(event.position().x())
        if self._dragged or abs(moved) >= QApplication.startDragDistance():
            self._dragged = True
            self._show_keys(keys.moved(moved, self._limits()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select and open the clicked range."""
        pressed, self._pressed = self._pressed, None
        x = round(event.position().x()) - self._box().left()
        if pressed is None or self._dragged or self.band is None or not 0 <= x < self.keys.width:
            return
        at = self.band.at(*self.keys.column(x))
        self.described.emit(self.text_at(event.position().toPoint()))
        if at is not None:
            self.select(at)
            self.rangeSelected.emit()
            self.chosen.emit(at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows select ranges, or pan with Shift; plus, minus and 0 zoom; Enter opens."""
        at = -1 if self.at is None else self.at
        by, shift = self.keys.width // _PAN_DIVISOR, event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        calls: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Right: (lambda: self.pan(by)) if shift else (lambda: self._step_to(at + 1)),
            Qt.Key.Key_Left: (lambda: self.pan(-by)) if shift else (lambda: self._step_to(at - 1)),
            Qt.Key.Key_Home: lambda: self._step_to(0),
            Qt.Key.Key_End: lambda: self._step_to(len(self._rows) - 1),
            Qt.Key.Key_Plus: lambda: self.zoom(1),
            Qt.Key.Key_Equal: lambda: self.zoom(1),
            Qt.Key.Key_Minus: lambda: self.zoom(-1),
            Qt.Key.Key_0: self.show_all,
            Qt.Key.Key_Up: lambda: self.focusLeft.emit(-1),
            Qt.Key.Key_Down: lambda: self.focusLeft.emit(1),
        }
        if self.at is not None:
            calls[Qt.Key.Key_Return] = calls[Qt.Key.Key_Enter] = lambda: self.chosen.emit(at)
        if (call := calls.get(event.key())) is not None:
            call()
        else:
            super().keyPressEvent(event)


def keys_text(first: int, last: int) -> str:
    """``key 7`` or ``keys 7 to 9,000``."""
    if first == last:
        return f"key {grouped(first)}"
    return f"keys {grouped(first)} to {grouped(last)}"


def range_text(row: Range, state: RangeState, number: int, of: int) -> str:
    """A sentence about one range; ``number`` counts from 1."""
    return (
        f"Range {grouped(number)} of {grouped(of)}: {keys_text(row.first, row.last)}; {rounded(row.size)}, "
        f"{RangeMetadata.of(row.beside).value}; {state.value}."
    )


def summary_text(dataset: DatasetRow) -> str:
    """The number of ranges and the size of a dataset."""
    return f"{count(dataset.ranges, 'range')}, {rounded(dataset.size)}"


def remarks_text(dataset: DatasetRow, band: Band | None) -> str:
    """The gaps, overlaps and orphans of a dataset, and the metadata its ranges have."""
    gaps = band.gaps.firsts if band is not None else ()
    parts = ((gaps, "gap"), (dataset.overlaps, "overlap"), (dataset.orphans, "orphan"))
    found = [count(len(each), name) for each, name in parts if each]
    kinds = dict(dataset.beside)
    if len(kinds) == 1:
        found += [_metadata_text(kind) for kind in kinds]
    else:
        found += [f"{kinds[kind]:,} {_metadata_text(kind)}" for kind in RangeMetadata if kind in kinds]
    return ", ".join(found)


def _metadata_text(kind: RangeMetadata) -> str:
    return "with an index" if kind is RangeMetadata.INDEX else kind.value


def dataset_text(dataset: DatasetRow, band: Band | None) -> str:
    """A dataset in sentences, for tooltips and screen readers."""
    text = (
        f"Dataset {visible(dataset.name)}: {summary_text(dataset)}, "
        f"{keys_text(dataset.first, dataset.last)}; {remarks_text(dataset, band)}."
    )
    if any(kind is RangeMetadata.INDEX for kind, _ in dataset.beside):
        text += " " + "Ranges with an index use the later layout."
    if dataset.orphans:
        names = ", ".join(visible(each.name) for each in dataset.orphans[:3])
        more = ", …" if len(dataset.orphans) > 3 else "."
        text += " " + f"Metadata without its archive: {names + more}"
    return text


def column_text(band: Band, rows: list[Range], states: bytes, keys: tuple[int, int]) -> str:
    """Sentences about the keys ``[first, stop)``: their ranges, gaps, overlaps and orphans."""
    first, stop = keys
    number = band.count(first, stop)
    sentences = []
    if number == 1 and (at := band.at(first, stop)) is not None:
        sentences.append(range_text(rows[at], list(RangeState)[states[at]], at + 1, len(rows)))
    elif number:
        parts = ", ".join(f"{each:,} {state.value}" for state, each in band.tally(first, stop))
        keys_in = keys_text(first, stop - 1)
        sentences.append(f"{grouped(number)} ranges at the {keys_in}: {parts}.")
    if (gap := band.gaps.first_in(first, stop)) is not None:
        sentences.append(f"Gap: the {keys_text(*gap)}: in no range, which is allowed.")
    if (shared := band.overlaps.first_in(first, stop)) is not None:
        sentences.append(f"Overlap: two ranges share the {keys_text(*shared)}.")
    if (lost := band.orphans.first_in(first, stop)) is not None:
        sentences.append(f"Orphan: the archive of the {keys_text(*lost)} is missing; only its metadata exists.")
    return " ".join(sentences) or "The dataset has no keys here."
