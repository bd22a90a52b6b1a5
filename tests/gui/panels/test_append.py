"""Appending to an RCA archive in the window, with real workers and files."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from inspector.gui.app.window import Window
from inspector.gui.dialogs.inputs import AppendDialog
from tests.formats.rca import build
from tests.gui.conftest import WAIT, Show, answer, dialog_of, press, settle
from tests.gui.tabs.create_helpers import drop, dropped, slow, tree

__all__ = ["tree"]


@pytest.fixture
def rca(tmp_path: Path) -> Path:
    """An RCA archive of what is in the tree."""
    path = tmp_path / "log.rca"
    path.write_bytes(build.archive([(b"1.txt", b"alpha"), (b"sub/2.bin", b"beta" * 100)]))
    return path


def append_dialog(window: Window, qtbot: QtBot) -> AppendDialog:
    dialog = dialog_of(window, AppendDialog)
    assert isinstance(dialog, AppendDialog)
    qtbot.waitUntil(lambda: dialog.inputs.settled, timeout=WAIT)
    return dialog


def test_files_are_added_to_an_rca_archive_unless_they_are_there_or_gone_which_is_said_before_and_after(
    show: Show, window: Window, qtbot: QtBot, rca: Path, tree: Path, tmp_path: Path
) -> None:
    tab, more = show(rca), tmp_path / "more.txt"
    press(window, "append")
    dialog = append_dialog(window, qtbot)
    assert not dialog.answer.isEnabled()
    dialog.inputs.add([str(tree / "1.txt")])
    dialog = append_dialog(window, qtbot)
    assert "already" in dialog.inputs.model.texts(0)[3]
    assert not dialog.answer.isEnabled()
    dialog.reject()

    more.write_bytes(b"more")
    press(window, "append")
    dialog = append_dialog(window, qtbot)
    dialog.inputs.add([str(more)])
    dialog = append_dialog(window, qtbot)
    more.unlink()
    dialog.accept()
    settle(qtbot, window)
    assert tab.document.status.members == 2
    more.write_bytes(b"more")
    press(window, "append")
    dialog = append_dialog(window, qtbot)
    assert dialog.inputs.locations == [str(more)], "what could not be added is offered again"
    link = dialog.client.link
    dialog.accept()
    settle(qtbot, window)
    assert tab.document.status.members == 3
    assert "1 blob more" in tab.note.text.text()
    QTest.keyClick(tab.hex_pane.map, Qt.Key.Key_End)  # the map is of what is there now
    assert tab.document.selection.caret == tab.document.status.size - 1
    qtbot.waitUntil(lambda: link.process is None, timeout=WAIT)
    press(window, "append")
    assert append_dialog(window, qtbot).inputs.locations == []


def test_what_is_dropped_on_an_rca_archive_is_opened_or_added_and_cancelling_leaves_it_as_it_was(
    show: Show, window: Window, qtbot: QtBot, rca: Path, tree: Path, tmp_path: Path
) -> None:
    before, tab = rca.read_bytes(), show(rca)
    drop(window, dropped(tree / "1.txt"))
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "log.rca" in box.text()
    answer(box, "Add…")
    dialog = append_dialog(window, qtbot)
    assert dialog.inputs.locations == [str(tree / "1.txt")]
    dialog.reject()
    drop(window, dropped(tree / "1.txt"))
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    answer(box, "Open")
    settle(qtbot, window)
    shown = window.tab()
    assert shown is not None
    assert shown.document.name == "1.txt"
    press(window, "append")
    assert "only to a local RCA archive" in window.message.text.text()
    press(window, "close_tab")

    slow(tmp_path)
    press(window, "append")
    dialog = dialog_of(window, AppendDialog)
    assert isinstance(dialog, AppendDialog)
    dialog.options.level.setValue(19)
    dialog.inputs.add([str(tmp_path / "big.bin")])
    append_dialog(window, qtbot)
    dialog.accept()
    (job,) = tab.document.client.jobs
    with qtbot.waitSignal(job.progressed, timeout=WAIT):
        pass
    press(window, "cancel")
    settle(qtbot, window)
    qtbot.waitUntil(lambda: rca.read_bytes() == before, timeout=WAIT)
    assert tab.document.status.members == 2
