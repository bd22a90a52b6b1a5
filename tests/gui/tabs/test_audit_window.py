"""The tab that audits a folder: with its real worker, and with real processes where it is about them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QStyleOptionViewItem
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import MAX_TABS_AT_ONCE, Window
from inspector.gui.kit.style import Sentences
from inspector.gui.tabs.audit_tab import ERRORS, FORMAT, HINT, LOCATION, NONE_MATCH, NOTHING, SENTENCE, STATE, AuditTab
from tests.formats.datas3t.range_building import points, put_range
from tests.gui.conftest import WAIT, NoProcesses, Sample, dialog_of, press, settle

DAMAGED = "two-changed-bytes.rca"


@pytest.fixture
def folder(tmp_path: Path, sample: Sample) -> Path:
    """Three archives, one of them damaged, and a file that is none."""
    place = tmp_path / "archives"
    (place / "inner").mkdir(parents=True)
    shutil.copyfile(sample("journey.caf"), place / "journey.caf")
    shutil.copyfile(sample("two-chunks.rca"), place / "two-chunks.rca")
    shutil.copyfile(sample(DAMAGED), place / "inner" / DAMAGED)
    (place / "notes.txt").write_text("no archive")
    return place


@pytest.fixture
def tab(window: Window) -> AuditTab:
    press(window, "new_audit")
    found = window.tabs.currentWidget()
    assert isinstance(found, AuditTab)
    return found


def audit(qtbot: QtBot, tab: AuditTab, folder: Path, results: Path | None = None) -> None:
    """Audit a folder to the end."""
    tab.place.setText(str(folder))
    tab.results.setText(str(results or ""))
    tab.workers.setValue(1)
    tab.begin.click()
    done(qtbot, tab)


def done(qtbot: QtBot, tab: AuditTab) -> None:
    qtbot.waitUntil(lambda: tab.settled, timeout=2 * WAIT)
    tab.table.viewport().grab()
    qtbot.waitUntil(lambda: tab.settled, timeout=WAIT)


def shown(window: Window) -> AuditTab:
    found = window.tabs.currentWidget()
    assert isinstance(found, AuditTab)
    return found


def rows(tab: AuditTab, column: int) -> list[str]:
    tab.table.viewport().grab()
    return [str(tab.model.index(row, column).data()) for row in range(tab.model.rowCount())]


def test_it_begins_empty_asks_for_a_place_and_audits_a_folder_into_a_table(
    tab: AuditTab, window: Window, qtbot: QtBot, folder: Path, qtmodeltester: ModelTester
) -> None:
    assert tab._stack.shown_sentence() == HINT
    assert tab.place.hasFocus()
    tab.begin.click()
    assert "Choose a folder" in tab.message.text.text()
    assert not tab.running

    # Places are asked for without waiting.
    tab.ask_results()
    dialog = dialog_of(window, QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.fileSelected.emit("/data/kept.audit")
    assert tab.results.text() == "/data/kept.audit"
    dialog.reject()

    tab.results.clear()
    tab.place.setText(str(folder))
    qtbot.keyClick(tab.place, Qt.Key.Key_Return)
    done(qtbot, tab)
    assert rows(tab, LOCATION) == [f"inner/{DAMAGED}", "journey.caf", "two-chunks.rca"]
    assert rows(tab, STATE) == ["damaged", "sound", "sound"]
    assert rows(tab, FORMAT) == ["rca", "caf", "rca"]
    assert rows(tab, ERRORS)[0] == "2"
    assert "The blob at byte 280 cannot be decoded" in rows(tab, SENTENCE)[0]
    # The cause comes first and is not cut for the advice behind it; the tooltip has all of it.
    option, cell = QStyleOptionViewItem(), tab.model.index(0, SENTENCE)
    delegate = tab.table.itemDelegateForIndex(cell)
    assert isinstance(delegate, Sentences)
    delegate.initStyleOption(option, cell)
    assert option.textElideMode is Qt.TextElideMode.ElideRight
    assert rows(tab, SENTENCE)[0] in cell.data(Qt.ItemDataRole.ToolTipRole)
    assert tab.sentence.text() == "3 archives: 2 sound, 1 damaged. 1 other file was skipped."
    assert not tab.bar.isVisible()
    qtmodeltester.check(tab.model)
    done(qtbot, tab)


@pytest.mark.usefixtures("in_the_worker")
def test_results_are_sorted_and_filtered_and_the_audit_goes_on_where_it_was_stopped(
    tab: AuditTab, qtbot: QtBot, folder: Path, tmp_path: Path
) -> None:
    audit(qtbot, tab, folder, tmp_path / "kept.audit")
    tab.table.sortByColumn(LOCATION, Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: rows(tab, LOCATION)[0] == "two-chunks.rca", timeout=WAIT)
    tab.table.sortByColumn(STATE, Qt.SortOrder.AscendingOrder)
    qtbot.waitUntil(lambda: rows(tab, STATE)[0] == "damaged", timeout=WAIT)
    tab.formats.setCurrentText("rca")
    qtbot.waitUntil(lambda: tab.model.rowCount() == 2, timeout=WAIT)
    tab.states.setCurrentText("Anything wrong")
    qtbot.waitUntil(lambda: rows(tab, LOCATION) == [f"inner/{DAMAGED}"], timeout=WAIT)
    tab.states.setCurrentText("Torn")
    qtbot.waitUntil(lambda: tab._stack.shown_sentence() == NONE_MATCH, timeout=WAIT)
    tab.states.setCurrentIndex(0)
    tab.formats.setCurrentIndex(0)
    qtbot.keyClicks(tab.filter, "JOURNEY")
    qtbot.waitUntil(lambda: rows(tab, LOCATION) == ["journey.caf"], timeout=WAIT)
    tab.filter.clear()

    shutil.copyfile(folder / "journey.caf", folder / "late.caf")
    tab.begin.click()
    done(qtbot, tab)
    assert "4 archives: 3 sound, 1 damaged." in tab.sentence.text()
    assert "4 files were finished earlier." in tab.sentence.text()


def test_it_is_paused_goes_on_and_is_cancelled(
    tab: AuditTab, qtbot: QtBot, large: Path, sample: Sample, tmp_path: Path
) -> None:
    folder = tmp_path / "much"
    folder.mkdir()
    shutil.copyfile(sample("journey.caf"), folder / "0.caf")
    for at in range(1, 6):
        (folder / f"{at}.caf").hardlink_to(large)
        Path(f"{folder / str(at)}.caf.sha256").write_text(f"{'0' * 64}  a.bin\n")
    tab.place.setText(str(folder))
    tab.workers.setValue(1)
    tab.begin.click()
    qtbot.waitUntil(lambda: tab.standing.done.files > 0, timeout=2 * WAIT)
    assert not tab.options.isEnabled()
    tab.pause.click()
    qtbot.waitUntil(lambda: "paused" in tab.sentence.text(), timeout=WAIT)
    assert tab.pause.text() == "Resu&me"
    tab.pause.click()
    qtbot.waitUntil(lambda: "paused" not in tab.sentence.text(), timeout=WAIT)
    qtbot.keyClick(tab, Qt.Key.Key_Escape)
    done(qtbot, tab)
    assert "not audited yet; without a results file, Start begins from scratch" in tab.sentence.text()
    assert "not checked yet" in rows(tab, STATE)
    assert tab.standing.done.files > 0
    assert tab.begin.isEnabled()


@pytest.mark.usefixtures("in_the_worker")
def test_what_goes_wrong_is_said_and_a_lost_process_too(
    tab: AuditTab, qtbot: QtBot, folder: Path, tmp_path: Path
) -> None:
    audit(qtbot, tab, tmp_path / "nowhere")
    assert "does not exist" in tab.message.text.text()
    (tmp_path / "empty").mkdir()
    audit(qtbot, tab, tmp_path / "empty")
    assert tab._stack.shown_sentence() == NOTHING
    audit(qtbot, tab, folder, folder / "notes.txt")
    assert "is not a database" in tab.message.text.text()
    assert (folder / "notes.txt").read_text() == "no archive"

    audit(qtbot, tab, folder)
    assert not tab.open.isEnabled()
    assert tab.client.link.process is not None
    tab.client.link.process.kill()
    qtbot.waitUntil(lambda: "ended unexpectedly" in tab.message.text.text(), timeout=WAIT)
    assert rows(tab, LOCATION)[1] == "journey.caf"
    tab.begin.click()
    done(qtbot, tab)
    assert tab.sentence.text() == "3 archives: 2 sound, 1 damaged. 1 other file was skipped."


# ---- many archives, and folders ----------------------------------------------------------------------------------


def drop(window: Window, *places: Path) -> None:
    """Drop these on a window."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(place)) for place in places])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(1, 1), copy, data, Qt.MouseButton.LeftButton, none))


