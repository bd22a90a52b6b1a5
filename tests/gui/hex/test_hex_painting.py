from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter
from PySide6.QtWidgets import QApplication

from inspector.core.kinds import Role
from inspector.core.span import Span
from inspector.drawing.palette import COLOURS, Colours, Scheme
from inspector.gui.hex.layout import Cursor, Layout, Pane
from inspector.gui.hex.pages import PAGE, Deliver, HexModel
from inspector.gui.hex.painting import UNDERLINE_HEIGHT, Grid, Look, RowPainter, ViewState, row_metrics
from inspector.gui.kit.style import scheme_for
from inspector.gui.kit.theme import fixed_font, palette
from tests.gui.hex.conftest import PARTS, Shown, fetch
from tests.pictures.comparing import pixels
from tests.sweeping import at_every_change

Show = Callable[..., Shown]


def colours_of(shown: Shown) -> Colours:
    return shown.view.look.colours


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("pane", Pane)
def test_the_colour_behind_a_byte_is_that_of_its_field(show: Show, dark: bool, pane: Pane) -> None:
    shown = show(dark=dark)
    colours = COLOURS[Scheme.DARK if dark else Scheme.LIGHT]
    expected = {
        1: colours.fill(Role.HEADER),
        10: colours.fill(Role.EXTENT),
        30: colours.fill(Role.NAME),
        50: colours.fill(Role.DATA, 0),
        120: colours.fill(Role.DATA, 1),
        190: colours.fill(Role.DIGEST),
    }

    assert {offset: shown.colour(offset, pane) for offset in expected} == expected


@pytest.mark.parametrize("pane", Pane)
def test_gap_and_garbage_are_hatched_and_nothing_else_is(show: Show, pane: Pane) -> None:
    shown = show()
    strokes = colours_of(shown).strokes

    assert strokes[Role.GAP] in shown.colours(166, pane)
    assert strokes[Role.GARBAGE] in shown.colours(175, pane)
    assert strokes[Role.GAP] not in shown.colours(175, pane)
    assert not set(strokes.values()) & shown.colours(190, pane)


def test_neighbours_of_one_field_have_no_seam_and_fields_end_at_their_last_byte(show: Show) -> None:
    shown = show()
    picture = shown.picture()
    between = shown.view.place_of(24, Pane.HEX).right(), shown.view.place_of(24, Pane.HEX).top() + 3
    beyond = shown.view.place_of(19, Pane.HEX).right() + 3, shown.view.place_of(19, Pane.HEX).top() + 3

    assert picture.pixelColor(*between).name().upper() == colours_of(shown).fill(Role.NAME)
    assert picture.pixelColor(*beyond).name().upper() == colours_of(shown).fill(Role.NAME)


def test_the_selection_is_seen_in_both_panes(show: Show) -> None:
    shown = show()

    shown.view.goTo(50, 3)

    selection = colours_of(shown).selection
    for pane in Pane:
        assert [shown.colour(offset, pane) == selection for offset in (49, 51, 52, 53)] == [False, True, True, False]
        assert colours_of(shown).text not in shown.colours(51, pane)
    assert colours_of(shown).selection_text in shown.colours(51)


def test_an_outline_runs_around_its_field(show: Show) -> None:
    shown = show()
    outline = colours_of(shown).outline
    shown.view.goTo(0)
    shown.view.mark(outline=[(20, 40)])
    picture = shown.picture()

    def edge(offset: int, x: int, y: int) -> str:
        place = shown.view.place_of(offset, Pane.HEX)
        return picture.pixelColor(place.left() + x, place.top() + y).name().upper()

    line = shown.view.look.line
    assert edge(20, 0, 3) == outline  # its left side
    assert edge(21, 5, 0) == outline  # above it
    assert edge(39, 5, line - 1) == outline  # below its last byte
    assert edge(36, 5, 0) != outline  # not between its two rows
    assert edge(19, 5, 0) != outline


