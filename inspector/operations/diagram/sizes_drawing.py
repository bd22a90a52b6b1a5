"""A plot of sizes as SVG."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.drawing.sizes import HEAD, ROW, SizeLayout, SizePlot, how_to_read, laid_out, numbers_of
from inspector.core.kinds import Family
from inspector.operations.diagram.drawing import PX_PER_CHARACTER, SMALL, cut, outline
from inspector.operations.diagram.svg import (
    QUIET,
    RULE,
    TEXT,
    WIDTH,
    Shades,
    line_shade,
    path,
    rect,
    shade_in,
    standing_alone,
    svg,
    text,
)

_BASE_LINE = 14
"""From the top of a row to the foot of its text."""


def sizes_svg(plot: SizePlot, shades: Shades, *, width: float = WIDTH, alone: bool = False) -> str:
    """The picture; ``alone``: it stands by itself, with its own background and style sheet."""
    layout = laid_out(plot, width)
    parts = list(_parts(plot, layout, shades))
    if alone:
        parts = standing_alone(layout.width, layout.height, parts, shades)
    return svg(layout.height, parts, description(plot), layout.width)


def description(plot: SizePlot) -> str:
    """What the picture shows, in words."""
    return ". ".join(filter(None, (f"Sizes of {plot.sentence}", how_to_read(plot))))


def _parts(plot: SizePlot, layout: SizeLayout, shades: Shades) -> Iterator[str]:
    yield text(layout.label.x, _BASE_LINE + 2, description(plot), QUIET, shades, font=SMALL)
    foot = layout.track.y + layout.track.height - 4
    for x, label in layout.lines:
        yield text(x, HEAD - 6, label, QUIET, shades, "middle", font=SMALL)
        yield path(f"M{x:.5g} {HEAD - 2}V{foot:.5g}", RULE, shades)
    for title, right in layout.numbers:
        yield text(right, HEAD - 6, title, QUIET, shades, "end", font=SMALL)
    room = int(layout.label.width / PX_PER_CHARACTER)
    line = line_shade(Family.CONTENT)
    for at, (bar, (content, stored)) in enumerate(zip(plot.bars, layout.bars, strict=True)):
        base = HEAD + at * ROW + _BASE_LINE
        yield text(layout.label.x, base, cut(bar.label, room), TEXT, shades, font=SMALL)
        if stored is not None and stored.width:
            yield rect(*stored, shade_in(Family.CONTENT, 2), shades)
            yield path(outline(stored), line, shades)
        if content is not None and content.width and plot.is_compressed:
            yield path(outline(content), QUIET, shades, 1, "3 2")
        for words, (_, right) in zip(numbers_of(plot, bar), layout.numbers, strict=True):
            yield text(right, base, words, TEXT, shades, "end", font=SMALL)
