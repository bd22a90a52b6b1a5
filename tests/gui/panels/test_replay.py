"""Replaying writes as a user does: by menu and keys, all that is shown follows, and the file is never written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from inspector.core.edit import Edit
from inspector.core.verdict import State
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.changing.trials import NO_CRASHES, NO_REPLAY
from inspector.operations.protocol.header_draft import HeaderDraft
from inspector.operations.protocol.replay_views import AppendWrites, CrashState, PastWrites, Point, SegmentWrites
from inspector.operations.protocol.requests import ArchiveRequests
from tests.gui.conftest import Copied, dialog_of, press, settle
from tests.gui.panels.test_experiment import bytes_at, descriptors

ENTRIES = ((157, 2_345), (5_000, 77), *[(0, 0)] * 5)


@pytest.fixture
def taco(copied: Copied, window: Window, qtbot: QtBot) -> tuple[Tab, Path]:
    """A TACO archive with a pending change of its header."""
    tab, path = copied("two-entries.tacozip")
    asked: list[Edit] = []
    tab.document.client.ask(ArchiveRequests.header_edit, HeaderDraft(2, ENTRIES)).then(asked.append)
    qtbot.waitUntil(lambda: bool(asked))
    tab.editing.put(asked[0])
    qtbot.waitUntil(lambda: not tab.editing.previewing)
    settle(qtbot, window)
    return tab, path


@pytest.fixture
def shown(window: Window, qtbot: QtBot) -> Callable[[Tab], None]:
    """Wait until the archive is shown at its point; the worker has the file open for reading only."""

    def wait(tab: Tab) -> None:
        qtbot.waitUntil(lambda: tab.replaying.settled and not tab.replaying.reading)
        settle(qtbot, window)
        process = tab.document.client.link.process
        assert process is not None
        assert process.pid is not None
        flags = descriptors(process.pid, Path(tab.document.location))
        assert {each & os.O_ACCMODE for each in flags} == {os.O_RDONLY}

    return wait


def test_a_pending_header_is_replayed_by_keys_and_nothing_is_written(
    taco: tuple[Tab, Path], window: Window, shown: Callable[[Tab], None], qtbot: QtBot
) -> None:
    tab, path = taco
    old, stamp = path.read_bytes(), path.stat()
    edit = tab.editing.pending
    assert edit is not None
    payload = edit.patches[0].new
    panel = tab.replay_panel
    press(window, "show_replay")
    assert panel.chooser.hasFocus()
    assert panel.chooser.currentText() == "the pending changes: Set the TACO header"
    QTest.keyClick(panel.chooser, Qt.Key.Key_Tab)
    assert panel.buttons["begin"].hasFocus()
    QTest.keyClick(panel.buttons["begin"], Qt.Key.Key_Space)
    shown(tab)

    strip = tab.hex_pane.replay
    assert (strip.isVisible(), strip.mark.text()) == (True, "REPLAY")
    assert strip.sentence.text() == f"Nothing is written to {path.name}. Before the first write: 5,876 bytes."
    assert window.tabs.tabText(0).endswith(f"{path.name} (replay)")
    assert bytes_at(tab, 0, 160) == old[:160]  # the pending change does not lie over it
    assert tab.document.status.state is State.SOUND

    press(window, "next_write")
    shown(tab)
    assert bytes_at(tab, 0, 160) == old[:41] + payload + old[157:160]
    assert tab.document.status.state is State.TORN
    assert tab.banner.sentence.text().startswith("Replay, not the file: An update of the TACO header was interrupted")
    assert tab.hex_pane.hex.selection() == (41, 157)
    assert panel.steps.currentIndex().row() == 1

    panel.part.setFocus()
    QTest.keyClick(panel.part, Qt.Key.Key_Up)
    QTest.keyClick(panel.part, Qt.Key.Key_Up)
    shown(tab)
    assert tab.replaying.point == Point(1, 2)
    assert bytes_at(tab, 14, 18) == edit.patches[1].new[:2] + old[16:18]
    assert strip.sentence.text().endswith("In write 2 of 3, after 2 of 4 bytes: 5,876 bytes.")
    assert panel.steps_model.index(2, 0).data() == "2 of 3, partly"

    press(window, "previous_write")
    press(window, "next_write")
    panel.slider.setFocus()
    QTest.keyClick(panel.slider, Qt.Key.Key_End)
    shown(tab)
    assert tab.replaying.point == Point(3)
    assert tab.document.status.state is State.SOUND

    matrix = tab.replaying.matrix
    assert matrix is not None
    by_name = {reader.name: at for at, reader in enumerate(matrix.readers)}
    zipfile = [row.cells[by_name["zipfile"]] for row in matrix.rows]
    assert (zipfile[0], zipfile[-1]) == (CrashState.OLD, CrashState.NEW)
    assert set(zipfile[1:-1]) == {CrashState.RECOVERABLE}
    panel.matrix.setFocus()
    panel.matrix.setCurrentIndex(panel.matrix_model.index(1, 0))
    QTest.keyClick(panel.matrix, Qt.Key.Key_Return)
    shown(tab)
    assert tab.replaying.point == matrix.rows[1].point == Point(0, 58)

    # Nothing can be changed meanwhile, and the pending change is there again afterwards.
    tab.editing.discard()
    assert tab.note.text.text().startswith("This is a replay: leave it")
    press(window, "leave_replay")
    shown(tab)
    qtbot.waitUntil(lambda: not tab.editing.previewing)
    settle(qtbot, window)
    assert (tab.editing.pending, strip.isVisible()) == (edit, False)
    assert bytes_at(tab, 41, 157) == payload
    assert (path.read_bytes(), path.stat().st_ctime_ns) == (old, stamp.st_ctime_ns)
    assert [each.name for each in path.parent.iterdir() if each.name.endswith(".aij")] == []


def test_a_history_an_append_and_a_saved_state(
    copied: Copied, window: Window, shown: Callable[[Tab], None], qtbot: QtBot, tmp_path: Path
) -> None:
    tab, path = copied("two-resets-spec.rca")
    data = path.read_bytes()
    panel = tab.replay_panel
    press(window, "show_replay")
    assert panel.chooser.findText("the repair") < 0  # of a sound archive
    assert panel.chooser.itemText(0) == "an append: choose files…"
    panel.chooser.setCurrentIndex(1)
    panel.buttons["begin"].click()
    shown(tab)
    assert tab.replaying.writes == SegmentWrites()
    assert tab.document.size == 0
    press(window, "next_write")
    press(window, "next_write")
    shown(tab)
    assert (tab.document.size, tab.document.status.members) == (997, 4)
    assert NO_CRASHES in [each.text() for each in panel._crash_stack.findChildren(type(panel.about))]

    press(window, "save_state")
    dialog = dialog_of(window, QFileDialog)
    target = tmp_path / "state.rca"
    dialog.selectFile(str(target))
    dialog.accept()
    qtbot.waitUntil(lambda: target.exists() and "after append 2 of 3" in tab.banner.message.text.text())
    assert target.stat().st_size == 997

    tab.replaying.leave()
    shown(tab)
    (tmp_path / "new.txt").write_bytes(b"new " * 100)
    tab.replaying.begin(AppendWrites((str(tmp_path / "new.txt"),)))
    shown(tab)
    press(window, "next_write")
    shown(tab)
    assert tab.document.status.state is State.TORN
    assert tab.document.size > len(data)
    assert tab.hex_pane.hex.selection() == (len(data), tab.document.size)  # what was written, though it lies behind
    # Another replay begins only after this one; an experiment does not begin at all.
    press(window, "show_experiment")
    assert not tab.experiment.is_on
    tab.replaying.leave()
    shown(tab)
    assert (tab.document.size, path.read_bytes()) == (len(data), data)


@pytest.mark.sweep
def test_what_cannot_be_replayed_is_said_and_the_archive_stays(
    copied: Copied, window: Window, shown: Callable[[Tab], None]
) -> None:
    tab, path = copied("ghost.taco")
    press(window, "show_replay")
    assert tab.replay_panel.stack.shown_sentence() == NO_REPLAY
    tab.replay_panel.buttons["begin"].click()
    shown(tab)
    assert not tab.replaying.is_on
    assert tab.note.text.text().startswith(f"No repair writes to {path}")
    tab.replaying.begin(PastWrites(0))
    shown(tab)
    assert not tab.replaying.is_on
    assert "There is no write 1" in tab.note.text.text()
    assert not tab.hex_pane.replay.isVisible()
