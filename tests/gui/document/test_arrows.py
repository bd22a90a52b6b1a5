"""Arrows beside the bytes: what they say, where a click on them leads, and that they can go."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.hex.gutter import DrawnArrow, Gutter
from tests.gui.conftest import Show, press, settle


def place_of(gutter: Gutter, stroke: DrawnArrow) -> QPoint:
    """The middle of the longest piece of a line."""
    corners = gutter.line_of(stroke)
    pieces = list(pairwise(corners))
    start, stop = max(pieces, key=lambda piece: (piece[0] - piece[1]).manhattanLength())
    return (start + stop) / 2


def stroke_from(tab: Tab, offset: int) -> DrawnArrow:
    found = tab.hex_pane.hex.gutter.strokes
    return next(s for s in found if s.arrow.source is not None and s.arrow.source.start == offset)


def go(qtbot: QtBot, window: Window, tab: Tab, offset: int) -> None:
    tab.document.select_byte(0, offset, "test")
    settle(qtbot, window)


def click(qtbot: QtBot, window: Window, tab: Tab, stroke: DrawnArrow) -> None:
    gutter = tab.hex_pane.hex.gutter
    QTest.mouseClick(gutter, Qt.MouseButton.LeftButton, pos=place_of(gutter, stroke))
    settle(qtbot, window)


def test_an_arrow_says_where_it_goes_is_lit_at_the_caret_and_a_click_goes_along_it_and_back(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("two-entries.tacozip")
    gutter = tab.hex_pane.hex.gutter
    stroke = stroke_from(tab, 45)
    assert gutter.stroke_at(place_of(gutter, stroke)) is stroke
    words = gutter.describe(place_of(gutter, stroke))  # it leaves the screen
    assert words.startswith("The Entry 0\n→ The data of METADATA/level0.parquet\nAt byte 5,109 (0x13f5), ")
    assert words.endswith(" rows further down.")

    assert not stroke_from(tab, 45).lit
    go(qtbot, window, tab, 50)
    assert stroke_from(tab, 45).lit
    assert not stroke_from(tab, 61).lit

    click(qtbot, window, tab, stroke_from(tab, 61))
    assert tab.document.selection.spans == (Span(5462, 5539),)
    click(qtbot, window, tab, stroke_from(tab, 61))
    assert tab.document.selection.caret == 61
    press(window, "back")
    assert tab.document.selection.caret == 5462


def test_both_ends_of_arrows_are_shown_where_there_is_room_and_each_layer_has_its_own(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("two-resets-spec.rca")
    go(qtbot, window, tab, 1_000)
    click(qtbot, window, tab, stroke_from(tab, 997))  # lights up what the hash of the reset covers
    selection = tab.document.selection
    assert (selection.caret, selection.stored) == (503, (Span(999, 1007),))
    assert selection.omitted

    go(qtbot, window, tab, 990)
    stroke = next(s for s in tab.hex_pane.hex.gutter.strokes if s.arrow.target.start == 997)
    assert stroke.source is None  # the header of the chunk is at the beginning
    click(qtbot, window, tab, stroke)
    assert tab.document.selection.caret == 0

    tab.document.show_layer(1)
    settle(qtbot, window)
    assert [s.arrow.target.start for s in tab.hex_pane.hex.gutter.strokes] == [0]


def test_rows_scrolled_into_view_bring_their_arrows_and_the_menu_hides_them_in_every_tab(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    first = show("plain.zip")
    view = first.hex_pane.hex
    assert not [s for s in view.gutter.strokes if s.arrow.source == Span(5635, 5657)]
    view.scroll_rows(10_000)
    settle(qtbot, window)
    assert stroke_from(first, 5635).arrow.target_words == "The central directory"

    second = show("two-entries.tacozip")
    view = second.hex_pane.hex

    def room() -> int:
        return view.viewport().width() + (view.lane.width() if view.lane.isVisible() else 0)

    width = room()
    view.setArrowsShown(False)
    assert not view.gutter.isVisible()
    assert room() > width
    view.scroll_rows(10_000)
    view.setArrowsShown(True)
    settle(qtbot, window)
    assert room() == width
    assert [s.arrow.target_words for s in view.gutter.strokes if s.arrow.source and s.arrow.source.start == 5854]

    assert window.actions_["show_arrows"].isChecked()
    press(window, "show_arrows")
    assert not window.actions_["show_arrows"].isChecked()
    third = show("journey.caf")  # that is remembered
    assert [tab.hex_pane.hex.gutter.isHidden() for tab in (first, second, third)] == [True, True, True]
    press(window, "show_arrows")
    assert not first.hex_pane.hex.gutter.isHidden()
