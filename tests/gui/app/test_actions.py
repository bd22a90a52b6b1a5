"""Actions: declared where they are done, each in one menu, and possible when what it needs is there."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.app.actions.menu_layout import in_order
from inspector.gui.app.window import Window, actions
from inspector.gui.kit.actions import action, actions_in
from tests.gui.conftest import Show, press, settle


class Lamp:
    """Something with an action."""

    @action("&Light", "Ctrl+L")
    def light(self) -> None:
        """Switch the light on."""

    def dark(self) -> None:
        """No action."""


def test_an_action_is_declared_where_it_is_done() -> None:
    (light,) = actions_in(Lamp)
    assert (light.name, light.label, light.tip, light.owner) == ("light", "Light", "Switch the light on", Lamp)


def test_each_stands_in_one_menu_and_none_is_missing() -> None:
    with pytest.raises(KeyError, match="light"):
        in_order((*actions(), *actions_in(Lamp)))
    with pytest.raises(KeyError):
        in_order(actions()[1:])


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
