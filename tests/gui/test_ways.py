"""What sentences in the window point to is there."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton

from inspector.core.hints import Way
from inspector.gui.app.actions import COMMANDS
from inspector.gui.app.window import Window
from inspector.gui.ipc.hints import WORDS
from inspector.gui.panels.connection_form import ConnectionForm
from inspector.gui.tabs.new_archive import NewArchiveTab

TITLES = {f"{command.menu} > {command.text.replace('&', '').rstrip('…')}" for command in COMMANDS}


def test_every_menu_that_is_named_is_there() -> None:
    named = {part for word in WORDS.values() for part in word.split(", in ") if " > " in part}
    assert named
    assert named <= TITLES


def test_every_box_that_is_named_is_there(window: Window) -> None:
    window.making.new_archive()
    tab = window.tabs.currentWidget()
    assert isinstance(tab, NewArchiveTab)
    labels = [button.text().replace("&", "") for button in tab.findChildren(QAbstractButton)]
    for way in (Way.OVERWRITE, Way.FIRST_KEY):
        assert any(label.startswith(WORDS[way]) for label in labels), way


def test_the_form_says_how_to_ask_without_signing(window: Window) -> None:
    form = ConnectionForm()
    form.setParent(window)
    assert form.anonymous.text().replace("&", "").startswith(WORDS[Way.UNSIGNED].partition(",")[0])