@pytest.mark.usefixtures("in_the_worker")
def test_files_are_audited_in_a_list_from_which_they_open_and_others_are_asked_for_without_waiting(
    window: Window, qtbot: QtBot, folder: Path
) -> None:
    window.archives.audit([str(folder / "journey.caf"), str(folder / "inner" / DAMAGED), str(folder / "gone.caf")])
    tab = shown(window)
    done(qtbot, tab)
    assert tab.title == "Audit: journey.caf and 2 more"
    assert rows(tab, LOCATION) == ["gone.caf", f"inner/{DAMAGED}", "journey.caf"]
    assert rows(tab, STATE) == ["unreadable", "damaged", "sound"]
    assert "does not exist" in rows(tab, SENTENCE)[0]
    tab.table.setCurrentIndex(tab.model.index(1, 0))  # which is told in full
    assert str(folder / "inner" / DAMAGED) in tab.about.text()
    assert "error: " in tab.about.text()

    for opening in (tab.open.click, lambda: tab.table.activated.emit(tab.model.index(1, 0))):
        window.tabs.setCurrentWidget(tab)
        opening()
        settle(qtbot, window)
        opened = window.tab()
        assert opened is not None
        assert opened.document.name == DAMAGED
        assert window.tabs.count() == 2


@pytest.mark.sweep
def test_what_was_not_checked_is_listed_too_and_opens(
    window: Window, qtbot: QtBot, large: Path, tmp_path: Path
) -> None:
    copies = [tmp_path / f"{at}.caf" for at in range(8)]
    for copy in copies:
        copy.hardlink_to(large)
        Path(f"{copy}.sha256").write_text(f"{'0' * 64}  a.bin\n")
    window.archives.audit(list(map(str, copies)))
    tab = shown(window)
    qtbot.waitUntil(lambda: tab.model.rowCount() == len(copies), timeout=2 * WAIT)
    qtbot.keyClick(tab, Qt.Key.Key_Escape)
    done(qtbot, tab)
    assert "not audited yet" in tab.sentence.text()
    assert rows(tab, STATE)[-1] == "not checked yet"
    tab.table.setCurrentIndex(tab.model.index(7, 0))
    assert tab.about.text().endswith("not checked yet.")
    assert tab.open.isEnabled()
    press(window, "close_tab")
    assert window.start_page.isVisible()


