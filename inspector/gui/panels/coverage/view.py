"""One dataset as a band over its keys, with a label to its left; its legend, and the texts that describe it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QIcon,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.core.collection import Range
from inspector.core.kinds import Role
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, rounded
from inspector.core.verdict import State
from inspector.drawing.palette import COLOURS, Colours
from inspector.gui.hex.beside.legend import Legend, LegendEntry
from inspector.gui.hex.painting import hatching
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.style import GRID, bold, scheme_for
from inspector.gui.kit.text import plain
from inspector.gui.panels.coverage.bands import GAP, ORPHAN, OVERLAP, Band, Keys, Run, bit, limits_of, states_in
from inspector.operations.protocol.views import (
    FAILED,
    RANGE_STATES,
    DatasetRow,
    RangeMetadata,
    RangeState,
)

_FILLS = {
    RangeState.NOT_READ: Role.PADDING,
    RangeState.NOT_CHECKED: Role.DATA,
    RangeState.CHECKING: Role.NAME,
    RangeState.VERIFIED: Role.EXTENT,
    RangeState.SOUND: Role.DIRECTORY,
    RangeState.WARNING: Role.HEADER,
    RangeState.TORN: Role.CONTROL,
    RangeState.DAMAGED: Role.DIGEST,
    RangeState.UNREADABLE: Role.DIGEST,
}
_ICONS = {
    RangeState.VERIFIED: State.SOUND,
    RangeState.WARNING: State.WARNING,
    RangeState.TORN: State.TORN,
    RangeState.DAMAGED: State.DAMAGED,
    RangeState.UNREADABLE: State.UNREADABLE,
}
_LABELS = {state: "sound" if state is RangeState.SOUND else state.value for state in RANGE_STATES}
"""The labels of states in a band."""
_FAILED = sum(bit(state) for state in FAILED)
_ICON_PX = 14
_SPACE_PX = 4
_MIN_MARK_PX = 3
"""Pixels: the minimum width of an error mark."""
_OVERLAP_PX = 5
"""Pixels: the height of an overlap mark."""
_MARGIN_PX = 2 * GRID
_LABEL_PX = 210
"""Pixels: the width of the label, or less if the view is narrow."""
_MIN_RANGE_PX = 5
"""Pixels: the average width of ranges above which their edges are drawn."""
_WHEEL_STEP = 120
"""The wheel angle of one step, in eighths of a degree."""
_ANY_WIDTH = 1 << 16
"""Pixels that every legend fits into."""


def _icon_of(state: RangeState) -> QIcon | None:
    return icon_of(_ICONS[state]) if state in _ICONS else None


def _fill(state: RangeState, colours: Colours) -> QColor:
    return QColor(colours.fill(_FILLS[state], 0))


def _overlap(colours: Colours) -> QBrush:
    """The pattern of an overlap, painted over the colour of the range."""
    return QBrush(QColor(colours.text), Qt.BrushStyle.Dense4Pattern)


def _frame(painter: QPainter, rect: QRect, pen: QPen) -> None:
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)


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
        failed = _joined(runs, _FAILED)
        for run in failed:
            outline = _widened(self._rect(run)).adjusted(1, 1, -1, -1)
            _frame(self._painter, outline, QPen(QColor(self._colours.damage), 2))
        others = [run for run in _joined(runs, ~OVERLAP) if not run.shown & _FAILED]
        used_to = self._box.left() - 1
        for run in sorted((*failed, *others), key=lambda run: run.left):
            used_to = self._caption(run, used_to)

    def _rect(self, run: Run) -> QRect:
        return QRect(self._box.left() + run.left, self._box.top(), run.right - run.left, self._box.height())

    def _fill(self, run: Run) -> None:
        """Stack states that share a column, with a gap below them."""
        rect, colours = self._rect(run), self._colours
        brushes = [QBrush(_fill(state, colours)) for state in states_in(run.shown)]
        if run.shown & GAP:
            brushes.append(hatching(Role.GAP, colours))
        for at, brush in enumerate(brushes):
            top, bottom = at * rect.height() // len(brushes), (at + 1) * rect.height() // len(brushes)
            self._painter.fillRect(QRect(rect.left(), rect.top() + top, rect.width(), bottom - top), brush)
        if run.shown & OVERLAP:
            top_edge = QRect(rect.topLeft(), QSize(rect.width(), _OVERLAP_PX))
            self._painter.fillRect(_widened(top_edge), _overlap(colours))
        if run.shown & ORPHAN:
            pen = QPen(QColor(colours.damage), 1, Qt.PenStyle.DashLine)
            _frame(self._painter, _widened(rect).adjusted(0, 0, -1, -1), pen)

    def _caption(self, run: Run, used_to: int) -> int:
        """Draw a caption; icons of failed ranges may exceed their range, texts must fit. Returns how far room is used.

        Nothing is drawn before ``used_to``.
        """
        rect, painter = self._rect(run), self._painter
        text, icon, is_error = _caption(run.shown)
        width, mark = painter.fontMetrics().horizontalAdvance(text), 0 if icon is None else _ICON_PX + _SPACE_PX
        is_whole = mark + width + 2 * _SPACE_PX <= rect.width()
        words = QRect(0, 0, mark + width if is_whole else _ICON_PX, rect.height() - 2 * _OVERLAP_PX)
        words.moveCenter(rect.center())
        if is_whole and len(states := states_in(run.shown)) == 1 and not run.shown & GAP:  # no edges in the text
            painter.fillRect(words.adjusted(-_SPACE_PX, 0, _SPACE_PX, 0), _fill(states[0], self._colours))
        if icon is not None and (is_whole or (words.left() > used_to and (is_error or rect.width() >= _ICON_PX))):
            icon.paint(painter, QRect(words.left(), words.center().y() - _ICON_PX // 2, _ICON_PX, _ICON_PX))
            used_to = words.right() + 1
        if is_whole:
            painter.setPen(QColor(self._colours.text))
            painter.drawText(words.adjusted(mark, 0, 1, 0), Qt.AlignmentFlag.AlignVCenter, text)
            return rect.right()
        return used_to


def _caption(shown: int) -> tuple[str, QIcon | None, bool]:
    """The text and icon of a run, and whether it is an error."""
    states = states_in(shown)
    failed = [state for state in states if state in FAILED]
    if failed or len(states) == 1:
        state = (failed or states)[-1]
        return _LABELS[state], _icon_of(state), bool(failed)
    if shown & ORPHAN and not states:
        return "orphan", icon_of(State.DAMAGED), True
    return "gap" if shown & GAP and not states else "", None, False


def _joined(runs: list[Run], only: int) -> list[Run]:
    """Adjacent runs that show the same of these bits as one; those that show none are left out."""
    joined: list[Run] = []
    for left, right, shown in runs:
        if joined and joined[-1].right == left and joined[-1].shown == shown & only:
            joined[-1] = joined[-1]._replace(right=right)
        elif shown & only:
            joined.append(Run(left, right, shown & only))
    return joined


def _widened(rect: QRect) -> QRect:
    """The rectangle, made wide enough to be visible."""
    return QRect(rect.topLeft(), QSize(max(rect.width(), _MIN_MARK_PX), rect.height()))


class CoverageLegend(Legend):
    """What the colours and marks of the bands mean, in one line; what does not fit is left out, the tooltip has all."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Meaning of the colours")

    def show_bands(self, bands: list[Band], states: bytes) -> None:
        """Show the states and marks that these bands contain."""
        shown = [(_LABELS[state], bit(state)) for at, state in enumerate(RANGE_STATES) if at in states]
        marks = (("gap", GAP, "gaps"), ("overlap", OVERLAP, "overlaps"), ("orphan", ORPHAN, "orphans"))
        shown += [(label, mark) for label, mark, kinds in marks if any(getattr(band, kinds).firsts for band in bands)]
        self.setEntries([LegendEntry(label, mark=mark) for label, mark in shown])
        self.setToolTip(", ".join(self.labels()))

    def sizeHint(self) -> QSize:
        places = self._rects(_ANY_WIDTH)
        return QSize(places[-1].right() + 3 * GRID, places[-1].bottom() + 1) if places else QSize(0, 0)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paint_swatch(self, painter: QPainter, rect: QRect, entry: LegendEntry, colours: Colours) -> None:
        assert isinstance(entry.mark, int)
        states, brush = states_in(entry.mark), QBrush(QColor(colours.base))
        pen = QPen(QColor(colours.quiet), 1)
        if states:
            brush = QBrush(_fill(states[0], colours))
            pen = QPen(QColor(colours.damage), 2) if states[0] in FAILED else pen
        elif entry.mark == OVERLAP:
            brush = _overlap(colours)
        elif entry.mark == GAP:
            brush = hatching(Role.GAP, colours)
        else:
            pen = QPen(QColor(colours.damage), 1, Qt.PenStyle.DashLine)
        painter.fillRect(rect, brush)
        _frame(painter, rect.adjusted(0, 0, -1, -1), pen)


