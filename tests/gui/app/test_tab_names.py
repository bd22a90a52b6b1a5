"""Tabs that can be told apart, and many archives opened at once: each is read when its tab is first shown."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from inspector.gui.app.command_palette import CommandPalette
from inspector.gui.app.tabs import MIN_TITLE_CHARS, distinct
from inspector.gui.app.window import Window
from inspector.operations.protocol.views import Stage
from tests.gui.conftest import Sample, Show, dialog_of, press, previewed, settle

PATHS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


@given(st.lists(PATHS, unique=True, max_size=8))
def test_no_two_locations_are_called_alike(locations: list[str]) -> None:
    assert len(set(distinct(locations))) == len(locations)


@pytest.mark.parametrize(
    ("locations", "names"),
    [
        (["/a/x.rca", "/a/y.rca"], ["x.rca", "y.rca"]),
        (["/a/x.rca", "/b/x.rca"], ["x.rca — a", "x.rca — b"]),
        (["/a/in/x.rca", "/b/in/x.rca"], ["x.rca — a/in", "x.rca — b/in"]),
        (["s3://one/x.rca", "s3://two/x.rca"], ["x.rca — one", "x.rca — two"]),
    ],
)
def test_files_of_one_name_are_told_apart_by_their_folders(locations: list[str], names: list[str]) -> None:
    assert distinct(locations) == names


def test_the_folder_goes_again_with_the_other_tab_and_changes_that_are_not_written_are_marked(
    show: Show, window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        shutil.copyfile(sample("journey.caf"), tmp_path / folder / "x.caf")
        tab = show(tmp_path / folder / "x.caf")
    assert names(window) == ["x.caf — one", "x.caf — two"]
    window.tabs.tabCloseRequested.emit(0)
    assert names(window) == ["x.caf"]

    assert not window.isWindowModified()
    tab.editing.overwrite(0, b"C", b"X")
    previewed(qtbot, window, tab)
    assert names(window) == ["* x.caf"]
    assert "unwritten changes" in window.tabs.bar.accessibleTabName(0)
    assert window.isWindowModified()
    assert window.windowTitle().startswith("x.caf[*]")
    show("plain.tar")
    assert not window.isWindowModified()
    window.tabs.setCurrentIndex(0)
    press(window, "discard")
    assert names(window) == ["x.caf · sound", "plain.tar"]  # looking at the change checked it
    assert not window.isWindowModified()


@pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", "does not support grabbing", extend=True)
def test_many_tabs_keep_names_that_say_something_and_are_listed(
    window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    paths = [tmp_path / f"an archive with number {number}.caf" for number in range(12)]
    for path in paths:
        shutil.copyfile(sample("journey.caf"), path)
    window.open_locations(map(str, paths))
    settle(qtbot, window)
    bar = window.tabs.tabBar()
    assert isinstance(bar, QTabBar)
    letters = bar.fontMetrics().averageCharWidth() * MIN_TITLE_CHARS
    icons = bar.tabButton(0, QTabBar.ButtonPosition.RightSide).width()
    assert min(bar.tabRect(at).width() for at in range(bar.count())) >= letters + icons
    press(window, "list_tabs")
    listed = dialog_of(window, CommandPalette)
    assert isinstance(listed, CommandPalette)
    assert [entry.text for entry in listed.matches.rows] == [path.name for path in paths]
    listed.query.setText("number 3")
    qtbot.keyClick(listed.query, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert window.tabs.currentIndex() == 3


# ---- many at once ----------------------------------------------------------------------------------------------------


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
