"""The lane of the map that says what checking found: verified, damaged and unchecked stretches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

from inspector.gui.kit.palette import Colours
from inspector.operations.protocol.views import Judged

LANE = 9
"""Pixels across; what is judged in several ways shares them."""
WORDS = {
    Judged.VERIFIED: "verified",
    Judged.DAMAGED: "damaged: does not match the recorded checksum",
    Judged.UNCHECKED: "not verified: no checksum is recorded, or it was not checked",
}
LEGEND = {Judged.VERIFIED: "verified", Judged.UNCHECKED: "not verified"}
"""How the legend calls them; damage has an entry of its own."""
_ORDER = (Judged.VERIFIED, Judged.DAMAGED, Judged.UNCHECKED)
VERIFIED = "#009E73"


def judged_in(judged: int) -> list[Judged]:
    """The single verdicts of a set."""
    return [each for each in _ORDER if judged & each]


def told(judged: int) -> str:
    """What checking has said, in words."""
    return "; ".join(WORDS[each] for each in judged_in(judged))


def fill_judged(painter: QPainter, place: QRect, judged: Judged, colours: Colours) -> None:
    """Fill a place: verified is solid, damaged is crossed, what is not verified is dotted. Never colour alone."""
    if judged is Judged.VERIFIED:
        painter.fillRect(place, QColor(VERIFIED))
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
