"""The keyboard alone is enough: keys reach every pane and menu, and nothing keeps them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QLabel, QMenu, QMenuBar, QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.app.help.help_texts import PANEL_LABELS
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit import theme
from inspector.gui.kit.theme import Theme
from inspector.gui.panels.changing.repair import RepairPanel
from inspector.gui.tabs.new_archive import NewArchiveTab
from tests.gui.conftest import WAIT, Show, press, settle
from tests.sweeping import at_every_change, in_the_sweep

ROOT = Path(__file__).parents[3] / "resources" / "samples"
NONE, SHIFT, ALT, CTRL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
)


def focus() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def key(pressed: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    QTest.keyClick(focus(), pressed, modifiers)


MOST = 10
"""Entries of a menu that stand together."""


def menus(menu: QMenu) -> list[QMenu]:
    below = [action.menu() for action in menu.actions()]
    return [menu, *(each for part in below if isinstance(part, QMenu) for each in menus(part))]


def mnemonics(texts: list[str]) -> list[str]:
    return [found[1].lower() for text in texts if (found := re.search(r"&([^&])", text.replace("&&", "")))]


# ---- menus -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, "two-entries.tacozip"])
def test_no_menu_has_two_entries_for_one_key(show: Show, window: Window, name: str | None) -> None:
    if name:
        show(name)
    bar = [action.text() for action in window.menuBar().actions()]
    assert len(mnemonics(bar)) == len(set(mnemonics(bar))) == len(bar)
    for top in window.menuBar().actions():
        menu = top.menu()
        assert isinstance(menu, QMenu)
        for each in menus(menu):
            each.aboutToShow.emit()
            keys = mnemonics([action.text() for action in each.actions()])
            assert sorted(keys) == sorted(set(keys)), each.title()


def test_what_menus_hold_for_good_has_a_key_each(window: Window) -> None:
    for top in window.menuBar().actions():
        menu = top.menu()
        assert isinstance(menu, QMenu)
        texts = [action.text() for action in menu.actions() if not action.isSeparator()]
        assert [text for text in texts if not mnemonics([text])] == []
        groups = "".join(" " if action.isSeparator() else "x" for action in menu.actions()).split()
        assert max(map(len, groups)) <= MOST, texts


def keys_in_use(root: QWidget) -> list[str]:
    """The letters that do something with Alt where a window shows what it shows now, menus included."""
    texts = []
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or widget.window() is not root:
            continue
        if isinstance(widget, QAbstractButton) or (isinstance(widget, QLabel) and widget.buddy() is not None):
            texts.append(widget.text())
        elif isinstance(widget, QMenuBar):
            texts += [action.text() for action in widget.actions()]
    return sorted(mnemonics(texts))


@pytest.mark.parametrize(
    ("archive", "names"),
    [("two-entries.tacozip", [name for name in PANEL_LABELS if name != "Coverage"]), ("weather", ["Coverage"])],
    ids=["an archive", "a dataset"],
)
def test_no_panel_has_two_controls_for_one_key(show: Show, window: Window, archive: str, names: list[str]) -> None:
    tab = show(ROOT / archive)
    for name in names:
        tab.panes.go_to_panel(name)
        QApplication.processEvents()
        assert keys_in_use(window) == sorted(set(keys_in_use(window))), name


def test_a_repair_plan_has_no_key_that_a_panel_behind_it_has(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("torn-after-write-2.tacozip")
    press(window, "plan_repairs")
    settle(qtbot, window)
    QApplication.processEvents()
    assert next(panel for panel in tab.findChildren(RepairPanel)).make.isVisible()
    assert keys_in_use(window) == sorted(set(keys_in_use(window)))


def test_a_new_archive_of_any_kind_has_no_two_controls_for_one_key(window: Window) -> None:
    press(window, "new_archive")
    (tab,) = window.findChildren(NewArchiveTab)
    assert tab.kind.count() == 4
    for kind in range(4):
        tab.kind.setCurrentIndex(kind)
        QApplication.processEvents()
        assert keys_in_use(window) == sorted(set(keys_in_use(window))), kind


def test_no_dialog_has_two_controls_for_one_key(show: Show, window: Window, qtbot: QtBot) -> None:
    show("two-entries.tacozip")
    for name in ("ask_location", "search_catalogue", "show_settings", "show_keys", "extract"):
        before = set(window.findChildren(QDialog))
        press(window, name)
        qtbot.waitUntil(lambda before=before: bool(set(window.findChildren(QDialog)) - before), timeout=WAIT)
        dialog = window.findChildren(QDialog)[-1]
        assert dialog not in before
        assert keys_in_use(dialog) == sorted(set(keys_in_use(dialog))), name
        dialog.close()


@pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
@pytest.mark.parametrize("pane", ["bytes", "members"])
def test_the_keys_open_the_menu_that_the_pointer_opens(show: Show, window: Window, qtbot: QtBot, pane: str) -> None:
    tab = show("plain.zip")
    window.activateWindow()
    widget = tab.hex_pane.hex if pane == "bytes" else tab.members.view
    widget.setFocus()
    if pane == "members":
        key(Qt.Key.Key_Down)
    key(Qt.Key.Key_F10, SHIFT)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    names = [action.objectName() for action in menu.actions()]
    assert "copy" in names
    assert {"follow", "edit_bytes"} <= set(names) if pane == "bytes" else {"extract", "show_content"} <= set(names)
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
    assert widget.hasFocus()


# ---- panes -----------------------------------------------------------------------------------------------------


def around(tab: Tab, focused: QWidget) -> QWidget | None:
    """The pane that holds a widget."""
    return next((pane for pane in tab.panes.panes() if pane is focused or pane.isAncestorOf(focused)), None)


@pytest.mark.parametrize("backwards", [False, True])
def test_f6_goes_to_every_pane_in_turn(show: Show, window: Window, backwards: bool) -> None:
    tab = show(ROOT / "weather")
    window.activateWindow()
    tab.hex_pane.setFocus()
    seen = []
    for _ in tab.panes.panes():
        key(Qt.Key.Key_F6, SHIFT if backwards else NONE)
        seen.append(around(tab, focus()))
    assert len(set(map(id, seen))) == len(tab.panes.panes()) == 6
    assert focus() is tab.hex_pane.hex


def test_alt_and_a_digit_go_to_a_panel_also_behind_others(show: Show, window: Window) -> None:
    tab = show("two-entries.tacozip")
    window.activateWindow()
    for at, name in enumerate(("Members", "Structure", "Byte", "Findings", "Digests", "Header", "Changes", "Repair")):
        tab.hex_pane.setFocus()
        key(Qt.Key(Qt.Key.Key_1 + at), ALT)
        assert list(PANEL_LABELS)[at] == name
        assert tab.docks[name].isAncestorOf(focus()), name


def test_a_panel_that_is_closed_comes_back_and_one_that_has_nothing_says_so(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    window.activateWindow()
    tab.docks["Members"].close()
    tab.hex_pane.setFocus()
    key(Qt.Key.Key_1, ALT)
    assert tab.docks["Members"].isAncestorOf(focus())
    with qtbot.waitSignal(tab.document.reported) as said:
        key(Qt.Key.Key_9, ALT)
    assert said.args == ["The Requests panel has nothing to show for this archive."]


def test_the_pane_with_the_keyboard_has_a_frame_in_every_theme(show: Show, window: Window, qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    tab = show("plain.zip")
    for look in Theme:
        theme.apply(app, look)
        has_frames(tab, window, qtbot)
    theme.apply(app, Theme.LIGHT)


def has_frames(tab: Tab, window: Window, qtbot: QtBot) -> None:
    window.activateWindow()
    tab.hex_pane.setFocus()
    assert tab.panes.frame.isHidden()
    for name in ("Members", "Byte", "Findings"):
        tab.panes.go_to_panel(name)
        frame = tab.panes.frame
        qtbot.waitUntil(frame.isVisible)
        panel = tab.docks[name].widget()
        assert panel is not None
        assert frame.size() == panel.size()
        picture = tab.area.grab().toImage()
        place = frame.geometry().center()
        drawn = QColor(picture.pixel(place.x(), frame.geometry().top()))
        palette = tab.palette()
        assert drawn.name() == palette.color(QPalette.ColorRole.Highlight).name()
        assert drawn.name() != palette.color(QPalette.ColorRole.Window).name()


def test_the_frame_follows_its_pane(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("plain.zip")
    window.activateWindow()
    tab.panes.go_to_panel("Byte")
    panel = tab.docks["Byte"].widget()
    assert panel is not None
    window.resize(1400, 900)
    qtbot.waitUntil(lambda: tab.panes.frame.height() == panel.height())
    tab.docks["Byte"].close()
    assert tab.panes.frame.pane is not panel


# ---- no traps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [in_the_sweep("two-entries.tacozip"), "weather"])
def test_tab_backwards_comes_round_through_all_that_can_be_seen(show: Show, window: Window, name: str) -> None:
    tab = show(ROOT / name)
    window.activateWindow()
    tab.hex_pane.setFocus()
    seen: list[QWidget] = []
    for _ in range(200):
        key(Qt.Key.Key_Backtab, SHIFT)
        seen.append(focus())
        if focus() is tab.hex_pane.hex:
            break
    assert seen[-1] is tab.hex_pane.hex
    assert tab.members.filter in seen
    assert all(each.isVisible() for each in seen)
    assert {around(tab, each) for each in seen} >= set(tab.panes.panes())


@pytest.mark.parametrize("name", [in_the_sweep("two-entries.tacozip"), "weather"])
def test_tab_forwards_leads_from_everything_to_the_bytes(show: Show, window: Window, name: str) -> None:
    tab = show(ROOT / name)
    window.activateWindow()
    tab.hex_pane.map.setFocus()
    seen: list[QWidget] = []
    while focus() is not tab.hex_pane.hex and len(seen) < 200:
        seen.append(focus())
        key(Qt.Key.Key_Tab)
    assert focus() is tab.hex_pane.hex
    assert {around(tab, each) for each in seen} >= set(tab.panes.panes())


def test_the_bytes_are_left_with_one_key(show: Show, window: Window) -> None:
    tab = show("plain.zip")
    window.activateWindow()
    leaving: list[Callable[[], None]] = [
        lambda: key(Qt.Key.Key_Backtab, SHIFT),
        lambda: key(Qt.Key.Key_F6),
        lambda: key(Qt.Key.Key_1, ALT),
        lambda: key(Qt.Key.Key_G, CTRL),
    ]
    for leave in leaving:
        tab.hex_pane.hex.setFocus()
        leave()
        assert not tab.hex_pane.hex.hasFocus()


def test_text_content_lets_tab_go_on(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("journey.caf")
    window.activateWindow()
    tab.document.open_content(0)
    settle(qtbot, window)
    tab.hex_pane.text.text.setFocus()
    assert tab.hex_pane.text.text.hasFocus()
    key(Qt.Key.Key_Tab)
    assert not tab.hex_pane.text.text.hasFocus()


# ---- the start page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pressed", [Qt.Key.Key_Return, in_the_sweep(Qt.Key.Key_Enter), Qt.Key.Key_Space])
def test_a_sample_is_opened_with_a_key(window: Window, qtbot: QtBot, pressed: Qt.Key) -> None:
    qtbot.waitUntil(lambda: any(entry.isVisible() for entry in window.start_page.sample_entries))
    entry = window.start_page.sample_entries[0]
    entry.setFocus(Qt.FocusReason.TabFocusReason)
    key(pressed)
    qtbot.waitUntil(lambda: window.tabs.count() == 1)
    settle(qtbot, window)


@pytest.mark.parametrize(
    "chosen",
    at_every_change([each for each in Theme if each is not Theme.SYSTEM], lambda each: each is Theme.CONTRAST_DARK),
)
def test_the_sample_that_the_keyboard_is_on_has_a_frame(window: Window, qtbot: QtBot, chosen: Theme) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, chosen)
    qtbot.waitUntil(lambda: any(entry.isVisible() for entry in window.start_page.sample_entries))
    first, second = window.start_page.sample_entries[:2]
    first.setFocus(Qt.FocusReason.TabFocusReason)
    accent = window.palette().color(QPalette.ColorRole.Accent)

    def framed(entry: QWidget) -> bool:
        picture = entry.grab().toImage()
        middle = (picture.width() // 2, picture.height() // 2)
        ends = (picture.width() - 1, picture.height() - 1)
        edges = [(middle[0], 0), (middle[0], ends[1]), (0, middle[1]), (ends[0], middle[1])]
        return all(picture.pixelColor(*place) == accent for place in edges)

    assert framed(first)
    assert not framed(second)
