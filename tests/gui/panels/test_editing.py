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


def test_without_the_edit_mode_typing_changes_nothing(copied: Copied, window: Window) -> None:
    tab, _ = copied("two-entries.tacozip")
    tab.hex_pane.hex.setFocus()
    QTest.keyClicks(tab.hex_pane.hex, "abcd")
    assert tab.editing.pending is None
    assert not window.actions_["edit_bytes"].isChecked()
    assert tab.hex_pane.strip.isHidden()
    assert window.status_line.mode.isHidden()


def test_the_edit_mode_is_said_in_three_places_and_ended_where_it_is_said(copied: Copied, window: Window) -> None:
    tab, _ = copied("two-entries.tacozip")
    press(window, "edit_bytes")
    assert window.actions_["edit_bytes"].isChecked()
    assert tab.hex_pane.strip.isVisible()
    assert (window.status_line.mode.isVisible(), window.status_line.mode.text()) == (True, "EDIT")
    tab.hex_pane.strip.stop.click()
    assert not window.actions_["edit_bytes"].isChecked()
    assert tab.hex_pane.strip.isHidden()
    assert window.status_line.mode.isHidden()


def test_the_mode_belongs_to_a_tab(copied: Copied, window: Window) -> None:
    copied("two-entries.tacozip")
    press(window, "edit_bytes")
    copied("journey.caf")
    assert not window.actions_["edit_bytes"].isChecked()
    assert window.status_line.mode.isHidden()
    press(window, "previous_tab")
    assert window.status_line.mode.isVisible()


def test_the_block_is_on_the_digit_that_comes_next(copied: Copied, window: Window) -> None:
    tab, _ = copied("two-entries.tacozip")
    view = tab.hex_pane.hex
    framed = window.grab().toImage()
    press(window, "edit_bytes")
    view.setFocus()
    view.goTo(PADDING)
    text = view.look.colours.text.upper()
    digits = [view.look.x(view._layout.hex_cell(PADDING % view.bytesPerRow()) + cell) for cell in (0, 1)]
    top = view.place_of(PADDING, view.pane()).top()

    def blocked() -> list[bool]:
        picture = view.viewport().grab().toImage()
        # The first row of pixels in the block lies above every digit, whatever the font.
        return [picture.pixelColor(x + 1, top + 2).name().upper() == text for x in digits]

    assert blocked() == [True, False]
    QTest.keyClicks(view, "0")  # what is there already: nothing changes, but the second digit comes next
    assert blocked() == [False, True]
    assert tab.editing.pending is None
    assert window.grab().toImage() != framed


# ---- changing ------------------------------------------------------------------------------------------------------


def test_what_is_typed_is_shown_and_underlined_but_not_on_disk(edited: tuple[Tab, Path], window: Window) -> None:
    tab, path = edited
    before = path.read_bytes()
    view = tab.hex_pane.hex
    model = view.model()
    assert model is not None
    assert model.bytes_at(PADDING, PADDING + 2) == [(PADDING, b"\xab\xcd")]
    assert before[PADDING : PADDING + 2] == b"\0\0"
    assert "changed, not written" in tab.hex_pane.legend.labels()
    assert tab.banner.sentence.text().startswith("With the pending changes (not written yet): The payload of the TACO")
    assert "Damaged" in tab.banner.state.text()
    press(window, "discard")
    assert model.bytes_at(PADDING, PADDING + 2) == [(PADDING, b"\0\0")]
    assert "changed, not written" not in tab.hex_pane.legend.labels()
    press(window, "undo")
    assert model.bytes_at(PADDING, PADDING + 2) == [(PADDING, b"\xab\xcd")]


def test_bytes_typed_one_after_another_are_one_write(edited: tuple[Tab, Path]) -> None:
    tab, _ = edited
    assert tab.editing.pending is not None
    assert [(each.offset, each.old, each.new) for each in tab.editing.pending.patches] == [
        (PADDING, b"\0\0", b"\xab\xcd")
    ]


