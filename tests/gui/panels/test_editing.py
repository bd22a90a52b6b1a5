"""Editing bytes as a user does: typing in the hex view, seeing what it breaks, writing it and taking it back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tacozip
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMessageBox, QToolButton
from pytestqt.qtbot import QtBot

from inspector.core.verdict import State
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.hex.beside.data_inspector import ALL_ROWS
from tests.gui.conftest import Copied, Show, answer, dialog_of, overwrite, press, previewed, save_to, settle
from tests.sweeping import in_the_sweep

PADDING = 42
"""Two bytes of nothing in the payload of the TACO header, which its CRC covers."""


@pytest.fixture
def edited(copied: Copied, window: Window, qtbot: QtBot) -> tuple[Tab, Path]:
    """A TACO archive with two bytes of its header typed over."""
    tab, path = copied("two-entries.tacozip")
    overwrite(window, tab, PADDING, "abcd")
    previewed(qtbot, window, tab)
    return tab, path


def said(tab: Tab) -> str:
    return tab.note.text.text()


# ---- the mode ------------------------------------------------------------------------------------------------------


def test_typing_changes_bytes_in_the_edit_mode_alone_which_is_said_in_three_places_and_ended_where_it_is_said(
    copied: Copied, window: Window
) -> None:
    tab, _ = copied("two-entries.tacozip")
    view, strip, mode = tab.hex_pane.hex, tab.hex_pane.strip, window.status_line.mode
    framed = window.grab().toImage()
    view.setFocus()
    QTest.keyClicks(view, "abcd")
    assert tab.editing.pending is None
    assert not window.actions_["edit_bytes"].isChecked()
    assert strip.isHidden()
    assert mode.isHidden()

    press(window, "edit_bytes")
    assert window.actions_["edit_bytes"].isChecked()
    assert strip.isVisible()
    assert (mode.isVisible(), mode.text()) == (True, "EDIT")
    view.setFocus()
    view.goTo(PADDING)
    assert blocked(tab) == [True, False]
    QTest.keyClicks(view, "0")  # what is there already: nothing changes, but the second digit comes next
    assert blocked(tab) == [False, True]
    assert tab.editing.pending is None
    assert window.grab().toImage() != framed

    strip.stop.click()
    assert not window.actions_["edit_bytes"].isChecked()
    assert strip.isHidden()
    assert mode.isHidden()


def blocked(tab: Tab) -> list[bool]:
    """Which of the two digits of the padding's first byte is in the block of the caret."""
    view = tab.hex_pane.hex
    text = view.look.colours.text.upper()
    digits = [view.look.x(view._layout.hex_cell(PADDING % view.bytesPerRow()) + cell) for cell in (0, 1)]
    top = view.place_of(PADDING, view._cursor.pane).top()
    picture = view.viewport().grab().toImage()
    # The first row of pixels in the block lies above every digit, whatever the font.
    return [picture.pixelColor(x + 1, top + 2).name().upper() == text for x in digits]


def test_a_tab_has_its_own_mode_header_button_and_checksums(copied: Copied, window: Window, qtbot: QtBot) -> None:
    window.resize(1600, 900)
    (button,) = [each for each in window.tool_bar.findChildren(QToolButton) if each.text() == "Header"]
    assert button.isHidden()
    copied("two-entries.tacozip")
    assert not button.isHidden()
    press(window, "edit_bytes")

    second, _ = copied("journey.caf")
    assert button.isHidden(), "there is no such header"
    assert not window.actions_["edit_bytes"].isChecked()
    assert window.status_line.mode.isHidden()
    press(window, "previous_tab")
    assert window.status_line.mode.isVisible()
    press(window, "next_tab")

    overwrite(window, second, 3, "ff")
    previewed(qtbot, window, second)
    assert second.editing.pending is not None
    assert second.editing.broken == (), "a change that breaks nothing"
    assert not second.changes.buttons["repair"].isEnabled()
    assert "Breaks" not in second.changes.sentence.text()

    third, _ = copied("two-chunks.rca")
    third.document.show_layer(1)
    settle(qtbot, window)
    overwrite(window, third, 0, "ff")
    assert third.editing.pending is None, "bytes of an inner layer are not edited"
    assert "File layer" in said(third)


# ---- changing ------------------------------------------------------------------------------------------------------


