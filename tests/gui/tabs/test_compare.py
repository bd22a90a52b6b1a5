"""The tab that compares two locations, with its real worker and real keys."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QMenu
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.__main__ import main
from inspector.core.kinds import Role
from inspector.gui.app.actions.comparisons import Comparisons
from inspector.gui.app.window import Window
from inspector.gui.dialogs.combine import CombineDialog
from inspector.gui.tabs.compare_tab import (
    IN_A,
    KIND,
    NOT_ALIGNED,
    RIGHT,
    ROLES,
    WHAT,
    AlignedModel,
    CompareTab,
)
from inspector.operations.protocol.compare_views import A, B, Change, Level
from tests.gui.conftest import WAIT, Copied, Sample, Show, dialog_of, press, settle
from tests.sweeping import in_the_sweep

LOST = 512
"""Bytes cut out of the second copy, at byte 1,024."""
FLIPPED = 3_000
"""The byte of the first copy that is flipped in the second."""


@pytest.fixture
def damaged(sample: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of two-entries.tacozip that lost a block and has a flipped bit."""
    data = bytearray(sample("two-entries.tacozip").read_bytes())
    data[FLIPPED] ^= 1
    path = tmp_path / "damaged.tacozip"
    path.write_bytes(data[:1_024] + data[1_024 + LOST :])
    return path


def shown(window: Window) -> CompareTab:
    tab = window.tabs.currentWidget()
    assert isinstance(tab, CompareTab)
    return tab


def compared(window: Window, qtbot: QtBot, a: Path, b: Path) -> CompareTab:
    window.comparisons.compare(str(a), str(b))
    settle(qtbot, window)
    settle(qtbot, window)
    return shown(window)


def rows(tab: CompareTab) -> list[tuple[str, ...]]:
    model = tab.model
    return [tuple(model.index(row, column).data() for column in range(5)) for row in range(model.rowCount())]


