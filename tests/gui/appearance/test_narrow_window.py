"""Nothing is cut without an ellipsis and a tooltip, in a small window, in narrow panels and in any theme."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector.drawing.palette import Scheme
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit import preferences
from inspector.gui.kit.preferences import Settings
from inspector.gui.kit.text import BREAK
from inspector.gui.kit.widgets import ElidedBox, ElidedLabel
from inspector.gui.panels import findings
from inspector.gui.panels.findings import MIN_MESSAGE_PX
from tests.gui.conftest import Show, settle
from tests.sweeping import in_the_sweep

SMALL = (1024, 700)
_TAGS = re.compile("<[^>]*>")
"""Markup of links, which takes no room."""
LEAST = 80
"""Pixels of a field to type in."""
NARROW = 220
"""Pixels of a panel."""


def wide(widget: QWidget, text: str) -> int:
    return widget.fontMetrics().horizontalAdvance(text)


def is_cut(widget: QLabel | QAbstractButton) -> bool:
    """Whether some of a text that is on the screen is not seen."""
    shown = widget.visibleRegion().boundingRect()
    icon_only = isinstance(widget, QToolButton) and not widget.icon().isNull()
    if isinstance(widget, ElidedLabel) or icon_only or shown.isEmpty() or not widget.text():
        return False
    room = min(widget.contentsRect().width(), shown.width())
    if isinstance(widget, QLabel) and widget.wordWrap():
        words = _TAGS.sub(" ", widget.text().replace(BREAK, " ")).split()
        return max((wide(widget, word) for word in words), default=0) > room
    return wide(widget, widget.text().replace("&", "")) > room


def seen_words(within: QWidget) -> set[str]:
    every = [*within.findChildren(QLabel), *within.findChildren(QToolButton)]
    words_too = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    spoken = [each for each in every if isinstance(each, QLabel) or each.toolButtonStyle() is words_too]
    return {each.text() for each in spoken if each.isVisible()}


def cut(within: QWidget) -> list[str]:
    every = [*within.findChildren(QLabel), *within.findChildren(QAbstractButton)]
    return [widget.text() for widget in every if widget.isVisible() and is_cut(widget)]


# ---- what is cut -------------------------------------------------------------------------------------------------


def nothing_is_cut_in_a_small_window(tab: Tab, window: Window, qtbot: QtBot) -> None:
    window.resize(*SMALL)
    for dock in ("Findings", "Digests", "Header", "Changes", "Repair"):
        tab.docks[dock].raise_()
        settle(qtbot, window)
        assert cut(window) == [], dock


def nothing_is_cut_in_a_narrow_panel(tab: Tab, docks: list[str], window: Window, qtbot: QtBot) -> None:
    for dock in docks:
        for name, other in tab.docks.items():
            other.setVisible(name == dock)
        panel = tab.docks[dock]
        tab.area.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, panel)
        tab.area.resizeDocks([panel], [NARROW], Qt.Orientation.Horizontal)
        settle(qtbot, window)
        qtbot.waitUntil(lambda panel=panel: panel.width() < NARROW + 80)
        assert cut(panel) == [], dock


@pytest.mark.parametrize("theme", [Scheme.CONTRAST_DARK, in_the_sweep(Scheme.LIGHT)])
@pytest.mark.parametrize(
    ("name", "narrow"),
    [
        ("flipped-blob-byte.rca", ["Members", "Structure", "Byte", "Findings", "Digests", "Changes"]),
        in_the_sweep("two-entries.tacozip", ["Header"]),
    ],
)
def test_nothing_is_cut_in_a_small_window_or_in_a_narrow_panel(
    show: Show, window: Window, settings: Settings, qtbot: QtBot, name: str, narrow: list[str], theme: Scheme
) -> None:
    settings.put(preferences.THEME, theme.value)
    tab = show(name)
    nothing_is_cut_in_a_small_window(tab, window, qtbot)
    window.resize(1280, 800)
    nothing_is_cut_in_a_narrow_panel(tab, narrow, window, qtbot)


@pytest.mark.parametrize("theme", [Scheme.LIGHT, in_the_sweep(Scheme.CONTRAST_DARK)])
def test_a_long_name_in_a_box_of_a_small_window_has_an_ellipsis_and_a_tooltip(
    show: Show, window: Window, settings: Settings, qtbot: QtBot, theme: Scheme
) -> None:
    settings.put(preferences.THEME, theme.value)
    tab = show("weather")
    nothing_is_cut_in_a_small_window(tab, window, qtbot)
    box = tab.hex_pane.bar.files
    assert isinstance(box, ElidedBox)
    box.setMaximumWidth(240)
    settle(qtbot, window)
    assert wide(box, box.currentText()) > box.width()
    assert box.currentText() in box.toolTip()
    whole = box.grab().toImage()
    box.setItemText(box.currentIndex(), box.currentText()[:-1] + "X")
    assert box.grab().toImage() != whole  # the end of the name is seen


# ---- what gives way ----------------------------------------------------------------------------------------------


def what_was_found_has_room_before_where_and_by_what_name(tab: Tab, window: Window, qtbot: QtBot) -> None:
    header = tab.findings.table.horizontalHeader()
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: not header.isSectionHidden(findings.CODE))
    tab.findings.setMaximumWidth(650)
    qtbot.waitUntil(lambda: header.isSectionHidden(findings.CODE))
    qtbot.waitUntil(lambda: header.sectionSize(findings.MESSAGE) >= MIN_MESSAGE_PX - 40)


def going_and_finding_are_reached_at_any_width(tab: Tab, window: Window, qtbot: QtBot) -> None:
    for width in (1280, 1024, 800, 640, 300):
        window.resize(width, 600)
        settle(qtbot, window)
        for key, field in ((Qt.Key.Key_F, window.tool_bar.find_text), (Qt.Key.Key_G, window.tool_bar.go_to)):
            tab.hex_pane.setFocus()
            qtbot.keyClick(tab.hex_pane.hex, key, Qt.KeyboardModifier.ControlModifier)
            assert field.hasFocus(), width
            assert field.visibleRegion().boundingRect().width() == field.width() >= LEAST, width
        assert cut(window.tool_bar) == [], width


@pytest.mark.parametrize("theme", [Scheme.LIGHT, in_the_sweep(Scheme.CONTRAST_LIGHT)])
def test_going_and_finding_are_reached_at_any_width_and_words_come_back_with_room(
    show: Show, window: Window, settings: Settings, qtbot: QtBot, theme: Scheme
) -> None:
    settings.put(preferences.THEME, theme.value)
    words = ("Check", "Extract", "Repair")
    buttons = [each for each in window.tool_bar.findChildren(QToolButton) if each.text() in words]
    assert [button.isEnabled() for button in buttons] == [False] * 3
    tab = show("flipped-blob-byte.rca")
    assert [button.isEnabled() for button in buttons] == [True] * 3, "as its action can be chosen"
    what_was_found_has_room_before_where_and_by_what_name(tab, window, qtbot)
    going_and_finding_are_reached_at_any_width(tab, window, qtbot)

    window.close_tab()
    assert [button.isEnabled() for button in buttons] == [False] * 3
    window.tool_bar.show_header_button(True)
    for width in (1280, 800, 640, 1280):
        window.resize(width, 600)
    every = {"Open", "Check", "Extract", "Repair", "Header", "Go to", "Find"}
    qtbot.waitUntil(lambda: every <= seen_words(window.tool_bar))


def test_rows_of_sixteen_bytes_and_their_text_come_before_panels(show: Show, window: Window, qtbot: QtBot) -> None:
    window.resize(1600, 1000)
    tab = show("two-entries.tacozip")
    settle(qtbot, window)
    view = tab.hex_pane.hex
    assert (view.bytesPerRow(), view.lane.isVisible()) == (16, True)
    large = tab.arrangement()

    window.resize(*SMALL)
    settle(qtbot, window)
    for arrange in (lambda: tab.arrange(large), tab.reset_arrangement):
        arrange()
        settle(qtbot, window)
        assert (window.width(), window.height()) == SMALL
        assert view.bytesPerRow() == 16
        assert view.horizontalScrollBar().maximum() == 0
    nothing_is_cut_in_a_narrow_panel(tab, ["Header"], window, qtbot)
