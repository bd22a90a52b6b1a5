"""The pictures of a report as SVG: the map of the file, and its outermost structures in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from inspector.core.kinds import Family
from inspector.core.numbers import hexadecimal, rounded
from inspector.drawing.colouring import ColourBy, families_in, landmarks, shown_in
from inspector.drawing.palette import Colours
from inspector.operations.diagram.svg import (
    DAMAGE,
    QUIET,
    RULE,
    SANS,
    TEXT,
    WIDTH,
    Shade,
    Shades,
    line_shade,
    rect,
    shade_in,
    svg,
    text,
)
from inspector.operations.report.facts import Drawing, Part

_LANDMARKS_HEIGHT, _MAP_HEIGHT, _DAMAGE_HEIGHT, _AXIS = 8, 40, 8, 18
_ROW, _BAR = 22, 16
_BAR_LEFT, _BAR_WIDTH = 92, 250


def map_of(drawing: Drawing, shades: Shades) -> str:
    """The map: landmarks above, the families in each stretch one above another, what is damaged below."""
    cell = WIDTH / max(1, len(drawing.sets))
    top = _LANDMARKS_HEIGHT + 2
    under = top + _MAP_HEIGHT + 2
    parts = [rect(0, top, WIDTH, _MAP_HEIGHT, RULE, shades)]
    at = 0
    for bits, same in groupby(drawing.sets):
        number = sum(1 for _ in same)
        colours = [shade_in(each) for each in shown_in(bits, ColourBy.STRUCTURE)]
        parts += _stacked(at * cell, number * cell, top, colours, shades)
        at += number
    at = 0
    for bits, same in groupby(landmarks(drawing.sets)):
        number = sum(1 for _ in same)
        families = families_in(bits)
        for (low, high), family in zip(_shares(at * cell, number * cell, len(families)), families, strict=True):
            parts.append(rect(low, 0, high - low, _LANDMARKS_HEIGHT, line_shade(family), shades))
        at += number
    for start, stop in drawing.damage:
        low = min(start, drawing.size - 1) * WIDTH / drawing.size
        width = max(3.0, (stop - start) * WIDTH / drawing.size)
        parts.append(rect(min(low, WIDTH - width), under, width, _DAMAGE_HEIGHT, DAMAGE, shades))
    foot = under + _DAMAGE_HEIGHT + _AXIS - 4
    parts.append(text(0, foot, "0x0", QUIET, shades))
    parts.append(text(WIDTH // 2, foot, hexadecimal(drawing.size // 2), QUIET, shades, "middle"))
    parts.append(text(WIDTH, foot, hexadecimal(drawing.size), QUIET, shades, "end"))
    return svg(under + _DAMAGE_HEIGHT + _AXIS, parts, "Map of the file: which structures are where, damage below")


def structure_of(drawing: Drawing, shades: Shades) -> str:
    """The outermost structures in the order of the file: where each begins, what is in it, its name and its size."""
    parts: list[str] = []
    for at, part in enumerate(drawing.parts):
        parts += _structure_row(part, at * _ROW, shades)
    return svg(len(drawing.parts) * _ROW, parts, "The outermost structures in the order of the file")


def _structure_row(part: Part, top: int, shades: Shades) -> Iterator[str]:
    base = top + _BAR - 3
    if part.more:
        yield text(_BAR_LEFT + _BAR_WIDTH + 14, base, f"… {part.more:,} more …", QUIET, shades, font=SANS)
        return
    yield text(_BAR_LEFT - 10, base, hexadecimal(part.start), QUIET, shades, "end")
    # Each has the same width: the map shows how large they are.
    for (low, high), family in zip(_shares(_BAR_LEFT, _BAR_WIDTH, len(part.families)), part.families, strict=True):
        yield rect(low, top, high - low - 1, _BAR, shade_in(family), shades)
        line = line_shade(family) if isinstance(family, Family) else DAMAGE
        yield rect(low, top, 3, _BAR, line, shades)
    label = part.label if len(part.label) <= 60 else f"{part.label[:40]} … {part.label[-16:]}"
    yield text(_BAR_LEFT + _BAR_WIDTH + 14, base, label, TEXT, shades, font=SANS)
    yield text(WIDTH, base, rounded(part.stop - part.start), QUIET, shades, "end")


def _stacked(left: float, width: float, top: float, colours: Sequence[Shade], shades: Shades) -> Iterator[str]:
    for (low, high), colour in zip(_shares(top, _MAP_HEIGHT, len(colours)), colours, strict=True):
        yield rect(left, low, width, high - low, colour, shades)


def _shares(start: float, size: float, number: int) -> list[tuple[float, float]]:
    """``number`` equal parts of ``size`` from ``start`` on."""
    return list(pairwise(start + size * at / number for at in range(number + 1))) if number else []


def colours_of(scheme: Colours) -> dict[str, str]:
    """The colours of a scheme that the page's style uses by name."""
    return {"base": scheme.base, "text": scheme.text, "quiet": scheme.quiet, "rule": scheme.rule, "bad": scheme.damage}