class BandView(QWidget):
    """The band of one dataset; its ranges are numbered from 0.

    Signals:
        chosen(int at): open this range.
        described(str): the text for the range under the pointer or the one selected by keyboard.
        rangeSelected(): a range was selected by keyboard or click.
    """

    chosen = Signal(int)
    described = Signal(str)
    rangeSelected = Signal()

    def __init__(self, dataset: DatasetRow, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dataset = dataset
        self.band: Band | None = None
        self.at: int | None = None
        self.states = b""
        """The state of each range, as positions in RANGE_STATES."""
        self._rows: list[Range] = []
        self._keys: Keys | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"Coverage of {visible(dataset.name)}")
        self._describe()

    # ---- data --------------------------------------------------------------------------------------------------

    def set_ranges(self, rows: list[Range]) -> None:
        """Show these ranges, all in the first state."""
        self._rows = rows
        orphans = [(each.first, each.last) for each in self.dataset.orphans]
        self.band = Band([row.first for row in rows], [row.last for row in rows], self.dataset.overlaps, orphans)
        self.set_states(bytes(len(rows)))

    def set_states(self, states: bytes) -> None:
        """Set the state of each range, as positions in RANGE_STATES."""
        if self.band is not None and len(states) == len(self._rows):
            self.states = states
            self.band.set_states(states)
            self._describe()
            self.update()

    @property
    def keys(self) -> Keys:
        """The visible keys."""
        self._keys = (self._keys or self._limits()).sized(self._box().width())
        return self._keys

    def _limits(self) -> Keys:
        return limits_of(self.dataset.first, self.dataset.last, self._box().width())

    def _show_keys(self, keys: Keys) -> None:
        self._keys = keys
        self.update()

    def _describe(self) -> None:
        text = dataset_text(self.dataset, self.band)
        self.setAccessibleDescription(text if self.at is None else f"{self._range_text(self.at)} {text}")

    def _range_text(self, at: int) -> str:
        return range_text(self._rows[at], RANGE_STATES[self.states[at]], at + 1, len(self._rows))

    def text_at(self, place: QPoint) -> str:
        """The text for a point of this view."""
        x = place.x() - self._box().left()
        if self.band is None or not 0 <= x < self.keys.width:
            return dataset_text(self.dataset, self.band)
        return column_text(self.band, self._range_text, self.keys.column(x))

    # ---- navigation --------------------------------------------------------------------------------------------

    def zoom(self, steps: int, x: int | None = None) -> None:
        """Zoom in (1) or out (-1) around a pixel of the band, else around the selected range or the middle."""
        keys = self.keys
        if x is None:
            x = keys.width // 2
            if self.at is not None and 0 <= (there := keys.x(self._rows[self.at].first)) < keys.width:
                x = there
        self._show_keys(keys.zoomed(steps, x, self._limits()))

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
            at = max(0, min(at, len(self._rows) - 1))
            self.select(at)
            self.described.emit(self._range_text(at))
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
        colours, box, keys = COLOURS[scheme_for(self.palette())], self._box(), self.keys
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(colours.base))
            self._paint_label(painter, colours)
            if self.band is not None:
                painter.setClipRect(box)
                BandPainter(painter, box, colours).paint(self.band.runs(keys), self.band.edges(keys, _MIN_RANGE_PX))
                if self.at is not None:
                    row = self._rows[self.at]
                    left, right = max(-4, keys.x(row.first)), min(keys.width + 4, keys.x(row.last + 1))
                    place = QRect(box.left() + left, box.top(), max(4, right - left), box.height())
                    _frame(painter, place.adjusted(1, 1, -1, -1), QPen(QColor(colours.outline), 2))
                painter.setClipping(False)
            _frame(painter, box.adjusted(-1, -1, 0, 0), QPen(QColor(colours.rule)))
            self._paint_ticks(painter, box, colours)
            if self.hasFocus():
                _frame(painter, self.rect().adjusted(1, 1, -1, -1), QPen(QColor(colours.selection), 2))

    def _paint_label(self, painter: QPainter, colours: Colours) -> None:
        metrics = painter.fontMetrics()
        width = self._box().left() - 2 * _MARGIN_PX
        texts = (visible(self.dataset.name), summary_text(self.dataset), remarks_text(self.dataset, self.band))
        fonts = bold(QFont(painter.font())), QFont(painter.font())
        for at, text in enumerate(texts):
            painter.setFont(fonts[at > 0])
            painter.setPen(QColor(colours.quiet if at else colours.text))
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width - (_MARGIN_PX if at == 0 else 0))
            painter.drawText(_MARGIN_PX, _MARGIN_PX // 2 + at * metrics.height() + metrics.ascent(), elided)

    def _paint_ticks(self, painter: QPainter, box: QRect, colours: Colours) -> None:
        metrics = painter.fontMetrics()
        painter.setPen(QColor(colours.quiet))
        widest = metrics.horizontalAdvance(f"{self.keys.stop:,}") + 2 * _MARGIN_PX
        used_to = box.left() - _MARGIN_PX
        for key in self.keys.ticks(widest):
            x = box.left() + self.keys.x(key)
            painter.drawLine(x, box.bottom() + 1, x, box.bottom() + 4)
            room = metrics.horizontalAdvance(f"{key:,}")
            left = max(box.left(), min(x - room // 2, box.right() - room))
            if left >= used_to + _MARGIN_PX:
                painter.drawText(left, box.bottom() + 3 + metrics.ascent(), f"{key:,}")
                used_to = left + room

    # ---- pointer and keyboard ----------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer, or pan with a sideways wheel; next to the band, scroll the list."""
        x = round(event.position().x()) - self._box().left()
        turned = event.angleDelta()
        event.setAccepted(x >= 0)
        if x < 0:
            return
        if turned.x() or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.pan(-(turned.x() or turned.y()))
        elif turned.y():
            steps = turned.y() // _WHEEL_STEP or (1 if turned.y() > 0 else -1)
            self.zoom(steps, min(x, self.keys.width - 1))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Describe the range under the pointer."""
        text = self.text_at(event.position().toPoint())
        self.described.emit(text)
        self.setToolTip(plain(text))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select and open the clicked range."""
        x = round(event.position().x()) - self._box().left()
        if event.button() is not Qt.MouseButton.LeftButton or self.band is None or not 0 <= x < self.keys.width:
            return
        at = self.band.at(*self.keys.column(x))
        self.described.emit(self.text_at(event.position().toPoint()))
        if at is not None:
            self.select(at)
            self.rangeSelected.emit()
            self.chosen.emit(at)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows select ranges; plus, minus and 0 zoom; Enter opens."""
        at = -1 if self.at is None else self.at
        calls: dict[int, Callable[[], object]] = {
            Qt.Key.Key_Right: lambda: self._step_to(at + 1),
            Qt.Key.Key_Left: lambda: self._step_to(at - 1),
            Qt.Key.Key_Home: lambda: self._step_to(0),
            Qt.Key.Key_End: lambda: self._step_to(len(self._rows) - 1),
            Qt.Key.Key_Plus: lambda: self.zoom(1),
            Qt.Key.Key_Equal: lambda: self.zoom(1),
            Qt.Key.Key_Minus: lambda: self.zoom(-1),
            Qt.Key.Key_0: lambda: self._show_keys(self._limits()),
        }
        if self.at is not None:
            calls[Qt.Key.Key_Return] = calls[Qt.Key.Key_Enter] = lambda: self.chosen.emit(at)
        if (call := calls.get(event.key())) is not None:
            call()
        else:
            super().keyPressEvent(event)


# ---- texts -----------------------------------------------------------------------------------------------------------


def keys_text(first: int, last: int) -> str:
    """``key 7`` or ``keys 7 to 9,000``."""
    return f"key {grouped(first)}" if first == last else f"keys {grouped(first)} to {grouped(last)}"


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
    for kind in RangeMetadata:
        if kind in kinds:
            number = f"{kinds[kind]:,} " if len(kinds) > 1 else ""
            found.append(f"{number}{'with an index' if kind is RangeMetadata.INDEX else kind.value}")
    return ", ".join(found)


def dataset_text(dataset: DatasetRow, band: Band | None) -> str:
    """A dataset in sentences, for tooltips and screen readers."""
    text = (
        f"Dataset {visible(dataset.name)}: {summary_text(dataset)}, "
        f"{keys_text(dataset.first, dataset.last)}; {remarks_text(dataset, band)}."
    )
    if dataset.orphans:
        names = ", ".join(visible(each.name) for each in dataset.orphans[:3])
        text += f" Metadata without its archive: {names}{', …' if len(dataset.orphans) > 3 else '.'}"
    return text


def column_text(band: Band, about: Callable[[int], str], keys: tuple[int, int]) -> str:
    """Sentences about the keys ``[first, stop)``: their ranges, gaps, overlaps and orphans."""
    first, stop = keys
    states = band.tally(first, stop)
    number = sum(each for _, each in states)
    sentences = []
    if number == 1 and (at := band.at(first, stop)) is not None:
        sentences.append(about(at))
    elif number:
        parts = ", ".join(f"{each:,} {state.value}" for state, each in states)
        sentences.append(f"{grouped(number)} ranges at the {keys_text(first, stop - 1)}: {parts}.")
    for intervals, sentence in (
        (band.gaps, "Gap: the {}: in no range, which is allowed."),
        (band.overlaps, "Overlap: two ranges share the {}."),
        (band.orphans, "Orphan: the archive of the {} is missing; only its metadata exists."),
    ):
        if (found := intervals.first_in(first, stop)) is not None:
            sentences.append(sentence.format(keys_text(*found)))
    return " ".join(sentences) or "The dataset has no keys here."
