"""The colours of the bytes: eight Okabe-Ito hues as tints over the base.

Each hue has three levels: a pale one, and two that neighbours take in turn. The shares of the hues were chosen by
search so that the levels of all hues are apart from each other and from the base, with normal, protan, deutan and
tritan vision, and text is readable on each; tests compute both, and look at painted pixels.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from functools import cache
from typing import NamedTuple

from inspector.core.kinds import Family, Role


class Scheme(StrEnum):
    """A colour scheme; its value is stored as the user's choice."""

    LIGHT = "light"
    DARK = "dark"
    CONTRAST_LIGHT = "contrast-light"
    CONTRAST_DARK = "contrast-dark"


CONTRAST = frozenset((Scheme.CONTRAST_LIGHT, Scheme.CONTRAST_DARK))
"""The high-contrast schemes."""


class Hue(Enum):
    """The eight hues."""

    AMBER = "#E69F00"
    VERMILLION = "#D55E00"
    YELLOW = "#F0E442"
    GREEN = "#009E73"
    SKY = "#56B4E9"
    BLUE = "#0072B2"
    PURPLE = "#CC79A7"
    GREY = "#A0A0A0"


FAMILY_HUES = {
    Family.CHUNK: Hue.AMBER,
    Family.RESET: Hue.VERMILLION,
    Family.HEADER: Hue.YELLOW,
    Family.TACO: Hue.GREEN,
    Family.CONTENT: Hue.SKY,
    Family.INDEX: Hue.BLUE,
    Family.END: Hue.PURPLE,
    Family.PADDING: Hue.GREY,
}
"""One hue for each family of structures."""
ROLE_HUES = {
    Role.HEADER: Hue.AMBER,
    Role.DIRECTORY: Hue.BLUE,
    Role.DIGEST: Hue.PURPLE,
    Role.EXTENT: Hue.GREEN,
    Role.NAME: Hue.YELLOW,
    Role.DATA: Hue.SKY,
    Role.CONTROL: Hue.VERMILLION,
    Role.PADDING: Hue.GREY,
}
"""One hue for each role; gap and garbage are hatched."""
LEVELS = 3
"""Levels of a hue: 0 is pale, 1 and 2 are for neighbours in turn."""


class Tones(NamedTuple):
    """One hue in one scheme as ``#RRGGBB``: ``fills[level][tone]`` are backgrounds, ``line`` surrounds a structure."""

    fills: tuple[tuple[str, str], ...]
    line: str


class Colours(NamedTuple):
    """All colours of one scheme as ``#RRGGBB``.

    ``tones`` are those of the hues. ``fills`` are the backgrounds of each role, two alternating ones for member data;
    ``strokes`` are the hatching colours; ``outline`` surrounds the selected field and ``damage`` the bytes of findings.
    """

    base: str
    text: str
    quiet: str
    rule: str
    selection: str
    selection_text: str
    outline: str
    damage: str
    tones: dict[Hue, Tones]
    fills: dict[Role, tuple[str, ...]]
    strokes: dict[Role, str]

    def fill(self, role: Role, shade: int = 0) -> str:
        """The background of a role."""
        fills = self.fills[role]
        return fills[shade % len(fills)]