def select(tab: CompareTab, qtbot: QtBot, kind: str) -> None:
    row = next(at for at, texts in enumerate(rows(tab)) if texts[KIND] == kind)
    place = tab.table.visualRect(tab.model.index(row, WHAT)).center()
    qtbot.mouseClick(tab.table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def carets(tab: CompareTab) -> list[int]:
    return [tab.views[side].caret() for side in (A, B)]


def model_of(tab: CompareTab, side: str) -> AlignedModel:
    model = tab.views[side].model
    assert isinstance(model, AlignedModel)
    return model


# ---- what is shown -------------------------------------------------------------------------------------------------


def test_both_sides_stand_aligned_scroll_in_step_and_are_enlarged_together(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path, qtmodeltester: ModelTester
) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)

    qtmodeltester.check(tab.model)
    assert tab.sentence.text().endswith("2 runs of bytes differ (513 bytes); A is right.")
    assert tab.views[A].caption.text() == "A: two-entries.tacozip (sound)"
    assert tab.views[B].caption.text() == "B: damaged.tacozip (damaged)"
    a, b = model_of(tab, A), model_of(tab, B)
    assert a.size == b.size == sample("two-entries.tacozip").stat().st_size
    there = damaged.read_bytes()
    assert b.bytes_at(1_000, 1_600) == [(1_000, there[1_000:1_024] + bytes(LOST) + there[1_024 : 1_024 + 64])]
    assert b.gaps(1_000, 1_600) == [(1_024, 1_024 + LOST)]
    assert [(each.start, each.stop, each.paint.what) for each in b.tints_at(1_000, 1_600)] == [(1_024, 1_536, Role.GAP)]
    assert [each.paint.what for each in a.tints_at(1_000, 1_600)] == [ROLES[Change.REMOVED]]
    found = rows(tab)
    assert [(row[KIND], row[IN_A], row[RIGHT]) for row in found[2:]] == [
        ("bytes only in A", "1,024..1,536", "A"),
        ("bytes changed", "3,000..3,001", "A"),
    ]
    assert tab.legend.labels() == ["only in A", "only in B", "changed", "nothing here", "the other side is right"]

    one, other = tab.views[A], tab.views[B]
    assert one.bytesPerRow() == other.bytesPerRow()
    QTest.keyClick(one, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert other._scroll.top == one._scroll.top > 0
    assert other.caret() == one.caret() == a.size - 1

    before = one.look.cell
    other.zoomRequested.emit(6)
    assert one.look.cell == other.look.cell > before
    assert one.bytesPerRow() == other.bytesPerRow() == 8


def test_different_formats_have_a_list_and_no_bytes_and_nothing_to_take(
    window: Window, qtbot: QtBot, sample: Sample
) -> None:
    tab = compared(window, qtbot, sample("plain.zip"), sample("plain.tar"))

    assert tab._byte_stack.shown_sentence() == NOT_ALIGNED
    assert {row[KIND] for row in rows(tab)} == {"member only in A", "member only in B"}
    select(tab, qtbot, "member only in A")
    assert not tab.views[A].take.isEnabled()
    assert not tab.views[B].take.isEnabled()
    assert not tab.combine.isEnabled()


def test_a_row_of_two_datasets_leads_to_the_bytes_of_its_range(
    window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    shutil.copytree(sample("weather"), tmp_path / "weather")
    changed = next((tmp_path / "weather").rglob("*.tar"))
    data = bytearray(changed.read_bytes())
    data[515] ^= 1
    changed.write_bytes(data)
    tab = compared(window, qtbot, sample("weather"), tmp_path / "weather")

    assert [row[KIND] for row in rows(tab)] == ["range changed", "member changed"]
    assert tab.levels[Level.RANGE].isVisible()
    tab.table.setFocus()
    tab.table.selectRow(0)
    qtbot.keyClick(tab.table, Qt.Key.Key_Return)
    settle(qtbot, window)
    settle(qtbot, window)

    bytes_tab = shown(window)
    assert bytes_tab is not tab
    names = [each.caption.text().partition(" (")[0] for each in bytes_tab.views.values()]
    assert names == [f"A: {changed.name}", f"B: {changed.name}"]
    assert carets(bytes_tab) == [515, 515]


def test_what_cannot_be_read_is_a_sentence_and_equal_files_have_no_list(
    window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    tab = compared(window, qtbot, sample("plain.zip"), tmp_path / "nothing.zip")

    assert "does not exist" in tab.sentence.text()
    assert tab.again.isEnabled()
    shutil.copyfile(sample("plain.zip"), tmp_path / "nothing.zip")
    qtbot.mouseClick(tab.again, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert tab.sentence.text() == "Equal."
    assert tab._list_stack.shown_sentence() == "Equal."
    assert not tab.next.isEnabled()
    assert tab.views[A].isVisible()


# ---- moving --------------------------------------------------------------------------------------------------------


def test_keys_lead_to_differences_and_offsets_members_and_bytes_are_found_on_the_side_used_last(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path
) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    view = tab.views[A]
    view.setFocus()

    assert carets(tab) == [1_024, 1_024]
    qtbot.keyClick(view, Qt.Key.Key_F8)
    assert carets(tab) == [FLIPPED, FLIPPED]
    settle(qtbot, window)
    assert tab.caret.text().startswith("A: 0xbb8 (3,000)")
    assert "B: 0x9b8 (2,488)" in tab.caret.text()
    qtbot.keyClick(view, Qt.Key.Key_F8)
    assert carets(tab) == [1_024, 1_024]
    qtbot.keyClick(view, Qt.Key.Key_F7)
    assert carets(tab) == [FLIPPED, FLIPPED]
    tab.views[B].setFocus()
    qtbot.keyClick(tab.views[B], Qt.Key.Key_F7)
    assert carets(tab) == [1_024, 1_024]

    go_to, find = window.tool_bar.go_to, window.tool_bar.find_text
    assert go_to.isEnabled()

    def enter(field: QLineEdit, text: str) -> None:
        field.clear()
        qtbot.keyClicks(field, text)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        settle(qtbot, window)

    enter(go_to, "0x20")
    assert carets(tab) == [0x20, 0x20]
    qtbot.waitUntil(lambda: "Filename" in tab.meaning.text() and "B: " in tab.meaning.text())
    enter(go_to, "b:1,024")
    assert carets(tab) == [1_024 + LOST] * 2
    assert tab.views[B].hasFocus()
    enter(go_to, "DATA/tile_0002.png")
    second = sample("two-entries.tacozip").read_bytes().index(b"\x89PNG", 1_000)
    assert carets(tab) == [second] * 2
    enter(go_to, "no such member")
    assert "no such member" in tab.caret.text()
    enter(go_to, "a:0")
    enter(find, "IHDR")
    qtbot.waitUntil(lambda: carets(tab)[0] > 0)
    first = sample("two-entries.tacozip").read_bytes().index(b"IHDR")
    assert carets(tab) == [first] * 2
    press(window, "find_next")
    qtbot.waitUntil(lambda: carets(tab)[0] > first)
    assert carets(tab) == [second + 12] * 2
    press(window, "find_previous")
    qtbot.waitUntil(lambda: carets(tab)[0] == first)
    enter(find, "nothing like it")
    qtbot.waitUntil(lambda: tab.caret.text() == "Not found in A between here and its end.")


def brackets(tab: CompareTab, side: str) -> dict[str, tuple[int, int]]:
    """Where the structures stand that are named beside a side."""
    found = tab.views[side].lane.brackets
    return {each.structure.label: (each.structure.start, each.structure.stop) for each in found}


def test_structures_of_both_sides_stand_beside_each_other_and_what_a_byte_means_is_said_of_both(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path
) -> None:
    window.resize(1800, 900)
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)
    data = sample("two-entries.tacozip").read_bytes()
    record = data.index(b"PK\x01\x02")
    tab.go_to(record)
    settle(qtbot, window)
    # B lacks a block before it, and has a gap of its size there: all stands side by side.
    qtbot.waitUntil(lambda: bool(brackets(tab, A)) and brackets(tab, A) == brackets(tab, B))
    first = next(label for label, place in brackets(tab, A).items() if place[0] == record)
    assert "central" in first
    lane = tab.views[B].lane
    label = next(rect for rect, text in lane.labels() if first.startswith(text.rstrip("…")))
    tab.go_to(0)
    tab.views[B].goTo(record)
    qtbot.mouseClick(lane, Qt.MouseButton.LeftButton, pos=label.center())
    assert carets(tab) == [record, record]
    assert tab.views[B].hasFocus()

    tab.go_to(FLIPPED)
    qtbot.waitUntil(lambda: tab.meaning.text().startswith("A: ") and "   B: " in tab.meaning.text())
    tab.go_to(1_024)
    qtbot.waitUntil(lambda: tab.meaning.text().startswith("A: "))
    assert tab.caret.text().endswith("B has nothing here")
    assert "B: " not in tab.meaning.text()


# ---- the list ------------------------------------------------------------------------------------------------------


def test_rows_of_the_list_and_the_map_lead_to_their_bytes_which_are_copied_without_the_gap(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path
) -> None:
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)

    height = tab.map.height()
    changed = [row for row in range(height) if tab.map.describe(row) == "changed"]
    assert abs(changed[0] - height * FLIPPED // model_of(tab, A).size) <= 1
    assert tab.map.describe(height - 1) == ""
    qtbot.mouseClick(tab.map, Qt.MouseButton.LeftButton, pos=QPoint(10, height - 2))
    assert carets(tab)[0] == carets(tab)[1] > 5_000

    select(tab, qtbot, "bytes changed")
    assert carets(tab) == [FLIPPED, FLIPPED]
    assert tab.about.text().startswith("One bit differs at byte 3,000 (2,488 in B)")

    view = tab.views[B]
    view.goTo(1_020, LOST + 8)
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert QGuiApplication.clipboard().text().split() == damaged.read_bytes()[1_020:1_028].hex(" ").upper().split()

    # The list is filtered, by level and by words, and sorted.
    tab.levels[Level.MEMBER].click()
    qtbot.waitUntil(lambda: tab.model.rowCount() == 2)
    assert {row[KIND] for row in rows(tab)} == {"bytes only in A", "bytes changed"}
    qtbot.keyClicks(tab.filter, "one bit")
    qtbot.waitUntil(lambda: tab.model.rowCount() == 1)
    qtbot.keyClicks(tab.filter, " of nothing")
    qtbot.waitUntil(lambda: tab.model.rowCount() == 0)
    qtbot.waitUntil(lambda: "No match" in tab._list_stack.shown_sentence())
    tab.filter.clear()
    qtbot.waitUntil(lambda: tab.model.rowCount() == 2)
    assert tab._list_stack.shown_sentence() == ""
    tab.table.sortByColumn(IN_A, Qt.SortOrder.DescendingOrder)
    qtbot.waitUntil(lambda: rows(tab)[0][IN_A] == "3,000..3,001")


# ---- taking and combining ------------------------------------------------------------------------------------------


def combine_dialog(window: Window, qtbot: QtBot) -> CombineDialog:
    qtbot.waitUntil(lambda: window.findChild(CombineDialog) is not None)
    dialog = dialog_of(window, CombineDialog)
    assert isinstance(dialog, CombineDialog)
    qtbot.waitUntil(lambda: dialog.plan is not None)
    return dialog


def write_to(dialog: CombineDialog, qtbot: QtBot, window: Window, path: Path) -> None:
    qtbot.mouseClick(dialog.answer, Qt.MouseButton.LeftButton)
    chooser = dialog.findChild(QFileDialog)
    assert isinstance(chooser, QFileDialog)
    chooser.fileSelected.emit(str(path))
    chooser.reject()
    qtbot.waitUntil(lambda: window.tab() is not None)
    settle(qtbot, window)


def test_two_damaged_copies_are_combined_into_a_new_archive(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path, tmp_path: Path
) -> None:
    data = bytearray(sample("two-entries.tacozip").read_bytes())
    data[60] ^= 1  # in the TACO header
    other = tmp_path / "other.tacozip"
    other.write_bytes(data)
    tab = compared(window, qtbot, damaged, other)

    qtbot.mouseClick(tab.combine, Qt.MouseButton.LeftButton)
    dialog = combine_dialog(window, qtbot)
    assert [dialog.model.texts(row)[:2] for row in range(dialog.model.count)] == [
        ("A", "proved"),
        ("B", "proved"),
        ("B", "proved"),
    ]
    assert dialog.about.text() == (
        "A: damaged.tacozip, B: other.tacozip\n3 differences decided by digests; it is whole."
    )
    assert not dialog.accept_all.isVisible()
    assert "fits A." in dialog.details.text()
    write_to(dialog, qtbot, window, tmp_path / "good.tacozip")

    assert (tmp_path / "good.tacozip").read_bytes() == sample("two-entries.tacozip").read_bytes()
    shown_tab = window.tab()
    assert shown_tab is not None
    assert shown_tab.document.location == str(tmp_path / "good.tacozip")
    assert window.message.text.text().endswith("Read back and checked: sound.")


@pytest.mark.sweep
def test_what_is_not_proved_needs_consent_and_a_third_copy_decides(
    window: Window, qtbot: QtBot, sample: Sample, tmp_path: Path
) -> None:
    copies = []
    for at in (300, 5_000, 9_000):
        data = bytearray(sample("journey.caf").read_bytes())
        data[at] ^= 8
        copies.append(tmp_path / f"{at}.caf")
        copies[-1].write_bytes(data)
    tab = compared(window, qtbot, copies[0], copies[1])

    qtbot.mouseClick(tab.combine, Qt.MouseButton.LeftButton)
    dialog = combine_dialog(window, qtbot)
    assert dialog.model.texts(0)[1] == "not decided"
    assert dialog.accept_all.isVisible()
    assert not dialog.answer.isEnabled()
    dialog.accept_all.click()
    assert dialog.answer.isEnabled()
    dialog.add_copies([str(copies[2])])
    assert not dialog.answer.isEnabled()
    assert not dialog.accept_all.isChecked()
    qtbot.waitUntil(lambda: dialog.plan is not None)
    assert {dialog.model.texts(row)[1] for row in range(dialog.model.count)} == {"chosen, not proved"}
    dialog.accept_all.click()
    (tmp_path / "there.caf").write_bytes(b"mine")
    dialog.write_to(str(tmp_path / "there.caf"))
    qtbot.waitUntil(lambda: "is there already" in dialog.about.text())
    write_to(dialog, qtbot, window, tmp_path / "good.caf")

    assert (tmp_path / "there.caf").read_bytes() == b"mine"
    assert (tmp_path / "good.caf").read_bytes() == sample("journey.caf").read_bytes()


def test_a_difference_of_equal_length_becomes_a_pending_change_and_another_goes_into_a_new_archive(
    window: Window, qtbot: QtBot, sample: Sample, damaged: Path, tmp_path: Path
) -> None:
    sound, before = sample("two-entries.tacozip").read_bytes(), damaged.read_bytes()
    tab = compared(window, qtbot, sample("two-entries.tacozip"), damaged)

    select(tab, qtbot, "bytes changed")
    qtbot.mouseClick(tab.views[B].take, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.tab() is not None)
    settle(qtbot, window)
    changed = window.tab()
    assert changed is not None
    qtbot.waitUntil(lambda: changed.editing.pending is not None)
    edit = changed.editing.pending
    assert edit is not None
    assert changed.document.location == str(damaged)
    at = FLIPPED - LOST
    assert [(each.offset, each.old, each.new) for each in edit.patches] == [
        (at, before[at : at + 1], sound[FLIPPED : FLIPPED + 1])
    ]
    assert edit.label == "Take 1 byte from A"
    assert damaged.read_bytes() == before
    changed.editing.discard()

    window.tabs.setCurrentWidget(tab)
    select(tab, qtbot, "bytes only in A")
    qtbot.mouseClick(tab.views[B].take, Qt.MouseButton.LeftButton)
    dialog = combine_dialog(window, qtbot)
    assert dialog.model.texts(0)[:2] == ("A", "by hand")
    assert "stays wrong" in {dialog.model.texts(row)[1] for row in range(dialog.model.count)}
    assert not dialog.add.isVisible()
    dialog.accept_all.click()
    write_to(dialog, qtbot, window, tmp_path / "new.tacozip")
    expected = bytearray(sound)
    expected[FLIPPED] ^= 1
    assert (tmp_path / "new.tacozip").read_bytes() == expected


# ---- ways in, and the end ------------------------------------------------------------------------------------------


def choose(window: Window, path: Path) -> None:
    """Choose the file to compare with."""
    press(window, "compare_with")
    dialog = dialog_of(window, QFileDialog)
    assert isinstance(dialog, QFileDialog)
    dialog.filesSelected.emit([str(path)])
    dialog.reject()


def test_a_chosen_file_is_compared_with_the_archive_shown(
    show: Show, window: Window, qtbot: QtBot, damaged: Path
) -> None:
    choose(window, damaged)  # nothing is shown
    assert window.tabs.count() == 0
    assert "two files" in window.message.text.text()

    show("two-entries.tacozip")
    choose(window, damaged)
    settle(qtbot, window)
    assert shown(window).sentence.text().endswith("A is right.")
    assert shown(window).views[B].caption.text().startswith("B: damaged.tacozip")


def test_two_tabs_are_compared_by_the_menu_of_one(show: Show, window: Window, qtbot: QtBot, damaged: Path) -> None:
    show("two-entries.tacozip")
    show(damaged)
    menu = window.comparisons.tab_menu(0)
    assert menu is not None
    others = menu.actions()[0].menu()
    assert isinstance(others, QMenu)
    assert [each.text() for each in others.actions()] == ["damaged.tacozip · damaged", "", "Another File…"]
    others.actions()[0].trigger()
    settle(qtbot, window)
    assert shown(window).sentence.text().endswith("A is right.")
    assert window.comparisons.tab_menu(2) is None
    menu.close()


def test_pending_changes_the_last_write_and_earlier_ones_are_compared_with_the_state_before_each(
    copied: Copied, window: Window, qtbot: QtBot
) -> None:
    tab, path = copied("plain.zip")
    press(window, "compare_before")
    assert "nothing is pending" in window.message.text.text()
    old = path.read_bytes()[1_000:1_001]
    tab.editing.overwrite(1_000, old, b"?")
    settle(qtbot, window)
    press(window, "compare_before")
    settle(qtbot, window)
    before = shown(window)
    assert before.views[B].caption.text() == "B: plain.zip (with the pending changes, damaged)"
    assert before.sentence.text().endswith("A is right.")

    press(window, "close_tab")
    tab.editing.write()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: tab.editing.revert is not None)
    press(window, "compare_before")
    settle(qtbot, window)
    assert shown(window).views[A].caption.text() == "A: plain.zip (before the last write, sound)"
    assert shown(window).sentence.text().endswith("A is right.")

    press(window, "close_tab")
    tab.editing.overwrite(1_000, b"?", b"!")
    settle(qtbot, window)
    tab.editing.write()
    settle(qtbot, window)
    qtbot.waitUntil(lambda: len(tab.editing.past) == 2)
    tab.changes.past_table.selectRow(1)  # the first of both writes
    tab.changes.buttons["compare"].click()
    settle(qtbot, window)
    settle(qtbot, window)
    earlier = shown(window)
    assert earlier.views[A].caption.text().startswith("A: plain.zip (before ")
    assert model_of(earlier, A).bytes_at(1_000, 1_001) == [(1_000, old)]
    assert model_of(earlier, B).bytes_at(1_000, 1_001) == [(1_000, b"!")]


@pytest.mark.parametrize("grown", [False, in_the_sweep(True)])
def test_what_was_opened_is_compared_with_what_is_on_disk_now(
    copied: Copied, window: Window, qtbot: QtBot, tmp_path: Path, grown: bool
) -> None:
    tab, path = copied("plain.zip")
    data = path.read_bytes()
    if grown:
        with path.open("ab") as file:
            file.write(b"more")
    else:
        (tmp_path / "new").write_bytes(data[:1_000] + b"?" + data[1_001:])
        (tmp_path / "new").replace(path)
    qtbot.waitUntil(tab.disk_watch.message.isVisible)
    qtbot.mouseClick(tab.disk_watch.compare, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.tab() is None)
    settle(qtbot, window)

    found = shown(window)
    assert "plain.zip (as it was opened" in found.views[A].caption.text()
    assert [row[KIND] for row in rows(found) if row[KIND].startswith("bytes")] == [
        "bytes only in B" if grown else "bytes changed"
    ]
    assert grown or found.sentence.text().endswith("A is right.")


def test_old_bytes_that_were_written_over_are_not_compared(copied: Copied, qtbot: QtBot) -> None:
    tab, path = copied("plain.zip")
    with path.open("r+b") as file:
        file.seek(1_000)
        file.write(b"?")
    qtbot.waitUntil(tab.disk_watch.message.isVisible)

    assert not tab.disk_watch.compare.isVisible()


@pytest.mark.sweep
def test_a_comparison_is_cancelled_and_leaves_no_worker(window: Window, qtbot: QtBot, large: Path) -> None:
    other = large.with_name("other.caf")
    shutil.copyfile(large, other)
    with other.open("r+b") as file:
        file.write(b"x")
    window.comparisons.compare(str(large), str(other))
    tab = shown(window)
    qtbot.waitUntil(lambda: tab.sentence.text() != "Comparing…", timeout=WAIT)
    qtbot.keyClick(tab, Qt.Key.Key_Escape)

    qtbot.waitUntil(lambda: window.settled, timeout=WAIT)
    assert tab.sentence.text() == "Cancelled."
    assert tab.again.isEnabled()
    press(window, "close_tab")
    assert window.start_page.isVisible()


def test_a_comparison_outlives_its_worker(window: Window, qtbot: QtBot, sample: Sample, damaged: Path) -> None:
    tab = compared(window, qtbot, damaged, sample("two-entries.tacozip"))
    assert tab.views[A].caption.text() == "A: damaged.tacozip (damaged)"
    assert tab.sentence.text().endswith("B is right.")

    assert tab.client.link.process is not None
    tab.client.link.process.kill()
    qtbot.waitUntil(lambda: not tab.client.is_open, timeout=WAIT)
    assert "ended unexpectedly" in tab.sentence.text()
    qtbot.mouseClick(tab.again, Qt.MouseButton.LeftButton)
    settle(qtbot, window)
    assert tab.sentence.text().endswith("B is right.")

    # Nothing of an earlier result is shown where there is none.
    assert tab.model.rowCount()
    damaged.unlink()
    tab.start()
    settle(qtbot, window)
    settle(qtbot, window)
    tab._show_list()
    assert tab._list_stack.shown_sentence() == "There is no result."


def test_two_locations_on_the_command_line_are_compared(
    sample: Sample, damaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    before = Comparisons.compare

    def noted(comparisons: Comparisons, a: str, b: str, **_: object) -> CompareTab:
        asked.append((a, b))
        return before(comparisons, a, b)

    monkeypatch.setattr(Comparisons, "compare", noted)
    pair = (str(sample("two-entries.tacozip")), str(damaged))

    assert main(["--screenshot", str(tmp_path / "out.png"), "--compare", *pair]) == 0
    assert asked == [pair]
    assert (tmp_path / "out.png").stat().st_size > 10_000
