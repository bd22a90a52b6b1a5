"""SVG pictures: what they are all made of, and a diagram as one.

Colours stand in the elements, those of a light page; each also has a class (see ``Shades``), by which the page's style
replaces them on a dark one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from inspector.core.kinds import Family, Role
from inspector.drawing.colouring import Paint, fill_of, hatched_role, line_of
from inspector.drawing.diagram import ROW, Box, Diagram, Layout, Points, Rect, laid_out
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


# ---- diagrams -------------------------------------------------------------------------------------------------------

SMALL = SANS.replace('"13"', '"12"')
PX_PER_CHARACTER = 6.5
"""The mean width of a character of text: only what is cut off depends on it."""
_STRIPE = 7
_HATCH = 8
_PADDING = 7


def diagram_svg(diagram: Diagram, shades: Shades, *, width: float = WIDTH, alone: bool = False) -> str:
    """The picture; ``alone``: it stands by itself, with its own background and style sheet."""
    layout = laid_out(diagram, width)
    parts = list(_parts(diagram, layout, shades))
    if alone:
        parts = standing_alone(layout.width, layout.height, parts, shades)
    return svg(layout.height, parts, description(diagram), layout.width)


def description(diagram: Diagram) -> str:
    """What the picture shows, in words."""
    counts = [sum(box.column == at for box in diagram.boxes) for at in range(len(diagram.titles))]
    columns = ", ".join(f"{title} ({number})" for title, number in zip(diagram.titles, counts, strict=True))
    wrong = [box.label for box in diagram.boxes if box.finding]
    return f"Diagram of the archive: {columns}" + (f"; wrong: {', '.join(wrong[:8])}" if wrong else "")


def _parts(diagram: Diagram, layout: Layout, shades: Shades) -> Iterator[str]:
    for title, place in zip(diagram.titles, layout.columns, strict=True):
        yield text(place.x + 1, place.y + 16, title, QUIET, shades, font=SMALL)
    for box, rects in zip(diagram.boxes, layout.boxes, strict=True):
        for at, each in enumerate(rects):
            yield from _box(box, each, shades, continued=at > 0)
    for link, points in zip(diagram.links, layout.links, strict=True):
        family = next((each for each in diagram.boxes[link.source].families if isinstance(each, Family)), None)
        yield from _link(points, line_shade(family), shades)


def _link(points: Points, colour: Shade, shades: Shades) -> Iterator[str]:
    start, *others, (x, y) = points
    curve = f"M{start[0]:.5g} {start[1]:.5g}C{' '.join(f'{a:.5g} {b:.5g}' for a, b in (*others, (x, y)))}"
    yield path(curve, colour, shades, 1.4)
    back = 6 if others[-1][0] > x else -6
    yield path(f"M{x + back:.5g} {y - 4:.5g}L{x:.5g} {y:.5g}L{x + back:.5g} {y + 4:.5g}", colour, shades, 1.4)


def _box(box: Box, place: Rect, shades: Shades, *, continued: bool) -> Iterator[str]:
    x, y, width, height = place
    body = box.body
    if box.more:
        yield from _label(box, place, shades, QUIET)
        yield path(outline(place), RULE, shades, 1, "2 3")
        return
    hatched = body in (Role.GAP, Role.GARBAGE)
    if body is not None and not hatched:
        yield rect(x, y, width, height, shade_in(body, 0 if box.unused else box.level), shades)
    if hatched and body is not None:
        yield path(_hatching(place), shade_in(body), shades, 1)
    for at, each in enumerate(box.stripes):
        yield rect(x + at * _STRIPE, y, _STRIPE - 1, height, shade_in(each, 2), shades)
    line = line_shade(body) if isinstance(body, Family) else QUIET
    dashes = "4 3" if box.unused or continued else ""
    colour, thick = (DAMAGE, 2.2) if box.finding else (line, 1.0)
    yield path(outline(place), colour, shades, thick, dashes)
    yield from _label(box, place, shades, QUIET if box.unused else TEXT, continued=continued)


def _label(box: Box, place: Rect, shades: Shades, colour: Shade, *, continued: bool = False) -> Iterator[str]:
    left = place.x + len(box.stripes) * _STRIPE + _PADDING
    base = place.y + ROW / 2 + 3.5
    right = place.x + place.width - _PADDING
    detail = "" if continued else box.detail
    room = int((right - left) / PX_PER_CHARACTER)
    label = f"{box.label}, continued" if continued else f"✗ {box.label}" if box.finding else box.label
    if len(label) + len(detail) + 2 > room:
        detail, label = "", cut(label, room)  # what it is says more than how large it is
    yield text(left, base, label, colour, shades, font=SMALL)
    if detail:
        yield text(right, base, detail, colour, shades, "end", font=SMALL)


def cut(label: str, room: int) -> str:
    """The text without its middle where it has no room for so many characters."""
    if len(label) <= max(3, room):
        return label
    last = room // 3
    return f"{label[: room - last - 1]}…{label[-last:]}" if last > 2 else f"{label[: max(1, room - 1)]}…"


def outline(place: Rect) -> str:
    """The edge of a rectangle, in the notation of SVG."""
    x, y, width, height = place
    return f"M{x:.5g} {y:.5g}h{width:.5g}v{height:.5g}h-{width:.5g}z"


def _hatching(place: Rect) -> str:
    """Strokes from the lower left to the upper right, cut at the edges."""
    x, y, width, height = place
    strokes = []
    for at in range(_HATCH, int(width + height), _HATCH):
        low, high = max(0.0, at - width), min(float(at), height)
        strokes.append(f"M{x + at - low:.5g} {y + low:.5g}L{x + at - high:.5g} {y + high:.5g}")
    return "".join(strokes)
