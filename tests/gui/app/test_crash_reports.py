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

from inspector.gui.app.help.crash_reports import CrashReports
from inspector.gui.app.window import Window
from inspector.gui.dialogs.crash_report import CrashReportDialog
from inspector.operations.protocol.requests import ArchiveRequests
from tests.gui.conftest import WAIT, Show, overwrite, press, previewed, settle

CANARY = "/home/anna/payroll.caf"


@pytest.fixture
def crash_reports(window: Window, monkeypatch: pytest.MonkeyPatch) -> Iterator[CrashReports]:
    """Those of a window, its hooks in place as in the running program."""
    for owner, name in ((sys, "excepthook"), (threading, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    window.crash_reports.install()
    yield window.crash_reports
    if window.crash_reports.dialog is not None:
        window.crash_reports.dialog.close()


def told(crash_reports: CrashReports) -> str:
    assert crash_reports.dialog is not None
    assert crash_reports.dialog.isVisible()
    return crash_reports.dialog.report.toPlainText()


def fail() -> None:
    raise LookupError(CANARY)


def test_a_mistake_in_a_slot_is_told_without_what_is_the_users(
    crash_reports: CrashReports, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    QTimer.singleShot(0, fail)
    with qtbot.waitSignal(crash_reports.noted, timeout=WAIT):
        pass
    assert "LookupError" in told(crash_reports)
    assert CANARY not in told(crash_reports)
    assert CANARY in capsys.readouterr().err  # who started it in a terminal is told everything
    assert crash_reports.dialog is not None
    assert not crash_reports.dialog.isModal()


class Bad(QWidget):
    """Cannot paint itself."""

    def paintEvent(self, _: QPaintEvent) -> None:
        """Qt override."""
        fail()


def test_a_mistake_in_painting_is_told_once_however_often_it_happens(crash_reports: CrashReports, qtbot: QtBot) -> None:
    bad = Bad()
    qtbot.addWidget(bad)
    with qtbot.waitSignal(crash_reports.noted, timeout=WAIT):
        bad.show()
    for _ in range(5):
        happened = crash_reports.count
        with qtbot.waitSignal(crash_reports.noted, timeout=WAIT):
            bad.update()
        assert crash_reports.count > happened
    assert told(crash_reports).count("LookupError") == 1
    assert crash_reports.dialog is not None
    assert "times" in crash_reports.dialog.sentence.text()
    assert sum(isinstance(widget, CrashReportDialog) for widget in QApplication.topLevelWidgets()) == 1


def test_a_mistake_in_a_thread_is_told_in_the_windows(crash_reports: CrashReports, qtbot: QtBot) -> None:
    with qtbot.waitSignal(crash_reports.noted, timeout=WAIT):
        threading.Thread(target=fail).start()
    qtbot.waitUntil(lambda: crash_reports.dialog is not None)
    assert "window, in a thread" in told(crash_reports)


def test_a_mistake_where_none_can_be_raised_is_told(crash_reports: CrashReports) -> None:
    class Ends:
        def __del__(self) -> None:
            fail()

    Ends()
    assert "where none can be raised" in told(crash_reports)


def test_after_a_dialog_there_is_quiet_for_a_while_and_then_the_rest_is_told(crash_reports: CrashReports) -> None:
    crash_reports.note(LookupError(), "window")
    assert crash_reports.dialog is not None
    crash_reports.dialog.close()
    crash_reports.note(KeyError(), "window")
    crash_reports.note(KeyError(), "window")
    assert not crash_reports.dialog.isVisible()
    crash_reports.quiet.timeout.emit()
    assert "KeyError" in told(crash_reports)
    assert "LookupError" not in told(crash_reports)
    assert "2 times" in crash_reports.dialog.sentence.text()


def test_many_different_mistakes_stay_a_short_report(crash_reports: CrashReports) -> None:
    for number in range(50):
        crash_reports.note(LookupError(), f"part {number}")
    assert told(crash_reports).count("LookupError") == 5


def test_the_report_can_be_copied(crash_reports: CrashReports) -> None:
    crash_reports.note(LookupError(), "window")
    assert crash_reports.dialog is not None
    crash_reports.dialog.copy.click()
    assert QGuiApplication.clipboard().text() == told(crash_reports)


def test_saving_asks_where_pending_changes_are_to_be_kept(
    crash_reports: CrashReports, show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    overwrite(window, tab, 60, "FF")
    previewed(qtbot, window, tab)
    crash_reports.note(LookupError(), "window")
    assert crash_reports.dialog is not None
    crash_reports.dialog.save.click()
    (asking,) = tab.findChildren(QFileDialog)
    assert asking.windowTitle() == "Export Patch"
    assert not crash_reports.dialog.isVisible()
    asking.close()
    press(window, "discard")
    previewed(qtbot, window, tab)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended in another way there")
def test_a_worker_that_dies_is_told_with_its_exit_status(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("plain.zip")
    process = tab.document.client.link.process
    assert process is not None
    assert process.pid is not None
    with qtbot.waitSignals([tab.document.lost, window.crash_reports.noted], timeout=WAIT):
        os.kill(process.pid, signal.SIGKILL)
    assert "Exit status: -9 (SIGKILL)" in told(window.crash_reports)
    assert window.crash_reports.dialog is not None
    window.crash_reports.dialog.close()


def test_a_mistake_in_a_worker_or_the_window_is_told_and_both_go_on(
    crash_reports: CrashReports, show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    sentences: list[str] = []
    with qtbot.waitSignal(crash_reports.noted, timeout=WAIT):
        tab.document.client.ask(ArchiveRequests.explain, CANARY).then(print, sentences.append)
    settle(qtbot, window)
    assert "an error in the program" in sentences[0]
    assert "worker" in told(crash_reports)
    assert CANARY not in told(crash_reports)
    crash_reports.note(LookupError(), "window")
    tab.document.select_byte(0, 100, "test")
    settle(qtbot, window)
    assert tab.document.explanation is not None
    assert tab.document.explanation.offset == 100


def test_being_interrupted_is_no_mistake(crash_reports: CrashReports, capsys: pytest.CaptureFixture[str]) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert crash_reports.dialog is None
    assert "KeyboardInterrupt" in capsys.readouterr().err
