"""Experimenting as a user does: changes from the menu, all that is shown follows, and the file is never written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMessageBox
from pytestqt.qtbot import QtBot

from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.protocol.experiment_views import DAMAGES, Cut, Flip, Step, Swap
from tests.gui.conftest import WAIT, Copied, dialog_of, overwrite, press, settle
from tests.sweeping import in_the_sweep

Shown = Callable[[], None]


def descriptors(process: int, path: Path) -> list[int]:
    """How a process has opened a file, as the flags of each descriptor."""
    found = []
    for link in Path(f"/proc/{process}/fd").iterdir():
        if os.path.realpath(link) == str(path):
            flags = Path(f"/proc/{process}/fdinfo/{link.name}").read_text().split("flags:")[1].split()[0]
            found.append(int(flags, 8))
    return found


@pytest.fixture
def archive(copied: Copied) -> Iterator[tuple[Tab, Path]]:
    """An RCA archive that nothing writes to: neither its bytes nor anything that is known of it changes."""
    tab, path = copied("two-resets-spec.rca")
    data, before = path.read_bytes(), path.stat()
    yield tab, path
    after = path.stat()
    assert path.read_bytes() == data
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


@pytest.fixture
def shown(archive: tuple[Tab, Path], window: Window, qtbot: QtBot) -> Shown:
    """Wait until the archive is shown as the steps leave it; the worker has it open for reading only."""

    def wait() -> None:
        tab, path = archive
        qtbot.waitUntil(lambda: tab.experiment.settled, timeout=WAIT)
        settle(qtbot, window)
        process = tab.document.client.link.process
        assert process is not None
        assert process.pid is not None
        assert {each & os.O_ACCMODE for each in descriptors(process.pid, path)} == {os.O_RDONLY}

    return wait


def select(tab: Tab, start: int, stop: int) -> None:
    tab.document.go_to(0, start, stop)


def bytes_at(tab: Tab, start: int, stop: int) -> bytes:
    model = tab.hex_pane.hex.model
    assert model is not None
    return b"".join(data for _, data in model.bytes_at(start, stop))


def test_all_that_is_shown_follows_the_steps_and_comes_back_and_a_member_is_never_another_one(
    archive: tuple[Tab, Path], window: Window, shown: Shown, qtbot: QtBot
) -> None:
    tab, path = archive
    press(window, "check")
    settle(qtbot, window)
    assert tab.document.status.state is State.SOUND
    press(window, "show_reader")
    settle(qtbot, window)

    press(window, "show_experiment")
    shown()
    strip = tab.hex_pane.experiment
    assert (strip.isVisible(), strip.mark.text()) == (True, "EXPERIMENT")
    assert strip.sentence.text() == f"Nothing is written to {path.name}."
    assert window.tabs.tabText(0).startswith(f"{path.name} (experiment)")
    assert tab.docks["Experiment"].isVisible()

    select(tab, 16, 32)
    press(window, "delete_bytes")
    shown()
    assert tab.document.size == path.stat().st_size - 16
    assert bytes_at(tab, 0, 32) == (path.read_bytes()[:16] + path.read_bytes()[32:])[:32]
    assert tab.document.status.state is State.DAMAGED
    assert tab.banner.sentence.text().startswith("Experiment, not the file: ")
    assert strip.sentence.text().endswith("1 step: 1,503 bytes become 1,487.")
    assert tab.findings.model.rowCount() > 0
    assert {row.reader.name: row.outcome.accepts for row in tab.reader.readers.rows}["spec"] is False
    assert [step for _, step in tab.experiment_panel.model.rows] == list(tab.experiment.steps)
    # What is known of the file itself is not what the experiment shows.
    assert tab.document.state is None
    assert window.settings.recent[str(path)] is State.SOUND

    press(window, "undo")
    shown()
    assert tab.document.status.state is State.SOUND
    press(window, "redo")
    shown()
    assert tab.document.size == 1_487

    press(window, "leave_experiment")
    shown()
    assert (tab.document.size, tab.document.status.state) == (1_503, State.SOUND)
    assert strip.isHidden()
    assert bytes_at(tab, 0, 32) == path.read_bytes()[:32]

    # Members are known by their numbers, and other members have those where some are lost.
    select(tab, 100, 140)
    settle(qtbot, window)
    facts = tab.byte.facts
    before = facts["Member"].plain_text().splitlines()[0]
    press(window, "zero_bytes")
    shown()
    assert tab.document.selection.member is None
    assert facts["Member"].plain_text() == ""
    assert facts["In member"].plain_text() == ""
    press(window, "undo")
    shown()
    assert facts["Member"].plain_text().splitlines()[0] == before


CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "zero_bytes": lambda data: data[:100] + bytes(4) + data[104:],
    "delete_bytes": lambda data: data[:100] + data[104:],
    "duplicate_bytes": lambda data: data[:104] + data[100:],
    "cut_here": lambda data: data[:100],
}


SWAPS = {"chunk[1]": 10, "0x80": 4, "end-4": 4}
"""Go To expressions of other bytes, and how many these are."""


@pytest.mark.parametrize(
    ("changes", "swaps"),
    [(("delete_bytes", "cut_here"), ("chunk[1]",)), in_the_sweep(tuple(CHANGES), tuple(SWAPS))],
    ids=["some", "all"],
)
def test_each_change_applies_to_the_bytes_or_the_member_chosen(
    archive: tuple[Tab, Path],
    window: Window,
    shown: Shown,
    qtbot: QtBot,
    changes: tuple[str, ...],
    swaps: tuple[str, ...],
) -> None:
    tab, path = archive
    tab.document.select_member(1, "members")
    qtbot.waitUntil(lambda: tab.document.selection.member == 1, timeout=WAIT)
    (chosen,) = tab.document.selection.spans
    assert chosen.size > 1
    assert tab.trial_flow.selected() == chosen
    tab.hex_pane.hex.setFocus()
    QTest.keyClick(tab.hex_pane.hex, Qt.Key.Key_Right)
    assert tab.trial_flow.selected() == Span(chosen.start + 1, chosen.start + 2)

    for name in changes:
        select(tab, 100, 104)
        press(window, name)
        shown()
        wanted = CHANGES[name](path.read_bytes())
        assert tab.document.size == len(wanted), name
        assert bytes_at(tab, 90, 120) == wanted[90:120], name
        tab.experiment_panel.buttons["undo"].click()
        shown()
    for expression in swaps:
        select(tab, 100, 104)
        press(window, "swap_bytes")
        dialog = dialog_of(window, QInputDialog)
        assert isinstance(dialog, QInputDialog)
        dialog.setTextValue(expression)
        dialog.accept()
        qtbot.waitUntil(lambda: len(tab.experiment.steps) == 1, timeout=WAIT)
        shown()
        swap = tab.experiment.steps[0].operation
        assert isinstance(swap, Swap)
        assert (swap.first, swap.second.size) == (Span(100, 104), SWAPS[expression])
        first, second = sorted((swap.first, swap.second))
        data = path.read_bytes()
        expected = data[: first.start] + data[slice(*second)] + data[first.stop : second.start] + data[slice(*first)]
        assert bytes_at(tab, 0, len(data)) == expected + data[second.stop :], expression
        tab.experiment_panel.buttons["undo"].click()
        shown()
    select(tab, 100, 104)
    press(window, "randomize_bytes")
    assert str(tab.experiment.steps[0]).startswith("Replace 4 bytes at 0x64 by 4 bytes of noise")


def test_what_needs_more_is_asked_for(
    archive: tuple[Tab, Path], window: Window, shown: Shown, tmp_path: Path, qtbot: QtBot
) -> None:
    tab, path = archive
    (tmp_path / "piece").write_bytes(b"piece")
    select(tab, 100, 104)
    press(window, "flip_bit")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue("5")
    dialog.accept()
    press(window, "insert_bytes")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    dialog.setTextValue("00 FF")
    dialog.accept()
    shown()
    for steps, name in enumerate(("insert_file", "replace_with_file"), 3):
        press(window, name)
        dialog_of(window, QFileDialog).filesSelected.emit([str(tmp_path / "piece")])  # type: ignore[attr-defined]
        qtbot.waitUntil(lambda steps=steps: len(tab.experiment.steps) == steps, timeout=WAIT)
        shown()
    data = path.read_bytes()
    data = data[:100] + bytes((data[100] ^ 32,)) + data[101:]
    data = data[:100] + b"\0\xff" + data[100:]
    data = data[:100] + b"piece" + data[100:]
    assert bytes_at(tab, 0, 100) == data[:100]
    assert tab.document.size == len(data) + 1
    assert bytes_at(tab, 100, 120) == (data[:100] + b"piece" + data[104:])[100:120]

    press(window, "damage")
    dialog = dialog_of(window, QInputDialog)
    assert isinstance(dialog, QInputDialog)
    assert [each.partition(":")[0] for each in dialog.comboBoxItems()] == list(DAMAGES)
    dialog.setTextValue(next(each for each in dialog.comboBoxItems() if each.startswith("trailing-text")))
    dialog.accept()
    qtbot.waitUntil(lambda: len(tab.experiment.steps) == 5, timeout=WAIT)
    shown()
    assert tab.experiment.steps[-1].damage == "trailing-text"


def test_typing_is_a_step_and_steps_are_taken_out_by_keyboard(
    archive: tuple[Tab, Path], window: Window, shown: Shown, qtbot: QtBot
) -> None:
    tab, _ = archive
    press(window, "show_experiment")
    shown()
    overwrite(window, tab, 100, "abcd")
    assert bytes_at(tab, 100, 102) == b"\xab\xcd"
    shown()
    assert bytes_at(tab, 100, 102) == b"\xab\xcd"
    assert [str(each) for each in tab.experiment.steps] == ["Replace 2 bytes at 0x64 by AB CD"]
    assert tab.editing.pending is None
    assert "steps of the experiment" in tab.hex_pane.strip.sentence.text()
    press(window, "undo")
    assert tab.experiment.steps == ()

    for start in (100, 200, 300):
        select(tab, start, start + 1)
        press(window, "zero_bytes")
    shown()
    table = tab.experiment_panel.table
    table.setFocus()
    table.selectRow(1)
    QTest.keyClick(table, Qt.Key.Key_Delete)
    shown()
    assert [str(each) for each in tab.experiment.steps] == ["Zero the byte at 0x64", "Zero the byte at 0x12c"]

    # What cannot be done is said, and taken back.
    tab.experiment.add(Cut(1 << 40))
    qtbot.waitUntil(lambda: "does not fit" in tab.note.text.text(), timeout=WAIT)
    shown()
    assert len(tab.experiment.steps) == 2


def test_what_the_steps_leave_is_saved_as_a_file(
    archive: tuple[Tab, Path], window: Window, shown: Shown, qtbot: QtBot
) -> None:
    tab, path = archive
    new = path.with_name("new.rca")
    select(tab, 500, 520)
    press(window, "duplicate_bytes")
    shown()
    assert tab.experiment.unsaved
    press(window, "close_tab")
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "an experiment on two-resets-spec.rca that is not saved" in box.text()
    box.reject()

    press(window, "save_experiment")
    dialog_of(window, QFileDialog).fileSelected.emit(str(new))  # type: ignore[attr-defined]
    qtbot.waitUntil(new.exists, timeout=WAIT)
    settle(qtbot, window)
    data = path.read_bytes()
    assert new.read_bytes() == data[:520] + data[500:]
    assert not tab.experiment.unsaved

    press(window, "save_experiment")  # not over the archive, whatever the dialog says
    dialog_of(window, QFileDialog).fileSelected.emit(str(path))  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: "which is never written" in tab.note.text.text(), timeout=WAIT)


def test_an_experiment_and_pending_changes_do_not_meet(archive: tuple[Tab, Path], window: Window, shown: Shown) -> None:
    tab, _ = archive
    overwrite(window, tab, 100, "ab")
    assert not window.actions_["show_experiment"].isEnabled()
    tab.trial_flow.change("zero")
    assert "Write or discard the pending changes first" in tab.note.text.text()
    press(window, "undo")
    press(window, "edit_bytes")
    shown()
    select(tab, 100, 104)
    press(window, "zero_bytes")
    shown()
    press(window, "plan_repairs")
    shown()
    assert not tab.repair.buttons["make"].isEnabled()
    assert not tab.repair.buttons["copy"].isEnabled()
    assert "save it as a new file" in tab.repair.sentence.text() or not tab.repair.sentence.isVisible()
    assert not window.actions_["write"].isEnabled()


def test_what_cannot_be_done_or_comes_too_late_changes_no_steps(
    archive: tuple[Tab, Path], shown: Shown, qtbot: QtBot
) -> None:
    tab, path = archive
    said: list[str] = []
    tab.document.reported.connect(said.append)
    tab.experiment.damage("flipped-bit")
    tab.experiment.leave()
    qtbot.waitUntil(lambda: bool(said), timeout=WAIT)
    shown()
    assert (tab.experiment.is_on, tab.experiment.steps) == (False, ())
    assert said == ["The steps have changed meanwhile, so nothing was added."]

    tab.experiment.add(Flip(16, 0))
    shown()
    tab.experiment.add(Cut(1 << 40))
    tab.experiment._show()
    tab.experiment.undo()
    qtbot.waitUntil(lambda: tab.experiment._job is None, timeout=WAIT)
    shown()
    assert tab.experiment.steps == (Step(Flip(16, 0)),)

    tab.experiment.add(Cut(50))
    tab.experiment._show()
    tab.document.cancel_jobs()
    qtbot.waitUntil(lambda: tab.experiment._job is None, timeout=WAIT)
    shown()
    assert tab.experiment.steps == (Step(Flip(16, 0)),)
    assert tab.document.size == path.stat().st_size
