"""A diagram of an archive's shape: columns of boxes, links between them, and where each stands on a page.

A format declares the columns (``core.format.Column``); an operation fills them with what an archive has (``Diagram``).
``laid_out`` places that, for a view and for a page alike. Positions are in units of a page, from its upper left corner.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from inspector.core.kinds import Family, Role
from inspector.core.span import Span, Spans


class Box(NamedTuple):
    """A structure in a column, or ``more`` of them that are left out.

    ``archive`` is the number of the archive that ``spans`` are in; ``place`` says where the box stands among those of
    all archives. ``families`` are what is in it, in order. ``note`` is a sentence. ``finding`` is what is wrong with
    it, empty if nothing is. A box without spans is a fact from outside the archive.
    """

    column: int
    label: str
    detail: str = ""
    note: str = ""
    spans: Spans = ()
    place: Spans = ()
    families: tuple[Family | Role, ...] = ()
    level: int = 1
    archive: int = 0
    member: int | None = None
    more: int = 0
    unused: bool = False
    finding: str = ""

    @property
    def body(self) -> Family | Role | None:
        """What it is mainly: the data where there are some. None for what only frames others."""
        if Family.CONTENT in self.families:
            return Family.CONTENT
        return self.families[-1] if self.families else None

    @property
    def stripes(self) -> tuple[Family | Role, ...]:
        """What else is in it."""
        return tuple(dict.fromkeys(each for each in self.families if each is not self.body))

    @property
    def sentence(self) -> str:
        """All that it says, as text."""
        bytes_text = f"bytes {self.spans[0].start:,} to {self.spans[-1].stop:,}" if self.spans else ""
        wrong = f"Wrong: {self.finding}" if self.finding else ""
        parts = (self.label, self.detail, "not in use" if self.unused else "", bytes_text)
        return " ".join(filter(None, (f"{', '.join(filter(None, parts))}.", self.note, wrong)))


class Link(NamedTuple):
    """A line from a box to what it leads to, both by their positions; ``text`` says how."""

    source: int
    target: int
    text: str


class Diagram(NamedTuple):
    """The titles of the columns, which of them are apart, the boxes by column and place, and the links."""

    titles: tuple[str, ...]
    apart: tuple[bool, ...]
    boxes: tuple[Box, ...]
    links: tuple[Link, ...]

    def at(self, archive: int, offset: int) -> list[int]:
        """The boxes that hold a byte, the smallest first."""
        found = [
            number
            for number, box in enumerate(self.boxes)
            if box.archive == archive and any(start <= offset < stop for start, stop in box.spans)
        ]
        return sorted(found, key=lambda number: sum(span.size for span in self.boxes[number].spans))


# ---- layout ----------------------------------------------------------------------------------------------------------

ROW = 24
"""The least height of a box."""
_MAX_GROWTH = 40
_GROWTH_PER_DOUBLING = 3
_USUAL_BYTES = 256
"""Boxes of more bytes are higher, by so much each time the number doubles."""
TITLE = 26
"""The height of the titles of columns."""
MARGIN = 26
"""On the left, for links within a column."""
RIGHT = 8
MIN_COLUMN = 116
"""The least width of a column."""
_GUTTER_SHARE = 0.18
"""The share of the width between columns that have links between them; others stand close to each other."""
_CLOSE = 14


class Rect(NamedTuple):
    """A rectangle on the page."""

    x: float
    y: float
    width: float
    height: float

    def holds(self, x: float, y: float) -> bool:
        """Whether a point is in it."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


Points = tuple[tuple[float, float], ...]


class Layout(NamedTuple):
    """Where everything stands on a page of this size.

    ``columns`` are the places of the titles; ``boxes`` the rectangles of each box, one for each piece; ``links`` the
    four points of a cubic curve for each link.
    """

    width: float
    height: float
    columns: tuple[Rect, ...]
    boxes: tuple[tuple[Rect, ...], ...]
    links: tuple[Points, ...]

    def at(self, x: float, y: float) -> int | None:
        """The box at a point."""
        return next((at for at, rects in enumerate(self.boxes) if any(rect.holds(x, y) for rect in rects)), None)


