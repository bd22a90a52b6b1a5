"""The byte bands beside the map: what the bytes of each stretch look like, and their entropy, at any zoom."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QKeyEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.drawing.byte_class import CLASSES, ByteClass
from inspector.drawing.colouring import CLASS_HUES
from inspector.drawing.palette import Colours
from inspector.gui.document.document import Document
from inspector.gui.hex.beside.strip import MARGIN, Strip, paint_rows
from inspector.gui.ipc.client import Job
from inspector.operations.protocol.bytes_views import FULL, Bands
from inspector.operations.protocol.requests import ArchiveRequests

_GAP = 3
"""Pixels between the classes and the entropy."""
_CLASSES_SHARE = 0.6
"""How much of the width the classes have."""
_ZOOM = 2.0
MIN_SPAN = 4096
"""The fewest bytes that are spread over the whole height."""
_KEY_STEPS = 8
"""Up and Down move by a ``_KEY_STEPS``-th of what is seen."""

PATTERNS = {
    ByteClass.ZEROS: Qt.BrushStyle.NoBrush,
    ByteClass.REPEATED: Qt.BrushStyle.HorPattern,
    ByteClass.TEXT: Qt.BrushStyle.VerPattern,
    ByteClass.UTF8: Qt.BrushStyle.CrossPattern,
    ByteClass.RANDOM: Qt.BrushStyle.Dense4Pattern,
    ByteClass.OTHER: Qt.BrushStyle.BDiagPattern,
}
"""The texture of each class, so that no two are told apart by their colour alone."""


def fill_class(painter: QPainter, colours: Colours, rect: QRect, each: ByteClass) -> None:
    """Fill a rectangle with the colour and the texture of a class."""
    tones = colours.tones[CLASS_HUES[each]]
    painter.fillRect(rect, QColor(tones.fills[1][0]))
    painter.fillRect(rect, QBrush(QColor(tones.line), PATTERNS[each]))


class ByteBand(Strip):
    """A row of pixels for each stretch: its classes side by side by their shares, and its entropy as a bar.

    It asks for rows where other bytes, or more or fewer rows, are to be shown; see ``setBands``.
    """

    width_wanted = 88

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Byte bands", parent)
        self._bands: Bands | None = None
        self._lit: ByteClass | None = None
        self._describe_window()

    # ---- what is shown -----------------------------------------------------------------------------------------

    def setSize(self, size: int) -> None:
        """Start bands of ``size`` bytes, all of them seen."""
        self._size, self._bands, self._window = size, None, Span(0, size)
        self._describe_window()
        self.redraw()

    def setBands(self, bands: Bands | None) -> None:
        """Show what stretches look like; they may be of another window, until those of this one arrive."""
        self._bands = bands
        self.redraw()

    def bands(self) -> Bands | None:
        """What is shown."""
        return self._bands

    def setLit(self, lit: ByteClass | None) -> None:
        """Light up one class; all with None."""
        if lit is not self._lit:
            self._lit = lit
            self.redraw()

    def setShown(self, start: int, stop: int) -> None:
        """Frame the bytes that the hex view shows, and see them."""
        self._shown = Span(start, stop)
        window = self._window
        if window.size < self._size and not (window.start <= start < window.stop):
            self._see(start - window.size // 2, window.size)
        self.update()

    def zoom(self, factor: float, at: int | None = None) -> None:
        """See fewer bytes (a factor above 1) or more, around an offset or the bytes of the hex view."""
        window = self._window
        place = self._shown.start if at is None else at
        place = max(window.start, min(place, window.stop))
        size = max(min(MIN_SPAN, self._size), min(self._size, round(window.size / factor)))
        share = (place - window.start) / max(1, window.size)
        self._see(place - round(share * size), size)

    def _see(self, start: int, size: int) -> None:
        start = max(0, min(start, self._size - size))
        window = Span(start, start + size)
        if window != self._window:
            self._window = window
            self._describe_window()
            self.rowsRequested.emit(self.height())
            self.update()

    def _describe_window(self) -> None:
        start, stop = self._window
        self.setAccessibleDescription(
            f"What bytes {hexadecimal(start)} to {hexadecimal(stop)} look like, and their entropy. "
            "The wheel, + and - zoom, 0 shows all."
        )

    def _facts(self, y: int) -> list[str]:
        if self._bands is None:
            return ["Being measured…"]
        row = self._row_of(self._bytes_at(y).start)
        return [] if row is None else [self._bands.text(row) or "not read yet"]

    def _row_of(self, offset: int) -> int | None:
        bands = self._bands
        if bands is None or not bands.start <= offset < bands.stop:
            return None
        return min(bands.rows - 1, (offset - bands.start) * bands.rows // (bands.stop - bands.start))

    # ---- painting ----------------------------------------------------------------------------------------------

    def _rows_size(self) -> QSize:
        return QSize(self.width() - 2 * MARGIN, self.height()) if self._bands is not None else QSize()

    def _draw_rows(self, painter: QPainter, size: QSize, colours: Colours) -> None:
        left = round(size.width() * _CLASSES_SHARE)
        rows = [self._look_of(self._row_of(self._bytes_at(y).start)) for y in range(size.height())]

        def fill(rect: QRect, each: ByteClass) -> None:
            if self._lit in (None, each):
                fill_class(painter, colours, rect, each)

        def bar(rect: QRect, filled: bool) -> None:
            if filled:
                painter.fillRect(rect, QColor(colours.quiet))

        paint_rows(rows, QRect(0, 0, left, size.height()), _classes_in, fill)
        paint_rows(rows, QRect(left + _GAP, 0, size.width() - left - _GAP, size.height()), _entropy_of, bar)
        # Where 8 bits a byte would end.
        painter.fillRect(QRect(size.width() - 1, 0, 1, size.height()), QColor(colours.rule))

    def _look_of(self, row: int | None) -> tuple[bytes, int]:
        """The shares of the classes and the entropy of a stretch; none where it was not measured."""
        if row is None or self._bands is None:
            return b"", 0
        return self._bands.shares[row * len(CLASSES) : (row + 1) * len(CLASSES)], self._bands.entropies[row]

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom around the pointer."""
        if steps := event.angleDelta().y() / 120:
            self.zoom(_ZOOM**steps, self._bytes_at(round(event.position().y())).start)
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom by + and -, see all by 0; Up, Down, Home and End go through the bytes."""
        target = self._target(event, max(1, self._window.size // _KEY_STEPS), self._window.size)
        if target is not None and self._size:
            self._jump(target)
        elif event.text() in ("+", "="):
            self.zoom(_ZOOM)
        elif event.text() == "-":
            self.zoom(1 / _ZOOM)
        elif event.text() == "0":
            self._see(0, self._size)
        else:
            super().keyPressEvent(event)


def _classes_in(look: tuple[bytes, int]) -> list[tuple[ByteClass, int]]:
    return [(each, part) for each, part in zip(CLASSES, look[0], strict=False) if part]


def _entropy_of(look: tuple[bytes, int]) -> list[tuple[bool, int]]:
    """Whether a part of the entropy bar is filled, where there is any."""
    return [(True, look[1]), (False, FULL - look[1])] if look[1] else []


class BandFeed(QObject):
    """Measures what a band is to show in the worker; what was measured is kept there.

    Signals:
        measured(): the bands have changed, or there are none any more.
    """

    measured = Signal()

    def __init__(self, document: Document, band: ByteBand) -> None:
        super().__init__(band)
        self._document = document
        self._band = band
        self._jobs: list[Job[Bands]] = []
        self._layer = -1
        self.whole: Bands | None = None
        """All bytes of the layer shown; None until they were measured."""
        band.rowsRequested.connect(self.ask)

    def show_layer(self, layer: int, size: int) -> None:
        """Measure another layer, or the same with another size."""
        self._layer, self.whole = layer, None
        self._band.setSize(size)
        self.measured.emit()
        self.ask()

    def ask(self, *_: object) -> None:
        """Measure again: the bytes or what is seen of them may have changed."""
        for job in self._jobs:
            job.supersede()
        self._jobs.clear()
        window, rows = self._band.window_span(), self._band.height()
        if self._layer < 0 or self._band.isHidden() or rows <= 0 or not window.size:
            return
        size = self._document.size
        for span in dict.fromkeys((window, Span(0, size))):
            job = self._document.client.start(ArchiveRequests.bands, self._layer, *span, rows)
            self._jobs.append(job.then(self._take, self._document.reported.emit))

    def _take(self, bands: Bands) -> None:
        window = self._band.window_span()
        if Span(bands.start, bands.stop) == window:
            self._band.setBands(bands)
        if (bands.start, bands.stop) == (0, self._document.size):
            self.whole = bands
            self.measured.emit()


def shares_of(bands: Bands) -> dict[ByteClass, float]:
    """How much of all stretches each class has, of 1, in the order of the classes; none that does not occur."""
    count, total = len(CLASSES), max(1, sum(bands.shares))
    parts: Iterable[int] = (sum(bands.shares[at::count]) for at in range(count))
    return {each: part / total for each, part in zip(CLASSES, parts, strict=True) if part}
