"""Consent to repairs that wait for it, as a user ticks them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from tests.gui.conftest import settle
from tests.gui.panels.test_repair_panel import tickable


def agree_to_all(tab: Tab, window: Window, qtbot: QtBot) -> None:
    """Tick every repair that waits; the plan is made again after each."""
    while waiting := [item for item in tickable(tab) if item.checkState() is not Qt.CheckState.Checked]:
        waiting[0].setCheckState(Qt.CheckState.Checked)
        settle(qtbot, window)
