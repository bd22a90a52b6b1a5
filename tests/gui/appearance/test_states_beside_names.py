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
from inspector.gui.app.window import Window
from inspector.gui.ipc.client import Client
from inspector.gui.kit.icons import severity_icon, state_icon
from inspector.gui.kit.settings import Settings
from inspector.gui.panels.members import NAME, VERDICT
from tests.gui.conftest import Sample, Show, press, settle

DAMAGED, TORN, SOUND = "flipped-blob-byte.rca", "torn-after-write-2.tacozip", "two-chunks.rca"


def texts(window: Window) -> list[str]:
    return [window.tabs.tabText(at) for at in range(window.tabs.count())]


def looked(qtbot: QtBot, window: Window) -> None:
    """Wait until the tabs that are not open were looked at."""
    settle(qtbot, window)
    qtbot.waitUntil(lambda: not window.deferred_tabs.look.running)


@pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise", "does not support grabbing", extend=True)
def test_tabs_and_their_list_have_an_icon_and_a_word(show: Show, window: Window, qtbot: QtBot) -> None:
    show(SOUND)
    show(TORN)
    assert texts(window) == [SOUND, f"{TORN} · torn"]
    assert window.tabs.tabIcon(0).isNull()
    assert window.tabs.tabIcon(1).cacheKey() == state_icon(State.TORN).cacheKey()
    assert window.tabs.bar.accessibleTabName(1) == f"{TORN} · torn"
    window.tabs.setCurrentIndex(0)
    press(window, "check")
    settle(qtbot, window)
    assert texts(window)[0] == f"{SOUND} · sound"
    press(window, "list_tabs")
    actions = window.tabs.list.tabs.actions()
    assert [action.text() for action in actions] == texts(window)
    assert not any(action.icon().isNull() for action in actions)
    window.tabs.list.tabs.close()


def test_the_title_of_the_window_says_it_too(show: Show, window: Window) -> None:
    show(SOUND)
    assert window.windowTitle() == f"{SOUND}[*] – Archive Inspector"
    show(DAMAGED)
    assert window.windowTitle() == f"{DAMAGED}[*] – damaged – Archive Inspector"


def test_tabs_that_are_not_open_are_looked_at_by_one_process(window: Window, qtbot: QtBot, sample: Sample) -> None:
    names = [DAMAGED, TORN, SOUND, "gap.caf", "README.md", "journey.caf"]
    processes: set[object] = set()
    window.open_locations([str(sample(name)) for name in names])

    def note() -> bool:
        look = window.deferred_tabs.look
        processes.update(client.link for client in look.findChildren(Client))
        return not look.running

    qtbot.waitUntil(note)
    settle(qtbot, window)
    assert texts(window) == [
        *(f"{DAMAGED} · damaged", f"{TORN} · torn", SOUND),
        *("gap.caf · warning", "README.md", "journey.caf"),
    ]
    assert len(processes) == 1
    assert len(window.tabs.all()) == 1


def test_a_file_that_cannot_be_read_is_told(window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path) -> None:
    window.open_locations([str(tmp_path / "gone.caf"), str(sample("journey.caf"))])
    looked(qtbot, window)
    assert texts(window) == ["gone.caf · unreadable", "journey.caf"]


def test_recent_files_have_the_state_they_had(show: Show, window: Window, settings: Settings, sample: Sample) -> None:
    show(DAMAGED)
    show("journey.caf")
    for _ in range(2):
        window.close_tab()
    entries = {button.accessibleName() for button in window.start_page.findChildren(QPushButton)}
    assert {f"Open {DAMAGED}, damaged", "Open journey.caf"} <= entries
    assert settings.recent_states == {str(sample(DAMAGED)): State.DAMAGED}
    window.menus.recent.aboutToShow.emit()
    assert f"{sample(DAMAGED)} · damaged" in [action.text() for action in window.menus.recent.actions()]
    settings.set_text("recent_states", "{")
    assert settings.recent_states == {}


def test_a_folder_of_members_shows_the_worst_beneath_it(checked: Show, qtbot: QtBot, window: Window) -> None:
    tab = checked(DAMAGED)
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
    settle(qtbot, window)


def test_a_folder_of_members_shows_the_worst_finding_beneath_it(show: Show, qtbot: QtBot, window: Window) -> None:
    tab = show("overlap.caf")
    model = tab.members.tree_model
    icons = {
        str(model.index(row, NAME).data()): model.index(row, NAME).data(Qt.ItemDataRole.DecorationRole).cacheKey()
        for row in range(model.rowCount())
    }
    assert icons["photos"] == severity_icon(Severity.ERROR).cacheKey()
    assert icons["notes"] != icons["photos"]
    settle(qtbot, window)


def test_members_say_how_many_were_read_while_they_load(window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "many.tar"
    with tarfile.open(path, "w") as tar:
        for number in range(20_000):
            tar.addfile(tarfile.TarInfo(f"{number:05}.txt"), io.BytesIO())
    window.open_location(str(path))
    tab = window.tab()
    assert tab is not None
    said: set[str] = set()

    def note() -> bool:
        said.add(tab.members.empty_sentence())
        return window.settled

    tab.document.statusChanged.connect(note)
    tab.members.table_model.rowsAboutToBeInserted.connect(note)
    qtbot.waitUntil(note)
    assert said <= {"", "Reading…"} | {sentence for sentence in said if sentence.endswith(" so far")}
    assert tab.members.empty_sentence() == ""
