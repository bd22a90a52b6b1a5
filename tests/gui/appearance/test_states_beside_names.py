"""The state of an archive stands wherever its name does: tabs, their list, folders, recent files and the title."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector.core.finding import Severity
from inspector.core.verdict import State
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.preferences import Settings
from inspector.gui.panels.members import NAME, VERDICT
from tests.gui.conftest import Sample, Show, press, settle

DAMAGED, TORN, SOUND = "flipped-blob-byte.rca", "torn-after-write-2.tacozip", "two-chunks.rca"


def texts(window: Window) -> list[str]:
    return [window.tabs.tabText(at) for at in range(window.tabs.count())]


def tabs_have_an_icon_and_a_word(window: Window) -> None:
    assert texts(window) == [f"{SOUND} · sound", f"{DAMAGED} · damaged"]
    assert window.tabs.tabIcon(1).cacheKey() == icon_of(State.DAMAGED).cacheKey()
    assert window.tabs.bar.accessibleTabName(1) == f"{DAMAGED} · damaged"


def a_folder_of_members_shows_the_worst_verdict_beneath_it(tab: Tab, qtbot: QtBot) -> None:
    model = tab.members.tree_model

    def rows() -> dict[str, QModelIndex]:
        return {str(index.data()): index for row in range(model.rowCount()) if (index := model.index(row, NAME))}

    def verdicts() -> dict[str, str]:
        tab.members.tree.viewport().repaint()
        return {name: str(index.siblingAtColumn(VERDICT).data()) for name, index in rows().items()}

    qtbot.waitUntil(lambda: "doubtful" in verdicts().values())
    assert not any(tab.members.tree.isExpanded(index) for index in rows().values())
    assert verdicts()["station-1"] == "doubtful"
    assert verdicts()["station-3"] == "verified"


def a_folder_of_members_shows_the_worst_finding_beneath_it(tab: Tab) -> None:
    model = tab.members.tree_model
    icons = {
        str(model.index(row, NAME).data()): model.index(row, NAME).data(Qt.ItemDataRole.DecorationRole).cacheKey()
        for row in range(model.rowCount())
    }
    assert icons["photos"] == icon_of(Severity.ERROR).cacheKey()
    assert icons["notes"] != icons["photos"]


def recent_files_have_the_state_they_had(window: Window, path: Path) -> None:
    entries = {button.accessibleName() for button in window.start_page.findChildren(QPushButton)}
    assert {f"Open {path.name}, damaged", "Open journey.caf"} <= entries
    window.menus.recent.aboutToShow.emit()
    assert f"{path} · damaged" in [action.text() for action in window.menus.recent.actions()]


@pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", "does not support grabbing", extend=True)
def test_the_state_of_an_archive_stands_wherever_its_name_does(
    show: Show, window: Window, settings: Settings, qtbot: QtBot, sample: Sample
) -> None:
    show(SOUND)
    assert window.windowTitle() == f"{SOUND}[*] – Archive Inspector"
    assert texts(window) == [SOUND]
    assert window.tabs.tabIcon(0).isNull()
    press(window, "check")
    settle(qtbot, window)
    tab = show(DAMAGED)
    assert window.windowTitle() == f"{DAMAGED}[*] – damaged – Archive Inspector"
    tabs_have_an_icon_and_a_word(window)
    press(window, "check")
    settle(qtbot, window)
    a_folder_of_members_shows_the_worst_verdict_beneath_it(tab, qtbot)
    a_folder_of_members_shows_the_worst_finding_beneath_it(show("overlap.caf"))
    show("journey.caf")

    while window.tabs.count():
        window.close_tab()
    recent_files_have_the_state_they_had(window, sample(DAMAGED))
    known = {SOUND: State.SOUND, DAMAGED: State.DAMAGED, "overlap.caf": State.DAMAGED}
    assert {name: state for name, state in settings.recent.items() if state} == {
        str(sample(name)): state for name, state in known.items()
    }
    window.open_locations([str(sample(DAMAGED)), str(sample("journey.caf"))])
    assert texts(window)[0] == f"{DAMAGED} · damaged", "the tab that is not open has the state it had"
    settings.set_text("recent", "{")
    assert settings.recent == {}


def test_members_say_how_many_were_read_while_they_load(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "many.tar"
    with tarfile.open(path, "w") as tar:
        for number in range(5_000):
            tar.addfile(tarfile.TarInfo(f"{number:05}.txt"), io.BytesIO())
    window.open_location(str(path))
    tab = window.tab()
    assert tab is not None
    said: set[str] = set()

    def note() -> bool:
        said.add(tab.members.stack.shown_sentence())
        return window.settled

    tab.document.statusChanged.connect(note)
    tab.members.table_model.rowsAboutToBeInserted.connect(note)
    qtbot.waitUntil(note)
    assert said <= {"", "Reading…"} | {sentence for sentence in said if sentence.endswith(" so far")}
    assert tab.members.stack.shown_sentence() == ""
