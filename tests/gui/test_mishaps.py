"""Mistakes in the program: told in one dialog that can be copied and closed, while everything goes on."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.app.crash_reports import Mishaps
from inspector.gui.app.window import Window
from inspector.gui.dialogs.crash_report import MishapDialog
from inspector.operations.protocol.requests import ArchiveRequests
from tests.gui.conftest import WAIT, Show, overwrite, press, previewed, settle

CANARY = "/home/anna/payroll.caf"


@pytest.fixture
def mishaps(window: Window, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mishaps]:
    """Those of a window, its hooks in place as in the running program."""
    for owner, name in ((sys, "excepthook"), (threading, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    window.mishaps.install()
    yield window.mishaps
    if window.mishaps.dialog is not None:
        window.mishaps.dialog.close()


def told(mishaps: Mishaps) -> str:
    assert mishaps.dialog is not None
    assert mishaps.dialog.isVisible()
    return mishaps.dialog.report.toPlainText()


def fail() -> None:
    raise LookupError(CANARY)


def test_a_mistake_in_a_slot_is_told_without_what_is_the_users(
    mishaps: Mishaps, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    QTimer.singleShot(0, fail)
    with qtbot.waitSignal(mishaps.noted, timeout=WAIT):
        pass
    assert "LookupError" in told(mishaps)
    assert CANARY not in told(mishaps)
    assert CANARY in capsys.readouterr().err  # who started it in a terminal is told everything
    assert mishaps.dialog is not None
    assert not mishaps.dialog.isModal()


class Bad(QWidget):
    """Cannot paint itself."""

    def paintEvent(self, _: QPaintEvent) -> None:
        """Qt override."""
        fail()


def test_a_mistake_in_painting_is_told_once_however_often_it_happens(mishaps: Mishaps, qtbot: QtBot) -> None:
    bad = Bad()
    qtbot.addWidget(bad)
    with qtbot.waitSignal(mishaps.noted, timeout=WAIT):
        bad.show()
    for _ in range(5):
        happened = mishaps.happened
        with qtbot.waitSignal(mishaps.noted, timeout=WAIT):
            bad.update()
        assert mishaps.happened > happened
    assert told(mishaps).count("LookupError") == 1
    assert mishaps.dialog is not None
    assert "times" in mishaps.dialog.sentence.text()
    assert sum(isinstance(widget, MishapDialog) for widget in QApplication.topLevelWidgets()) == 1


def test_a_mistake_in_a_thread_is_told_in_the_windows(mishaps: Mishaps, qtbot: QtBot) -> None:
    with qtbot.waitSignal(mishaps.noted, timeout=WAIT):
        threading.Thread(target=fail).start()
    qtbot.waitUntil(lambda: mishaps.dialog is not None)
    assert "window, in a thread" in told(mishaps)


def test_a_mistake_where_none_can_be_raised_is_told(mishaps: Mishaps) -> None:
    class Ends:
        def __del__(self) -> None:
            fail()

    Ends()
    assert "where none can be raised" in told(mishaps)


def test_after_a_dialog_there_is_quiet_for_a_while_and_then_the_rest_is_told(mishaps: Mishaps) -> None:
    mishaps.note(LookupError(), "window")
    assert mishaps.dialog is not None
    mishaps.dialog.close()
    mishaps.note(KeyError(), "window")
    mishaps.note(KeyError(), "window")
    assert not mishaps.dialog.isVisible()
    mishaps.quiet.timeout.emit()
    assert "KeyError" in told(mishaps)
    assert "LookupError" not in told(mishaps)
    assert "2 times" in mishaps.dialog.sentence.text()


def test_many_different_mistakes_stay_a_short_report(mishaps: Mishaps) -> None:
    for number in range(50):
        mishaps.note(LookupError(), f"part {number}")
    assert told(mishaps).count("LookupError") == 5


def test_the_report_can_be_copied(mishaps: Mishaps) -> None:
    mishaps.note(LookupError(), "window")
    assert mishaps.dialog is not None
    mishaps.dialog.copy.click()
    assert QGuiApplication.clipboard().text() == told(mishaps)


def test_saving_asks_where_pending_changes_are_to_be_kept(
    mishaps: Mishaps, show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    overwrite(window, tab, 60, "FF")
    previewed(qtbot, window, tab)
    mishaps.note(LookupError(), "window")
    assert mishaps.dialog is not None
    mishaps.dialog.save.click()
    (asking,) = tab.findChildren(QFileDialog)
    assert asking.windowTitle() == "Export Patch"
    assert not mishaps.dialog.isVisible()
    asking.close()
    press(window, "discard")
    previewed(qtbot, window, tab)


def test_the_window_goes_on_after_a_mistake(mishaps: Mishaps, show: Show, window: Window, qtbot: QtBot) -> None:
    mishaps.note(LookupError(), "window")
    tab = show("plain.zip")
    tab.document.select_byte(0, 100, "test")
    settle(qtbot, window)
    assert tab.document.explanation is not None


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended in another way there")
def test_a_worker_that_dies_is_told_with_its_exit_status(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("plain.zip")
    process = tab.document.client.link.process
    assert process is not None
    assert process.pid is not None
    with qtbot.waitSignals([tab.document.lost, window.mishaps.noted], timeout=WAIT):
        os.kill(process.pid, signal.SIGKILL)
    assert "Exit status: -9 (SIGKILL)" in told(window.mishaps)
    assert window.mishaps.dialog is not None
    window.mishaps.dialog.close()


def test_a_mistake_in_a_worker_is_told_and_the_worker_goes_on(
    mishaps: Mishaps, show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    sentences: list[str] = []
    with qtbot.waitSignal(mishaps.noted, timeout=WAIT):
        tab.document.client.ask(ArchiveRequests.explain, CANARY).then(print, sentences.append)
    settle(qtbot, window)
    assert "a mistake in the program" in sentences[0]
    assert "worker" in told(mishaps)
    assert CANARY not in told(mishaps)
    tab.document.select_byte(0, 100, "test")
    settle(qtbot, window)
    assert tab.document.explanation is not None


def test_being_interrupted_is_no_mistake(mishaps: Mishaps, capsys: pytest.CaptureFixture[str]) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert mishaps.dialog is None
    assert "KeyboardInterrupt" in capsys.readouterr().err
