from __future__ import annotations

import math
from itertools import combinations

import pytest
from PySide6.QtGui import QPalette

from inspector.core.kinds import ROLES, Role
from inspector.drawing.palette import COLOURS, CONTRAST, MARKS, Colours, Mark, Scheme, contrast, mixed, scheme_of
from inspector.gui.kit.theme import WINDOW_COLOURS, palette

HATCHED = frozenset({Role.GAP, Role.GARBAGE})
"""Roles that are also hatched: bytes that no field claims."""

_R = QPalette.ColorRole
Vector = tuple[float, float, float]

READABLE = 4.5
SHARP = 7.0
"""What a text has at least where high contrast is wanted."""
VISIBLE = 3.0
NOTICEABLE = 0.02
"""About the least difference in OKLab that is seen."""

# How much of each linear primary reaches an eye without one kind of cones: Machado, Oliveira and Fernandes 2009,
# severity 1.
VISIONS: dict[str, tuple[Vector, Vector, Vector]] = {
    "full": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
OKLAB = (
    (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    ),
    (
        (0.2104542553, 0.793617785, -0.0040720468),
        (1.9779984951, -2.428592205, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.808675766),
    ),
)


def times(matrix: tuple[Vector, Vector, Vector], vector: Vector) -> Vector:
    first, second, third = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return first, second, third


def linear(colour: str) -> Vector:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def seen(colour: str, vision: str) -> Vector:
    red, green, blue = (min(1.0, max(0.0, part)) for part in times(VISIONS[vision], linear(colour)))
    first, second, third = (part ** (1 / 3) for part in times(OKLAB[0], (red, green, blue)))
    return times(OKLAB[1], (first, second, third))


every_scheme = pytest.mark.parametrize("colours", COLOURS.values(), ids=list(COLOURS))


def fills(colours: Colours) -> list[str]:
    return [fill for role in ROLES for fill in colours.fills[role]]


def test_every_scheme_has_colours() -> None:
    assert set(COLOURS) == set(Scheme)


@every_scheme
def test_every_role_has_a_background_and_those_without_an_own_one_are_hatched(colours: Colours) -> None:
    assert set(colours.fills) == set(ROLES)
    assert set(colours.strokes) == HATCHED == {role for role in ROLES if colours.fill(role) == colours.base}


@pytest.mark.parametrize("scheme", Scheme)
def test_text_is_readable_on_everything(scheme: Scheme) -> None:
    colours, least = COLOURS[scheme], SHARP if scheme in CONTRAST else READABLE
    for behind in fills(colours):
        assert contrast(colours.text, behind) >= least
    for behind in colours.strokes.values():
        assert contrast(colours.text, behind) >= READABLE
    assert contrast(colours.quiet, colours.base) >= least
    assert contrast(colours.selection_text, colours.selection) >= least


@pytest.mark.parametrize("scheme", Scheme)
def test_marks_are_visible_on_what_they_stand_on(scheme: Scheme) -> None:
    window, least = WINDOW_COLOURS[scheme], SHARP if scheme in CONTRAST else VISIBLE
    for role in (_R.Base, _R.Window, _R.AlternateBase):
        assert {mark for mark in Mark if contrast(MARKS[scheme][mark], window[role]) < least} == set()


PAIRS = (
    (_R.WindowText, _R.Window),
    (_R.Text, _R.Base),
    (_R.Text, _R.AlternateBase),
    (_R.ButtonText, _R.Button),
    (_R.ToolTipText, _R.ToolTipBase),
    (_R.PlaceholderText, _R.Window),
    (_R.PlaceholderText, _R.Base),
    (_R.PlaceholderText, _R.AlternateBase),
    (_R.HighlightedText, _R.Highlight),
    (_R.Link, _R.Window),
    (_R.Link, _R.Base),
    (_R.LinkVisited, _R.Base),
)
"""What text in the window is on what."""


@pytest.mark.parametrize("scheme", Scheme)
def test_the_window_is_readable(scheme: Scheme) -> None:
    window, least = WINDOW_COLOURS[scheme], SHARP if scheme in CONTRAST else READABLE
    for text, behind in PAIRS:
        assert contrast(window[text], window[behind]) >= least, (text, behind)


@pytest.mark.parametrize("scheme", Scheme)
def test_what_cannot_be_done_now_can_still_be_read_where_contrast_is_wanted(scheme: Scheme) -> None:
    made, window = palette(scheme), WINDOW_COLOURS[scheme]
    faint = made.color(QPalette.ColorGroup.Disabled, _R.WindowText)
    opaque = mixed(faint.name(), window[_R.Window], faint.alphaF())
    assert contrast(opaque, window[_R.Window]) >= (READABLE if scheme in CONTRAST else 2)


@pytest.mark.parametrize("scheme", Scheme)
def test_the_window_and_the_bytes_are_of_one_scheme(scheme: Scheme) -> None:
    window = WINDOW_COLOURS[scheme]
    assert scheme_of(window[_R.Base], window[_R.Text]) is scheme


@every_scheme
def test_lines_are_visible_on_everything(colours: Colours) -> None:
    for behind in fills(colours):
        assert contrast(colours.damage, behind) >= VISIBLE
        assert contrast(colours.outline, behind) >= VISIBLE


@every_scheme
@pytest.mark.parametrize("vision", VISIONS)
def test_backgrounds_are_told_apart(colours: Colours, vision: str) -> None:
    tints = {fill for role in ROLES if role not in HATCHED for fill in colours.fills[role]}
    assert len(tints) == 9

    for one, other in combinations(sorted(tints | {colours.base}), 2):
        assert math.dist(seen(one, vision), seen(other, vision)) >= NOTICEABLE, (one, other)


@every_scheme
def test_members_take_turns_between_two_shades(colours: Colours) -> None:
    assert colours.fill(Role.DATA, 0) != colours.fill(Role.DATA, 1)
    assert colours.fill(Role.NAME, 0) == colours.fill(Role.NAME, 1)


@pytest.mark.parametrize(
    ("base", "text", "scheme"),
    [
        ("#ffffff", "#1b1f24", Scheme.LIGHT),
        ("#191c20", "#e4e7eb", Scheme.DARK),
        ("#ffffff", "#000000", Scheme.CONTRAST_LIGHT),
        ("#000000", "#ffffff", Scheme.CONTRAST_DARK),
    ],
)
def test_the_scheme_follows_the_window(base: str, text: str, scheme: Scheme) -> None:
    assert scheme_of(base, text) is scheme


def test_a_tint_is_a_share_of_a_hue_over_a_base() -> None:
    assert mixed("#FF0000", "#FFFFFF", 0.25) == "#FFBFBF"


def test_contrast_of_the_extremes() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#777777") == 1
