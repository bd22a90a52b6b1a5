"""Bookmarks: made with a note, listed, gone to, removed, and there again when the archive is opened again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from inspector.drawing.palette import MARKS, Mark
from inspector.gui.app.actions.bookmarks import Bookmark, from_json
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.hex.layout import Pane
from inspector.gui.kit.style import scheme_for
from tests.gui.conftest import Show, dialog_of, press, settle


def bookmark(qtbot: QtBot, window: Window, tab: Tab, offset: int, note: str) -> None:
    tab.document.select_byte(0, offset, "test")
    settle(qtbot, window)
    press(window, "add_bookmark")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue(note)
    dialog.accept()


def entries(window: Window) -> list[QAction]:
    """What the menu lists behind the actions that it always has."""
    window.bookmarks.menu.aboutToShow.emit()
    return [each for each in window.bookmarks.menu.actions() if each.text() and each not in window.bookmarks._fixed]


def listed(window: Window) -> list[str]:
    return [action.text() for action in entries(window)]


def test_bookmarks_are_kept_listed_gone_to_and_replaced_also_with_keys(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    assert listed(window) == ["No Bookmarks in This Archive"]
    bookmark(qtbot, window, tab, 300, "odd & strange")
    bookmark(qtbot, window, tab, 20, "first")
    assert listed(window)[:2] == ["0x14  first", "0x12c  odd && strange"]
    for caret in (300, 20):
        press(window, "next_bookmark")
        settle(qtbot, window)
        assert tab.document.selection.caret == caret
    assert window.bookmarks.of(tab.document) == [Bookmark(0, 20, "first"), Bookmark(0, 300, "odd & strange")]
    entries(window)[1].trigger()
    settle(qtbot, window)
    assert tab.document.selection.caret == 300
    entries(window)[-1].trigger()
    assert listed(window)[0] == "0x14  first"
    assert "0x12c" not in " ".join(listed(window))

    bookmark(qtbot, window, tab, 20, "second")  # takes the place of the first
    assert listed(window)[0] == "0x14  second"
    tab.document.select_byte(0, 0, "test")
    settle(qtbot, window)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    tab.hex_pane.setFocus()
    QTest.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(dialog_of(window, QInputDialog), Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "0x0" in listed(window)[0])
    show("plain.zip")
    assert listed(window) == ["No Bookmarks in This Archive"]


@pytest.mark.parametrize(
    "stored", ["{", "7", "null", '{"a": 1}', '[7, [1], ["a", 2, ""], [0, -1, "x"], [0, 1, 2], [0, 1, "x", 0]]']
)
def test_what_is_stored_but_no_bookmark_is_left_out(stored: str) -> None:
    assert from_json(stored) == []


def test_bookmarks_are_seen_on_the_bytes_and_in_the_map_also_when_the_archive_is_opened_again(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    view, overview = tab.hex_pane.hex, tab.hex_pane.map
    bookmark(qtbot, window, tab, 20, "odd & strange")
    tab.document.select_byte(0, 200, "test")
    settle(qtbot, window)
    colour = QColor(MARKS[scheme_for(view.palette())][Mark.INFO])
    place = view.place_of(20, Pane.HEX)
    assert view.viewport().grab().toImage().pixelColor(place.left() + 1, place.top() + 1) == colour
    y = 20 * overview.height() // tab.document.size
    assert "Bookmark: odd & strange" in overview.describe(y)
    assert overview.grab().toImage().pixelColor(2, y) == colour
    window.bookmarks.replace(tab.document, 0, 20)
    tab.document.select_byte(0, 20, "test")
    settle(qtbot, window)
    bookmark(qtbot, window, tab, 300, "")
    assert "odd" not in overview.describe(y)

    bookmark(qtbot, window, tab, 20, "kept")
    press(window, "close_tab")
    overview = show("journey.caf").hex_pane.map
    assert "Bookmark: kept" in overview.describe(y)
