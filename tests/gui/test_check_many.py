"""Digest manifests, and checking many archives in a list, with the real workers."""

from __future__ import annotations

import shutil
from pathlib import Path

from PySide6.QtCore import QDir, Qt
from PySide6.QtWidgets import QFileDialog, QInputDialog
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.tabs.check_list import ERRORS, SENTENCE, STATE, CheckTab
from tests.gui.conftest import WAIT, NoProcesses, Sample, Show, dialog_of, press, settle

DAMAGED = "flipped-blob-byte.rca"


def many(window: Window) -> CheckTab:
    tab = window.tabs.currentWidget()
    assert isinstance(tab, CheckTab)
    return tab


# ---- manifests -------------------------------------------------------------------------------------------------


def test_a_manifest_is_written_and_replaced_only_when_that_is_confirmed(
    show: Show, window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    archive = tmp_path / "plain.zip"
    shutil.copyfile(sample("plain.zip"), archive)
    tab = show(archive)
    press(window, "write_manifest")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    assert dialog.isVisible()
    assert dialog.comboBoxItems()[0] == "SHA-256"
    dialog.accept()
    settle(qtbot, window)
    manifest = tmp_path / "plain.zip.sha256"
    lines = manifest.read_text().splitlines()
    assert len(lines) == 4
    assert "4 digests written to plain.zip.sha256" in tab.note.text.text()
    manifest.write_text("mine")
    tab.export_flow.write_manifest("SHA-256")
    settle(qtbot, window)
    assert manifest.read_text() == "mine"
    assert "already" in tab.banner.message.text.text()
    assert tab.banner.message.button.text() == "Replace It"
    tab.banner.message.button.click()
    settle(qtbot, window)
    assert manifest.read_text().splitlines() == lines


# ---- many archives ---------------------------------------------------------------------------------------------


def test_a_folder_is_checked_in_a_list_from_which_archives_open(
    window: Window, qtbot: QtBot, sample: Sample, qtmodeltester: ModelTester
) -> None:
    folder = sample("journey.caf").parent
    window.check_lists.check([str(folder)])
    tab = many(window)
    qtbot.waitUntil(lambda: window.settled, timeout=2 * WAIT)
    model = tab.model
    qtmodeltester.check(model)
    rows = {Path(model.location(model.index(row, 0))).name: row for row in range(model.rowCount())}
    states = {name: model.index(row, STATE).data() for name, row in rows.items()}
    assert states["journey.caf"] == states["two-chunks.rca"] == "sound"
    assert states[DAMAGED] == "damaged"
    assert states["torn-after-write-2.tacozip"] == "torn"
    assert states["README.md"] == "no archive"
    assert model.index(rows[DAMAGED], ERRORS).data() == "2"
    assert "The blob at byte 280 cannot be decoded" in model.index(rows[DAMAGED], SENTENCE).data()
    assert "damaged" in tab.sentence.text()
    assert "not checked" not in tab.sentence.text()
    tab.table.activated.emit(model.index(rows[DAMAGED], 0))
    settle(qtbot, window)
    opened = window.tab()
    assert opened is not None
    assert opened.document.name == DAMAGED
    assert window.tabs.count() == 2


def test_checking_many_is_cancelled(window: Window, qtbot: QtBot, large: Path, sample: Sample) -> None:
    window.check_lists.check([str(large), str(sample(DAMAGED)), str(large), str(sample(DAMAGED))] * 20)
    tab = many(window)
    qtbot.waitUntil(lambda: tab.model.done > 0, timeout=WAIT)
    qtbot.keyClick(tab, Qt.Key.Key_Escape)
    assert window.settled
    assert tab.stop.isHidden()
    assert "not checked" in tab.sentence.text()
    assert tab.model.index(tab.model.rowCount() - 1, STATE).data() == "not checked"
    press(window, "close_tab")
    assert window.start_page.isVisible()


def test_a_worker_that_dies_costs_only_the_archive_it_was_checking(
    window: Window, qtbot: QtBot, large: Path, sample: Sample
) -> None:
    window.check_lists.check([str(large), str(sample(DAMAGED)), str(sample("journey.caf"))])
    tab = many(window)
    qtbot.waitUntil(lambda: tab.model.index(0, STATE).data() == "being checked", timeout=WAIT)
    client = next(client for client, at in tab.checks._clients.items() if at == 0)
    assert client.link.process is not None
    client.link.process.kill()
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert [tab.model.index(row, STATE).data() for row in range(3)] == ["unreadable", "damaged", "sound"]
    assert "ended unexpectedly" in tab.model.index(0, SENTENCE).data()


def test_checks_that_cannot_start_say_why_and_can_be_tried_again(
    window: Window, qtbot: QtBot, sample: Sample, no_processes: NoProcesses
) -> None:
    with no_processes():
        window.check_lists.check([str(sample("journey.caf"))])
        qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    tab = many(window)
    assert tab._stack.shown_sentence() == (
        "No process could be started to check these archives: Cannot allocate memory. Close other programs and try "
        "again."
    )
    tab.again.click()
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert tab.sentence.text() == "1 archive checked: 1 sound."


def test_files_to_check_are_asked_for_without_waiting(window: Window, show: Show, qtbot: QtBot, sample: Sample) -> None:
    beside = Path(show("plain.zip").document.location).parent
    press(window, "check_files")
    dialog = dialog_of(window, QFileDialog)
    assert isinstance(dialog, QFileDialog)
    assert dialog.isVisible()
    assert dialog.directory() == QDir(str(beside))
    dialog.filesSelected.emit([str(sample("journey.caf"))])
    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert many(window).sentence.text() == "1 archive checked: 1 sound."
    dialog.reject()
