"""The strips beside the hex view, which spread the bytes over their height: the map of the file, and the byte bands."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygon,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from inspector.core.kinds import Family, Role, family_bit, role_bit
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.drawing.byte_class import CLASSES, ByteClass
from inspector.drawing.colouring import CLASS_HUES, ColourBy, families_in, landmarks, shown_in
from inspector.drawing.palette import COLOURS, FAMILY_HUES, MARKS, ROLE_HUES, Colours, Mark
from inspector.gui.hex.pages import merged, overlaps
from inspector.gui.hex.painting import hatching, unread_brushes
from inspector.gui.kit.style import TextSize, font_of, scheme_for
from inspector.operations.protocol.views import FULL, Bands, Judged

Row = TypeVar("Row")
Part = TypeVar("Part")
MARGIN = 4
"""Free pixels on both sides; the frame around the bytes in view extends into them."""
_MIN_FRAME_HEIGHT = 7
"""The minimum height of the frame, in pixels."""
_FRAME_OPACITY = 0.12
_SPANS = ("damage", "unread", "cached")
_KEY_STEPS = 20
"""Page Up and Page Down move by at least one ``_KEY_STEPS``-th of the bytes."""


def paint_rows(
    rows: Sequence[Row],
    place: QRect,
    parts_of: Callable[[Row], Sequence[tuple[Part, int]]],
    fill: Callable[[QRect, Part], object],
) -> None:
    """Fill rows of equal heights from the top to the foot of ``place``; the parts of each share its width by weight."""
    top = 0
    for row, same in groupby(rows):
        stop = top + len(list(same))
        low, high = (place.top() + at * place.height() // len(rows) for at in (top, stop))
        parts, before = parts_of(row), 0
        total = max(1, sum(weight for _, weight in parts))
        for part, weight in parts:
            left, right = (place.left() + at * place.width() // total for at in (before, before + weight))
            fill(QRect(left, low, max(1, right - left), max(1, high - low)), part)
            before += weight
        top = stop


def alike(parts: Sequence[Part]) -> list[tuple[Part, int]]:
    """Parts that share the width equally."""
    return [(part, 1) for part in parts]


class Strip(QWidget):
    """Bytes from the top to the foot, where a click goes to what is under the pointer.

    Signals:
        jumped(object offset): the user went to an offset.
        rowsRequested(int rows): so many rows are to be shown, or other bytes in them.
    """

    jumped = Signal(object)
    rowsRequested = Signal(int)
    width_wanted = 60

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = 0
        self.framed = Span(0, 0)
        self._picture: QPixmap | None = None
        """The rows, drawn once; None where they have to be drawn again."""
        self._scheme = scheme_for(self.palette())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)

    def redraw(self) -> None:
        """Draw the rows again."""
        self._picture = None
        self.update()

    def show_state(self, **state: Any) -> None:
        """Show any of the attributes that a strip has, anew; spans of bytes are merged."""
        for name, value in state.items():
            setattr(self, name, merged(value, self._size) if name in _SPANS else value)
        self.redraw()

    def setShown(self, start: int, stop: int) -> None:
        """Frame the bytes that the hex view shows."""
        self.framed = Span(start, stop)
        self.setAccessibleDescription(f"Bytes {hexadecimal(start)} to {hexadecimal(stop)} are shown.")
        self.update()

    def describe(self, y: int) -> str:
        """The tooltip for a row of pixels; empty outside."""
        if not self._size or not 0 <= y < self.height():
            return ""
        start, stop = self._bytes_at(y)
        return "\n".join(filter(None, (f"{hexadecimal(start, 8)} … {hexadecimal(stop, 8)}", *self._facts(y))))

    @abstractmethod
    def _facts(self, y: int) -> list[str]:
        """What there is to say of a row of pixels."""

    @abstractmethod
    def _rows_size(self) -> QSize:
        """The size of the picture of the rows; empty while there is none."""

    @abstractmethod
    def _draw_rows(self, painter: QPainter, size: QSize, colours: Colours) -> None: ...

    # ---- places ------------------------------------------------------------------------------------------------

    def _bytes_at(self, y: int) -> Span:
        """The bytes that a row of pixels represents; at least one."""
        height = max(1, self.height())
        start = y * self._size // height
        return Span(start, max(start + 1, (y + 1) * self._size // height))

    def _pixels(self, span: Span, minimum: int) -> tuple[int, int]:
        """Top and height of a span inside the strip, at least ``minimum`` pixels high."""
        size, all_of_it = max(1, self._size), self.height()
        top = span.start * all_of_it // size
        height = max(minimum, -(-span.stop * all_of_it // size) - top)
        return max(0, min(top, all_of_it - height)), height

    def _jump(self, offset: int) -> None:
        if self._size:
            self.jumped.emit(max(0, min(offset, self._size - 1)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move by the bytes in view (arrows) or in larger steps (pages)."""
        line = max(1, self.framed.size)
        page = max(line, self._size // _KEY_STEPS)
        targets = {
            Qt.Key.Key_Up: self.framed.start - line,
            Qt.Key.Key_Down: self.framed.start + line,
            Qt.Key.Key_PageUp: self.framed.start - page,
            Qt.Key.Key_PageDown: self.framed.start + page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self._size - 1,
        }
        if (target := targets.get(Qt.Key(event.key()))) is None:
            super().keyPressEvent(event)
        else:
            self._jump(target)

    # ---- painting ----------------------------------------------------------------------------------------------

    def paintEvent(self, _: QPaintEvent) -> None:
        colours = COLOURS[self._scheme]
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), QColor(colours.base))
            painter.fillRect(QRect(0, 0, 1, self.height()), QColor(colours.rule))
            if self._size:
                size = self._rows_size()
                if not size.isEmpty():
                    painter.drawPixmap(QRect(MARGIN, 0, size.width(), self.height()), self._drawn(size, colours))
                self._paint_marks(painter, colours)
                self._paint_frame(painter, colours)
                self._paint_names(painter, colours)

    def _drawn(self, size: QSize, colours: Colours) -> QPixmap:
        """All rows as a pixmap, drawn once."""
        if self._picture is None:
            ratio = self.devicePixelRatioF()
            self._picture = QPixmap(size * ratio)
            self._picture.setDevicePixelRatio(ratio)
            self._picture.fill(QColor(colours.base))
            with QPainter(self._picture) as painter:
                self._draw_rows(painter, size, colours)
        return self._picture

    def _paint_marks(self, painter: QPainter, colours: Colours) -> None:
        """What is painted below the frame."""

    def _paint_names(self, painter: QPainter, colours: Colours) -> None:
        """What is painted above the frame."""

    def _paint_frame(self, painter: QPainter, colours: Colours) -> None:
        top, height = self._pixels(self.framed, _MIN_FRAME_HEIGHT)
        colour = QColor(colours.selection if self.hasFocus() else colours.outline)
        inside = QColor(colour)
        inside.setAlphaF(_FRAME_OPACITY)
        painter.fillRect(QRect(2, top, self.width() - 4, height), inside)
        painter.setPen(QPen(colour, 2))
        painter.drawRect(QRect(2, top + 1, self.width() - 4, height - 2))

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(self.width_wanted, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.redraw()
        if self.height() != event.oldSize().height():
            self.rowsRequested.emit(self.height())

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours of the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._scheme = scheme_for(self.palette())
            self.redraw()

    def event(self, event: QEvent) -> bool:
        """Show tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.describe(event.pos().y()), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go to the bytes under the pointer."""
        if event.buttons() & Qt.MouseButton.LeftButton and self.height():
            self._jump(self._bytes_at(max(0, min(round(event.position().y()), self.height() - 1))).start)


# ---- the map ------------------------------------------------------------------------------------------------------

NARROW_PX, LABELLED_PX, WIDE_PX = 48, 124, 176
"""Widths of the map where rows need the room, where there is room to name what it shows, and to name it in full."""
_DAMAGE_WIDTH = 7
"""Width of the damage marks at the right, in pixels."""
_MIN_MARK_HEIGHT = 3
"""The minimum height of a damage mark, in pixels."""
_LANDMARK_WIDTH = 12
MARK_REACH = 5
"""Pixels of a bookmark above and below its byte."""
_PLATE_OPACITY = 0.75
"""Of the plate behind a name, so that it is read over any colour."""
_FURTHER = re.compile(" (?:and|or|of|between) ")


class FileMap(Strip):
    """Draws one role set per row of pixels; its roles share the width, so that a gap of one byte stays visible.

    ``sets`` are role sets (see ``core.kinds.role_bit``) and ``verdicts`` those of verdicts (bits of ``Judged``, in a
    lane of their own), one for each of as many equal parts of the layer. ``damage``, ``unread`` by the reader and
    ``cached`` of a remote object are bytes. ``bookmarks`` are notes by their bytes. ``by``: families of structures, or
    roles. ``lit``: only rows that hold one of these roles or families; all with None.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Map of the file", parent)
        self.sets: Sequence[int] = ()
        self.damage: Sequence[Span] = ()
        self.torn = False
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
        self.framed = Span(min(self.framed.start, size), min(self.framed.stop, size))
        self._size = size
        self.show_state(sets=(), damage=(), unread=(), verdicts=(), cached=())

    def _facts(self, y: int) -> list[str]:
        start, stop = self._bytes_at(y)

        def row_of(sets: Sequence[int]) -> int:
            return sets[y * len(sets) // self.height()] if sets else 0

        is_cached = "cached" if overlaps(self.cached, start, stop) else "not read yet"
        lines = [
            ", ".join(shown_in(row_of(self.sets), self.by)),
            "; ".join(VERDICT_TEXTS[each] for each in verdicts_in(row_of(self.verdicts))),
            is_cached if self.cached else "",
            f"{'torn' if self.torn else 'damaged'}: see the findings" if overlaps(self.damage, start, stop) else "",
            "never read by the reader that is followed" if overlaps(self.unread, start, stop) else "",
        ]
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
        wrong = MARKS[self._scheme][Mark.WARNING] if self.torn else colours.damage
        for spans, least, left, width, colour in (
            (self.cached, 2, 1, MARGIN - 1, colours.selection),
            (self.damage, _MIN_MARK_HEIGHT, right, _DAMAGE_WIDTH - 2, wrong),
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
    painter.fillRect(rect, hatching(part, colours))


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


# ---- the byte bands -----------------------------------------------------------------------------------------------

_GAP = 3
"""Pixels between the classes and the entropy."""
_CLASSES_SHARE = 0.6
"""How much of the width the classes have."""

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

    ``bands`` say what stretches look like, None until that is known; only the class ``lit`` is shown, all with None.
    """

    width_wanted = 88

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Byte bands", parent)
        self.bands: Bands | None = None
        self.lit: ByteClass | None = None

    def setSize(self, size: int) -> None:
        """Start bands of ``size`` bytes."""
        self._size = size
        self.show_state(bands=None)

    def _facts(self, y: int) -> list[str]:
        bands = self.bands
        return ["Being measured…"] if bands is None else [bands.text(self._row_at(bands, y)) or "not read yet"]

    def _row_at(self, bands: Bands, y: int) -> int:
        return min(bands.rows - 1, y * bands.rows // max(1, self.height()))

    def _rows_size(self) -> QSize:
        return QSize(self.width() - 2 * MARGIN, self.height()) if self.bands is not None else QSize()

    def _draw_rows(self, painter: QPainter, size: QSize, colours: Colours) -> None:
        assert self.bands is not None
        bands, left, count = self.bands, round(size.width() * _CLASSES_SHARE), len(CLASSES)
        at = [self._row_at(bands, y) for y in range(size.height())]
        rows = [(bands.shares[row * count : (row + 1) * count], bands.entropies[row]) for row in at]

        def fill(rect: QRect, each: ByteClass) -> None:
            if self.lit in (None, each):
                fill_class(painter, colours, rect, each)

        def bar(rect: QRect, filled: bool) -> None:
            if filled:
                painter.fillRect(rect, QColor(colours.quiet))

        paint_rows(rows, QRect(0, 0, left, size.height()), _classes_in, fill)
        paint_rows(rows, QRect(left + _GAP, 0, size.width() - left - _GAP, size.height()), _entropy_of, bar)
        # Where 8 bits a byte would end.
        painter.fillRect(QRect(size.width() - 1, 0, 1, size.height()), QColor(colours.rule))


def _classes_in(look: tuple[bytes, int]) -> list[tuple[ByteClass, int]]:
    return [(each, part) for each, part in zip(CLASSES, look[0], strict=False) if part]


def _entropy_of(look: tuple[bytes, int]) -> list[tuple[bool, int]]:
    """Whether a part of the entropy bar is filled, where there is any."""
    return [(True, look[1]), (False, FULL - look[1])] if look[1] else []


def shares_of(bands: Bands) -> dict[ByteClass, float]:
    """How much of all stretches each class has, of 1, in the order of the classes; none that does not occur."""
    count, total = len(CLASSES), max(1, sum(bands.shares))
    parts = (sum(bands.shares[at::count]) for at in range(count))
    return {each: part / total for each, part in zip(CLASSES, parts, strict=True) if part}
