"""Navigation along references, by key and by link, and to the next bytes and fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.protocol.requests import ArchiveRequests
from tests.gui.conftest import Show, press, settle


def go(qtbot: QtBot, window: Window, tab: Tab, offset: int) -> None:
    tab.document.select_byte(0, offset, "test")
    settle(qtbot, window)


def key(qtbot: QtBot, window: Window, tab: Tab, pressed: Qt.Key, modifier: Qt.KeyboardModifier) -> None:
    tab.hex_pane.setFocus()
    QTest.keyClick(window, pressed, modifier)
    settle(qtbot, window)


PLAIN, SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier


def test_one_key_goes_from_the_footer_to_the_data_and_another_back(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    window.activateWindow()
    foot = tab.document.size - 4
    go(qtbot, window, tab, foot)
    carets = [foot]
    for _ in range(3):
        key(qtbot, window, tab, Qt.Key.Key_F12, PLAIN)
        carets.append(tab.document.selection.caret)
    assert tab.document.explanation is not None
    assert [row.kind for row in tab.document.explanation.fields][-1] == "member data"
    for before in reversed(carets[:-1]):
        key(qtbot, window, tab, Qt.Key.Key_F12, SHIFT)
        assert tab.document.selection.caret == before


def test_a_reset_block_lights_up_the_bytes_that_its_hash_covers(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-resets-spec.rca")
    goto = tab.document.go_to_expression
    goto("reset[1]")
    settle(qtbot, window)
    reset = tab.document.selection.caret
    press(window, "follow")
    settle(qtbot, window)
    selection = tab.document.selection
    assert selection.stored == (Span(reset + 2, reset + 10),)
    assert len(selection.spans) == 2
    assert selection.omitted


def next_of_this_kind_and_back(qtbot: QtBot, window: Window, tab: Tab) -> None:
    """Go to the field of the same kind that follows the first one, and back."""
    go(qtbot, window, tab, 0)
    assert tab.document.explanation is not None
    first = tab.document.explanation.fields[-1]
    key(qtbot, window, tab, Qt.Key.Key_F8, PLAIN)
    there = tab.document.explanation.fields[-1]
    assert (there.kind, there.name) == (first.kind, first.name)
    assert there.path != first.path
    key(qtbot, window, tab, Qt.Key.Key_F8, SHIFT)
    assert tab.document.selection.caret == 0


@pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
def test_several_references_are_offered_enter_takes_the_first_and_keys_lead_to_the_next_of_a_kind(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    tab.document.go_to_expression("central directory header[1]")
    settle(qtbot, window)
    press(window, "follow")
    menu = tab.navigation.menu
    qtbot.waitUntil(menu.isVisible)
    words = [action.text() for action in menu.actions()]
    assert words[0].startswith("The local file header of ")
    assert words[1].startswith("The data of ")
    QTest.keyClick(menu, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.document.explanation is not None
    assert tab.document.explanation.fields[-2].kind == "local file header"
    next_of_this_kind_and_back(qtbot, window, tab)


def test_the_byte_panel_links_to_where_a_field_leads(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-entries.tacozip")
    go(qtbot, window, tab, 45)
    leads = tab.byte.references
    assert leads.isVisible()
    assert [each.words for each in leads.references] == ["The data of METADATA/level0.parquet"]
    leads.linkActivated.emit("0")
    settle(qtbot, window)
    assert (tab.document.selection.caret, tab.document.selection.spans) == (5109, (Span(5109, 5417),))


@pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
def test_a_selected_metadata_row_leads_to_its_tar_header(show: Show, window: Window, qtbot: QtBot) -> None:
    folder = Path(__file__).parents[3] / "resources" / "samples" / "weather"
    tab = show(folder)
    answers = []
    tab.document.client.ask(ArchiveRequests.field, 0, (0, 1, 3)).then(answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    tab.document.select_field(0, answers[0], "structure")
    settle(qtbot, window)
    press(window, "follow")
    qtbot.waitUntil(tab.navigation.menu.isVisible)
    QTest.keyClick(tab.navigation.menu, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert tab.document.selection.caret == 1024


def test_the_next_unexplained_bytes_are_selected_lead_nowhere_and_then_there_are_none(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("gap.caf")
    key(qtbot, window, tab, Qt.Key.Key_F7, PLAIN)
    assert tab.document.explanation is not None
    assert tab.document.explanation.fields[-1].kind == "gap"
    gap = tab.document.selection.caret
    with qtbot.waitSignal(tab.document.reported) as said:
        press(window, "follow")
    assert "refers to nothing" in said.args[0]
    with qtbot.waitSignal(tab.document.reported) as said:
        key(qtbot, window, tab, Qt.Key.Key_F7, PLAIN)
    assert said.args == ["No unexplained bytes after this one."]
    assert tab.document.selection.caret == gap


@pytest.mark.sweep
def test_the_next_field_of_this_kind_and_back(show: Show, window: Window, qtbot: QtBot) -> None:
    next_of_this_kind_and_back(qtbot, window, show("plain.tar"))
