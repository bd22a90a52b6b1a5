"""Every menu, box and field that a message names exists in the window."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton

from inspector.core.program.hints import Hint
from inspector.gui.app.actions.actions import ACTIONS, menu_of
from inspector.gui.app.window import Window
from inspector.gui.ipc.worker import HINT_TEXTS
from inspector.gui.panels.s3_connection import ConnectionForm
from inspector.gui.tabs.new_archive import NewArchiveTab

TITLES = {f"{menu_of(command.name)} > {command.text.replace('&', '').rstrip('…')}" for command in ACTIONS}


def test_every_menu_named_exists() -> None:
    named = {part for word in HINT_TEXTS.values() for part in word.split(", in ") if " > " in part}
    assert named
    assert named <= TITLES


def test_every_box_named_exists(window: Window) -> None:
    window.create_actions.new_archive()
    tab = window.tabs.currentWidget()
    assert isinstance(tab, NewArchiveTab)
    labels = [button.text().replace("&", "") for button in tab.findChildren(QAbstractButton)]
    for hint in (Hint.OVERWRITE, Hint.FIRST_KEY):
        assert any(label.startswith(HINT_TEXTS[hint]) for label in labels), hint


def test_the_form_says_how_to_ask_without_signing(window: Window) -> None:
    form = ConnectionForm()
    form.setParent(window)
    assert form.anonymous.text().replace("&", "").startswith(HINT_TEXTS[Hint.UNSIGNED].partition(",")[0])
