"""The structure lane: brackets with names beside the rows, one for each structure in view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from PySide6.QtCore import QLine, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from inspector.core.field import Structure
from inspector.core.kinds import Family, Kind, Shape
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.drawing.colouring import line_of
from inspector.gui.hex.gutter import RowSide
from inspector.gui.hex.pages import overlaps
from inspector.gui.hex.painting import Look

MIN_LANE_WIDTH = 110
"""Pixels below which there is no lane: no name would fit."""
WANTED_LANE_WIDTH = 240
"""Pixels that rows longer than 16 bytes leave to the lane."""
STEP = 10
"""Pixels between two nested brackets."""
_TICK = 6
"""Length of the ends of a bracket, in pixels."""
_LEFT = 8
_LABEL_GAP = 14
"""Pixels between two names in a row."""
_BAR = 7
"""Pixels before a name for the bar in the colour of its bracket."""
_MIN_LABEL_WIDTH = 40
"""The least room for a name, in pixels; where there is less, an ellipsis at the edge stands for it."""
_RIGHT = 4
"""Pixels free at the right edge."""
_MORE_WIDTH = 20
"""Pixels at the edge for that ellipsis."""
_MAX_ROWS_DOWN = 2
"""How far below the row where a structure begins its name may stand, in rows."""
_HIT_DISTANCE = 4
"""The farthest a click may be from a bracket to hit it, in pixels."""
_MAX_DEPTH = 5
"""Brackets beside each other; deeper ones share the last place."""
MAX_TOOLTIP_NAMES = 12


class Bracket(Struct, frozen=True):
    """A structure beside the rows ``[first, last]``, counted from the first visible one; ``depth`` from outside in.

    ``begins`` and ``ends``: its first or last byte is in view.
    """

    structure: Structure
    depth: int
    first: int
    last: int
    begins: bool
    ends: bool

    @property
    def family(self) -> Family | None:
        """What the bracket's colour says: of a blob, that it is a member's data."""
        return Family.CONTENT if self.structure.kind.holds_data else self.structure.family

    @property
    def text(self) -> str:
        """The name, with an arrow where it begins above."""
        return self.structure.label if self.begins else f"↑ {self.structure.label}"


def is_named(structure: Structure) -> bool:
    """Whether a structure has a bracket: not the data in a blob, which has that of the blob."""
    outer = structure.outer
    return not (structure.kind is Kind.DATA and outer is not None and outer.kind.holds_data)


def lay_out_brackets(structures: Iterable[Structure], columns: int, top: int, rows: int) -> list[Bracket]:
    """The brackets beside the rows ``[top, top + rows)`` of ``columns`` bytes each, outer ones before those inside."""
    found: list[Bracket] = []
    for structure in structures:
        first, last = structure.start // columns - top, (structure.stop - 1) // columns - top
        if last < 0 or first >= rows or structure.stop <= structure.start or not is_named(structure):
            continue
        depth, outer = 0, structure.outer
        while outer is not None:
            depth += is_named(outer)
            outer = outer.outer
        place = min(depth, _MAX_DEPTH - 1)
        found.append(Bracket(structure, place, max(0, first), min(last, rows - 1), first >= 0, last < rows))
    return found


class StructureLane(RowSide):
    """Draws brackets and names.

    Signals:
        chosen(object structure): the user clicked a bracket or a name.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget, look: Look) -> None:
        words = "The name of each structure beside its bytes; the Structure panel lists them too"
        super().__init__(parent, look, "Structures", words)
        self._caret = -1
        self._damage: Sequence[Span] = ()
        self._torn = False
        self.brackets: list[Bracket] = []
        self._labels: list[tuple[QRect, tuple[Bracket, ...], str]] = []

    def labels(self) -> list[tuple[QRect, str]]:
        """The names as drawn, elided where they had to be, and their places."""
        return [(rect, text) for rect, _, text in self._labels]

    def show_rows(self, look: Look, brackets: list[Bracket], caret: int, damage: Sequence[Span], *, torn: bool) -> None:
        """Draw these brackets; the names of structures around the caret are bold, of damaged ones in its colour."""
        shown = (look, brackets, caret, damage, torn)
        if shown != (self._look, self.brackets, self._caret, self._damage, self._torn):
            self._look, self.brackets, self._caret, self._damage, self._torn = shown
            self._lay_out()
            self.update()

    # ---- layout ------------------------------------------------------------------------------------------------

    def _x_of(self, bracket: Bracket) -> int:
        return _LEFT + bracket.depth * STEP

    def _font_of(self, bracket: Bracket) -> QFont:
        font = QFont(self.font())
        font.setBold(bracket.structure.start <= self._caret < bracket.structure.stop)
        return font

    def _lay_out(self) -> None:
        """Place the names: in the row where their structure begins or, where one does not fit, the next of its rows."""
        left = max((self._x_of(each) for each in self.brackets), default=0) + _TICK + 8
        free: dict[int, int] = {}  # the first free pixel of rows with names
        left_out: dict[int, list[Bracket]] = {}
        self._labels = []
        # What only holds others has its name in the room that the others leave.
        for bracket in sorted(
            self.brackets, key=lambda each: (not each.begins, each.structure.kind.shape is Shape.GROUP)
        ):
            metrics = QFontMetrics(self._font_of(bracket))
            text = " ".join(bracket.text[:_MAX_NAME].split("\n"))
            width = metrics.horizontalAdvance(text)
            row = next(
                (
                    row
                    for row in range(bracket.first, min(bracket.last, bracket.first + _MAX_ROWS_DOWN) + 1)
                    if row not in free or free[row] + _BAR + width < self.width() - _RIGHT
                ),
                bracket.first,
            )
            x = free.get(row, left)
            room = self.width() - x - _BAR - _RIGHT
            if room < _MIN_LABEL_WIDTH:
                left_out.setdefault(row, []).append(bracket)
                continue
            shown = self._elided(bracket, text, room)
            width = metrics.horizontalAdvance(shown)
            self._labels.append((self._rect(x, row, width + _BAR), (bracket,), shown))
            free[row] = x + width + _BAR + _LABEL_GAP
        for row, brackets in left_out.items():
            self._make_room(row)
            self._labels.append((self._rect(self.width() - _MORE_WIDTH, row, _MORE_WIDTH), tuple(brackets), "…"))

    def _make_room(self, row: int) -> None:
        """Shorten the last name of a row so that an ellipsis fits behind it."""
        for at, (rect, brackets, text) in reversed([*enumerate(self._labels)]):
            if rect.top() == row * self._look.line:
                most = self.width() - _MORE_WIDTH - rect.left()
                if rect.width() > most:
                    shown = self._elided(brackets[0], text, most - _BAR)
                    self._labels[at] = (self._rect(rect.left(), row, most), brackets, shown)
                return

    def _elided(self, bracket: Bracket, text: str, room: int) -> str:
        return QFontMetrics(self._font_of(bracket)).elidedText(text, Qt.TextElideMode.ElideRight, room)

    def _rect(self, x: int, row: int, width: int) -> QRect:
        return QRect(x, row * self._look.line, width, self._look.line)

    def bracket_at(self, place: QPoint) -> Bracket | None:
        """The bracket whose name or line is at a pixel; the innermost of several."""
        for rect, brackets, _ in self._labels:
            if rect.contains(place):
                return brackets[0]
        row = place.y() // self._look.line
        near = [
            each
            for each in self.brackets
            if each.first <= row <= each.last and abs(self._x_of(each) + _TICK // 2 - place.x()) <= _HIT_DISTANCE
        ]
        return near[-1] if near else None

    def describe(self, place: QPoint) -> str:
        """The tooltip for a pixel; empty where there is nothing."""
        for rect, brackets, text in self._labels:
            if rect.contains(place) and text == "…":
                names = [each.structure.label for each in brackets[:MAX_TOOLTIP_NAMES]]
                rest = len(brackets) - len(names)
                return "\n".join([*names, f"and {grouped(rest)} more"] if rest else names)
        bracket = self.bracket_at(place)
        if bracket is None:
            return ""
        start, stop = bracket.structure.start, bracket.structure.stop
        return f"{bracket.structure.label}\n{in_bytes(stop - start)} at {grouped(start)} ({hexadecimal(start)})"

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        for bracket in self.brackets:
            x = self._x_of(bracket)
            top = bracket.first * self._look.line + (2 if bracket.begins else 0)
            bottom = (bracket.last + 1) * self._look.line - (3 if bracket.ends else 0)
            ticks = [y for y, is_end in ((top, bracket.begins), (bottom, bracket.ends)) if is_end]
            painter.setPen(QPen(QColor(line_of(bracket.family, self._look.colours)), 2))
            painter.drawLines([QLine(x, top, x, bottom), *(QLine(x, y, x + _TICK, y) for y in ticks)])
        for rect, brackets, text in self._labels:
            self._draw_label(painter, rect, brackets[0], text, self._look)

    def _draw_label(self, painter: QPainter, rect: QRect, bracket: Bracket, text: str, look: Look) -> None:
        line, structure = QColor(line_of(bracket.family, look.colours)), bracket.structure
        painter.fillRect(QRect(rect.left(), rect.top() + 3, 3, rect.height() - 6), line)
        is_damaged = structure.family is not None and overlaps(self._damage, structure.start, structure.stop)
        is_quiet = not bracket.begins or structure.unused
        wrong = look.torn if self._torn else look.damage
        painter.setPen(wrong.color() if is_damaged else (look.quiet if is_quiet else look.text).color())
        painter.setFont(self._font_of(bracket))
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(rect.adjusted(_BAR, 0, 2, 0), int(flags), text)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the structure under the pointer."""
        bracket = self.bracket_at(event.position().toPoint())
        if bracket is not None and event.button() is Qt.MouseButton.LeftButton:
            self.chosen.emit(bracket.structure)


_MAX_NAME = 200
"""Characters of a name that are measured; no lane shows more."""
