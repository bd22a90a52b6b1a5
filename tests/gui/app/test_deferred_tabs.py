"""Many archives opened at once: one is read, and each of the others when its tab is first shown."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.operations.protocol.views import Stage
from tests.gui.conftest import Sample, settle

NAMES = ["journey.caf", "two-chunks.rca", "plain.zip"]


@pytest.fixture
def many(window: Window, qtbot: QtBot, sample: Sample) -> Window:
    window.open_locations([str(sample(name)) for name in NAMES])
    settle(qtbot, window)
    return window


def names(window: Window) -> list[str]:
    return [window.tabs.tabText(at) for at in range(window.tabs.count())]


def read(window: Window) -> list[str]:
    """What has a process of its own."""
    assert all(tab.document.status.stage is Stage.READY for tab in window.tabs.all())
    return [tab.document.name for tab in window.tabs.all()]


def test_only_what_is_shown_is_read_and_another_when_it_is_shown(many: Window, qtbot: QtBot) -> None:
    assert names(many) == NAMES
    assert read(many) == NAMES[2:]
    assert list(many.settings.recent)[::-1] == [many.tabs.tabToolTip(at) for at in range(3)]
    many.tabs.setCurrentIndex(0)
    settle(qtbot, many)
    assert names(many) == NAMES
    assert read(many) == [NAMES[0], NAMES[2]]
    assert many.tabs.currentIndex() == 0
    assert many.windowTitle().startswith(NAMES[0])
    many.tabs.tabBar().moveTab(1, 2)
    many.tabs.step(1)
    many.tabs.step(1)
    settle(qtbot, many)
    assert read(many) == names(many) == [NAMES[0], NAMES[2], NAMES[1]]


def test_opening_one_that_waits_shows_it(many: Window, qtbot: QtBot, sample: Sample) -> None:
    many.open_location(str(sample(NAMES[1])))
    settle(qtbot, many)
    assert names(many) == NAMES
    assert read(many) == NAMES[1:]
    many.open_locations([str(sample(NAMES[0])), str(sample(NAMES[2]))])
    assert names(many) == NAMES
    assert many.tabs.currentIndex() == 2


def test_closing_shows_and_reads_the_next(many: Window, qtbot: QtBot) -> None:
    many.tabs.tabCloseRequested.emit(0)
    assert names(many) == NAMES[1:]
    many.close_tab()
    settle(qtbot, many)
    assert read(many) == names(many) == NAMES[1:2]
    many.close_tab()
    assert not many.tabs.count()
