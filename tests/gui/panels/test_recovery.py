"""A change that was interrupted by a crash: said when the archive is opened, with the ways out."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tacozip
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from inspector.core.edit import Edit
from inspector.core.program.progress import Progress
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.edit.edits import header_draft
from inspector.operations.protocol.header_draft import set_entry
from inspector.operations.session.archive_session import ArchiveSession
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.journal_paths import journal_paths
from tests.gui.conftest import Sample, Show, answer, dialog_of, settle
from tests.sources.disks import Watched

DYING = """
import pickle, sys
from tests.sources.disks import Watched
from tests.sources.kill_driver import ending
from inspector.sources.local.changes.in_place import write
path, edit, at = pickle.load(sys.stdin.buffer)
write(path, edit, None, Watched(ending(at)))
"""
ENTRY = (200, 64)


def new_header(path: Path) -> Edit:
    bench = ArchiveSession(str(path))
    bench.decode(Progress())
    return bench.header_edit(set_entry(header_draft(bench.disk.archives[0]), 0, ENTRY))


@pytest.fixture
def torn(tmp_path: Path, sample: Sample, root: Path) -> Path:
    """A TACO archive whose writer was ended between the first and the second of three writes."""
    path, trial = tmp_path / "torn.tacozip", tmp_path / "trial.tacozip"
    for each in (path, trial):
        shutil.copyfile(sample("two-entries.tacozip"), each)
    edit = new_header(path)
    disk = Watched()
    write(trial, edit, None, disk)
    trial.unlink()
    first = edit.patches[0]
    wanted = (bytes(first.new), first.offset)
    calls = [at for at, (name, args) in enumerate(disk.log) if name == "write" and tuple(args[1:]) == wanted]
    order = pickle.dumps((path, edit, calls[-1] + 1))
    ended = subprocess.run([sys.executable, "-c", DYING], input=order, cwd=root, check=False)
    assert ended.returncode == 9
    assert any(place.exists() for place in journal_paths(path))
    return path


def asked(tab: Tab, torn: Path, window: Window) -> QMessageBox:
    """The box that asks what is to be done with an archive that was opened."""
    assert tab.banner.message.button.isVisible()
    assert torn.name in tab.banner.message.text.text()
    assert tab.banner.message.button.text() == "Decide…"
    tab.banner.message.button.click()
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    return box


def no_journal(path: Path) -> bool:
    return not any(place.exists() for place in journal_paths(path))


def test_until_it_is_decided_it_is_asked_and_changes_are_refused_and_finishing_makes_the_change(
    torn: Path, show: Show, window: Window, qtbot: QtBot
) -> None:
    tab = show(torn)
    between = torn.read_bytes()
    box = asked(tab, torn, window)
    words = [button.text() for button in box.buttons()]
    assert {"Finish It", "Roll It Back", "Leave It"} <= set(words)
    for word in words:
        assert word == "Leave It" or f"{word}: " in box.informativeText()
    answer(box, "Leave It")
    assert torn.read_bytes() == between
    assert not no_journal(torn)

    tab.editing.overwrite(3000, between[3000:3001], bytes((between[3000] ^ 1,)))
    tab.editing.write()
    settle(qtbot, window)
    assert torn.read_bytes() == between
    assert tab.editing.pending is not None
    assert "interrupted" in tab.note.text.text()
    tab.editing.discard()

    window.reload()
    settle(qtbot, window)
    fresh = window.tab()
    assert fresh is not None
    assert fresh is not tab
    answer(asked(fresh, torn, window), "Finish It")
    settle(qtbot, window)
    assert tacozip.read_header(str(torn))[0] == ENTRY
    assert no_journal(torn)
    assert fresh.note.text.text()
    assert fresh.banner.message.isHidden()
    view = fresh.header.model.view
    assert view is not None
    assert (view.entries[0].offset, view.entries[0].length) == ENTRY


def test_rolling_back_leaves_the_file_of_before_and_nothing_is_asked_of_other_archives(
    torn: Path, show: Show, window: Window, qtbot: QtBot, sample: Sample
) -> None:
    answer(asked(show(torn), torn, window), "Roll It Back")
    settle(qtbot, window)
    assert torn.read_bytes() == sample("two-entries.tacozip").read_bytes()
    assert no_journal(torn)
    assert not show("two-entries.tacozip").banner.message.button.isVisible()
