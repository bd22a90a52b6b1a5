"""Actions: declared where they are done, each in one menu, and possible when what it needs is there."""

from __future__ import annotations

from operator import attrgetter

from pytestqt.qtbot import QtBot

from inspector.gui.app.actions.actions import ACTIONS
from inspector.gui.app.window import Window
from tests.gui.conftest import Show, press, settle


def test_each_has_a_name_of_its_own_and_what_it_does_is_there(window: Window) -> None:
    names = [row.name for row in ACTIONS]
    assert sorted(names) == sorted(set(names))
    named = [each for row in ACTIONS for each in (row.does, row.enabled) if isinstance(each, str)]
    assert len(named) > 30
    for each in named:
        attrgetter(each)(window)


def test_each_can_be_done_when_what_it_needs_is_there(window: Window, show: Show, qtbot: QtBot) -> None:
    def possible(*names: str) -> list[bool]:
        return [window.actions_[name].isEnabled() for name in names]

    assert possible("open_files", "close_tab", "check", "reload", "write", "show_content") == [True, *[False] * 5]
    press(window, "new_audit")
    assert possible("close_tab", "check", "reload") == [True, False, False]
    tab = show("journey.caf")
    assert possible("close_tab", "check", "reload", "write", "back") == [True, True, True, False, False]
    tab.document.go_to(0, 500, 501)
    tab.document.select_member(0, "test")
    settle(qtbot, window)
    assert possible("show_content", "back") == [True, True]
