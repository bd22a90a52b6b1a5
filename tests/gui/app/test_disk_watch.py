"""Files that change on disk while they are open: said, never read again unasked, and never taken for own writing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.core.program.progress import Progress
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.operations.create.creating_rca import RcaOptions
from inspector.operations.create.rca_writing import append_rca
from inspector.operations.session.remote import disk_change
from inspector.sources.local.file import FileSource
from tests.gui.conftest import WAIT, Copied, Sample, overwrite, press, previewed, settle


def changed(qtbot: QtBot, tab: Tab) -> str:
    qtbot.waitUntil(tab.disk_watch.message.isVisible, timeout=WAIT)
    return tab.disk_watch.message.text.text()


def reload_later(qtbot: QtBot, window: Window, tab: Tab, path: Path) -> None:
    """Have the folder change, and wait until that has been looked into."""
    asked = tab.document.client.asked
    (path.parent / "another").touch()
    qtbot.waitUntil(lambda: tab.document.client.asked > asked, timeout=WAIT)
    settle(qtbot, window)


def test_what_another_program_writes_is_said_again_when_it_changes_again_and_read_when_wanted(
    copied: Copied, window: Window, qtbot: QtBot, sample: Sample
) -> None:
    tab, path = copied("journey.caf")
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"more")
    assert changed(qtbot, tab).startswith("Changed on disk: journey.caf has become longer since it was opened")
    settle(qtbot, window)
    assert tab.document.size == size
    tab.disk_watch.keep.click()
    reload_later(qtbot, window, tab, path)
    assert not tab.disk_watch.message.isVisible()
    path.write_bytes(path.read_bytes() + b"2")
    changed(qtbot, tab)
    tab.disk_watch.message.button.click()
    settle(qtbot, window)
    fresh = window.tab()
    assert fresh is not None
    assert fresh is not tab
    assert fresh.document.size == size + 5
    assert not fresh.disk_watch.message.isVisible()

    # A file that goes and another in its place are noticed too.
    path.unlink()
    assert "no longer exists" in changed(qtbot, fresh)
    assert fresh.disk_watch.message.button.isHidden()
    shutil.copyfile(sample("gap.caf"), path)
    qtbot.waitUntil(lambda: not fresh.disk_watch.message.button.isHidden(), timeout=WAIT)
    assert "since it was opened" in fresh.disk_watch.message.text.text()
    fresh.disk_watch.keep.click()
    with path.open("ab") as file:  # the file that came back is watched too
        file.write(b"x")
    changed(qtbot, fresh)


def test_what_this_window_writes_is_not_said_and_pending_changes_stay_until_the_user_gives_them_up(
    copied: Copied, window: Window, qtbot: QtBot
) -> None:
    tab, path = copied("journey.caf")
    before = path.read_bytes()
    overwrite(window, tab, 0, "FF")
    previewed(qtbot, window, tab)
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() != before
    reload_later(qtbot, window, tab, path)
    assert not tab.disk_watch.message.isVisible()

    overwrite(window, tab, 0, "EE")
    previewed(qtbot, window, tab)
    data = bytearray(path.read_bytes())
    data[1] ^= 1
    path.write_bytes(data)
    assert "The pending changes" in changed(qtbot, tab)
    edit = tab.editing.pending
    press(window, "reload")
    qtbot.waitUntil(lambda: not tab.disk_watch.message.isVisible(), timeout=WAIT)
    settle(qtbot, window)
    assert window.tab() is tab
    assert tab.editing.pending == edit
    data[0] ^= 1  # which is what the change replaces
    path.write_bytes(data)
    changed(qtbot, tab)
    with qtbot.waitSignal(tab.document.reported, timeout=WAIT) as said:
        tab.disk_watch.message.button.click()
    assert said.args is not None
    assert "discard it, then reload" in said.args[0]
    assert tab.editing.pending == edit


def test_an_archive_that_grows_shows_what_is_new(copied: Copied, window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    tab, path = copied("two-resets-spec.rca")
    size, members = path.stat().st_size, tab.document.status.members
    more = tmp_path / "more.bin"
    more.write_bytes(bytes(range(200)))
    append_rca(Progress(), str(path), [str(more)], RcaOptions())
    changed(qtbot, tab)
    assert tab.disk_watch.message.button.text() == "Show New Data"
    QTest.keyClick(tab.disk_watch.message.button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: tab.document.selection.caret == size, timeout=WAIT)
    settle(qtbot, window)
    assert window.tab() is tab
    assert tab.document.status.members == members + 1
    assert tab.document.size == path.stat().st_size
    reload_later(qtbot, window, tab, path)
    assert not tab.disk_watch.message.isVisible()


def test_nothing_has_happened_to_what_is_as_it_was(sample: Sample) -> None:
    assert disk_change(FileSource(sample("journey.caf"))) is None


@pytest.mark.parametrize(("size", "word"), [(3, "shorter"), (9, "longer")])
def test_the_sentence_says_both_sizes(tmp_path: Path, size: int, word: str) -> None:
    path = tmp_path / "a.caf"
    path.write_bytes(bytes(5))
    source = FileSource(path)
    with path.open("r+b") as file:
        file.truncate(size)
    found = disk_change(source)
    assert found is not None
    assert f"has become {word} since it was opened (5 bytes then, {size} now)" in found.sentence
    assert found.grown == (size > 5)
