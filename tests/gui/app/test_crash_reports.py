"""Mistakes in the program: told in one line whose report can be copied, while everything goes on."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest
from PySide6.QtCore import QTimer, qVersion
from PySide6.QtGui import QGuiApplication, QPaintEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector import __version__
from inspector.gui.app.help import Help
from inspector.gui.app.window import Window
from inspector.operations.protocol.requests import ArchiveRequests
from tests.gui.conftest import WAIT, Show, press, settle

CANARY = "/home/anna/payroll.caf"


@pytest.fixture
def reports(window: Window, monkeypatch: pytest.MonkeyPatch) -> Help:
    """Those of a window, its hooks in place as in the running program."""
    for owner, name in ((sys, "excepthook"), (threading, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    window.help.install()
    return window.help


def told(reports: Help) -> str:
    return "\n\n".join(reports.kept)


def fail() -> None:
    raise LookupError(CANARY)


def test_a_mistake_in_a_slot_is_told_without_what_is_the_users(
    reports: Help, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    QTimer.singleShot(0, fail)
    with qtbot.waitSignal(reports.noted, timeout=WAIT):
        pass
    assert "LookupError" in told(reports)
    assert CANARY not in told(reports)
    assert CANARY in capsys.readouterr().err  # who started it in a terminal is told everything


class Bad(QWidget):
    """Cannot paint itself."""

    def paintEvent(self, _: QPaintEvent) -> None:
        """Qt override."""
        fail()


def test_a_mistake_in_painting_is_told_once_however_often_it_happens(
    reports: Help, window: Window, qtbot: QtBot
) -> None:
    bad = Bad()
    qtbot.addWidget(bad)
    with qtbot.waitSignal(reports.noted, timeout=WAIT):
        bad.show()
    for _ in range(5):
        with qtbot.waitSignal(reports.noted, timeout=WAIT):
            bad.update()
    assert told(reports).count("LookupError") == 1
    assert window.message.button.isVisible()
    window.message.dismiss.click()
    with qtbot.waitSignal(reports.noted, timeout=WAIT):
        bad.update()
    assert window.message.isHidden()


def test_a_mistake_in_a_thread_is_told_in_the_windows(reports: Help, qtbot: QtBot) -> None:
    with qtbot.waitSignal(reports.noted, timeout=WAIT):
        threading.Thread(target=fail).start()
    qtbot.waitUntil(lambda: bool(reports.kept))
    assert "window, in a thread" in told(reports)


def test_a_mistake_where_none_can_be_raised_is_told(reports: Help) -> None:
    class Ends:
        def __del__(self) -> None:
            fail()

    Ends()
    assert "where none can be raised" in told(reports)


def test_many_different_mistakes_stay_a_short_report(reports: Help) -> None:
    for number in range(50):
        reports.note(LookupError(), f"part {number}")
    assert told(reports).count("LookupError") == 5


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended in another way there")
def test_a_worker_that_dies_is_told_with_its_exit_status(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("plain.zip")
    process = tab.document.client.link.process
    assert process is not None
    assert process.pid is not None
    with qtbot.waitSignals([tab.document.lost, window.help.noted], timeout=WAIT):
        os.kill(process.pid, signal.SIGKILL)
    assert "Exit status: -9 (SIGKILL)" in told(window.help)


def test_a_mistake_in_a_worker_or_the_window_is_told_and_both_go_on(
    reports: Help, show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show("plain.zip")
    sentences: list[str] = []
    with qtbot.waitSignal(reports.noted, timeout=WAIT):
        tab.document.client.ask(ArchiveRequests.explain, CANARY).then(print, sentences.append)
    settle(qtbot, window)
    assert "an error in the program" in sentences[0]
    assert "worker" in told(reports)
    assert CANARY not in told(reports)
    reports.note(LookupError(), "window")
    tab.document.select_byte(0, 100, "test")
    settle(qtbot, window)
    assert tab.document.explanation is not None
    assert tab.document.explanation.offset == 100


def test_being_interrupted_is_no_mistake(reports: Help, capsys: pytest.CaptureFixture[str]) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not reports.kept
    assert "KeyboardInterrupt" in capsys.readouterr().err


def test_diagnostics_name_versions_and_what_went_wrong_and_nothing_that_is_open(
    reports: Help, show: Show, window: Window
) -> None:
    show("journey.caf")
    reports.note(LookupError(CANARY), "window")
    window.message.button.click()
    told_first = QGuiApplication.clipboard().text()
    press(window, "copy_diagnostics")
    text = QGuiApplication.clipboard().text()
    assert text.startswith(f"Archive Inspector {__version__}, diagnostics")
    assert f"Qt {qVersion()}" in text
    assert text.endswith(told(reports))
    assert told_first == text
    assert window.message.text.text().startswith("Diagnostics were copied")
    assert [each for each in ("journey", CANARY) if each in text] == []
