"""The map beside the hex view: the roles of all bytes of a layer, verdicts, damage, and the bytes in view."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPolygon,
)
from PySide6.QtWidgets import QWidget

from inspector.core.kinds import Family, Role, family_bit, role_bit
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy, families_in, landmarks, shown_in
from inspector.drawing.palette import FAMILY_HUES, MARKS, ROLE_HUES, Colours, Mark
from inspector.gui.hex.beside.strip import MARGIN, Strip, alike, paint_rows
from inspector.gui.hex.highlights import merged, overlaps
from inspector.gui.hex.painting import hatching, unread_brushes
from inspector.gui.kit.style import TextSize, font_of
from inspector.operations.protocol.views import Judged

NARROW_PX, LABELLED_PX, WIDE_PX = 48, 124, 176
"""Widths of the map where rows need the room, where there is room to name what it shows, and to name it in full."""
_DAMAGE_WIDTH = 7
"""Width of the damage marks at the right, in pixels."""
_MIN_MARK_HEIGHT = 3
"""The minimum height of a damage mark, in pixels."""
_LANDMARK_WIDTH = 12
_SPANS = ("damage", "unread", "cached")
MARK_REACH = 5
"""Pixels of a bookmark above and below its byte."""
_PLATE_OPACITY = 0.75
"""Of the plate behind a name, so that it is read over any colour."""
_FURTHER = re.compile(" (?:and|or|of|between) ")
_KEY_STEPS = 20
"""Page Up and Page Down move by at least one ``_KEY_STEPS``-th of the layer."""


class FileMap(Strip):
    """Draws one role set per row of pixels; its roles share the width, so that a gap of one byte stays visible."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Map of the file", parent)
        self.sets: Sequence[int] = ()
        self.damage: Sequence[Span] = ()
        self.unread: Sequence[Span] = ()
        self.verdicts: Sequence[int] = ()
        self.cached: Sequence[Span] = ()
        self.bookmarks: Mapping[int, str] = {}
        self.by = ColourBy.KIND
        self.lit: int | None = None
        self._labels: list[MapLabel] = []

    # ---- what is shown -----------------------------------------------------------------------------------------

    def setSize(self, size: int) -> None:
        """Start a map of ``size`` bytes without roles or marks; the frame stays, clamped to the size."""
        self._shown = Span(min(self._shown.start, size), min(self._shown.stop, size))
        self._size, self._window = size, Span(0, size)
        self.show_state(sets=(), damage=(), unread=(), verdicts=(), cached=())

    def show_state(self, **state: Any) -> None:
        """Show any of these.

        ``sets`` are role sets (see ``core.kinds.role_bit``) and ``verdicts`` those of verdicts (bits of ``Judged``,
        in a lane of their own), one for each of as many equal parts of the layer. ``damage``, ``unread`` by the reader
        and ``cached`` of a remote object are bytes. ``bookmarks`` are notes by their bytes. ``by``: families of
        structures, or roles. ``lit``: only rows that hold one of these roles or families; all with None.
        """
        for name, value in state.items():
            setattr(self, name, merged(value, self._size) if name in _SPANS else value)
        self.redraw()

    def setShown(self, start: int, stop: int) -> None:
        """Frame the bytes that the hex view shows."""
        self._shown = Span(start, stop)
        self.setAccessibleDescription(f"Bytes {hexadecimal(start)} to {hexadecimal(stop)} are shown.")
        self.update()

    def framed(self) -> Span:
        """The bytes that are framed."""
        return self._shown

    def _facts(self, y: int) -> list[str]:
        start, stop = self._bytes_at(y)
        lines: list[str] = []
        if self.sets:
            lines.append(", ".join(shown_in(self.sets[y * len(self.sets) // self.height()], self.by)))
        if any(self.verdicts):
            judged = self.verdicts[y * len(self.verdicts) // self.height()]
            lines.append("; ".join(VERDICT_TEXTS[each] for each in verdicts_in(judged)))
        if self.cached:
            lines.append("cached" if overlaps(self.cached, start, stop) else "not read yet")
        if overlaps(self.damage, start, stop):
            lines.append("damaged: see the findings")
        if overlaps(self.unread, start, stop):
            lines.append("never read by the reader that is followed")
        reach = max(start + 1, (y + MARK_REACH) * self._size // self.height())
        first = max(0, (y - MARK_REACH) * self._size // self.height())
        lines += [f"Bookmark: {note}".rstrip(": ") for at, note in self.bookmarks.items() if first <= at < reach]
        return lines

    def _roles_width(self) -> int:
        return self.width() - 2 * MARGIN - _DAMAGE_WIDTH - (VERDICT_WIDTH + 2 if any(self.verdicts) else 0)

    def _rows_size(self) -> QSize:
        return QSize(self._roles_width(), len(self.sets))

    def _draw_rows(self, painter: QPainter, size: QSize, colours: Colours) -> None:
        self._labels = labels_of(self.sets, self._label_font_metrics().height(), self.by)
        marks = landmarks(self.sets) if self.by is ColourBy.STRUCTURE else ()
        column = _LANDMARK_WIDTH if any(marks) else 0
        fill = partial(_draw_part, painter, colours, self.lit, False)
        place = QRect(column, 0, size.width() - column, size.height())
        paint_rows(self.sets, place, lambda row: alike(shown_in(row, self.by)), fill)
        if column:
            fill = partial(_draw_part, painter, colours, self.lit, True)
            paint_rows(marks, QRect(0, 0, column - 2, size.height()), lambda row: alike(families_in(row)), fill)

    def _paint_marks(self, painter: QPainter, colours: Colours) -> None:
        for span in self.unread:
            top, height = self._pixels(span, 1)
            for brush in unread_brushes(colours):
                painter.fillRect(QRect(MARGIN, top, self._roles_width(), height), brush)
        if any(self.verdicts):
            lane = QRect(MARGIN + self._roles_width() + 2, 0, VERDICT_WIDTH, self.height())
            fill = partial(fill_verdict, painter, colours)
            paint_rows(self.verdicts, lane, lambda row: alike(verdicts_in(row)), fill)
        right = self.width() - MARGIN - _DAMAGE_WIDTH + 2
        for spans, least, left, width, colour in (
            (self.cached, 2, 1, MARGIN - 1, colours.selection),
            (self.damage, _MIN_MARK_HEIGHT, right, _DAMAGE_WIDTH - 2, colours.damage),
        ):
            for span in spans:
                top, height = self._pixels(span, least)
                painter.fillRect(QRect(left, top, width, height), QColor(colour))

    def _label_font_metrics(self) -> QFontMetrics:
        return QFontMetrics(font_of(self, TextSize.SMALL))

    def labels(self) -> list[MapLabel]:
        """What is written on the map; nothing where it is too narrow."""
        return self._labels if self.width() >= LABELLED_PX else []

    def _paint_names(self, painter: QPainter, colours: Colours) -> None:
        metrics = self._label_font_metrics()
        plate = QColor(colours.base)
        plate.setAlphaF(_PLATE_OPACITY)
        left, scale = MARGIN + _LANDMARK_WIDTH + 2, self.height() / max(1, len(self.sets))
        painter.setFont(font_of(self, TextSize.SMALL))
        painter.setPen(QColor(colours.text))
        for row, name in self.labels():
            room = self._roles_width() - _LANDMARK_WIDTH - 4
            fitting = name if metrics.horizontalAdvance(name) <= room else first_of(name)
            text = metrics.elidedText(fitting, Qt.TextElideMode.ElideRight, room)
            box = QRect(left, round(row * scale), metrics.horizontalAdvance(text) + 2, metrics.height())
            painter.fillRect(box, plate)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, f" {text}")

        # A wedge at the left edge for each bookmark, in the colour that it has beside the bytes.
        painter.setPen(QColor(colours.base))
        painter.setBrush(QColor(MARKS[self._scheme][Mark.INFO]))
        for offset in self.bookmarks:
            y, _ = self._pixels(Span(offset, offset + 1), 1)
            painter.drawPolygon(QPolygon([QPoint(0, y - MARK_REACH), QPoint(9, y), QPoint(0, y + MARK_REACH)]))

    # ---- Qt overrides ------------------------------------------------------------------------------------------

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


def _draw_part(
    painter: QPainter, colours: Colours, lit: int | None, is_line: bool, rect: QRect, part: Family | Role
) -> None:
    """``is_line``: in the colour of lines, which what is lit has too."""
    if lit is not None and not lit & (family_bit(part) if isinstance(part, Family) else role_bit(part)):
        return
    hue = FAMILY_HUES[part] if isinstance(part, Family) else ROLE_HUES.get(part)
    if hue is not None:
        tones = colours.tones[hue]
        painter.fillRect(rect, QColor(tones.line if is_line or lit is not None else tones.fills[1][0]))
    strokes = None if isinstance(part, Family) else hatching(part, colours)
    if strokes is not None:
        painter.fillRect(rect, strokes)


VERDICT_WIDTH = 9
"""Width of the verdict lane in pixels; several verdicts in one row share it."""
VERDICT_TEXTS = {  # in the order in which they share a row
    Judged.VERIFIED: "verified",
    Judged.DAMAGED: "damaged: does not match the recorded checksum",
    Judged.UNCHECKED: "not verified: no checksum is recorded, or it was not checked",
}
VERDICT_LEGEND = {Judged.VERIFIED: "verified", Judged.UNCHECKED: "not verified"}
"""Labels in the legend; damage has its own entry."""
_VERIFIED_COLOUR = "#009E73"


def verdicts_in(judged: int) -> list[Judged]:
    """The verdicts in a set (a bit mask)."""
    return [each for each in VERDICT_TEXTS if judged & each]


def fill_verdict(painter: QPainter, colours: Colours, rect: QRect, judged: Judged) -> None:
    """Fill a rectangle with a pattern as well as a colour: verified solid, damaged crossed, not verified dotted."""
    if judged is Judged.VERIFIED:
        painter.fillRect(rect, QColor(_VERIFIED_COLOUR))
    elif judged is Judged.DAMAGED:
        painter.fillRect(rect, QColor(colours.damage))
        painter.fillRect(rect, QBrush(QColor(colours.base), Qt.BrushStyle.HorPattern))
    else:
        painter.fillRect(rect, QBrush(QColor(colours.quiet), Qt.BrushStyle.Dense6Pattern))