def test_an_audit_that_cannot_start_says_why_and_can_be_tried_again(
    window: Window, qtbot: QtBot, sample: Sample, no_processes: NoProcesses
) -> None:
    with no_processes():
        window.archives.audit([str(sample("journey.caf"))])
        qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    tab = shown(window)
    assert "No process could be started to check these archives: Cannot allocate memory." in tab.message.text.text()
    tab.begin.click()
    done(qtbot, tab)
    assert tab.sentence.text() == "1 archive: 1 sound."


@pytest.mark.usefixtures("in_the_worker")
def test_a_folder_that_is_no_dataset_is_audited(window: Window, qtbot: QtBot, folder: Path, sample: Sample) -> None:
    window.open_locations([str(folder), str(sample("plain.zip"))])
    window.tabs.setCurrentIndex(0)
    qtbot.waitUntil(lambda: isinstance(window.tabs.currentWidget(), AuditTab), timeout=WAIT)
    tab = shown(window)
    done(qtbot, tab)
    assert [window.tabs.tabText(at) for at in range(window.tabs.count())] == ["Audit: archives", "plain.zip"]
    assert rows(tab, STATE) == ["damaged", "sound", "sound"]
    drop(window, folder / "inner")
    qtbot.waitUntil(lambda: window.tabs.count() == 3 and window.tabs.tabText(2) == "Audit: inner", timeout=WAIT)
    done(qtbot, shown(window))


@pytest.mark.usefixtures("in_the_worker")
def test_a_dataset_in_a_folder_has_a_row_that_says_what_is_missing(
    window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    ranges = tmp_path / "bucket" / "weather" / "datapoints"
    for first in (1, 11, 31):
        put_range(ranges, points(first, first + 9))
    (ranges / f"{51:020d}-{60:020d}.tar.metadata").write_text("")
    window.archives.audit([str(tmp_path)])
    tab = shown(window)
    done(qtbot, tab)
    assert rows(tab, LOCATION)[0] == "bucket/weather"
    assert rows(tab, STATE) == ["damaged", "sound", "sound", "sound", "damaged"], "and what describes it is there"
    assert "the tar that it describes is missing" in rows(tab, SENTENCE)[0]
    (ranges / f"{51:020d}-{60:020d}.tar.metadata").unlink()
    tab.begin.click()
    done(qtbot, tab)
    assert rows(tab, STATE) == ["sound"] * 4
    tab.table.setCurrentIndex(tab.model.index(0, 0))
    assert "the keys 21 to 30" in tab.about.text()


@pytest.mark.usefixtures("in_the_worker")
def test_many_files_dropped_are_one_list(window: Window, qtbot: QtBot, tmp_path: Path, sample: Sample) -> None:
    copies = [tmp_path / f"{at}.caf" for at in range(MAX_TABS_AT_ONCE + 1)]
    for copy in copies:
        shutil.copyfile(sample("journey.caf"), copy)
    drop(window, *copies)
    tab = shown(window)
    done(qtbot, tab)
    assert window.tabs.count() == 1
    assert rows(tab, LOCATION) == [copy.name for copy in copies]
    assert "listed here" in tab.message.text.text()


def test_a_drop_zone_lights_up_under_what_is_dragged_and_a_few_files_become_tabs(
    window: Window, qtbot: QtBot, sample: Sample
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(sample("journey.caf")))])
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    press(window, "new_audit")
    for zone in (window, shown(window).place):
        dark = window.centralWidget().grab().toImage()
        zone.dragEnterEvent(QDragEnterEvent(QPoint(1, 1), copy, data, Qt.MouseButton.LeftButton, none))
        assert zone.drop_light.isVisible()
        assert window.centralWidget().grab().toImage() != dark
        zone.dragLeaveEvent(QDragLeaveEvent())
        assert not zone.drop_light.isVisible()
    window.dragEnterEvent(QDragEnterEvent(QPoint(1, 1), copy, data, Qt.MouseButton.LeftButton, none))
    drop(window, sample("journey.caf"), sample("plain.zip"))
    assert not window.drop_light.isVisible()
    settle(qtbot, window)
    assert window.tabs.count() == 1 + 2