def test_what_is_typed_is_one_write_that_is_shown_and_undone_and_lost_to_no_other_program(
    edited: tuple[Tab, Path], window: Window, qtbot: QtBot
) -> None:
    tab, path = edited
    before = path.read_bytes()
    view, legend = tab.hex_pane.hex, tab.hex_pane.legend
    model = view.model
    assert model is not None
    assert tab.editing.pending is not None
    assert [(each.offset, each.old, each.new) for each in tab.editing.pending.patches] == [
        (PADDING, b"\0\0", b"\xab\xcd")
    ]
    assert model.bytes_at(PADDING, PADDING + 2) == [(PADDING, b"\xab\xcd")]
    assert before[PADDING : PADDING + 2] == b"\0\0"
    assert "changed, not written" in legend.labels()
    assert tab.banner.sentence.text().startswith("With the pending changes (not written yet): The payload of the TACO")
    assert "Damaged" in tab.banner.state.text()
    index = tab.changes.model.index(0, 1)
    assert index.data().replace("\N{MINUS SIGN}", "-") == "- 00 00\n+ AB CD"
    assert tab.docks["Changes"].windowTitle() == "Changes (1)"

    for text, sentence in (("no hex", "holds no hexadecimal digits"), ("00 " * path.stat().st_size, "do not fit")):
        QGuiApplication.clipboard().setText(text)
        QTest.keyClick(view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert sentence in said(tab)
    assert tab.editing.history.steps == 2  # the two bytes that were typed

    press(window, "discard")
    assert model.bytes_at(PADDING, PADDING + 2) == [(PADDING, b"\0\0")]
    assert "changed, not written" not in legend.labels()
    assert tab.changes.stack.shown_sentence().startswith("Nothing is pending.")
    assert tab.docks["Changes"].windowTitle() == "Changes"
    press(window, "undo")
    assert model.bytes_at(PADDING, PADDING + 2) == [(PADDING, b"\xab\xcd")]
    previewed(qtbot, window, tab)

    pending = tab.editing.pending
    assert pending is not None
    with path.open("r+b") as file:
        file.seek(PADDING)
        file.write(b"\x11")
    foreign = path.read_bytes()
    for _ in range(2):  # the writes are shown first
        press(window, "write")
        settle(qtbot, window)
    assert path.read_bytes() == foreign
    assert tab.editing.pending is pending
    assert path.name in said(tab)
    assert tab.changes.buttons["write"].isEnabled()


def test_a_value_is_typed_beside_the_bytes_and_text_in_its_own_column_and_both_end_what_was_verified(
    copied: Copied, window: Window, qtbot: QtBot
) -> None:
    tab, path = copied("two-entries.tacozip")
    tab.document.go_to(0, PADDING, PADDING + 1, "test")
    settle(qtbot, window)
    values, before = tab.hex_pane.inspector.model(), path.read_bytes()
    cell = values.index(ALL_ROWS.index("u16 BE"), 1)
    assert not values.flags(cell) & Qt.ItemFlag.ItemIsEditable
    press(window, "edit_bytes")
    assert values.flags(cell) & Qt.ItemFlag.ItemIsEditable
    assert not values.setData(cell, "70000")
    assert "70000 is no value for u16 BE" in said(tab)
    assert tab.editing.pending is None
    assert values.setData(cell, "0xabcd")
    previewed(qtbot, window, tab)
    assert tab.editing.pending is not None
    assert [(each.offset, each.new) for each in tab.editing.pending.patches] == [(PADDING, b"\xab\xcd")]
    qtbot.waitUntil(lambda: cell.data() == "43,981")
    assert path.read_bytes() == before

    press(window, "check")
    qtbot.waitUntil(lambda: "verified" in tab.hex_pane.legend.labels())
    view = tab.hex_pane.hex
    view.setFocus()
    view.goTo(0)
    QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClicks(view, "Hi")
    QGuiApplication.clipboard().setText("you")
    QTest.keyClick(view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    model = view.model
    assert model is not None
    qtbot.waitUntil(lambda: model.bytes_at(0, 5) == [(0, b"Hiyou")])
    previewed(qtbot, window, tab)
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes()[:5] == b"Hiyou"
    assert not tab.document.status.checked
    assert "verified" not in tab.hex_pane.legend.labels(), "the map says so no longer than the members"
    assert "verified" not in tab.hex_pane.map.describe(tab.hex_pane.map.height() // 2)


# ---- checksums -----------------------------------------------------------------------------------------------------


def test_broken_checksums_are_counted_repaired_and_named_while_what_is_unfolded_stays_unfolded(
    copied: Copied, window: Window, qtbot: QtBot
) -> None:
    tab, path = copied("two-entries.tacozip")
    before = path.read_bytes()
    members, structure = tab.members, tab.structure
    for tree in (members.tree, structure.tree):
        tree.collapseAll()
    members.tree.expand(members.tree_model.index(0, 0))
    structure.tree.expand(structure.model.index(1, 0))
    settle(qtbot, window)
    overwrite(window, tab, PADDING, "abcd")
    previewed(qtbot, window, tab)
    assert members.tree.isExpanded(members.tree_model.index(0, 0))
    assert structure.tree.isExpanded(structure.model.index(1, 0))
    assert members.tree_model.rowCount(members.tree_model.index(0, 0))

    assert tab.changes.buttons["repair"].text().replace("&", "") == "Fix 2 Checksums"
    assert "Breaks 2 checksums: CRC-32 of TACO_HEADER" in tab.changes.sentence.text()
    press(window, "repair_checksums")
    settle(qtbot, window)
    previewed(qtbot, window, tab)
    assert said(tab).startswith("2 checksums fixed, not written yet: CRC-32 of TACO_HEADER")
    assert not tab.changes.buttons["repair"].isEnabled()
    assert tab.document.status.state is State.WARNING  # nothing but the padding that is not zero
    press(window, "write")
    settle(qtbot, window)
    after = path.read_bytes()
    assert [at for at in range(len(before)) if before[at] != after[at]] == [
        *range(14, 18),
        *range(PADDING, PADDING + 2),
        *range(before.rindex(before[14:18]), before.rindex(before[14:18]) + 4),
    ]
    assert tacozip.read_header(str(path)) == tacozip.read_header(before)


# ---- writing -------------------------------------------------------------------------------------------------------


def test_writing_is_said_survives_the_tab_and_is_taken_back_until_the_history_is_cleared(
    edited: tuple[Tab, Path], show: Show, window: Window, qtbot: QtBot
) -> None:
    tab, path = edited
    before = path.read_bytes()
    changed = before[:PADDING] + b"\xab\xcd" + before[PADDING + 2 :]
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() == before, "the writes are shown first"
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() == changed
    assert "2 bytes written in 1 place" in said(tab)
    assert tab.editing.pending is None
    assert (tab.note.button.isVisible(), tab.note.button.text()) == (True, "Undo")
    tab.note.button.click()
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    assert path.name in box.text()
    assert "2 bytes" in box.text()
    answer(box, "Cancel")
    assert path.read_bytes() == changed
    assert not tab.changes.buttons["take back"].isHidden()

    press(window, "close_tab")
    tab = show(path)
    past = tab.changes.past
    qtbot.waitUntil(lambda: past.rowCount() == 1)
    assert "2 bytes written" in past.index(0, 1).data()
    assert tab.changes.stack.shown_sentence() == ""
    assert not tab.changes.buttons["clear"].isHidden()
    press(window, "undo")
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    answer(box, "Take Back")
    settle(qtbot, window)
    assert path.read_bytes() == before
    qtbot.waitUntil(lambda: past.rowCount() == 0)
    assert tab.changes.buttons["take back"].isHidden()

    rewrite(tab, "abcd", window, qtbot)
    qtbot.waitUntil(lambda: past.rowCount() == 1)
    assert path.read_bytes() == changed
    tab.changes.buttons["clear"].click()
    assert past.rowCount() == 1, "it asks first"
    tab.banner.message.button.click()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: past.rowCount() == 0)
    assert "were removed" in said(tab)
    assert not tab.editing.can_take_back
    assert path.read_bytes() == changed

    rewrite(tab, "0000", window, qtbot)
    assert path.read_bytes() == before
    press(window, "take_back")
    settle(qtbot, window)
    assert path.read_bytes() == changed
    assert said(tab).startswith("Done: Take back: ")
    assert sorted(each.name for each in path.parent.iterdir() if each.name.startswith("two")) == [path.name]


def rewrite(tab: Tab, typed: str, window: Window, qtbot: QtBot) -> None:
    """Type the two bytes again where those of before are seen, and write them after a look at the writes."""
    tab.hex_pane.hex.goTo(PADDING)
    settle(qtbot, window)
    overwrite(window, tab, PADDING, typed)
    previewed(qtbot, window, tab)
    for _ in range(2):
        press(window, "write")
        settle(qtbot, window)
    assert tab.editing.pending is None


# ---- copies, patches and leaving -----------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["close_tab", in_the_sweep("reopen")])
def test_a_copy_and_a_patch_leave_the_file_alone_and_leaving_pending_changes_asks(
    edited: tuple[Tab, Path], copied: Copied, window: Window, qtbot: QtBot, tmp_path: Path, action: str
) -> None:
    tab, path = edited
    before, patch = path.read_bytes(), tmp_path / "two.patch.json"
    pending = tab.editing.pending
    assert pending is not None
    press(window, "ask_copy")
    save_to(window, tmp_path / "copy.tacozip")
    settle(qtbot, window)
    assert path.read_bytes() == before
    assert (tmp_path / "copy.tacozip").read_bytes() == before[:PADDING] + b"\xab\xcd" + before[PADDING + 2 :]
    assert tab.editing.pending is not None

    press(window, "ask_export")
    dialog_of(window, QFileDialog).fileSelected.emit(str(patch))
    settle(qtbot, window)
    assert json.loads(patch.read_text())
    press(window, "discard")
    press(window, "ask_import")
    dialog_of(window, QFileDialog).filesSelected.emit([str(patch)])
    settle(qtbot, window)
    again = tab.editing.pending
    assert again is not None
    assert (again.patches, again.new_size) == (pending.patches, pending.new_size)

    other, _ = copied("journey.caf")
    other.save_flow.import_patch(str(patch))
    settle(qtbot, window)
    assert other.editing.pending is None, "a patch of another file"
    assert said(other)
    press(window, "close_tab")
    assert window.tab() is tab

    getattr(window, action)()
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    assert f"an unwritten change of {path.name}" in box.text()
    answer(box, "Keep Working")
    assert window.tab() is tab
    assert tab.editing.pending is not None
    getattr(window, action)()
    box = dialog_of(window, QMessageBox)
    assert isinstance(box, QMessageBox)
    answer(box, "Close" if action == "close_tab" else "Reload")
    assert window.tab() is not tab
    settle(qtbot, window)
    fresh = window.tab()
    assert fresh is None or fresh.editing.pending is None