def test_damage_is_outlined_and_marked_in_the_margin(show: Show) -> None:
    shown = show()
    damage = colours_of(shown).damage
    middle = shown.view.place_of(60, Pane.HEX).center().y()
    assert damage not in shown.colours(60)

    shown.view.mark(damage=[(60, 62)])

    assert damage in shown.colours(60)
    assert damage in shown.colours(61, Pane.TEXT)
    assert damage not in shown.colours(64)
    assert shown.picture().pixelColor(3, middle).name().upper() == damage


def test_the_caret_is_strongest_where_the_keyboard_works(show: Show) -> None:
    shown = show()
    shown.view.goTo(50)

    def inner(pane: Pane) -> str:
        """The colour one pixel inside the edge, above the letters."""
        place = shown.view.place_of(50, pane)
        return shown.picture().pixelColor(place.center().x(), place.top() + 1).name().upper()

    text = colours_of(shown).text
    assert (inner(Pane.HEX) == text, inner(Pane.TEXT) == text) == (True, False)
    shown.view.focusNextPrevChild(True)
    assert (inner(Pane.HEX) == text, inner(Pane.TEXT) == text) == (False, True)
    shown.view.clearFocus()
    assert (inner(Pane.HEX) == text, inner(Pane.TEXT) == text) == (False, False)


