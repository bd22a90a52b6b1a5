"""Actions found by typing a part of their names, run with Enter, and the table of keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from inspector.gui.app.actions.actions import ACTIONS
from inspector.gui.app.command_palette import CommandPalette, command_entries
from inspector.gui.app.window import Window
from tests.gui.conftest import Show, dialog_of, press


def shown(dialog: CommandPalette) -> list[str]:
    return [entry.text for entry in dialog.matches.rows]


@pytest.fixture
def palette(window: Window, qtbot: QtBot) -> CommandPalette:
    press(window, "show_commands")
    dialog = dialog_of(window, CommandPalette)
    assert isinstance(dialog, CommandPalette)
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def test_typing_narrows_down_arrows_choose_and_enter_runs_the_best(show: Show, window: Window, qtbot: QtBot) -> None:
    show("journey.caf")
    press(window, "show_commands")
    palette = dialog_of(window, CommandPalette)
    assert isinstance(palette, CommandPalette)
    palette.query.setText("follow")
    assert shown(palette)[0] == "Follow Reference"
    palette.query.setText("no such thing at all")
    assert shown(palette) == []
    QTest.keyClick(palette.query, Qt.Key.Key_Return)
    assert palette.isVisible()
    for sought, first in (("row", "Bytes per row"), ("zoom", "Zoom In")):  # beginnings of words come first
        palette.query.setText(sought)
        assert shown(palette)[0] == first

    palette.query.clear()
    QTest.keyClicks(palette.query, "zoom")
    assert set(shown(palette)[:2]) == {"Zoom In", "Zoom Out"}
    QTest.keyClick(palette.query, Qt.Key.Key_Down)
    assert palette.table.currentIndex().row() == 1
    QTest.keyClick(palette.query, Qt.Key.Key_Up)
    assert palette.table.currentIndex().row() == 0

    triggered = []
    window.actions_["zoom_in"].triggered.connect(lambda: triggered.append("zoom_in"))
    QTest.keyClicks(palette.query, " in")
    assert shown(palette)[0] == "Zoom In"
    QTest.keyClick(palette.query, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(triggered))
    assert triggered == ["zoom_in"]


def test_what_cannot_be_done_now_is_not_offered_and_it_is_said_when_nothing_fits(
    palette: CommandPalette, window: Window
) -> None:
    assert "Extract" not in shown(palette)
    assert "Quit" in shown(palette)
    palette.query.setText("xyzzy")
    assert palette.results.shown_sentence() == "No match: no command is called “xyzzy”."
    for text in ("quit", ""):
        palette.query.setText(text)
        assert palette.results.shown_sentence() == "", text
    palette.reject()
    assert window.isVisible()


def test_the_table_of_keys_has_every_action_with_the_keys_it_has(window: Window) -> None:
    press(window, "show_keys")
    table = dialog_of(window, CommandPalette)
    assert isinstance(table, CommandPalette)
    QAbstractItemModelTester(table.matches)
    keys = {entry.text: entry.keys for entry in table.matches.rows}
    assert len(keys) == len(ACTIONS)
    assert keys["Follow Reference"] == "F12"
    assert keys["Commands"] == "Ctrl+Shift+P"
    table.reject()


def test_no_two_actions_have_the_same_key(window: Window) -> None:
    keys = [key for line in command_entries(window.actions_) for key in line.keys.split(", ") if key]
    assert sorted({key for key in keys if keys.count(key) > 1}) == []
