"""Layouts of the panels: those that come with the program, those that were saved, and what is shown of a local file."""

from __future__ import annotations

import json

from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from inspector.gui.app.layouts import CHECK_LAYOUT, EDIT_LAYOUT, FOOT, SETTING
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit.settings import Settings
from tests.gui.conftest import WAIT, Show, dialog_of, press, settle


def shown(tab: Tab) -> set[str]:
    return {name for name, dock in tab.docks.items() if not dock.isHidden()} - {"Coverage"}


def has_something(tab: Tab, name: str) -> bool:
    """Whether a panel is shown while it is not closed."""
    return name not in FOOT or name in tab.quiet.speaking()


def test_a_layout_shows_its_panels_and_others_are_saved_chosen_and_removed(
    show: Show, window: Window, settings: Settings, qtbot: QtBot
) -> None:
    tab = show("two-chunks.rca")
    for name, wanted in (("layout_check", CHECK_LAYOUT), ("layout_edit", EDIT_LAYOUT)):
        press(window, name)
        assert shown(tab) == {each for each in wanted.shown if has_something(tab, each)} | {wanted.front}, name
        assert not tab.docks[wanted.front].visibleRegion().isEmpty(), name
        press(window, "layout_inspect")
        assert shown(tab) == {each for each in tab.docks if has_something(tab, each)} - {"Coverage"}, name

    tab.docks["Byte"].hide()
    tab.docks["Structure"].hide()
    press(window, "save_layout")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue(" Narrow & <b> ")
    dialog.accept()
    press(window, "layout_inspect")
    assert "Byte" in shown(tab)
    window.layouts.menu.aboutToShow.emit()
    by_words = {action.text(): action for action in window.layouts.menu.actions()}
    by_words["Narrow && <b>"].trigger()
    assert {"Byte", "Structure"}.isdisjoint(shown(tab))
    assert window.layouts.names() == ["Narrow & <b>"]
    window.layouts.remove("Narrow & <b>")
    assert window.layouts.names() == []
    settle(qtbot, window)

    # What is stored badly is a sentence or nothing.
    before = shown(tab)
    for stored in ("", "[]", "{", '{"a": 1, "b": "no base 64!"}', json.dumps({"b": "AAAA"})):
        settings.set_text(SETTING, stored)
        tab.note.text.setText("")
        window.layouts.menu.aboutToShow.emit()
        window.layouts.choose("b")
        assert shown(tab) == before, stored
        assert "another version" in tab.note.text.text(), stored


def test_a_layout_holds_for_all_tabs_and_the_next_start(
    show: Show, window: Window, settings: Settings, qtbot: QtBot
) -> None:
    first = show("two-chunks.rca")
    press(window, "layout_check")
    second = show("flipped-blob-byte.rca")
    assert shown(second) == {"Members", "Findings", "Digests"} == shown(first)
    link = second.document.client.link
    window.close()
    again = Window(settings)
    again.open_location(second.document.location)
    fresh = again.tab()
    assert fresh is not None
    settle(qtbot, again)
    assert shown(fresh) == shown(first)
    ends = [link, fresh.document.client.link]
    again.close()
    qtbot.waitUntil(lambda: all(each.process is None for each in ends), timeout=WAIT)


def test_a_local_file_has_no_requests_and_other_tabs_keep_theirs(show: Show, window: Window) -> None:
    local = show("two-chunks.rca")
    assert local.docks["Requests"].isHidden()
    window.open_location("s3://bucket/key")
    remote = window.tab()
    assert remote is not None
    assert not remote.docks["Requests"].isHidden()
    window.tabs.setCurrentWidget(local)
    assert local.docks["Requests"].isHidden()
    window.tabs.setCurrentWidget(remote)
    assert not remote.docks["Requests"].isHidden()
    remote.docks["Requests"].hide()
    window.tabs.setCurrentWidget(local)
    window.tabs.setCurrentWidget(remote)
    assert remote.docks["Requests"].isHidden()