def test_letters_stand_at_their_bytes(show: Show) -> None:
    """The same byte looks the same wherever in a row it stands: digits are neither cut nor pushed aside."""
    shown = show()
    shown.view.setModel(HexModel(1000, lambda a, b, deliver: deliver(b"8 " * ((b - a) // 2), []), shown.view))
    shown.view.goTo(900, reveal=False)
    picture = shown.picture()

    for pane in Pane:
        cells = [picture.copy(shown.view.place_of(offset, pane)) for offset in range(0, 16, 2)]
        dark = {
            sum(cell.pixelColor(x, y).lightness() < 128 for x in range(cell.width()) for y in range(cell.height()))
            for cell in cells
        }
        assert len(dark) == 1
        assert dark != {0}


def test_dashes_until_bytes_arrive_and_then_bytes(show: Show) -> None:
    shown = show()
    waiting: list[tuple[int, int, Deliver]] = []
    model = HexModel(4000, lambda *asked: waiting.append(asked), shown.view)
    shown.view.setModel(model)
    shown.view.goTo(3000, reveal=False)
    before = shown.picture()
    assert shown.colour(10) == colours_of(shown).base

    fetch(*waiting.pop(0))
    QApplication.processEvents()

    assert shown.picture() != before
    assert shown.colour(10) == colours_of(shown).fill(Role.EXTENT)
    dashes = HexModel(4000, lambda *_: None, shown.view)
    shown.view.setModel(dashes)
    shown.view.goTo(3000, reveal=False)
    assert shown.picture() == before


def test_what_is_shown_is_fetched_before_anything_else(show: Show) -> None:
    shown = show()
    asked: list[tuple[int, int]] = []
    model = HexModel(64 << 30, lambda start, stop, _: asked.append((start, stop)), shown.view)

    shown.view.setModel(model)
    shown.view.goTo((64 << 30) - 1)
    shown.picture()

    assert asked[-1] == ((64 << 30) - PAGE, 64 << 30)


def test_colours_follow_the_palette(show: Show) -> None:
    shown = show()
    light = shown.colour(50)

    shown.view.setPalette(palette(Scheme.DARK))

    assert shown.view.look.scheme is scheme_for(palette(Scheme.DARK)) is Scheme.DARK
    assert shown.colour(50) != light


def test_the_fields_of_these_tests_are_whole() -> None:
    assert [stop for _, stop, _, _ in PARTS[:-1]] == [start for start, _, _, _ in PARTS[1:]]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("selected", [False, True], ids=["plain", "selected"])
def test_edited_bytes_are_underlined_apart_from_the_outline_around_them(show: Show, dark: bool, selected: bool) -> None:
    shown = show(dark=dark)
    view, look = shown.view, shown.view.look
    view.goTo(20, 4) if selected else view.goTo(0)
    view.mark(outline=[(20, 24)])
    view.mark(edited=[(21, 23)])
    picture = shown.picture()
    colour = look.colours.selection_text if selected else look.colours.text

    def lines(offset: int, pane: Pane) -> list[int]:
        """At which heights there is a line through the middle of a byte, below its letters."""
        place = view.place_of(offset, pane)
        x, top = place.center().x(), place.top()
        heights = range(look.baseline + 1, look.line - 1)
        return [y for y in heights if picture.pixelColor(x, top + y).name().upper() == colour]

    underlined = list(range(look.underline, look.underline + UNDERLINE_HEIGHT))
    for pane in Pane:
        assert [lines(offset, pane) for offset in (21, 22, 23)] == [underlined, underlined, []]


# ---- whatever the font -------------------------------------------------------------------------------------------

COLUMNS = 8
ROW = 1
"""The row whose bytes are edited and outlined, between two others."""
HINTINGS = list(QFont.HintingPreference)


@given(ascent=st.floats(0.1, 400), descent=st.floats(0, 150))
@example(ascent=11.125, descent=2.828125)  # Debian's default: DejaVu Sans Mono of 12 pixels, hinted slightly
@example(ascent=11.0, descent=3.0)  # the same, hinted fully
def test_rows_keep_letters_underlines_and_outlines_apart_for_any_font(ascent: float, descent: float) -> None:
    line, baseline, underline = row_metrics(ascent, descent)

    widest = 2
    assert baseline - ascent >= widest - 0.5
    assert underline > baseline
    assert underline + UNDERLINE_HEIGHT < line - widest
    assert line - baseline >= descent + widest


def painted(look: Look, scale: float, **lines: list[Span]) -> np.ndarray:
    """Rows of capitals in a picture of so many pixels a point: height x width x 3 colours."""
    model = HexModel(3 * COLUMNS, lambda start, stop, deliver: deliver(b"A" * (stop - start), []))
    model.request(0, 3 * COLUMNS)
    layout = Layout(3 * COLUMNS, COLUMNS)
    grid = Grid(look, layout)
    image = QImage(ceil(grid.width * scale), ceil(3 * look.line * scale), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(scale)
    image.fill(QColor(look.colours.base))
    painter = QPainter(image)
    RowPainter(painter, look, ViewState(layout, grid, Cursor(3 * COLUMNS), model, **lines)).paint(range(3), 0)
    painter.end()
    return pixels(image)


def differing(picture: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The pixels in which two pictures differ: height x width."""
    return (picture != other).any(axis=2)


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize(
    "case",
    at_every_change(
        product(HINTINGS, (Scheme.LIGHT, Scheme.CONTRAST_DARK), (1.0, 1.25, 1.5, 2.0)),
        lambda case: case[1:] == (Scheme.LIGHT, 1.25) or (case[0] is HINTINGS[-1] and case[2] == 1.0),
        lambda case: f"{case[0].name}, {case[1]}, {case[2]}",
    ),
)
def test_an_underline_touches_no_outline_whatever_the_font(
    case: tuple[QFont.HintingPreference, Scheme, float],
) -> None:
    hinting, scheme, scale = case
    font = fixed_font()
    font.setHintingPreference(hinting)
    outlined = Span(ROW * COLUMNS + 2, ROW * COLUMNS + 6)
    edited = Span(outlined.start + 1, outlined.stop - 1)  # the sides of an outline run beside the letters
    ascents = set()
    for points in (5, 6, 7, 8, 9, 9.5, 10, 11, 12, 14, 17, 20, 28):
        font.setPointSizeF(points)
        ascents.add(QFontMetricsF(font).ascent())
        look = Look(font, scheme)
        plain = painted(look, scale)
        underline = differing(plain, painted(look, scale, edited=[edited]))
        first, *_, last = np.flatnonzero(underline.any(axis=1)).tolist()
        for kind in ("outline", "damage", "stored", "omitted"):
            outline = differing(plain, painted(look, scale, **{kind: [outlined]}))[:, underline.any(axis=0)]
            assert outline[last:].any()
            assert not outline[first - 1 : last + 2].any(), (points, kind)
    assert len(ascents) > 10
