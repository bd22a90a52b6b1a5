"""Copies of archives on S3 that the window writes: to files here, or to objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.dialogs.extract import ExtractDialog
from inspector.gui.dialogs.save import SaveToDialog
from inspector.gui.panels.s3_connection import ConnectDialog
from tests.gui.conftest import WAIT, press, settle
from tests.gui.panels.repair_consent import agree_to_all
from tests.gui.s3.s3_edit_helpers import KEY, data, note, point_to, tab, writes
from tests.gui.s3.s3_store import *  # noqa: F403 - its fixtures
from tests.gui.s3.s3_store import Store, opened_at
from tests.s3.conftest import BUCKET
from tests.s3.writing.writing import content, taco

__all__ = ["data", "tab"]


def place(window: Window, qtbot: QtBot, target: str) -> SaveToDialog:
    """Enter where a copy is to be written."""
    qtbot.waitUntil(lambda: bool(window.findChildren(SaveToDialog)), timeout=WAIT)
    dialog = window.findChildren(SaveToDialog)[-1]
    dialog.target.setText(target)
    return dialog


def saved(window: Window, qtbot: QtBot, tab: Tab, dialog: SaveToDialog) -> str:
    with qtbot.waitSignal(tab.document.reported, timeout=WAIT):
        dialog.answer.click()
    settle(qtbot, window)
    return note(tab)


def members_are_extracted_to_folders_here_only(window: Window, qtbot: QtBot) -> None:
    press(window, "extract")
    settle(qtbot, window)
    dialog = window.findChildren(ExtractDialog)[-1]
    dialog.folder.setText(f"s3://{BUCKET}/out")
    qtbot.waitUntil(lambda: "is not a folder on this machine" in dialog.summary.text(), timeout=WAIT)
    assert not dialog.answer.isEnabled()
    dialog.reject()


def what_is_no_place_for_a_copy_is_said(window: Window, qtbot: QtBot) -> None:
    press(window, "ask_copy")
    for target, sentence in (("", "Choose where"), ("s3://", "names no bucket"), (f"s3://{BUCKET}/", "needs a key")):
        dialog = place(window, qtbot, target)
        assert sentence in dialog.remark.text()
        assert not dialog.answer.isEnabled()
    dialog.reject()
    dialog.deleteLater()
    qtbot.waitUntil(lambda: not window.findChildren(SaveToDialog))


def test_a_changed_copy_is_a_file_here_or_an_object(
    window: Window, qtbot: QtBot, store: Store, tab: Tab, tmp_path: Path, data: bytes
) -> None:
    members_are_extracted_to_folders_here_only(window, qtbot)
    point_to(window, qtbot, tab, 200)
    what_is_no_place_for_a_copy_is_said(window, qtbot)
    press(window, "ask_copy")
    assert "copy.tacozip" in saved(window, qtbot, tab, place(window, qtbot, str(tmp_path / "copy.tacozip")))
    copy = (tmp_path / "copy.tacozip").read_bytes()
    assert copy[300:900] == data[300:900]
    assert copy != data
    assert writes(store) == []

    press(window, "ask_copy")
    there = f"s3://{BUCKET}/window/copy.tacozip"
    assert there in saved(window, qtbot, tab, place(window, qtbot, there))
    assert content(store, "window/copy.tacozip") == copy
    assert content(store, KEY) == data
    assert tab.editing.pending is not None

    press(window, "ask_copy")
    assert "is there already" in saved(window, qtbot, tab, place(window, qtbot, there))
    press(window, "ask_copy")
    dialog = place(window, qtbot, f"s3://{BUCKET}/{KEY}")
    dialog.overwrite.setChecked(True)
    assert "is the archive itself" in saved(window, qtbot, tab, dialog)
    assert content(store, KEY) == data
    store.client.delete_object(Bucket=BUCKET, Key="window/copy.tacozip")


def made(window: Window, qtbot: QtBot, tab: Tab, dialog: SaveToDialog) -> str:
    """Write an archive that can be opened then."""
    dialog.answer.click()
    qtbot.waitUntil(tab.banner.message.button.isVisible, timeout=WAIT)
    settle(qtbot, window)
    return tab.banner.message.text.text()


@pytest.mark.sweep
def test_a_file_of_this_computer_is_copied_and_repaired_to_s3(
    window: Window, qtbot: QtBot, store: Store, tmp_path: Path
) -> None:
    """The connection of a new bucket is asked for once; a target that exists is no surprise afterwards."""
    whole = taco(tmp_path, [1000, 2000])
    path = tmp_path / "here.tacozip"
    path.write_bytes(whole + b"garbage")
    window.open_location(str(path))
    settle(qtbot, window)
    tab = window.tab()
    assert tab is not None
    press(window, "plan_repairs")
    settle(qtbot, window)
    agree_to_all(tab, window, qtbot)
    tab.repair.buttons["copy"].click()
    dialog = place(window, qtbot, str(path))
    assert dialog.s3_target.isHidden()
    dialog.answer.click()
    assert "exists already" in dialog.remark.text()
    assert path.read_bytes() == whole + b"garbage"

    there = f"s3://{BUCKET}/window/from-here.tacozip"
    dialog.target.setText(there)
    assert "This bucket is new" in dialog.s3_target.text.text()
    dialog.answer.click()
    (connect,) = dialog.findChildren(ConnectDialog)
    connect.form.show_connection(store.connection)
    qtbot.waitUntil(connect.answer.isEnabled, timeout=WAIT)
    connect.answer.click()
    qtbot.waitUntil(tab.banner.message.button.isVisible, timeout=WAIT)
    assert there in tab.banner.message.text.text()
    assert content(store, "window/from-here.tacozip") == whole
    tab.banner.message.button.click()
    settle(qtbot, window)
    assert window.tab() is not tab
    opened = window.tab()
    assert opened is not None
    assert (opened.document.location, opened.document.connection) == (there, store.connection)

    window.tabs.setCurrentWidget(tab)
    point_to(window, qtbot, tab, 200)
    press(window, "ask_copy")
    dialog = place(window, qtbot, there)
    dialog.overwrite.setChecked(True)
    assert there in saved(window, qtbot, tab, dialog), "the bucket is known by now"
    assert content(store, "window/from-here.tacozip") != whole
    store.client.delete_object(Bucket=BUCKET, Key="window/from-here.tacozip")


@pytest.mark.sweep
def test_a_repaired_copy_and_what_is_saved_can_be_objects(
    window: Window, qtbot: QtBot, store: Store, tmp_path: Path
) -> None:
    whole = taco(tmp_path, [1000, 2000])
    damaged = bytearray(whole + b"garbage")
    tab = opened_at(window, qtbot, store, store.put("window/repair.tacozip", bytes(damaged)))
    press(window, "plan_repairs")
    settle(qtbot, window)
    agree_to_all(tab, window, qtbot)
    tab.repair.buttons["copy"].click()
    there = f"s3://{BUCKET}/window/repaired.tacozip"
    assert there in made(window, qtbot, tab, place(window, qtbot, there))
    assert content(store, "window/repaired.tacozip") == whole
    assert content(store, "window/repair.tacozip") == damaged
    store.client.delete_object(Bucket=BUCKET, Key="window/repaired.tacozip")

    damaged[whole.index(b"\1" * 1000)] ^= 0xFF
    tab = opened_at(window, qtbot, store, store.put("window/lost.tacozip", bytes(damaged)))
    press(window, "plan_repairs")
    settle(qtbot, window)
    tab.repair.buttons["salvage"].click()
    assert "is saved in" in made(window, qtbot, tab, place(window, qtbot, str(tmp_path / "saved.tacozip")))
    assert b"\2" * 2000 in (tmp_path / "saved.tacozip").read_bytes()
