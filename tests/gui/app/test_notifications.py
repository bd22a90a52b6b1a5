"""The end of a long job is notified while the window is in the background, and only then."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.app.notifications import MIN_SECONDS, JobNotifications, is_away, show_notification
from inspector.gui.app.window import Window
from inspector.gui.kit import preferences
from inspector.gui.kit.settings import Settings
from tests.gui.conftest import WAIT, Sample, Show, press, settle


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Told:
    """What was told, by which clock, of the work in a window."""

    def __init__(self, window: Window, settings: Settings) -> None:
        self.clock = Clock()
        self.titles: list[str] = []
        self.sentences: list[str] = []
        self.clicks: list[Callable[[], object]] = []
        window.job_notifications = JobNotifications(window, window.tabs, settings, self._take, self.clock)

    def _take(self, _: QWidget, title: str, sentence: str, then: Callable[[], object]) -> None:
        self.clicks.append(then)
        self.titles.append(title)
        self.sentences.append(sentence)


@pytest.fixture
def told(window: Window, settings: Settings) -> Told:
    return Told(window, settings)


@pytest.fixture
def elsewhere(qtbot: QtBot) -> Callable[[], QWidget]:
    """Work in another window, which is none of this program's."""

    def go() -> QWidget:
        other = QWidget()
        qtbot.addWidget(other)
        other.show()
        other.activateWindow()
        qtbot.waitUntil(lambda: bool(other.isActiveWindow()), timeout=WAIT)
        return other

    return go


def come(window: Window, qtbot: QtBot) -> None:
    window.activateWindow()
    qtbot.waitUntil(lambda: bool(window.isActiveWindow()), timeout=WAIT)


def check(window: Window, told: Told, qtbot: QtBot, seconds: float) -> None:
    """Check the archive that is shown, which takes so long by the clock."""
    press(window, "check")
    told.clock.now += seconds
    settle(qtbot, window)


def test_a_window_is_away_when_it_is_minimized_or_another_has_the_keyboard_that_is_no_dialog_of_it(
    window: Window, elsewhere: Callable[[], QWidget], qtbot: QtBot
) -> None:
    come(window, qtbot)
    assert not is_away(window)
    elsewhere()
    assert is_away(window)
    come(window, qtbot)
    assert not is_away(window)

    dialog = QDialog(window)
    dialog.open()
    dialog.activateWindow()
    qtbot.waitUntil(lambda: bool(dialog.isActiveWindow()), timeout=WAIT)
    assert not is_away(window)
    dialog.reject()

    come(window, qtbot)
    window.showMinimized()
    assert is_away(window)
    window.showNormal()


def test_long_work_is_told_with_what_came_of_it(
    show: Show, window: Window, told: Told, elsewhere: Callable[[], QWidget], qtbot: QtBot
) -> None:
    tab = show("overlap.caf")
    elsewhere()
    check(window, told, qtbot, MIN_SECONDS)
    assert told.titles == ["overlap.caf has been checked."]
    assert told.sentences == [tab.document.status.judgement]
    assert told.sentences[0].startswith("Damaged")
    press(window, "new_audit")
    assert window.tab() is None
    told.clicks[0]()
    assert window.tab() is tab
    press(window, "close_tab")
    told.clicks[0]()  # what it was about is gone
    assert window.tabs.count() == 1


def test_nothing_is_told_of_short_or_cancelled_work_to_somebody_who_sees_it_or_where_it_is_not_wanted(
    show: Show,
    window: Window,
    told: Told,
    settings: Settings,
    large: Path,
    elsewhere: Callable[[], QWidget],
    qtbot: QtBot,
) -> None:
    show("journey.caf")
    come(window, qtbot)
    check(window, told, qtbot, 100)
    assert told.titles == []
    elsewhere()
    check(window, told, qtbot, MIN_SECONDS - 0.1)
    assert told.titles == []
    settings.put(preferences.NOTIFY, False)
    check(window, told, qtbot, 100)
    assert told.titles == []

    settings.put(preferences.NOTIFY, True)
    tab = show(large)
    elsewhere()
    press(window, "check")
    tab.document.client.jobs[-1].pause()
    told.clock.now += 100
    press(window, "cancel")
    settle(qtbot, window)
    assert told.titles == []


@pytest.mark.usefixtures("in_the_worker")
def test_the_check_of_many_is_told(
    window: Window, told: Told, sample: Sample, elsewhere: Callable[[], QWidget], qtbot: QtBot
) -> None:
    elsewhere()
    window.audits.audit([str(sample("journey.caf")), str(sample("plain.zip"))])
    told.clock.now += 100
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert told.titles == ["The audit has ended."]


def test_a_notice_where_the_desktop_has_no_way_to_show_one_fails_nothing(window: Window, qtbot: QtBot) -> None:
    show_notification(window, "Done.", "All is well.", lambda: None)
    settle(qtbot, window)
