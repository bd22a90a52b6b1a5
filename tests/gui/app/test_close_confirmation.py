"""Closing a tab or the window with unsaved changes or running jobs asks first."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.protocol.requests import ArchiveRequests
from tests.gui.conftest import WAIT, Copied, Show, answer, dialog_of, overwrite, press, previewed, settle


@pytest.fixture
def busy(show: Show, window: Window, large: Path) -> Tab:
    """A tab whose check is under way, and waits so that it does not end by itself."""
    tab = show(large)
    press(window, "check")
    job = tab.document.client.jobs[-1]
    job.pause()
    return tab


def question(window: Window) -> QMessageBox:
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    assert box.textFormat() is Qt.TextFormat.PlainText
    return box


def test_a_busy_tab_asks_and_goes_on_working_or_is_read_again_and_one_without_work_closes_at_once(
    busy: Tab, window: Window, qtbot: QtBot
) -> None:
    for name in ("close_tab", "reload"):
        press(window, name)
        assert question(window).isVisible(), name
        assert "large.caf" in question(window).text(), name
        answer(question(window), "Keep Working")
        assert window.tab() is busy, name
        assert ArchiveRequests.check in [job.request for job in busy.document.client.jobs], name

    link = busy.document.client.link
    press(window, "reload")
    answer(question(window), "Reload")
    fresh = window.tab()
    assert fresh is not None
    assert fresh is not busy
    settle(qtbot, window)
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)
    assert not fresh.document.status.checked

    press(window, "close_tab")
    assert window.tabs.count() == 0
    assert not [box for box in window.findChildren(QMessageBox) if box.isVisible()]


def test_a_busy_tab_closes_when_that_is_wanted(busy: Tab, window: Window, qtbot: QtBot) -> None:
    link = busy.document.client.link
    window.tabs.tabCloseRequested.emit(0)
    answer(question(window), "Close")
    assert window.tabs.count() == 0
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)


def test_a_busy_window_asks(busy: Tab, window: Window, qtbot: QtBot) -> None:
    assert not window.close()
    assert window.isVisible()
    answer(question(window), "Keep Working")
    assert window.isVisible()
    assert not window.close()
    link = busy.document.client.link
    answer(question(window), "Close")
    assert not window.isVisible()
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)


def test_a_window_with_an_unwritten_change_asks_once(copied: Copied, window: Window, qtbot: QtBot) -> None:
    tab, path = copied("journey.caf")
    before = path.read_bytes()
    overwrite(window, tab, 0, "ff")
    previewed(qtbot, window, tab)

    assert not window.close()
    assert "an unwritten change of journey.caf" in question(window).text()
    answer(question(window), "Close")

    assert not window.isVisible()
    assert path.read_bytes() == before


def test_a_window_that_checks_many_asks(window: Window, large: Path) -> None:
    window.archives.audit([str(large)] * 4)
    (side,) = window.tabs.pages()
    assert not side.settled
    assert not window.close()
    assert side.title in question(window).text()
    answer(question(window), "Close")
    assert side.settled
    assert not window.isVisible()
