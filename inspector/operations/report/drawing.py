"""The pictures of a report as SVG: the map of the file, and its outermost structures in their order.

Colours stand in the elements, those of a light page; each also has a class (see ``Shades``), by which the page's style
replaces them on a dark one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby, pairwise

from inspector.core.colouring import ColourBy, Paint, families_in, fill_of, hatched_role, landmarks, line_of, shown_in
from inspector.core.kinds import Family, Role
from inspector.core.numbers import hexadecimal, rounded
from inspector.core.palette import COLOURS, FAMILY_HUES, ROLE_HUES, Colours, Scheme
from inspector.operations.report.facts import Drawing, Part

WIDTH = 960
"""The width of a picture in its own units; the page scales it."""
_LANDMARKS_HEIGHT, _MAP_HEIGHT, _DAMAGE_HEIGHT, _AXIS = 8, 40, 8, 18
_ROW, _BAR = 22, 16
_BAR_LEFT, _BAR_WIDTH = 92, 250
_LIGHT, _DARK = COLOURS[Scheme.LIGHT], COLOURS[Scheme.DARK]
_FONT = 'font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="12"'
_SANS = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="13"'

Shade = tuple[str, str]
"""A colour on a light and on a dark page."""
TEXT: Shade = (_LIGHT.text, _DARK.text)
QUIET: Shade = (_LIGHT.quiet, _DARK.quiet)
DAMAGE: Shade = (_LIGHT.damage, _DARK.damage)
RULE: Shade = (_LIGHT.rule, _DARK.rule)


class Shades:
    """The colours that a page uses, each with a class of its own for the style sheet."""

    def __init__(self) -> None:
        self._names: dict[Shade, str] = {}

    def of(self, shade: Shade) -> str:
        """The class of a colour."""
        return self._names.setdefault(shade, f"c{len(self._names)}")

    def rules(self) -> str:
        """The style sheet of all colours so far: backgrounds of text, fills of shapes."""
        light = "".join(f".{name}{{background-color:{one}}}" for (one, _), name in self._names.items())
        dark = "".join(f".{name}{{background-color:{two};fill:{two}}}" for (_, two), name in self._names.items())
        return f"{light}\n@media screen and (prefers-color-scheme: dark){{{dark}}}"


def shade_of(paint: Paint) -> Shade:
    """The background of bytes; what the view hatches has the colour of its strokes."""
    role = hatched_role(paint)
    if role is not None:
        return _LIGHT.strokes[role], _DARK.strokes[role]
    return fill_of(paint, _LIGHT), fill_of(paint, _DARK)


def _shade(what: Family | Role) -> Shade:
    hue = FAMILY_HUES[what] if isinstance(what, Family) else ROLE_HUES.get(what)
    if hue is None and isinstance(what, Role):
        return _LIGHT.strokes[what], _DARK.strokes[what]
    assert hue is not None
    return _LIGHT.tones[hue].fills[1][0], _DARK.tones[hue].fills[1][0]


def _line(family: Family | None) -> Shade:
    return line_of(family, _LIGHT), line_of(family, _DARK)


def map_of(drawing: Drawing, shades: Shades) -> str:
    """The map: landmarks above, the families in each stretch one above another, what is damaged below."""
    cell = WIDTH / max(1, len(drawing.sets))
    top = _LANDMARKS_HEIGHT + 2
    under = top + _MAP_HEIGHT + 2
    parts = [_rect(0, top, WIDTH, _MAP_HEIGHT, RULE, shades)]
    at = 0
    for bits, same in groupby(drawing.sets):
        number = sum(1 for _ in same)
        colours = [_shade(each) for each in shown_in(bits, ColourBy.STRUCTURE)]
        parts += _stacked(at * cell, number * cell, top, colours, shades)
        at += number
    at = 0
    for bits, same in groupby(landmarks(drawing.sets)):
        number = sum(1 for _ in same)
        families = families_in(bits)
        for (low, high), family in zip(_shares(at * cell, number * cell, len(families)), families, strict=True):
            parts.append(_rect(low, 0, high - low, _LANDMARKS_HEIGHT, _line(family), shades))
        at += number
    for start, stop in drawing.damage:
        low = min(start, drawing.size - 1) * WIDTH / drawing.size
        width = max(3.0, (stop - start) * WIDTH / drawing.size)
        parts.append(_rect(min(low, WIDTH - width), under, width, _DAMAGE_HEIGHT, DAMAGE, shades))
    foot = under + _DAMAGE_HEIGHT + _AXIS - 4
    parts.append(_text(0, foot, "0x0", QUIET, shades))
    parts.append(_text(WIDTH // 2, foot, hexadecimal(drawing.size // 2), QUIET, shades, "middle"))
    parts.append(_text(WIDTH, foot, hexadecimal(drawing.size), QUIET, shades, "end"))
    return _svg(under + _DAMAGE_HEIGHT + _AXIS, parts, "Map of the file: which structures are where, damage below")


def structure_of(drawing: Drawing, shades: Shades) -> str:
    """The outermost structures in the order of the file: where each begins, what is in it, its name and its size."""
    parts: list[str] = []
    for at, part in enumerate(drawing.parts):
        parts += _structure_row(part, at * _ROW, shades)
    return _svg(len(drawing.parts) * _ROW, parts, "The outermost structures in the order of the file")


def _structure_row(part: Part, top: int, shades: Shades) -> Iterator[str]:
    base = top + _BAR - 3
    if part.more:
        yield _text(_BAR_LEFT + _BAR_WIDTH + 14, base, f"… {part.more:,} more …", QUIET, shades, font=_SANS)
        return
    yield _text(_BAR_LEFT - 10, base, hexadecimal(part.start), QUIET, shades, "end")
    # Each has the same width: the map shows how large they are.
    for (low, high), family in zip(_shares(_BAR_LEFT, _BAR_WIDTH, len(part.families)), part.families, strict=True):
        yield _rect(low, top, high - low - 1, _BAR, _shade(family), shades)
        line = _line(family) if isinstance(family, Family) else DAMAGE
        yield _rect(low, top, 3, _BAR, line, shades)
    label = part.label if len(part.label) <= 60 else f"{part.label[:40]} … {part.label[-16:]}"
    yield _text(_BAR_LEFT + _BAR_WIDTH + 14, base, label, TEXT, shades, font=_SANS)
    yield _text(WIDTH, base, rounded(part.stop - part.start), QUIET, shades, "end")


def _stacked(left: float, width: float, top: float, colours: Sequence[Shade], shades: Shades) -> Iterator[str]:
    for (low, high), colour in zip(_shares(top, _MAP_HEIGHT, len(colours)), colours, strict=True):
        yield _rect(left, low, width, high - low, colour, shades)


def _shares(start: float, size: float, number: int) -> list[tuple[float, float]]:
    """``number`` equal parts of ``size`` from ``start`` on."""
    return list(pairwise(start + size * at / number for at in range(number + 1))) if number else []


def _rect(x: float, y: float, width: float, height: float, colour: Shade, shades: Shades) -> str:
    place = f'x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}"'
    return f'<rect class="{shades.of(colour)}" {place} fill="{colour[0]}"/>'


def _text(x: int, y: int, text: str, colour: Shade, shades: Shades, anchor: str = "start", font: str = _FONT) -> str:
    place = f'x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour[0]}"'
    return f'<text class="{shades.of(colour)}" {place} {font}>{escape(text)}</text>'


def _svg(height: int, parts: Sequence[str], title: str) -> str:
    """A picture; in no part of it is an empty line, at which Markdown would end it."""
    box = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" {box}>'
    return "\n".join((head, *parts, "</svg>"))


def colours_of(scheme: Colours) -> dict[str, str]:
    """The colours of a scheme that the page's style uses by name."""
    return {"base": scheme.base, "text": scheme.text, "quiet": scheme.quiet, "rule": scheme.rule, "bad": scheme.damage}
