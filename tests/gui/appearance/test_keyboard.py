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

from inspector.drawing.palette import Scheme
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit import theme
from inspector.gui.kit.help_texts import PANEL_LABELS
from inspector.gui.panels.changing.repair import RepairPanel
from inspector.gui.tabs.new_archive import NewArchiveTab
from tests.gui.conftest import WAIT, Show, press, settle
from tests.sweeping import in_the_sweep

ROOT = Path(__file__).parents[3] / "resources" / "samples"
DARKEST = (Scheme.CONTRAST_DARK, Scheme.LIGHT)
OTHERS = tuple(each for each in Scheme if each not in DARKEST)
"""Themes that are tried in the sweep only."""
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


# ---- one key, one control --------------------------------------------------------------------------------------


def keys_of_menus_differ(window: Window) -> None:
    bar = [action.text() for action in window.menuBar().actions()]
    assert len(mnemonics(bar)) == len(set(mnemonics(bar))) == len(bar)
    for top in window.menuBar().actions():
        menu = top.menu()
        assert isinstance(menu, QMenu)
        for each in menus(menu):
            each.aboutToShow.emit()
            keys = mnemonics([action.text() for action in each.actions()])
            assert sorted(keys) == sorted(set(keys)), each.title()


def what_menus_hold_for_good_has_a_key_each(window: Window) -> None:
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


def keys_differ(root: QWidget, where: object) -> None:
    QApplication.processEvents()
    assert keys_in_use(root) == sorted(set(keys_in_use(root))), where


def keys_of_dialogs_differ(window: Window, qtbot: QtBot) -> None:
    for name in ("ask_location", "show_settings", "show_keys", "extract"):
        before = set(window.findChildren(QDialog))
        press(window, name)
        qtbot.waitUntil(lambda before=before: bool(set(window.findChildren(QDialog)) - before), timeout=WAIT)
        dialog = window.findChildren(QDialog)[-1]
        assert dialog not in before
        keys_differ(dialog, name)
        dialog.close()


def test_no_menu_panel_or_dialog_has_two_controls_for_one_key(show: Show, window: Window, qtbot: QtBot) -> None:
    keys_of_menus_differ(window)
    what_menus_hold_for_good_has_a_key_each(window)
    press(window, "new_archive")
    (new,) = window.findChildren(NewArchiveTab)
    assert new.kind.count() == 4
    for kind in range(4):
        new.kind.setCurrentIndex(kind)
        keys_differ(window, kind)

    tab = show("two-entries.tacozip")
    window.activateWindow()
    keys_of_menus_differ(window)
    for at, name in enumerate(("Members", "Structure", "Byte", "Findings", "Digests", "Header", "Changes", "Repair")):
        tab.hex_pane.setFocus()
        key(Qt.Key(Qt.Key.Key_1 + at), ALT)
        assert list(PANEL_LABELS)[at] == name
        assert tab.docks[name].isAncestorOf(focus()), f"Alt and a digit go to a panel behind others: {name}"
    for name in PANEL_LABELS:
        if name != "Coverage":
            tab.panes.go_to_panel(name)
            keys_differ(window, name)
    keys_of_dialogs_differ(window, qtbot)

    torn = show("torn-after-write-2.tacozip")
    press(window, "plan_repairs")
    settle(qtbot, window)
    assert next(panel for panel in torn.findChildren(RepairPanel)).buttons["make"].isVisible()
    keys_differ(window, "a plan of repairs before the panels")


# ---- panes -----------------------------------------------------------------------------------------------------


def around(tab: Tab, focused: QWidget) -> QWidget | None:
    """The pane that holds a widget."""
    return next((pane for pane in tab.panes.panes() if pane is focused or pane.isAncestorOf(focused)), None)


def f6_goes_to_every_pane_in_turn(tab: Tab, backwards: bool) -> None:
    tab.hex_pane.setFocus()
    seen = []
    for _ in tab.panes.panes():
        key(Qt.Key.Key_F6, SHIFT if backwards else NONE)
        seen.append(around(tab, focus()))
    assert len(set(map(id, seen))) == len(tab.panes.panes())
    assert focus() is tab.hex_pane.hex


def tab_backwards_comes_round_through_all_that_can_be_seen(tab: Tab) -> None:
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


def tab_leads_from_everything_to_the_bytes(tab: Tab) -> None:
    tab.hex_pane.map.setFocus()
    seen: list[QWidget] = []
    while focus() is not tab.hex_pane.hex and len(seen) < 200:
        seen.append(focus())
        key(Qt.Key.Key_Tab)
    assert focus() is tab.hex_pane.hex
    assert {around(tab, each) for each in seen} >= set(tab.panes.panes())


@pytest.mark.parametrize(("name", "panes"), [in_the_sweep("two-entries.tacozip", None), ("weather", 6)])
def test_f6_and_tab_lead_to_every_pane_and_back_to_the_bytes(
    show: Show, window: Window, name: str, panes: int | None
) -> None:
    tab = show(ROOT / name)
    window.activateWindow()
    assert panes in (None, len(tab.panes.panes()))
    f6_goes_to_every_pane_in_turn(tab, backwards=False)
    f6_goes_to_every_pane_in_turn(tab, backwards=True)
    tab_backwards_comes_round_through_all_that_can_be_seen(tab)
    tab_leads_from_everything_to_the_bytes(tab)
    if name == "weather":
        tab.panes.go_to_panel("Coverage")
        keys_differ(window, "Coverage")


