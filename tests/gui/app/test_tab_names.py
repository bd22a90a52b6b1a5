"""Tabs that can be told apart: by folder, by a mark of what is not written, and in a list where there are many."""

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
from tests.gui.conftest import Sample, Show, dialog_of, press, previewed, settle

NAMES = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))


def texts(window: Window) -> list[str]:
    return [window.tabs.tabText(at) for at in range(window.tabs.count())]


@given(st.lists(NAMES, unique=True, max_size=8))
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
    assert texts(window) == ["x.caf — one", "x.caf — two"]
    window.tabs.tabCloseRequested.emit(0)
    assert texts(window) == ["x.caf"]

    assert not window.isWindowModified()
    tab.editing.overwrite(0, b"C", b"X")
    previewed(qtbot, window, tab)
    assert texts(window) == ["* x.caf"]
    assert "unwritten changes" in window.tabs.bar.accessibleTabName(0)
    assert window.isWindowModified()
    assert window.windowTitle().startswith("x.caf[*]")
    show("plain.tar")
    assert not window.isWindowModified()
    window.tabs.setCurrentIndex(0)
    press(window, "discard")
    assert texts(window) == ["x.caf · sound", "plain.tar"]  # looking at the change checked it
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
