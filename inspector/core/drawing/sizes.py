"""A plot of sizes: for each member, segment or range of an archive, what is stored of it against its content.

An operation counts (``SizePlot``); ``laid_out`` places that, for a view and for a page alike. Positions are in units of
a page, from its upper left corner.
"""

from __future__ import annotations

from math import ceil, floor, log2
from typing import NamedTuple

from inspector.core.drawing.diagram import Rect
from inspector.core.numbers import count, in_bytes, rounded
from inspector.core.span import Spans

LOGARITHMIC_FROM = 1_000
"""Where the largest size is so many times the smallest one or more, the scale is logarithmic."""
_COLLECTION = -1


class Scope(NamedTuple):
    """The members ``[first, stop)`` of an archive, or of the collection the archives ``[first, stop)``."""

    archive: int
    first: int
    stop: int

    @property
    def is_collection(self) -> bool:
        """Whether the numbers are those of archives."""
        return self.archive == _COLLECTION


ALL = Scope(_COLLECTION, 0, -1)
"""Everything that is opened."""


class Bar(NamedTuple):
    """A member, a segment or a range, or several in a row.

    ``stored`` and ``content`` are sizes in bytes, None where they are not known. ``spans`` are the stored bytes in the
    archive with the number ``archive``. ``note`` is a sentence. ``inside`` is what it is made of, if of several.
    """

    label: str
    stored: int | None
    content: int | None
    spans: Spans = ()
    archive: int = 0
    note: str = ""
    inside: Scope | None = None

    @property
    def ratio(self) -> str:
        """What is stored as a share of the content: ``17 %``. A dash where there is none."""
        if self.stored is None or not self.content:
            return "–"
        share = 100 * self.stored / self.content
        return f"{share:,.0f} %" if share >= 10 else f"{share:.1f} %" if share >= 0.1 else "< 0.1 %"

    @property
    def sentence(self) -> str:
        """All that it says, as text."""
        stored = "not known" if self.stored is None else in_bytes(self.stored)
        content = "not known" if self.content is None else in_bytes(self.content)
        said = f"{self.label}: stored {stored}, content {content}"
        return " ".join(filter(None, (f"{said}, {self.ratio}." if self.ratio != "–" else f"{said}.", self.note)))


class SizePlot(NamedTuple):
    """Bars in the order of the archive.

    ``number`` of things called ``thing`` are in them; ``stored_as`` says what is counted as stored. ``scope`` is what
    was asked for.
    """

    bars: tuple[Bar, ...]
    number: int
    thing: str
    stored_as: str
    scope: Scope = ALL

    @property
    def is_compressed(self) -> bool:
        """Whether there is something to compare: a content of another size than what is stored of it."""
        return any(bar.stored != bar.content for bar in self.bars)

    @property
    def sizes(self) -> list[int]:
        """All sizes that are drawn."""
        return [size for bar in self.bars for size in (bar.stored, bar.content) if size]

    @property
    def total(self) -> Bar:
        """All bars together, as far as their sizes are known."""
        known = [bar for bar in self.bars if bar.stored is not None and bar.content is not None]
        return Bar("", sum(bar.stored or 0 for bar in known), sum(bar.content or 0 for bar in known))

    @property
    def sentence(self) -> str:
        """What the plot shows, in words."""
        total = self.total
        assert total.stored is not None
        assert total.content is not None
        said = count(self.number, self.thing)
        if len(self.bars) < self.number:
            said += f" in {count(len(self.bars), 'bar')}"
        known = all(bar.stored is not None and bar.content is not None for bar in self.bars)
        so_far = "" if known else ", as far as sizes are known"
        if not self.is_compressed:
            return f"{said}: {rounded(total.stored)} stored, the same as the content{so_far}"
        content = f"{rounded(total.content)} of content"
        content += f" ({total.ratio})" if total.content else ""
        return f"{said}: {rounded(total.stored)} {self.stored_as} for {content}{so_far}"

    def at(self, archive: int, offset: int) -> int | None:
        """The bar with a byte of an archive."""
        for at, bar in enumerate(self.bars):
            inside = bar.inside
            if inside is not None and inside.is_collection and inside.first <= archive < inside.stop:
                return at
            if bar.archive == archive and any(start <= offset < stop for start, stop in bar.spans):
                return at
        return None


# ---- the scale -------------------------------------------------------------------------------------------------------

_FEW_DOUBLINGS = 20
_STEP, _LONG_STEP = 5, 10
"""Doublings from one line to the next."""


