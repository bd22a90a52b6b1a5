"""What all SVG pictures are made of: colours of a light page with classes for a dark one, shapes, and text.

Colours stand in the elements, those of a light page; each also has a class (see ``Shades``), by which the page's style
replaces them on a dark one.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from inspector.core.kinds import Family, Role
from inspector.drawing.colouring import Paint, fill_of, hatched_role, line_of
from inspector.drawing.palette import COLOURS, FAMILY_HUES, ROLE_HUES, Scheme

WIDTH = 960
"""The width of a picture in its own units; the page scales it."""
_LIGHT, _DARK = COLOURS[Scheme.LIGHT], COLOURS[Scheme.DARK]
MONO = 'font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="12"'
SANS = 'font-family="system-ui, DejaVu Sans, sans-serif" font-size="13"'

Shade = tuple[str, str]
"""A colour on a light and on a dark page."""
BASE: Shade = (_LIGHT.base, _DARK.base)
TEXT: Shade = (_LIGHT.text, _DARK.text)
QUIET: Shade = (_LIGHT.quiet, _DARK.quiet)
DAMAGE: Shade = (_LIGHT.damage, _DARK.damage)
RULE: Shade = (_LIGHT.rule, _DARK.rule)


class Shades:
    """The colours that a page uses, each with a class of its own for the style sheet."""

    def __init__(self) -> None:
        self._names: dict[Shade, str] = {}
        self._lines: dict[Shade, str] = {}

    def of(self, shade: Shade) -> str:
        """The class of a colour."""
        return self._names.setdefault(shade, f"c{len(self._names)}")

    def line(self, shade: Shade) -> str:
        """The class of a colour of lines."""
        return self._lines.setdefault(shade, f"l{len(self._lines)}")

    def rules(self) -> str:
        """The style sheet of all colours so far: backgrounds of text, fills of shapes, lines."""
        light = "".join(f".{name}{{background-color:{one}}}" for (one, _), name in self._names.items())
        dark = "".join(f".{name}{{background-color:{two};fill:{two}}}" for (_, two), name in self._names.items())
        return f"{light}\n@media screen and (prefers-color-scheme: dark){{{dark}{self._dark_lines()}}}"

    def in_picture(self) -> str:
        """A style sheet for a picture that stands by itself."""
        fills = "".join(f".{name}{{fill:{two}}}" for (_, two), name in self._names.items())
        return f"<style>@media screen and (prefers-color-scheme: dark){{{fills}{self._dark_lines()}}}</style>"

    def _dark_lines(self) -> str:
        return "".join(f".{name}{{stroke:{two}}}" for (_, two), name in self._lines.items())


def shade_of(paint: Paint) -> Shade:
    """The background of bytes; what the view hatches has the colour of its strokes."""
    role = hatched_role(paint)
    if role is not None:
        return _LIGHT.strokes[role], _DARK.strokes[role]
    return fill_of(paint, _LIGHT), fill_of(paint, _DARK)


def shade_in(what: Family | Role, level: int = 1) -> Shade:
    """The background of a family or a role; of what is hatched, the strokes."""
    hue = FAMILY_HUES[what] if isinstance(what, Family) else ROLE_HUES.get(what)
    if hue is None and isinstance(what, Role):
        return _LIGHT.strokes[what], _DARK.strokes[what]
    assert hue is not None
    return _LIGHT.tones[hue].fills[level][0], _DARK.tones[hue].fills[level][0]


def line_shade(family: Family | None) -> Shade:
    """The line around a structure."""
    return line_of(family, _LIGHT), line_of(family, _DARK)


def rect(x: float, y: float, width: float, height: float, colour: Shade, shades: Shades) -> str:
    """A filled rectangle."""
    place = f'x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}"'
    return f'<rect class="{shades.of(colour)}" {place} fill="{colour[0]}"/>'


def path(drawn: str, colour: Shade, shades: Shades, width: float = 1, dashes: str = "") -> str:
    """A line along ``drawn``, in the notation of SVG."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    line = f'stroke="{colour[0]}" stroke-width="{width:.5g}"{dashed}'
    return f'<path class="{shades.line(colour)}" d="{drawn}" fill="none" {line}/>'


def text(x: float, y: float, words: str, colour: Shade, shades: Shades, anchor: str = "start", font: str = MONO) -> str:
    """A line of text with its baseline at ``y``."""
    place = f'x="{x:.5g}" y="{y:.5g}" text-anchor="{anchor}" fill="{colour[0]}"'
    return f'<text class="{shades.of(colour)}" {place} {font}>{escape(words)}</text>'


def standing_alone(width: float, height: float, parts: Sequence[str], shades: Shades) -> list[str]:
    """The parts of a picture that is no part of a page, with a background and a style sheet of its own."""
    back = rect(0, 0, width, height, BASE, shades)
    return [shades.in_picture(), back, *parts]


def svg(height: float, parts: Sequence[str], title: str, width: float = WIDTH) -> str:
    """A picture of these parts."""
    box = f'viewBox="0 0 {width:.5g} {height:.5g}" width="{width:.5g}" height="{height:.5g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}" {box}>'
    return "\n".join((head, *parts, "</svg>"))