def laid_out(diagram: Diagram, width: float) -> Layout:
    """The places of everything on a page of this width; a wider one where the columns need it."""
    columns = _columns(diagram, width)
    together = [box for box in diagram.boxes if not diagram.apart[box.column]]
    scale = _Scale([span for box in together for span in box.place])
    ends = [float(TITLE)] * len(columns)
    rects: list[tuple[Rect, ...]] = []
    for box in diagram.boxes:
        x, _, wide, _ = columns[box.column]
        alone = diagram.apart[box.column] or not box.place
        pieces = [(ends[box.column], float(ROW))] if alone else scale.pieces(box.place)
        rects.append(tuple(Rect(x, top, wide, high - 2) for top, high in pieces))
        ends[box.column] = max(ends[box.column], *(top + high for top, high in pieces))
    wide = columns[-1].x + columns[-1].width + RIGHT if columns else width
    sides = ({diagram.boxes[link.source].column, diagram.boxes[link.target].column} for link in diagram.links)
    if len(columns) == 1 or {len(columns) - 1} in sides:  # a link within the last column
        wide += MARGIN
    links = tuple(_curve(diagram, link, rects) for link in diagram.links)
    return Layout(wide, max(ends, default=TITLE) + 6, columns, tuple(rects), links)


def _columns(diagram: Diagram, width: float) -> tuple[Rect, ...]:
    number = len(diagram.titles)
    linked = {
        tuple(sorted((diagram.boxes[link.source].column, diagram.boxes[link.target].column))) for link in diagram.links
    }
    usable = width - MARGIN - RIGHT
    wide = min(150.0, max(44.0, usable * _GUTTER_SHARE / max(1, number - 1)))
    gutters = [wide if (at, at + 1) in linked else float(_CLOSE) for at in range(number - 1)]
    each = max(float(MIN_COLUMN), (usable - sum(gutters)) / max(1, number))
    found, x = [], float(MARGIN)
    for gutter in (*gutters, 0.0):
        found.append(Rect(x, 0.0, each, TITLE))
        x += each + gutter
    return tuple(found[:number])


class _Scale:
    """From places to heights: in order, each stretch between two edges high enough for a line of text."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._points = sorted({edge for span in spans for edge in span})
        empties = {span.start for span in spans if not span.size}
        self._before: list[float] = []
        """Where the boxes end that end at each point."""
        self._after: list[float] = []
        """Where those begin that begin there; between the two are boxes without bytes."""
        y = float(TITLE)
        for at, point in enumerate(self._points):
            self._before.append(y)
            y += ROW if point in empties else 0
            self._after.append(y)
            if at + 1 < len(self._points):
                doublings = log2((self._points[at + 1] - point) / _USUAL_BYTES)
                y += ROW + min(_MAX_GROWTH, max(0.0, _GROWTH_PER_DOUBLING * doublings))

    def pieces(self, spans: Spans) -> list[tuple[float, float]]:
        """The top and the height of each of a box's spans."""
        found = []
        for start, stop in spans:
            low, high = bisect_left(self._points, start), bisect_left(self._points, stop)
            if start == stop:
                found.append((self._before[low], float(ROW)))
            else:
                found.append((self._after[low], self._before[high] - self._after[low]))
        return found


def _curve(diagram: Diagram, link: Link, rects: Sequence[tuple[Rect, ...]]) -> Points:
    one, other = rects[link.source][0], rects[link.target][0]
    start, stop = one.y + one.height / 2, other.y + min(other.height, ROW) / 2
    columns = diagram.boxes[link.source].column, diagram.boxes[link.target].column
    if columns[0] == columns[1]:
        right = columns[0] == len(diagram.titles) - 1 > 0
        edge = one.x + one.width if right else one.x
        out = edge + (MARGIN if right else -MARGIN) + (-6 if right else 6)
        return (edge, start), (out, start), (out, stop), (edge, stop)
    left = one.x < other.x
    begin, end = (one.x + one.width, other.x) if left else (one.x, other.x + other.width)
    middle = (begin + end) / 2
    return (begin, start), (middle, start), (middle, stop), (end, stop)