def the_keys_open_the_menu_that_the_pointer_opens(widget: QWidget, qtbot: QtBot, wanted: set[str]) -> None:
    key(Qt.Key.Key_F10, SHIFT)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is not None)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert wanted <= {action.objectName() for action in menu.actions()}
    QTest.keyClick(menu, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
    assert widget.hasFocus()


def the_bytes_are_left_with_one_key(tab: Tab) -> None:
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


@pytest.mark.qt_log_ignore("does not support raise", "does not support grabbing", extend=True)
def test_nothing_keeps_the_keyboard_and_it_opens_menus_and_closed_panels(
    show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("journey.caf")
    window.activateWindow()
    tab.hex_pane.hex.setFocus()
    the_keys_open_the_menu_that_the_pointer_opens(tab.hex_pane.hex, qtbot, {"copy", "follow", "edit_bytes"})
    tab.members.view.setFocus()
    key(Qt.Key.Key_Down)
    the_keys_open_the_menu_that_the_pointer_opens(tab.members.view, qtbot, {"copy", "extract", "show_content"})
    the_bytes_are_left_with_one_key(tab)

    tab.docks["Members"].close()
    tab.hex_pane.setFocus()
    key(Qt.Key.Key_1, ALT)
    assert tab.docks["Members"].isAncestorOf(focus()), "a panel that is closed comes back"
    with qtbot.waitSignal(tab.document.reported) as said:
        key(Qt.Key.Key_9, ALT)
    assert said.args == ["The Requests panel has nothing to show for this archive."]

    window.activateWindow()  # what a window manager does when a menu has gone
    tab.document.open_content(0)
    settle(qtbot, window)
    tab.hex_pane.text.text.setFocus()
    assert tab.hex_pane.text.text.hasFocus()
    key(Qt.Key.Key_Tab)
    assert not tab.hex_pane.text.text.hasFocus()


@pytest.mark.parametrize("looks", [DARKEST, in_the_sweep(OTHERS)], ids=["two themes", "the others"])
def test_the_pane_with_the_keyboard_has_a_frame_in_every_theme_which_follows_it(
    show: Show, window: Window, qtbot: QtBot, looks: tuple[Scheme, ...]
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    tab = show("plain.zip")
    for look in looks:
        theme.apply(app, look)
        has_frames(tab, window)
    theme.apply(app, Scheme.LIGHT)

    tab.panes.go_to_panel("Byte")
    panel = tab.docks["Byte"].widget()
    assert panel is not None
    window.resize(1400, 900)
    frame = tab.panes.frame
    assert frame is not None
    qtbot.waitUntil(lambda: frame.height() == panel.height() > 300)
    tab.docks["Byte"].close()
    assert tab.panes.frame is None or tab.panes.frame.zone is not panel


def has_frames(tab: Tab, window: Window) -> None:
    window.activateWindow()
    tab.hex_pane.setFocus()
    assert tab.panes.frame is None
    for name in ("Members", "Byte", "Findings"):
        tab.panes.go_to_panel(name)
        frame, panel = tab.panes.frame, tab.docks[name].widget()
        assert frame is not None
        assert panel is not None
        assert (frame.isVisible(), frame.size()) == (True, panel.size())
        drawn = panel.grab().toImage().pixelColor(frame.width() // 2, 0)
        palette = tab.palette()
        assert drawn.name() == palette.color(QPalette.ColorRole.Highlight).name()
        assert drawn.name() != palette.color(QPalette.ColorRole.Window).name()


# ---- the start page --------------------------------------------------------------------------------------------


def framed(entry: QWidget, accent: QColor) -> bool:
    picture = entry.grab().toImage()
    middle = (picture.width() // 2, picture.height() // 2)
    ends = (picture.width() - 1, picture.height() - 1)
    edges = [(middle[0], 0), (middle[0], ends[1]), (0, middle[1]), (ends[0], middle[1])]
    return all(picture.pixelColor(*place) == accent for place in edges)


@pytest.mark.parametrize(
    ("chosen", "pressed"),
    [
        (Scheme.CONTRAST_DARK, Qt.Key.Key_Return),
        in_the_sweep(Scheme.LIGHT, Qt.Key.Key_Enter),
        in_the_sweep(Scheme.DARK, Qt.Key.Key_Space),
        in_the_sweep(Scheme.CONTRAST_LIGHT, Qt.Key.Key_Return),
    ],
)
def test_the_sample_that_the_keyboard_is_on_has_a_frame_and_is_opened_with_a_key(
    window: Window, qtbot: QtBot, chosen: Scheme, pressed: Qt.Key
) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    theme.apply(app, chosen)
    qtbot.waitUntil(lambda: any(entry.isVisible() for entry in window.start_page.sample_entries))
    first, second = window.start_page.sample_entries[:2]
    first.setFocus(Qt.FocusReason.TabFocusReason)
    accent = window.palette().color(QPalette.ColorRole.Accent)
    assert framed(first, accent)
    assert not framed(second, accent)

    key(pressed)
    qtbot.waitUntil(lambda: window.tabs.count() == 1)
    settle(qtbot, window)
