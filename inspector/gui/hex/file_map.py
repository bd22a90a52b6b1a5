"""A map of a whole layer beside the hex view: what is where, and where the hex view is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from inspector.core.kinds import ROLES, Role, role_bit
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span
from inspector.gui.hex.highlights import joined, meets
from inspector.gui.hex.painting import hatching, scheme_for
from inspector.gui.kit.palette import COLOURS, Colours, Scheme
from inspector.operations.protocol.views import Judged

_WIDTH = 60
_EDGE = 4
"""Pixels left free on both sides; the frame of what is shown reaches into them."""
_DAMAGE_WIDTH = 7
"""Pixels at the right for damage."""
_TICK = 3
"""The least height of a mark of damage."""
_FRAME = 7
"""The least height of the frame."""
_STEPS = 20
"""Steps of the arrow keys from one end to the other, where a page of the hex view is less."""


def roles_in(role_set: int) -> list[Role]:
    """The roles of a set of roles."""
    return [role for role in ROLES if role_set & role_bit(role)]


class FileMap(QWidget):
    """Draws a set of roles a row of pixels; several roles share the width, so that one byte of gap is seen.

    Signals:
        wanted(int rows): role sets for so many rows are wanted: see ``setRows``.
        jumped(object offset): a place was chosen.
    """

    wanted = Signal(int)
    jumped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._size = 0
        self._sets: Sequence[int] = ()
        self._shown = Span(0, 0)
        self._damage: list[Span] = []
        self._verdicts: Sequence[int] = ()
        self._kept: list[Span] = []
        self._picture: QPixmap | None = None
        self._scheme = scheme_for(self.palette())
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Map of the file")

    # ---- what is shown -----------------------------------------------------------------------------------------

    def setSize(self, size: int) -> None:
        """The map is of so many bytes; nothing is known of them yet, and what is framed stays as far as it is there."""
        self._shown = Span(min(self._shown.start, size), min(self._shown.stop, size))
        self._size, self._sets, self._damage = size, (), []
        self._verdicts, self._kept = (), []
        self._picture = None
        self.update()

    def rows(self) -> int:
        """For how many rows role sets are wanted."""
        return self.height()

    def setRows(self, sets: Sequence[int]) -> None:
        """Show the role set (see ``core.kinds.role_bit``) of each of equal stretches of the layer."""
        self._sets = sets
        self._picture = None
        self.update()

    def setVerdicts(self, sets: Sequence[int]) -> None:
        """Show, in a lane of its own, what checking has said (see ``Judged``) of each of equal stretches."""
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
        """Mark the places of damage."""
        self._damage = joined(spans, self._size)
        self.update()

    def setKept(self, spans: Iterable[tuple[int, int]]) -> None:
        """Shade, at the left edge, the bytes of an object far away that can be read without a request."""
        self._kept = joined(spans, self._size)
        self.update()

    def describe(self, y: int) -> str:
        """What is at a height, in words; empty where nothing is."""
        if not self._size or not 0 <= y < self.height():
            return ""
        start, stop = self._stretch(y)
        words = [f"{hexadecimal(start, 8)} … {hexadecimal(stop, 8)}"]
        if self._sets:
            roles = roles_in(self._sets[y * len(self._sets) // self.height()])
            words.append(", ".join(roles))
        if self._verdicts:
            words.append(verdict_text(self._verdicts[y * len(self._verdicts) // self.height()]))
        if self._kept:
            words.append("cached" if meets(self._kept, start, stop) else "not read yet")
        if meets(self._damage, start, stop):
            words.append("damaged: see the findings")
        return "\n".join(filter(None, words))

    # ---- places ------------------------------------------------------------------------------------------------

    def _stretch(self, y: int) -> Span:
        """The bytes that a row of pixels stands for; one at least."""
        start = y * self._size // self.height()
        return Span(start, max(start + 1, (y + 1) * self._size // self.height()))

    def _pixels(self, span: Span, least: int) -> tuple[int, int]:
        """Top and height of a span, ``least`` pixels high at least and inside the map."""
        if not self._size:
            return 0, 0
        top = span.start * self.height() // self._size
        height = max(least, -(-span.stop * self.height() // self._size) - top)
        return max(0, min(top, self.height() - height)), height

    def _jump(self, offset: int) -> None:
        if self._size:
            self.jumped.emit(max(0, min(offset, self._size - 1)))

    # ---- painting ----------------------------------------------------------------------------------------------

    def _roles_width(self) -> int:
        return self.width() - 2 * _EDGE - _DAMAGE_WIDTH - (VERDICT_WIDTH + 2 if self._verdicts else 0)

    def _drawn(self) -> QPixmap:
        """The rows as a picture, drawn once."""
        if self._picture is None:
            ratio = self.devicePixelRatioF()
            width = self._roles_width()
            self._picture = QPixmap(round(width * ratio), max(1, round(len(self._sets) * ratio)))
            self._picture.setDevicePixelRatio(ratio)
            painter = QPainter(self._picture)
            try:
                _draw_rows(painter, self._sets, width, self._scheme)
            finally:
                painter.end()
        return self._picture

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Qt override."""
        colours = COLOURS[self._scheme]
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), QColor(colours.base))
            painter.fillRect(QRect(0, 0, 1, self.height()), QColor(colours.rule))
            if not self._size:
                return
            if self._sets:
                painter.drawPixmap(QRect(_EDGE, 0, self._roles_width(), self.height()), self._drawn())
            if self._verdicts:
                lane = QRect(_EDGE + self._roles_width() + 2, 0, VERDICT_WIDTH, self.height())
                draw_verdicts(painter, self._verdicts, lane, colours)
            for span in self._kept:
                top, height = self._pixels(span, 2)
                painter.fillRect(QRect(1, top, _EDGE - 1, height), QColor(colours.selection))
            damage = QColor(colours.damage)
            for span in self._damage:
                top, height = self._pixels(span, _TICK)
                painter.fillRect(
                    QRect(self.width() - _EDGE - _DAMAGE_WIDTH + 2, top, _DAMAGE_WIDTH - 2, height), damage
                )
            self._frame(painter)
        finally:
            painter.end()

    def _frame(self, painter: QPainter) -> None:
        colours = COLOURS[self._scheme]
        top, height = self._pixels(self._shown, _FRAME)
        colour = QColor(colours.selection if self.hasFocus() else colours.outline)
        inside = QColor(colour)
        inside.setAlphaF(0.12)
        painter.fillRect(QRect(2, top, self.width() - 4, height), inside)
        painter.setPen(QPen(colour, 2))
        painter.drawRect(QRect(2, top + 1, self.width() - 4, height - 2))

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        """Qt override."""
        return QSize(_WIDTH, 200)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt override."""
        super().resizeEvent(event)
        if self.height() != event.oldSize().height():
            self.wanted.emit(self.height())

    def changeEvent(self, event: QEvent) -> None:
        """Qt override: colours follow the palette."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._scheme = scheme_for(self.palette())
            self._picture = None
            self.update()

    def event(self, event: QEvent) -> bool:
        """Qt override: tooltips."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.describe(event.pos().y()), self)
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt override."""
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt override: the place under the pointer."""
        if event.buttons() & Qt.MouseButton.LeftButton and self.height():
            self._jump(round(event.position().y()) * self._size // self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt override: arrows and pages go on from what is shown."""
        page = max(1, self._shown.size)
        step = max(page, self._size // _STEPS)
        targets = {
            Qt.Key.Key_Up: self._shown.start - page,
            Qt.Key.Key_Down: self._shown.start + page,
            Qt.Key.Key_PageUp: self._shown.start - step,
            Qt.Key.Key_PageDown: self._shown.start + step,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self._size - 1,
        }
        target = targets.get(Qt.Key(event.key()))
        if target is None:
            super().keyPressEvent(event)
        else:
            self._jump(target)


def _draw_rows(painter: QPainter, sets: Sequence[int], width: int, scheme: Scheme) -> None:
    colours = COLOURS[scheme]
    top = 0
    for role_set, alike in groupby(sets):
        height = sum(1 for _ in alike)
        roles = roles_in(role_set)
        for index, role in enumerate(roles):
            left, right = index * width // len(roles), (index + 1) * width // len(roles)
            place = QRect(left, top, right - left, height)
            painter.fillRect(place, QColor(colours.fill(role)))
            strokes = hatching(role, colours)
            if strokes is not None:
                painter.fillRect(place, strokes)
        if not roles:
            painter.fillRect(QRect(0, top, width, height), QColor(colours.base))
        top += height


VERDICT_WIDTH = 9
"""Pixels across; what is judged in several ways shares them."""
VERDICT_TEXTS = {
    Judged.VERIFIED: "verified",
    Judged.DAMAGED: "damaged: does not match the recorded checksum",
    Judged.UNCHECKED: "not verified: no checksum is recorded, or it was not checked",
}
VERDICT_LEGEND = {Judged.VERIFIED: "verified", Judged.UNCHECKED: "not verified"}
"""How the legend calls them; damage has an entry of its own."""
_VERDICTS = (Judged.VERIFIED, Judged.DAMAGED, Judged.UNCHECKED)
_VERIFIED_COLOUR = "#009E73"


def judged_in(judged: int) -> list[Judged]:
    """The single verdicts of a set."""
    return [each for each in _VERDICTS if judged & each]


def verdict_text(judged: int) -> str:
    """What checking has said, in words."""
    return "; ".join(VERDICT_TEXTS[each] for each in judged_in(judged))


def fill_judged(painter: QPainter, place: QRect, judged: Judged, colours: Colours) -> None:
    """Fill a place: verified is solid, damaged is crossed, what is not verified is dotted. Never colour alone."""
    if judged is Judged.VERIFIED:
        painter.fillRect(place, QColor(_VERIFIED_COLOUR))
    elif judged is Judged.DAMAGED:
        painter.fillRect(place, QColor(colours.damage))
        painter.fillRect(place, QBrush(QColor(colours.base), Qt.BrushStyle.HorPattern))
    else:
        painter.fillRect(place, QBrush(QColor(colours.quiet), Qt.BrushStyle.Dense6Pattern))


def draw_verdicts(painter: QPainter, sets: Sequence[int], place: QRect, colours: Colours) -> None:
    """Draw the sets (see ``Judged``) of equal stretches of a layer from the top of a place to its foot."""
    count, top = len(sets), 0
    for judged, alike in groupby(sets):
        stop = top + sum(1 for _ in alike)
        first, last = place.top() + top * place.height() // count, place.top() + stop * place.height() // count
        parts = judged_in(judged)
        for index, each in enumerate(parts):
            left, right = index * place.width() // len(parts), (index + 1) * place.width() // len(parts)
            box = QRect(place.left() + left, first, right - left, max(1, last - first))
            fill_judged(painter, box, each, colours)
        top = stop