class Scale:
    """From sizes to shares of the width of a plot."""

    def __init__(self, sizes: list[int]) -> None:
        largest, smallest = max(sizes, default=1), min(sizes, default=1)
        self.is_logarithmic = largest >= LOGARITHMIC_FROM * smallest
        step = _LONG_STEP if log2(largest / smallest) > _FEW_DOUBLINGS else _STEP
        self._low = step * (ceil(log2(smallest) / step) - 1) if self.is_logarithmic else 0
        self._high = log2(largest) if self.is_logarithmic else float(largest)
        self.step = 1 << step
        """How many times the size before each line of a logarithmic scale is."""
        if self.is_logarithmic:
            self.lines = [1 << each for each in range(max(0, self._low), floor(self._high) + 1, step)]
        else:
            width = 1 << max(0, floor(log2(largest)) - 1)
            self.lines = list(range(0, largest + 1, width))

    def share(self, size: int) -> float:
        """Where a size is, from 0 to 1."""
        if not size or not self.is_logarithmic:
            return size / self._high
        return (log2(size) - self._low) / (self._high - self._low)


def how_to_read(plot: SizePlot) -> str:
    """What has to be known to read the bars; empty where nothing has."""
    scale = Scale(plot.sizes)
    said = ["Filled: stored, dashed: content"] if plot.is_compressed else []
    said += [f"Logarithmic scale: each line is {scale.step:,} times the one before"] if scale.is_logarithmic else []
    return ". ".join(said)


# ---- layout ----------------------------------------------------------------------------------------------------------

ROW = 20
"""The height of the row of a bar."""
BAR_HEIGHT = 12
HEAD = 48
"""The height of the sentence and the titles above the bars."""
MIN_WIDTH = 480
_EDGE = 8
_NUMBER = 76
_LABEL_SHARE, _MIN_LABEL, _MAX_LABEL = 0.28, 130, 300
_LEAST_BAR = 2


class SizeLayout(NamedTuple):
    """Where everything stands on a page of this size.

    ``label`` and ``track`` are the places of the names and of the bars over all rows; ``numbers`` the titles of the
    columns of text beside them with their right edges; ``lines`` those of the scale, from left to right, with their
    labels. ``bars`` are for each row the places of the content and of what is stored, None where it is not known.
    """

    width: float
    height: float
    label: Rect
    track: Rect
    numbers: tuple[tuple[str, float], ...]
    lines: tuple[tuple[float, str], ...]
    bars: tuple[tuple[Rect | None, Rect | None], ...]

    def row(self, at: int) -> Rect:
        """The row of a bar."""
        return Rect(0, HEAD + at * ROW, self.width, ROW)

    def at(self, y: float) -> int | None:
        """The bar at a height."""
        at = floor((y - HEAD) / ROW)
        return at if 0 <= at < len(self.bars) else None


def laid_out(plot: SizePlot, width: float) -> SizeLayout:
    """The places of everything on a page of this width, or of the least one that it needs."""
    width = max(MIN_WIDTH, width)
    titles = ("Stored", "Content", "Ratio") if plot.is_compressed else ("Size",)
    height = HEAD + len(plot.bars) * ROW + _EDGE
    label = Rect(_EDGE, HEAD, min(_MAX_LABEL, max(_MIN_LABEL, width * _LABEL_SHARE)), height - HEAD)
    right = width - _EDGE
    numbers = tuple((title, right - _NUMBER * (len(titles) - 1 - at)) for at, title in enumerate(titles))
    left = label.x + label.width + _EDGE
    track = Rect(left, HEAD, right - _NUMBER * len(titles) - left, height - HEAD)
    scale = Scale(plot.sizes)

    def placed(row: int, size: int | None) -> Rect | None:
        wide = max(_LEAST_BAR, scale.share(size) * track.width) if size else 0
        top = HEAD + row * ROW + (ROW - BAR_HEIGHT) / 2
        return None if size is None else Rect(track.x, top, wide, BAR_HEIGHT)

    lines = tuple((track.x + scale.share(each) * track.width, rounded(each)) for each in scale.lines)
    bars = tuple((placed(at, bar.content), placed(at, bar.stored)) for at, bar in enumerate(plot.bars))
    return SizeLayout(width, height, label, track, numbers, lines, bars)


def numbers_of(plot: SizePlot, bar: Bar) -> tuple[str, ...]:
    """The text in the columns beside a bar."""
    stored, content = ("not known" if each is None else rounded(each) for each in (bar.stored, bar.content))
    return (stored, content, bar.ratio) if plot.is_compressed else (stored,)