def mixed(hue: str, base: str, share: float) -> str:
    """``share`` (0 to 1) of a hue over a base."""
    parts = ((int(hue[i : i + 2], 16), int(base[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02X}" for a, b in parts)


_PALE = 0.55
"""The share of the pale level, in parts of level 1."""
_TONE = 0.25
"""How far the tone of every other field is on the way from level 1 to 2: near, so that levels differ anyway."""
_DEEP_YELLOW = "#CDBA00"
"""Yellow on white: the hue itself is too near to white."""
_DARK_LINES = ("#956300", "#A84A00", "#6F6500", "#00704F", "#22719F", "#00507D", "#8F3A68", "#5C636B")
_LIGHT_LINES = ("#E69F00", "#F5823B", "#D9CE3A", "#21C08F", "#56B4E9", "#4A9BE0", "#DC8FB8", "#A8AEB5")
"""Lines on white and on black, by hue: 3:1 against the base."""
_Shares = tuple[tuple[float, float], ...]
"""The shares of levels 1 and 2, by hue."""
_ON_LIGHT: _Shares = (
    (0.42, 0.53), (0.22, 0.42), (0.17, 0.3), (0.36, 0.48), (0.14, 0.3), (0.37, 0.47), (0.39, 0.54), (0.22, 0.32)
)  # fmt: skip
_ON_DARK: _Shares = (
    (0.16, 0.41), (0.17, 0.39), (0.19, 0.25), (0.37, 0.47), (0.11, 0.42), (0.26, 0.36), (0.35, 0.43), (0.17, 0.23)
)  # fmt: skip
_ON_WHITE: _Shares = (
    (0.46, 0.61), (0.25, 0.46), (0.39, 0.57), (0.41, 0.54), (0.3, 0.42), (0.3, 0.41), (0.46, 0.6), (0.31, 0.42)
)  # fmt: skip
_ON_BLACK: _Shares = (
    (0.29, 0.35), (0.33, 0.56), (0.32, 0.38), (0.43, 0.5), (0.3, 0.46), (0.39, 0.74), (0.29, 0.55), (0.32, 0.48)
)  # fmt: skip


def _tones(base: str, shares: _Shares, lines: tuple[str, ...], yellow: str) -> dict[Hue, Tones]:
    found: dict[Hue, Tones] = {}
    for hue, (first, second), line in zip(Hue, shares, lines, strict=True):
        colour = yellow if hue is Hue.YELLOW else hue.value
        levels = (first * _PALE, first, second)
        step = (second - first) * _TONE
        fills = tuple((mixed(colour, base, share), mixed(colour, base, share + step)) for share in levels)
        found[hue] = Tones(fills, line)
    return found


def _colours(
    base: str,
    text: str,
    quiet: str,
    selection: tuple[str, str],
    lines: tuple[str, str],
    tones: dict[Hue, Tones],
    hatching: tuple[str, str],
) -> Colours:
    fills: dict[Role, tuple[str, ...]] = {
        role: tuple(fill for fill, _ in tones[hue].fills[1 : 3 if role is Role.DATA else 2])
        for role, hue in ROLE_HUES.items()
    }
    fills |= {Role.GAP: (base,), Role.GARBAGE: (base,)}
    strokes = {Role.GAP: hatching[0], Role.GARBAGE: hatching[1]}
    return Colours(base, text, quiet, mixed(text, base, 0.15), *selection, *lines, tones, fills, strokes)


COLOURS: dict[Scheme, Colours] = {
    Scheme.LIGHT: _colours(
        "#FFFFFF",
        "#1B1F24",
        "#5F6770",
        ("#1F6FBF", "#FFFFFF"),
        ("#1B1F24", "#B3001B"),
        _tones("#FFFFFF", _ON_LIGHT, _DARK_LINES, _DEEP_YELLOW),
        ("#C2C6CC", "#EDA778"),
    ),
    Scheme.DARK: _colours(
        "#191C20",
        "#E4E7EB",
        "#98A1AC",
        ("#2F6FB0", "#FFFFFF"),
        ("#F2F4F6", "#FF8A80"),
        _tones("#191C20", _ON_DARK, _LIGHT_LINES, Hue.YELLOW.value),
        ("#4A5058", "#8A4416"),
    ),
    Scheme.CONTRAST_LIGHT: _colours(
        "#FFFFFF",
        "#000000",
        "#333333",
        ("#00388C", "#FFFFFF"),
        ("#000000", "#99000F"),
        _tones("#FFFFFF", _ON_WHITE, _DARK_LINES, _DEEP_YELLOW),
        ("#9AA0A6", "#E08030"),
    ),
    Scheme.CONTRAST_DARK: _colours(
        "#000000",
        "#FFFFFF",
        "#D0D0D0",
        ("#FFE866", "#000000"),
        ("#FFFFFF", "#FF9C94"),
        _tones("#000000", _ON_BLACK, _LIGHT_LINES, Hue.YELLOW.value),
        ("#66707A", "#A04E18"),
    ),
}


class Mark(StrEnum):
    """The meaning of an icon's colour, which its shape repeats."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    GOOD = "good"
    QUIET = "quiet"


MARKS: dict[Scheme, dict[Mark, str]] = {
    scheme: dict(zip(Mark, colours, strict=True))
    for scheme, colours in {
        Scheme.LIGHT: ("#C8432B", "#A87200", "#2F7FC1", "#1E8449", "#6E7680"),
        Scheme.DARK: ("#E8694F", "#DDA01E", "#5AA4E6", "#4CB87A", "#98A1AC"),
        Scheme.CONTRAST_LIGHT: ("#99000F", "#664400", "#00388C", "#0B5028", "#333333"),
        Scheme.CONTRAST_DARK: ("#FF9C94", "#FFD166", "#9CD0FF", "#8FE3A9", "#D0D0D0"),
    }.items()
}
"""The colours of marks, as ``#RRGGBB``."""


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


_MIN_HIGH_CONTRAST = 20.0
"""The contrast of text and base from which a system palette counts as high contrast."""


@cache
def scheme_of(base: str, text: str) -> Scheme:
    """The scheme for a window with this base and text colour."""
    light = luminance(base) > luminance(text)
    if contrast(base, text) >= _MIN_HIGH_CONTRAST:
        return Scheme.CONTRAST_LIGHT if light else Scheme.CONTRAST_DARK
    return Scheme.LIGHT if light else Scheme.DARK