def test_text_is_typed_and_pasted_in_the_column_of_text(copied: Copied, window: Window) -> None:
    tab, _ = copied("two-entries.tacozip")
    press(window, "edit_bytes")
    view = tab.hex_pane.hex
    view.setFocus()
    view.goTo(0)
    QTest.keyClick(view, Qt.Key.Key_Tab)
    QTest.keyClicks(view, "Hi")
    QGuiApplication.clipboard().setText("you")
    QTest.keyClick(view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    model = view.model()
    assert model is not None
    assert model.bytes_at(0, 5) == [(0, b"Hiyou")]


def test_what_cannot_be_pasted_is_said(edited: tuple[Tab, Path]) -> None:
    tab, path = edited
    view = tab.hex_pane.hex
    for text, sentence in (("no hex", "holds no hexadecimal digits"), ("00 " * path.stat().st_size, "do not fit")):
        QGuiApplication.clipboard().setText(text)
        QTest.keyClick(view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert sentence in said(tab)
    assert tab.editing.history.steps == 2  # the two bytes that were typed


def test_bytes_of_an_inner_layer_are_not_edited(copied: Copied, window: Window, qtbot: QtBot) -> None:
    tab, _ = copied("two-chunks.rca")
    tab.document.show_layer(1)
    settle(qtbot, window)
    overwrite(window, tab, 0, "ff")
    assert tab.editing.pending is None
    assert "File layer" in said(tab)


# ---- checksums -----------------------------------------------------------------------------------------------------


def test_broken_checksums_are_counted_repaired_and_named(
    edited: tuple[Tab, Path], window: Window, qtbot: QtBot
) -> None:
    tab, path = edited
    before = path.read_bytes()
    assert tab.changes.repair.text().replace("&", "") == "Fix 2 Checksums"
    assert "Breaks 2 checksums: CRC-32 of TACO_HEADER" in tab.changes.sentence.text()
    press(window, "repair_checksums")
    settle(qtbot, window)
    previewed(qtbot, window, tab)
    assert said(tab).startswith("2 checksums fixed, not written yet: CRC-32 of TACO_HEADER")
    assert not tab.changes.repair.isEnabled()
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


def test_what_is_unfolded_stays_unfolded_when_bytes_change(copied: Copied, window: Window, qtbot: QtBot) -> None:
    tab, _ = copied("two-entries.tacozip")
    trees = (tab.members.tree, tab.structure.tree)
    for tree in trees:
        tree.collapseAll()
    tab.members.tree.expand(tab.members.tree_model.index(0, 0))
    tab.structure.tree.expand(tab.structure.model.index(1, 0))
    settle(qtbot, window)
    overwrite(window, tab, PADDING, "abcd")
    previewed(qtbot, window, tab)
    settle(qtbot, window)
    assert tab.members.tree.isExpanded(tab.members.tree_model.index(0, 0))
    assert tab.structure.tree.isExpanded(tab.structure.model.index(1, 0))
    assert tab.members.tree_model.rowCount(tab.members.tree_model.index(0, 0))


def test_a_change_that_breaks_nothing_offers_no_repairing(copied: Copied, window: Window, qtbot: QtBot) -> None:
    tab, _ = copied("journey.caf")
    overwrite(window, tab, 3, "ff")
    previewed(qtbot, window, tab)
    assert tab.editing.broken == ()
    assert not tab.changes.repair.isEnabled()
    assert "Breaks" not in tab.changes.sentence.text()


# ---- writing -------------------------------------------------------------------------------------------------------


def test_writing_is_said_and_taken_back(edited: tuple[Tab, Path], window: Window, qtbot: QtBot) -> None:
    tab, path = edited
    before = path.read_bytes()
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() == before, "the writes are shown first"
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() == before[:PADDING] + b"\xab\xcd" + before[PADDING + 2 :]
    assert "2 bytes written in 1 place" in said(tab)
    assert tab.editing.pending is None
    assert not tab.changes.take_back.isHidden()
    press(window, "take_back")
    settle(qtbot, window)
    assert path.read_bytes() == before
    assert said(tab).startswith("Done: Take back: ")
    assert sorted(each.name for each in path.parent.iterdir() if each.name.startswith("two")) == [path.name]


def test_what_was_written_survives_the_tab_and_is_taken_back(
    edited: tuple[Tab, Path], show: Show, window: Window, qtbot: QtBot
) -> None:
    _, path = edited
    before = path.read_bytes()
    for _ in range(2):
        press(window, "write")
        settle(qtbot, window)
    press(window, "close_tab")
    again = show(path)
    qtbot.waitUntil(lambda: again.changes.past.rowCount() == 1)
    assert "2 bytes written" in again.changes.past.index(0, 1).data()
    assert again.changes.empty_sentence() == ""
    assert not again.changes.clear.isHidden()
    press(window, "take_back")
    settle(qtbot, window)
    assert path.read_bytes() == before
    qtbot.waitUntil(lambda: again.changes.past.rowCount() == 0)
    assert again.changes.take_back.isHidden()


def test_the_history_is_cleared_after_asking(edited: tuple[Tab, Path], window: Window, qtbot: QtBot) -> None:
    tab, path = edited
    for _ in range(2):
        press(window, "write")
        settle(qtbot, window)
    qtbot.waitUntil(lambda: tab.changes.past.rowCount() == 1)
    content = path.read_bytes()
    tab.changes.clear.click()
    assert tab.changes.past.rowCount() == 1
    tab.banner.message.button.click()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: tab.changes.past.rowCount() == 0)
    assert "were removed" in said(tab)
    assert not tab.editing.can_take_back
    assert path.read_bytes() == content


def test_a_file_changed_by_another_program_is_not_written_and_nothing_is_lost(
    edited: tuple[Tab, Path], window: Window, qtbot: QtBot
) -> None:
    tab, path = edited
    pending = tab.editing.pending
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
    assert tab.changes.write.isEnabled()


def test_the_panel_shows_what_stands_there_over_what_is_to_stand_there(edited: tuple[Tab, Path]) -> None:
    tab, _ = edited
    index = tab.changes.model.index(0, 1)
    assert index.data().replace("\N{MINUS SIGN}", "-") == "- 00 00\n+ AB CD"
    assert tab.docks["Changes"].windowTitle() == "Changes (1)"
    tab.editing.discard()
    assert tab.changes.empty_sentence().startswith("Nothing is pending.")
    assert tab.docks["Changes"].windowTitle() == "Changes"


# ---- copies and patches --------------------------------------------------------------------------------------------


def test_a_changed_copy_leaves_the_file_alone(
    edited: tuple[Tab, Path], window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab, path = edited
    before = path.read_bytes()
    press(window, "ask_copy")
    save_to(window, tmp_path / "copy.tacozip")
    settle(qtbot, window)
    assert path.read_bytes() == before
    assert (tmp_path / "copy.tacozip").read_bytes() == before[:PADDING] + b"\xab\xcd" + before[PADDING + 2 :]
    assert tab.editing.pending is not None


def test_a_patch_goes_out_and_comes_in(edited: tuple[Tab, Path], window: Window, qtbot: QtBot, tmp_path: Path) -> None:
    tab, _ = edited
    pending = tab.editing.pending
    assert pending is not None
    patch = tmp_path / "two.patch.json"
    press(window, "ask_export")
    dialog_of(window, QFileDialog).fileSelected.emit(str(patch))
    settle(qtbot, window)
    assert json.loads(patch.read_text())
    press(window, "discard")
    press(window, "ask_import")
    dialog_of(window, QFileDialog).fileSelected.emit(str(patch))
    settle(qtbot, window)
    again = tab.editing.pending
    assert again is not None
    assert (again.patches, again.new_size) == (pending.patches, pending.new_size)


def test_a_patch_of_another_file_is_refused(
    edited: tuple[Tab, Path], copied: Copied, window: Window, qtbot: QtBot, tmp_path: Path
) -> None:
    tab, _ = edited
    pending = tab.editing.pending
    assert pending is not None
    tab.save_flow._export(pending, str(tmp_path / "a.json"))
    settle(qtbot, window)
    other, _ = copied("journey.caf")
    other.save_flow.import_patch(str(tmp_path / "a.json"))
    settle(qtbot, window)
    assert other.editing.pending is None
    assert said(other)


# ---- leaving -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["close_tab", in_the_sweep("reopen")])
def test_leaving_pending_changes_asks(edited: tuple[Tab, Path], window: Window, qtbot: QtBot, action: str) -> None:
    tab, path = edited
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


def test_the_map_says_verified_no_longer_than_the_members(
    edited: tuple[Tab, Path], window: Window, qtbot: QtBot
) -> None:
    tab, _ = edited
    press(window, "undo")
    press(window, "check")
    qtbot.waitUntil(lambda: "verified" in tab.hex_pane.legend.labels())
    overwrite(window, tab, 0, "ff")
    previewed(qtbot, window, tab)
    press(window, "write")
    settle(qtbot, window)
    assert not tab.document.status.checked
    assert "verified" not in tab.hex_pane.legend.labels()
    assert "verified" not in tab.hex_pane.map.describe(tab.hex_pane.map.height() // 2)


# ---- values --------------------------------------------------------------------------------------------------------


def test_a_value_typed_beside_the_bytes_is_pending(copied: Copied, window: Window, qtbot: QtBot) -> None:
    tab, path = copied("two-entries.tacozip")
    tab.document.go_to(0, PADDING, PADDING + 1, "test")
    settle(qtbot, window)
    inspector, before = tab.hex_pane.inspector, path.read_bytes()
    model = inspector.model()
    cell = model.index(ALL_ROWS.index("u16 BE"), 1)
    assert not model.flags(cell) & Qt.ItemFlag.ItemIsEditable
    press(window, "edit_bytes")
    assert model.flags(cell) & Qt.ItemFlag.ItemIsEditable
    assert not model.setData(cell, "70000")
    assert "70,000 does not fit into u16 BE" in said(tab)
    assert tab.editing.pending is None
    assert model.setData(cell, "0xABCD")
    previewed(qtbot, window, tab)
    assert tab.editing.pending is not None
    assert [(each.offset, each.new) for each in tab.editing.pending.patches] == [(PADDING, b"\xab\xcd")]
    qtbot.waitUntil(lambda: cell.data() == "43,981")
    assert path.read_bytes() == before


def test_chosen_rows_are_shown_in_every_tab(copied: Copied, show: Show) -> None:
    first, _ = copied("two-entries.tacozip")
    second = show("journey.caf")
    menu = second.hex_pane.inspector.rows_menu()
    next(entry for entry in menu.actions() if entry.text() == "binary").trigger()
    assert "binary" in first.hex_pane.inspector.shown_rows()
    third = show("gap.caf")
    assert third.hex_pane.inspector.shown_rows() == second.hex_pane.inspector.shown_rows()


# ---- the button of the header ----------------------------------------------------------------------------------------


def test_the_header_button_stands_for_archives_with_such_a_header(window: Window, show: Show) -> None:
    window.resize(1600, 900)
    (button,) = [each for each in window.tool_bar.findChildren(QToolButton) if each.text() == "Header"]
    assert button.isHidden()
    show("two-entries.tacozip")
    assert not button.isHidden()
    show("journey.caf")
    assert button.isHidden()
