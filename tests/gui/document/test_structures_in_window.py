"""The bytes of a window by structure: selecting, stepping, lighting up, and what the colours say."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.window import Window
from inspector.gui.hex.layout import Pane
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Settings
from tests.gui.conftest import Show, settle
from tests.sweeping import in_the_sweep

LEFT = Qt.MouseButton.LeftButton


def test_a_click_on_a_name_selects_the_structure_and_what_the_colours_say_is_chosen_in_the_menu(
    show: Show, window: Window, settings: Settings, qtbot: QtBot
) -> None:
    window.resize(1600, 1000)
    tab = show("two-entries.tacozip")
    lane, legend = tab.hex_pane.hex.lane, tab.hex_pane.legend
    place = next(rect for rect, text in lane.labels() if text.startswith("entry 4")).center()
    QTest.mousePress(lane, LEFT, pos=place)
    settle(qtbot, window)
    assert tab.document.selection.spans == (Span(0x6D, 0x7D),)

    expected = "DATA/tile_0001.png · local file"  # the tree of fields names members in its first column
    tree = tab.structure.tree
    model = tree.model()
    top = model.index(0, 0)
    tree.expand(top)
    qtbot.waitUntil(lambda: expected in [model.index(row, 0, top).data() for row in range(model.rowCount(top))])

    menu = window.menus.colours
    assert [action.text() for action in menu.actions()] == ["Structure", "Field kind", "Verdict", "Member", "Entropy"]
    assert "TACO entry unused · 5" in legend.labels()
    for action, label in zip(menu.actions()[1:4], ("length or offset", "not checked · 5", "each member"), strict=True):
        action.trigger()
        settle(qtbot, window)
        assert any(each.startswith(label) for each in legend.labels()), label
    assert settings.get(preferences.COLOUR_BY) == "member"


@pytest.mark.parametrize(
    ("name", "own_bytes"), [("two-resets-spec.rca", False), in_the_sweep("two-resets-rcarch.rca", True)]
)
def test_a_selected_digest_lights_up_exactly_what_it_covers(
    show: Show, window: Window, qtbot: QtBot, name: str, own_bytes: bool
) -> None:
    """The hash at 999 covers segment 2, in which the hash of segment 1 stands: left out, or in as it is."""
    tab = show(name)
    view, first_hash = tab.hex_pane.hex, 0x1F9
    tab.document.select_byte(0, 1_000, "test")
    settle(qtbot, window)
    view.goTo(first_hash)
    settle(qtbot, window)
    tab.document.select_byte(0, 1_000, "test")
    settle(qtbot, window)

    def painted(offset: int) -> bool:
        view.reveal(offset, Pane.HEX)
        place, picture = view.place_of(offset, Pane.HEX), view.viewport().grab().toImage()
        return picture.pixelColor(place.left() + 3, place.top() + 3) != view.look.base.color()

    assert painted(first_hash + 1) is own_bytes
    assert [painted(offset) for offset in (0x210, 0x300, 1_001)] == [True, True, True]
    assert [painted(offset) for offset in (0x100, 1_020)] == [False, False]


@pytest.mark.sweep
def test_the_tree_of_fields_names_members_in_its_first_column(show: Show, qtbot: QtBot) -> None:
    tree = show("gap.caf").structure.tree
    model = tree.model()
    top = model.index(0, 0)
    tree.expand(top)
    expected = "readme.txt · file data"
    qtbot.waitUntil(lambda: expected in [model.index(row, 0, top).data() for row in range(model.rowCount(top))])


def test_the_legend_leads_to_each_of_a_kind_and_the_keyboard_opens_compressed_data_in_the_tree(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    window.resize(1600, 1000)
    tab = show("two-chunks.rca")
    legend, document, tree = tab.hex_pane.legend, tab.document, tab.structure.tree
    assert legend.labels() == ["chunk header · 2", "blob header · 7", "reset block · 1", "member data · 7"]
    place = legend.place_of("chunk header · 2").center()
    plain, shift = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
    went = []
    for modifiers in (plain, plain, shift):
        QTest.mousePress(legend, LEFT, modifiers, place)
        settle(qtbot, window)
        went.append(document.selection.caret)
    assert went == [0x8000, 0, 0x8000]  # around the end, and back

    document.select_byte(document.layer, 0x14, "test")
    settle(qtbot, window)
    assert tree.currentIndex().data() == "payload"
    assert document.selection.spans == (Span(0xC, 0x118),)

    QTest.keyClick(tree, Qt.Key.Key_Right)
    settle(qtbot, window)
    for _ in range(4):
        QTest.keyClick(tree, Qt.Key.Key_Down)
    settle(qtbot, window)

    assert tree.currentIndex().data() == "block"
    assert tree.currentIndex().parent().data() == "payload"
    assert document.selection.spans == (Span(0x12, 0x118),)
    assert tab.byte.title.text() == "block"
    assert tab.byte.path.text().endswith("payload")
    document.select_byte(document.layer, 0x14, "test")
    settle(qtbot, window)
    assert tree.currentIndex().data() == "payload"
