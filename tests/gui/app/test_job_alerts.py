"""The end of a long job asks for attention, unless it was cancelled or that is not wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import MIN_ALERT_SECONDS, JobAlerts, Window
from inspector.gui.kit import preferences
from tests.gui.conftest import WAIT, Sample, Show, press, settle

SHORT = MIN_ALERT_SECONDS - 0.1


class Alerts:
    """The alerts of a window, by a clock that goes when it is told to."""

    def __init__(self, window: Window) -> None:
        self.now = 0.0
        self.windows: list[QWidget] = []
        self.alerts = JobAlerts(window, self.windows.append, lambda: self.now)


@pytest.fixture
def alerts(window: Window) -> Alerts:
    return Alerts(window)


@pytest.mark.parametrize(
    ("seconds", "wanted", "count"), [(MIN_ALERT_SECONDS, True, 1), (SHORT, True, 0), (100, False, 0)]
)
def test_long_work_asks_for_attention(
    seconds: float, wanted: bool, count: int, show: Show, window: Window, alerts: Alerts, qtbot: QtBot
) -> None:
    show("overlap.caf")
    window.settings.put(preferences.NOTIFY, wanted)
    press(window, "check")
    alerts.now += seconds
    settle(qtbot, window)
    assert alerts.windows == [window] * count


def test_cancelled_work_does_not(show: Show, window: Window, alerts: Alerts, large: Path, qtbot: QtBot) -> None:
    tab = show(large)
    press(window, "check")
    tab.document.client.jobs[-1].pause()
    alerts.now += 100
    press(window, "cancel")
    settle(qtbot, window)
    assert alerts.windows == []


@pytest.mark.usefixtures("in_the_worker")
def test_the_check_of_many_does(window: Window, alerts: Alerts, sample: Sample, qtbot: QtBot) -> None:
    window.audits.audit([str(sample("journey.caf")), str(sample("plain.zip"))])
    alerts.now += 100
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert alerts.windows == [window]
