"""The colours of the roles: Okabe-Ito hues as tints of 25 to 35 % over the base. No Qt here.

The shares were chosen so that all backgrounds are distinct, with normal, protan, deutan and tritan vision, and text is
readable on each; a test computes both.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.core.kinds import Role


class Scheme(StrEnum):
    """A colour scheme."""

    LIGHT = "light"
    DARK = "dark"
    CONTRAST_LIGHT = "high contrast on white"
    CONTRAST_DARK = "high contrast on black"


CONTRAST = frozenset((Scheme.CONTRAST_LIGHT, Scheme.CONTRAST_DARK))
"""The high-contrast schemes."""


@dataclass(frozen=True, slots=True)
class Colours:
    """All colours of one scheme as ``#RRGGBB``.

    ``fills`` are the backgrounds of each role, two alternating ones for member data; ``strokes`` are the hatching
    colours; ``outline`` surrounds the selected field and ``damage`` the bytes of findings.
    """

    base: str
    text: str
    quiet: str
    rule: str
    selection: str
    selection_text: str
    outline: str
    damage: str
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


_HUES = {
    Role.HEADER: "#E69F00",
    Role.DIRECTORY: "#0072B2",
    Role.DIGEST: "#CC79A7",
    Role.EXTENT: "#009E73",
    Role.NAME: "#F0E442",
    Role.DATA: "#56B4E9",
    Role.CONTROL: "#D55E00",
    Role.PADDING: "#A0A0A0",
}
_ON_WHITE = {
    Role.HEADER: (0.25,),
    Role.DIRECTORY: (0.35,),
    Role.DIGEST: (0.35,),
    Role.EXTENT: (0.35,),
    Role.NAME: (0.29,),
    Role.DATA: (0.25, 0.35),
    Role.CONTROL: (0.35,),
    Role.PADDING: (0.29,),
}
_ON_BLACK = {
    Role.HEADER: (0.33,),
    Role.DIRECTORY: (0.25,),
    Role.DIGEST: (0.29,),
    Role.EXTENT: (0.27,),
    Role.NAME: (0.29,),
    Role.DATA: (0.29, 0.35),
    Role.CONTROL: (0.35,),
    Role.PADDING: (0.33,),
}


def _colours(
    base: str,
    text: str,
    quiet: str,
    selection: tuple[str, str],
    lines: tuple[str, str],
    shares: dict[Role, tuple[float, ...]],
    hatching: tuple[str, str],
) -> Colours:
    fills = {role: tuple(mixed(hue, base, share) for share in shares[role]) for role, hue in _HUES.items()}
    fills |= {Role.GAP: (base,), Role.GARBAGE: (base,)}
    strokes = {Role.GAP: hatching[0], Role.GARBAGE: hatching[1]}
    return Colours(base, text, quiet, mixed(text, base, 0.15), *selection, *lines, fills, strokes)


COLOURS: dict[Scheme, Colours] = {
    Scheme.LIGHT: _colours(
        "#FFFFFF",
        "#1B1F24",
        "#5F6770",
        ("#1F6FBF", "#FFFFFF"),
        ("#1B1F24", "#B3001B"),
        _ON_WHITE,
        ("#C2C6CC", "#EDA778"),
    ),
    Scheme.DARK: _colours(
        "#191C20",
        "#E4E7EB",
        "#98A1AC",
        ("#2F6FB0", "#FFFFFF"),
        ("#F2F4F6", "#FF8A80"),
        _ON_BLACK,
        ("#4A5058", "#8A4416"),
    ),
    Scheme.CONTRAST_LIGHT: _colours(
        "#FFFFFF",
        "#000000",
        "#333333",
        ("#00388C", "#FFFFFF"),
        ("#000000", "#99000F"),
        _ON_WHITE,
        ("#9AA0A6", "#E08030"),
    ),
    Scheme.CONTRAST_DARK: _colours(
        "#000000",
        "#FFFFFF",
        "#D0D0D0",
        ("#FFE866", "#000000"),
        ("#FFFFFF", "#FF9C94"),
        _ON_BLACK,
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


def scheme_of(base: str, text: str) -> Scheme:
    """The scheme for a window with this base and text colour."""
    light = luminance(base) > luminance(text)
    if contrast(base, text) >= _MIN_HIGH_CONTRAST:
        return Scheme.CONTRAST_LIGHT if light else Scheme.CONTRAST_DARK
    return Scheme.LIGHT if light else Scheme.DARK
