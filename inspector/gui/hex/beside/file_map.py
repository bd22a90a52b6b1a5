"""The map beside the hex view: the roles of all bytes of a layer, verdicts, damage, and the bytes in view."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygon,
    QResizeEvent,
)
from PySide6.QtWidgets import QWidget

from inspector.core.drawing.colouring import ColourBy, families_in, landmarks, shown_in
from inspector.core.drawing.palette import COLOURS, FAMILY_HUES, MARKS, ROLE_HUES, Colours, Mark, Scheme
from inspector.core.kinds import Family, Role, family_bit, role_bit
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.gui.hex.beside.strip import Strip
from inspector.gui.hex.highlights import merged, overlaps
from inspector.gui.hex.painting import hatching, unread_brushes
from inspector.gui.kit.style import TextSize, font_of
from inspector.operations.protocol.views import Judged

_WIDTH = 60
NARROW_PX, LABELLED_PX, WIDE_PX = 48, 124, 176
"""Widths of the map where rows need the room, where there is room to name what it shows, and to name it in full."""
_SIDE_MARGIN = 4
"""Free pixels on both sides; the frame around the bytes in view extends into them."""
_DAMAGE_WIDTH = 7
"""Width of the damage marks at the right, in pixels."""
_MIN_MARK_HEIGHT = 3
"""The minimum height of a damage mark, in pixels."""
_MIN_FRAME_HEIGHT = 7
"""The minimum height of the frame, in pixels."""
_LANDMARK_WIDTH = 12
MARK_REACH = 5
"""Pixels of a bookmark above and below its byte."""
_PLATE_OPACITY = 0.75
"""Of the plate behind a name, so that it is read over any colour."""
_FURTHER = re.compile(" (?:and|or|of|between) ")
_KEY_STEPS = 20
"""Page Up and Page Down move by at least one ``_KEY_STEPS``-th of the layer."""


class FileMap(Strip):
    """Draws one role set per row of pixels; its roles share the width, so that a gap of one byte stays visible.

    Signals:
        rowsRequested(int rows): the map needs role sets for this many rows, see ``setRows``.
    """

    rowsRequested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Map of the file", parent)
        self._sets: Sequence[int] = ()
        self._damage: list[Span] = []
        self._unread: list[Span] = []
        self._verdicts: Sequence[int] = ()
        self._cached: list[Span] = []
        self._bookmarks: dict[int, str] = {}
        self._by = ColourBy.KIND
        self._lit: int | None = None
        self._labels: list[MapLabel] = []

    # ---- what is shown -----------------------------------------------------------------------------------------

    def setSize(self, size: int) -> None:
        """Start a map of ``size`` bytes without roles or marks; the frame stays, clamped to the size."""
        self._shown = Span(min(self._shown.start, size), min(self._shown.stop, size))
        self._size, self._sets, self._damage, self._unread = size, (), [], []
        self._verdicts, self._cached = (), []
        self._picture = None
        self.update()

    def rows(self) -> int:
        """The number of rows that need role sets."""
        return self.height()

    def setRows(self, sets: Sequence[int]) -> None:
        """Show role sets (see ``core.kinds.role_bit``), one for each of ``len(sets)`` equal parts of the layer."""
        self._sets = sets
        self._picture = None
        self.update()

    def setColourBy(self, by: ColourBy) -> None:
        """Show families of structures, or roles."""
        self._by = by
        self._picture = None
        self.update()

    def setLit(self, bits: int | None) -> None:
        """Light up the rows that hold one of these roles or families; all as they are with None."""
        if bits != self._lit:
            self._lit = bits
            self._picture = None
            self.update()

    def setVerdicts(self, sets: Sequence[int]) -> None:
        """Show verdict sets (bits of ``Judged``), one for each of ``len(sets)`` equal parts, in a lane of their own."""
        self._verdicts = sets if any(sets) else ()
        self._picture = None
        self.update()

    def setShown(self, start: int, stop: int) -> None:
        """Frame the bytes that the hex view shows."""
        self._shown = Span(start, stop)
        first, end = hexadecimal(start), hexadecimal(stop)
        self.setAccessibleDescription(f"Bytes {first} to {end} are shown.")
        self.update()

    def framed(self) -> Span:
        """The bytes that are framed."""
        return self._shown

    def setDamage(self, spans: Iterable[tuple[int, int]]) -> None:
        """Mark damaged bytes."""
        self._damage = merged(spans, self._size)
        self.update()

    def setUnread(self, spans: Iterable[tuple[int, int]]) -> None:
        """Grey out bytes that a reader never reads."""
        self._unread = merged(spans, self._size)
        self.update()

    def setBookmarks(self, notes: Mapping[int, str]) -> None:
        """Mark the bytes that have a bookmark, given with their notes."""
        self._bookmarks = dict(sorted(notes.items()))
        self.update()

    def setCached(self, spans: Iterable[tuple[int, int]]) -> None:
        """Shade, at the left edge, the bytes of a remote object that are cached."""
        self._cached = merged(spans, self._size)
        self.update()

    def describe(self, y: int) -> str:
        """The tooltip for a row of pixels; empty outside the map."""
        if not self._size or not 0 <= y < self.height():
            return ""
        start, stop = self._bytes_at(y)
        lines = [f"{hexadecimal(start, 8)} … {hexadecimal(stop, 8)}"]
        if self._sets:
            lines.append(", ".join(shown_in(self._sets[y * len(self._sets) // self.height()], self._by)))
        if self._verdicts:
            lines.append(verdict_text(self._verdicts[y * len(self._verdicts) // self.height()]))
        if self._cached:
            lines.append("cached" if overlaps(self._cached, start, stop) else "not read yet")
        if overlaps(self._damage, start, stop):
            lines.append("damaged: see the findings")
        if overlaps(self._unread, start, stop):
            lines.append("never read by the reader that is followed")
        reach = max(start + 1, (y + MARK_REACH) * self._size // self.height())
        first = max(0, (y - MARK_REACH) * self._size // self.height())
        lines += [f"Bookmark: {note}".rstrip(": ") for at, note in self._bookmarks.items() if first <= at < reach]
        return "\n".join(filter(None, lines))

    # ---- places ------------------------------------------------------------------------------------------------

    def _bytes_at(self, y: int) -> Span:
        """The bytes that a row of pixels represents; at least one."""
        start = y * self._size // self.height()
        return Span(start, max(start + 1, (y + 1) * self._size // self.height()))

    def _pixels(self, span: Span, minimum: int) -> tuple[int, int]:
        """Top and height of a span inside the map, at least ``minimum`` pixels high."""
        if not self._size:
            return 0, 0
        top = span.start * self.height() // self._size
        height = max(minimum, -(-span.stop * self.height() // self._size) - top)
        return max(0, min(top, self.height() - height)), height

    def _offset_at(self, y: int) -> int:
        return y * self._size // self.height()

    # ---- painting ----------------------------------------------------------------------------------------------

    def _roles_width(self) -> int:
        return self.width() - 2 * _SIDE_MARGIN - _DAMAGE_WIDTH - (VERDICT_WIDTH + 2 if self._verdicts else 0)

    def _picture_of_rows(self) -> QPixmap:
        """The rows as a pixmap, drawn once and cached."""
        if self._picture is None:
            ratio = self.devicePixelRatioF()
            width = self._roles_width()
            self._picture = QPixmap(round(width * ratio), max(1, round(len(self._sets) * ratio)))
            self._picture.setDevicePixelRatio(ratio)
            self._labels = labels_of(self._sets, self._label_font_metrics().height(), self._by)
            painter = QPainter(self._picture)
            try:
                _draw_rows(painter, self._sets, width, self._scheme, self._by, self._lit)
            finally:
                painter.end()
        return self._picture

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        colours = COLOURS[self._scheme]
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), QColor(colours.base))
            painter.fillRect(QRect(0, 0, 1, self.height()), QColor(colours.rule))
            if not self._size:
                return
            if self._sets:
                painter.drawPixmap(QRect(_SIDE_MARGIN, 0, self._roles_width(), self.height()), self._picture_of_rows())
            self._paint_unread(painter, colours)
            if self._verdicts:
                lane = QRect(_SIDE_MARGIN + self._roles_width() + 2, 0, VERDICT_WIDTH, self.height())
                draw_verdicts(painter, self._verdicts, lane, colours)
            for span in self._cached:
                top, height = self._pixels(span, 2)
                painter.fillRect(QRect(1, top, _SIDE_MARGIN - 1, height), QColor(colours.selection))
            damage = QColor(colours.damage)
            for span in self._damage:
                top, height = self._pixels(span, _MIN_MARK_HEIGHT)
                painter.fillRect(
                    QRect(self.width() - _SIDE_MARGIN - _DAMAGE_WIDTH + 2, top, _DAMAGE_WIDTH - 2, height), damage
                )
            self._paint_frame(painter)
            self._paint_labels(painter)
            self._paint_bookmarks(painter)
        finally:
            painter.end()

    def _paint_unread(self, painter: QPainter, colours: Colours) -> None:
        for span in self._unread:
            top, height = self._pixels(span, 1)
            for brush in unread_brushes(colours):
                painter.fillRect(QRect(_SIDE_MARGIN, top, self._roles_width(), height), brush)

    def _label_font_metrics(self) -> QFontMetrics:
        return QFontMetrics(font_of(self, TextSize.SMALL))

    def labels(self) -> list[MapLabel]:
        """What is written on the map; nothing where it is too narrow."""
        return self._labels if self.width() >= LABELLED_PX else []

    def _paint_labels(self, painter: QPainter) -> None:
        colours, metrics = COLOURS[self._scheme], self._label_font_metrics()
        plate = QColor(colours.base)
        plate.setAlphaF(_PLATE_OPACITY)
        left, scale = _SIDE_MARGIN + _LANDMARK_WIDTH + 2, self.height() / max(1, len(self._sets))
        painter.setFont(font_of(self, TextSize.SMALL))
        painter.setPen(QColor(colours.text))
        for row, name in self.labels():
            room = self._roles_width() - _LANDMARK_WIDTH - 4
            fitting = name if metrics.horizontalAdvance(name) <= room else first_of(name)
            text = metrics.elidedText(fitting, Qt.TextElideMode.ElideRight, room)
            box = QRect(left, round(row * scale), metrics.horizontalAdvance(text) + 2, metrics.height())
            painter.fillRect(box, plate)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, f" {text}")

    def _paint_bookmarks(self, painter: QPainter) -> None:
        """A wedge at the left edge for each, in the colour that it has beside the bytes."""
        colours = COLOURS[self._scheme]
        painter.setPen(QColor(colours.base))
        painter.setBrush(QColor(MARKS[self._scheme][Mark.INFO]))
        for offset in self._bookmarks:
            y, _ = self._pixels(Span(offset, offset + 1), 1)
            painter.drawPolygon(QPolygon([QPoint(0, y - MARK_REACH), QPoint(9, y), QPoint(0, y + MARK_REACH)]))

    def _paint_frame(self, painter: QPainter) -> None:
        colours = COLOURS[self._scheme]
        top, height = self._pixels(self._shown, _MIN_FRAME_HEIGHT)
        colour = QColor(colours.selection if self.hasFocus() else colours.outline)
        inside = QColor(colour)
        inside.setAlphaF(0.12)
        painter.fillRect(QRect(2, top, self.width() - 4, height), inside)
        painter.setPen(QPen(colour, 2))
        painter.drawRect(QRect(2, top + 1, self.width() - 4, height - 2))

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.height() != event.oldSize().height():
            self.rowsRequested.emit(self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move by the bytes in view (arrows) or in larger steps (pages)."""
        line = max(1, self._shown.size)
        target = self._target(event, line, max(line, self._size // _KEY_STEPS))
        if target is None:
            super().keyPressEvent(event)
        else:
            self._jump(target)


class MapLabel(NamedTuple):
    """The name of what the map shows, with the row of its upper edge."""

    row: int
    name: str


def first_of(name: str) -> str:
    """The first thing that a name has: ``index`` of ``index or directory``."""
    return _FURTHER.split(name, maxsplit=1)[0]


def labels_of(sets: Sequence[int], height: int, by: ColourBy) -> list[MapLabel]:
    """Names ``height`` rows high, none over another: landmarks first, then what fills so many rows by itself."""
    places: list[MapLabel] = []
    by_structure = by is ColourBy.STRUCTURE
    marked = landmarks(sets) if by_structure else []
    # Most rows are like their neighbours, and there are hundreds.
    first: dict[int, Sequence[Family | Role]] = {each: families_in(each)[:1] for each in set(marked)}
    parts_of: dict[int, Sequence[Family | Role]] = {each: shown_in(each, by) for each in set(sets)}
    marks, parts = [first[each] for each in marked], [parts_of[each] for each in sets]
    for rows, least in ((marks, 1), (parts, height)):
        top, named = 0, {each.name for each in places}
        for shown, same in groupby(rows):
            size = len(list(same))
            row = max(0, min(top + (size - height) // 2 if size < height else top, len(sets) - height))
            is_free = all(abs(row - each.row) >= 2 * height for each in places)
            if len(shown) == 1 and size >= least and is_free and shown[0].value not in named:
                places.append(MapLabel(row, shown[0].value))
                named |= {shown[0].value} if rows is parts else set()
            top += size
    return sorted(places)


def _draw_rows(
    painter: QPainter, sets: Sequence[int], width: int, scheme: Scheme, by: ColourBy, lit: int | None
) -> None:
    colours = COLOURS[scheme]
    marks = landmarks(sets) if by is ColourBy.STRUCTURE else ()
    column = _LANDMARK_WIDTH if any(marks) else 0
    top = 0
    for role_set, same in groupby(sets):
        height = len(list(same))
        parts = shown_in(role_set, by)
        painter.fillRect(QRect(0, top, width, height), QColor(colours.base))
        for rect, part in zip(_side_by_side(column, width, top, height, len(parts)), parts, strict=True):
            _draw_part(painter, rect, part, colours, lit)
        top += height
    top = 0
    for mark_set, same in groupby(marks):
        height = len(list(same))
        families = families_in(mark_set)
        for rect, family in zip(_side_by_side(0, column - 2, top, height, len(families)), families, strict=True):
            if lit is None or lit & family_bit(family):
                painter.fillRect(rect, QColor(colours.tones[FAMILY_HUES[family]].line))
        top += height


def _side_by_side(left: int, right: int, top: int, height: int, count: int) -> Iterable[QRect]:
    """``count`` rectangles that share the width from ``left`` to ``right``."""
    edges = [left + index * (right - left) // count for index in range(count + 1)] if count else []
    return (QRect(low, top, high - low, height) for low, high in pairwise(edges))


def _draw_part(painter: QPainter, rect: QRect, part: Family | Role, colours: Colours, lit: int | None) -> None:
    bit = family_bit(part) if isinstance(part, Family) else role_bit(part)
    if lit is not None and not lit & bit:
        return
    hue = FAMILY_HUES[part] if isinstance(part, Family) else ROLE_HUES.get(part)
    if hue is None:
        painter.fillRect(rect, QColor(colours.base))
    else:
        tones = colours.tones[hue]
        painter.fillRect(rect, QColor(tones.fills[1][0] if lit is None else tones.line))
    strokes = None if isinstance(part, Family) else hatching(part, colours)
    if strokes is not None:
        painter.fillRect(rect, strokes)


VERDICT_WIDTH = 9
"""Width of the verdict lane in pixels; several verdicts in one row share it."""
VERDICT_TEXTS = {
    Judged.VERIFIED: "verified",
    Judged.DAMAGED: "damaged: does not match the recorded checksum",
    Judged.UNCHECKED: "not verified: no checksum is recorded, or it was not checked",
}
VERDICT_LEGEND = {Judged.VERIFIED: "verified", Judged.UNCHECKED: "not verified"}
"""Labels in the legend; damage has its own entry."""
_VERDICTS = (Judged.VERIFIED, Judged.DAMAGED, Judged.UNCHECKED)
_VERIFIED_COLOUR = "#009E73"


def verdicts_in(judged: int) -> list[Judged]:
    """The verdicts in a set (a bit mask)."""
    return [each for each in _VERDICTS if judged & each]


def verdict_text(judged: int) -> str:
    """The verdicts in a set as text."""
    return "; ".join(VERDICT_TEXTS[each] for each in verdicts_in(judged))


def fill_verdict(painter: QPainter, rect: QRect, judged: Judged, colours: Colours) -> None:
    """Fill a rectangle with a pattern as well as a colour: verified solid, damaged crossed, not verified dotted."""
    if judged is Judged.VERIFIED:
        painter.fillRect(rect, QColor(_VERIFIED_COLOUR))
    elif judged is Judged.DAMAGED:
        painter.fillRect(rect, QColor(colours.damage))
        painter.fillRect(rect, QBrush(QColor(colours.base), Qt.BrushStyle.HorPattern))
    else:
        painter.fillRect(rect, QBrush(QColor(colours.quiet), Qt.BrushStyle.Dense6Pattern))


def draw_verdicts(painter: QPainter, sets: Sequence[int], rect: QRect, colours: Colours) -> None:
    """Draw verdict sets (bits of ``Judged``), each for an equal part of a layer, from top to bottom of ``rect``."""
    count, top = len(sets), 0
    for judged, same in groupby(sets):
        stop = top + len(list(same))
        first, last = rect.top() + top * rect.height() // count, rect.top() + stop * rect.height() // count
        parts = verdicts_in(judged)
        for index, each in enumerate(parts):
            left, right = index * rect.width() // len(parts), (index + 1) * rect.width() // len(parts)
            box = QRect(rect.left() + left, first, right - left, max(1, last - first))
            fill_verdict(painter, box, each, colours)
        top = stop
