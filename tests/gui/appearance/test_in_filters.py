"""The keyboard leads from a filter into its results; all that is selected is copied; a byte knows its place."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFormLayout
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.byte import MIN_WIDTH_BESIDE_PX, BytePanel
from inspector.operations.protocol.views import LayerKind
from tests.gui.conftest import Show, press, settle


def clear_filter(tab: Tab, window: Window, qtbot: QtBot) -> None:
    tab.members.filter.clear()
    qtbot.waitUntil(lambda: tab.document.filter == "" and tab.members.table_model.rowCount() == 8)
    settle(qtbot, window)


def down_leads_into_the_results(tab: Tab, window: Window, qtbot: QtBot) -> None:
    press(window, "filter_members")
    QTest.keyClicks(tab.members.filter, "tile")
    qtbot.waitUntil(lambda: tab.members.table_model.rowCount() == 2)
    settle(qtbot, window)
    QTest.keyClick(tab.members.filter, Qt.Key.Key_Down)
    assert tab.members.view.hasFocus()
    assert tab.members.view.currentIndex().isValid()
    clear_filter(tab, window, qtbot)


def the_only_result_is_expanded_before_the_rows_of_the_table_arrive(tab: Tab, window: Window, qtbot: QtBot) -> None:
    members = tab.members
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(members.table_model, "fetch", lambda *_: None)
        press(window, "filter_members")
        QTest.keyClicks(members.filter, "deep")
        qtbot.waitUntil(lambda: str(members.tree.currentIndex().data()) == "deep.json")
    assert members.tree.isExpanded(members.tree.currentIndex().parent())
    clear_filter(tab, window, qtbot)


def enter_opens_the_only_result_which_is_expanded(tab: Tab, window: Window, qtbot: QtBot) -> None:
    members = tab.members
    press(window, "filter_members")
    QTest.keyClicks(members.filter, "deep")
    qtbot.waitUntil(lambda: members.table_model.rowCount() == 1)
    qtbot.waitUntil(lambda: str(members.tree.currentIndex().data()) == "deep.json")
    assert members.tree.isExpanded(members.tree.currentIndex().parent())
    members.filter.setFocus()
    QTest.keyClick(members.filter, Qt.Key.Key_Return)
    settle(qtbot, window)
    info = tab.document.layer_info(tab.document.layer)
    assert info is not None
    assert info.kind is LayerKind.CONTENT


def a_filter_that_nothing_matches_says_so(tab: Tab, window: Window, qtbot: QtBot) -> None:
    press(window, "filter_members")
    QTest.keyClicks(tab.members.filter, "no such name")
    qtbot.waitUntil(lambda: "No match: no member's name contains" in tab.members.stack.shown_sentence())
    clear_filter(tab, window, qtbot)


def all_selected_members_are_copied_and_their_paths(tab: Tab, window: Window, qtbot: QtBot) -> None:
    tab.members.as_table.click()
    settle(qtbot, window)
    table = tab.members.table
    flags = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    table.clearSelection()
    for row in (0, 1):
        table.selectionModel().select(table.model().index(row, 0), flags)
    table.setFocus()
    press(window, "copy")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["readme.txt", "photos/tile_0001.png"]
    assert lines[0].split("\t")[1] == "56"
    press(window, "copy_path")
    assert QGuiApplication.clipboard().text() == "readme.txt\nphotos/tile_0001.png"


def a_byte_knows_its_place_in_its_member(tab: Tab, window: Window, qtbot: QtBot) -> None:
    tab.hex_pane.hex.goTo(10)
    settle(qtbot, window)
    fact = tab.byte.facts["In member"]
    qtbot.waitUntil(lambda: fact.plain_text() == "byte 10 of 56 of readme.txt")
    tab.hex_pane.hex.goTo(tab.document.size - 1)  # in the footer
    settle(qtbot, window)
    qtbot.waitUntil(lambda: fact.plain_text() == "")
    tab.document.open_content(0)
    settle(qtbot, window)
    tab.hex_pane.hex.goTo(7)
    qtbot.waitUntil(lambda: fact.plain_text() == "byte 7 of 56 of readme.txt")


def test_the_keyboard_leads_from_the_filter_of_members_into_results_which_are_copied_and_opened(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    a_byte_knows_its_place_in_its_member(tab, window, qtbot)
    tab.document.go_to(0, 0, 1)
    settle(qtbot, window)
    the_only_result_is_expanded_before_the_rows_of_the_table_arrive(tab, window, qtbot)
    down_leads_into_the_results(tab, window, qtbot)
    a_filter_that_nothing_matches_says_so(tab, window, qtbot)
    enter_opens_the_only_result_which_is_expanded(tab, window, qtbot)
    clear_filter(tab, window, qtbot)
    all_selected_members_are_copied_and_their_paths(tab, window, qtbot)


def the_byte_panel_has_one_layout_at_a_width(panel: BytePanel, width: int) -> None:
    form = panel.findChild(QFormLayout)
    assert form is not None
    policies = set()
    for start in (170, 400):
        panel.resize(start, 400)
        panel.resize(width, 400)
        policies.add(form.rowWrapPolicy())
    above = width < MIN_WIDTH_BESIDE_PX
    assert policies == {QFormLayout.RowWrapPolicy.WrapAllRows if above else QFormLayout.RowWrapPolicy.DontWrapRows}


def typing_in_the_structure_finds_fields_at_any_depth(tab: Tab, window: Window, qtbot: QtBot) -> None:
    panel = tab.structure
    press(window, "go_to_structure")
    assert panel.filter.isHidden()
    QTest.keyClicks(panel.tree, "t")
    assert panel.filter.hasFocus()
    QTest.keyClicks(panel.filter, "ile_0002")
    qtbot.waitUntil(lambda: panel.found_table.isVisible() and panel.found.rowCount() > 1)
    texts = [str(panel.found.index(row, 0).data()) + str(panel.found.index(row, 1).data()) for row in range(3)]
    assert all("tile_0002" in text for text in texts[: panel.found.rowCount()])

    QTest.keyClick(panel.filter, Qt.Key.Key_Down)
    assert panel.found_table.hasFocus()
    field = panel.found.rows[0].row
    qtbot.waitUntil(lambda: tab.document.selection.field == field.path)
    assert tab.hex_pane.hex.caret() == field.spans[0].start

    QTest.keyClicks(panel.found_table, "?")
    qtbot.waitUntil(lambda: "No match for “tile_0002?”" in panel.stack.shown_sentence())
    QTest.keyClick(panel.filter, Qt.Key.Key_Escape)
    assert panel.tree.isVisible()
    assert panel.filter.isHidden()


def typing_among_digests_leaves_those_that_match(tab: Tab, window: Window, qtbot: QtBot) -> None:
    panel = tab.digests
    press(window, "go_to_digests")
    settle(qtbot, window)
    every = [str(panel.model.index(row, 0).data()) for row in range(panel.model.rowCount())]
    wanted = every[1].rpartition("/")[2]
    left = [name for name in every if wanted in name]
    assert 0 < len(left) < len(every)

    QTest.keyClicks(panel.table, wanted[0])
    QTest.keyClicks(panel.filter, wanted[1:])
    qtbot.waitUntil(lambda: panel.model.rowCount() == len(left))
    qtbot.waitUntil(lambda: str(panel.model.index(0, 0).data()) == left[0])
    QTest.keyClick(panel.filter, Qt.Key.Key_Return)
    assert tab.document.selection.origin == "digests" or panel.table.hasFocus()
    QTest.keyClicks(panel.filter, "no such thing")
    qtbot.waitUntil(lambda: "No match for" in panel.stack.shown_sentence())
    panel.filter.setFocus()
    QTest.keyClick(panel.filter, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: panel.model.rowCount() == len(every))


def test_typing_in_the_structure_or_among_digests_leaves_what_matches(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-entries.tacozip")
    for width in (MIN_WIDTH_BESIDE_PX - 1, MIN_WIDTH_BESIDE_PX):
        the_byte_panel_has_one_layout_at_a_width(tab.byte, width)
    typing_in_the_structure_finds_fields_at_any_depth(tab, window, qtbot)
    typing_among_digests_leaves_those_that_match(tab, window, qtbot)
