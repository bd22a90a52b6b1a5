"""The editor of a TACO header, by the keyboard alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import tacozip
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from inspector.core.verdict import State
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.changing.header import LENGTH, OFFSET, TARGET
from tests.gui.conftest import WAIT, Copied, Show, press, previewed, settle
from tests.sweeping import in_the_sweep

NAME = "two-entries.tacozip"
Key = Qt.Key


class Hand:
    """What a user does with the keyboard, and sees."""

    def __init__(self, window: Window, tab: Tab, path: Path, qtbot: QtBot) -> None:
        self.window, self.tab, self.path, self.qtbot = window, tab, path, qtbot
        self.panel = tab.header

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(QApplication.focusWidget() or self.window, key, modifier)

    def alt(self, key: Qt.Key) -> None:
        """Press a button by its letter; Qt animates that."""
        with self.qtbot.waitSignal(self.tab.editing.changed, timeout=WAIT):
            self.key(key, Qt.KeyboardModifier.AltModifier)
        previewed(self.qtbot, self.window, self.tab)

    def to(self, row: int, column: int) -> None:
        """Move to a cell with the arrows."""
        table = self.panel.table
        for _ in range(7):
            self.key(Key.Key_Up)
            self.key(Key.Key_Left)
        for _ in range(row):
            self.key(Key.Key_Down)
        for _ in range(column):
            self.key(Key.Key_Right)
        assert (table.currentIndex().row(), table.currentIndex().column()) == (row, column)

    def editor(self) -> QLineEdit:
        widget = QApplication.focusWidget()
        assert isinstance(widget, QLineEdit)
        return widget

    def type(self, text: str) -> None:
        """Type over what a cell holds, without leaving it."""
        self.key(Key.Key_F2)
        self.editor().selectAll()
        QTest.keyClicks(self.editor(), text)

    def enter(self, text: str) -> None:
        self.type(text)
        with self.qtbot.waitSignal(self.tab.editing.changed, timeout=WAIT):
            self.key(Key.Key_Return)
        previewed(self.qtbot, self.window, self.tab)

    def use(self, number: int) -> None:
        """Change how many entries are in use."""
        self.key(Key.Key_I, Qt.KeyboardModifier.AltModifier)
        with self.qtbot.waitSignal(self.tab.editing.changed, timeout=WAIT):
            self.key(Key.Key_Up if number > self.panel.count.value() else Key.Key_Down)
        previewed(self.qtbot, self.window, self.tab)
        assert self.panel.count.value() == number
        self.panel.table.setFocus()

    def entries(self) -> list[tuple[int, int]]:
        """The entries in use as they are shown."""
        view = self.panel.model.view
        assert view is not None
        return [(each.offset, each.length) for each in view.entries if each.used]

    def target(self, row: int) -> str:
        return str(self.panel.model.index(row, TARGET).data())

    def run(self, action: str) -> None:
        press(self.window, action)
        settle(self.qtbot, self.window)
        previewed(self.qtbot, self.window, self.tab)


@pytest.fixture
def hand(copied: Copied, window: Window, qtbot: QtBot) -> Hand:
    """The editor, opened and with the keyboard in its table."""
    tab, path = copied(NAME)
    made = Hand(window, tab, path, qtbot)
    press(window, "show_header")
    settle(qtbot, window)
    assert made.panel.table.hasFocus()
    return made


def updated(path: Path, entries: list[tuple[int, int]], original: bytes) -> bytes:
    """What the reference implementation makes of the original."""
    path.write_bytes(original)
    tacozip.update_header(str(path), entries)
    return path.read_bytes()


def test_an_entry_is_typed_underlined_written_taken_back_and_seen_in_a_small_window(hand: Hand, tmp_path: Path) -> None:
    before, model = hand.path.read_bytes(), hand.panel.model
    hand.to(1, LENGTH)
    hand.enter("0x40")
    assert hand.path.read_bytes() == before
    wanted = [hand.entries()[0], (tacozip.read_header(before)[1][0], 0x40)]
    assert hand.entries() == wanted
    fonts = {
        (row, column): model.index(row, column).data(Qt.ItemDataRole.FontRole)
        for row in range(model.rowCount())
        for column in range(model.columnCount())
    }
    differs = [cell for cell, font in fonts.items() if font is not None and font.underline()]
    assert differs == [(1, LENGTH)], "only numbers that differ from the file are underlined"
    hand.run("write")
    assert tacozip.read_header(str(hand.path)) == wanted
    assert hand.path.read_bytes() == updated(tmp_path / "reference", wanted, before)
    hand.run("take_back")
    assert hand.path.read_bytes() == before

    hand.window.resize(1024, 700)
    hand.tab.reset_arrangement()
    press(hand.window, "show_header")
    table = hand.panel.table
    hand.qtbot.waitUntil(lambda: table.viewport().rect().intersects(table.visualRect(model.index(6, 0))))


def test_all_buttons_are_pressed_by_their_letters_and_steps_undone_and_redone(hand: Hand, tmp_path: Path) -> None:
    before = hand.path.read_bytes()
    first, second = hand.entries()
    hand.use(3)
    assert hand.entries() == [first, second, (0, 0)]
    hand.use(4)
    hand.run("undo")
    assert hand.entries() == [first, second, (0, 0)]
    hand.run("undo")
    assert hand.entries() == [first, second]
    assert hand.tab.editing.pending is None
    hand.run("redo")
    assert hand.entries() == [first, second, (0, 0)]

    hand.to(1, OFFSET)
    hand.alt(Key.Key_U)
    assert hand.entries() == [second, first, (0, 0)]
    hand.to(1, OFFSET)
    hand.alt(Key.Key_N)
    assert hand.entries() == [second, (0, 0), first]
    hand.to(1, OFFSET)
    hand.alt(Key.Key_M)
    assert hand.entries() == [second, first]
    hand.run("write")
    assert hand.path.read_bytes() == updated(tmp_path / "reference", [second, first], before)
    hand.use(1)
    assert hand.entries() == [second]
    hand.run("undo")
    assert hand.entries() == [second, first]


def test_a_change_right_after_undoing_is_one_of_what_was_undone(hand: Hand) -> None:
    before = hand.path.read_bytes()
    first, second = hand.entries()
    hand.to(0, LENGTH)
    hand.enter("5")
    press(hand.window, "undo")
    hand.panel.count.setValue(3)  # the archive is still shown as it was before undoing
    hand.qtbot.waitUntil(lambda: hand.tab.editing.pending is not None, timeout=WAIT)
    previewed(hand.qtbot, hand.window, hand.tab)
    assert hand.entries() == [first, second, (0, 0)]
    pending = hand.tab.editing.pending
    assert pending is not None
    assert all(before[each.offset : each.offset + len(each.old)] == each.old for each in pending.patches)
    hand.run("write")
    assert tacozip.read_header(str(hand.path))[:2] == [first, second]


def test_a_wrong_number_is_marked_while_it_is_typed_and_not_taken_unlike_the_largest(hand: Hand) -> None:
    start, about = hand.entries(), hand.panel.about
    for text, sentence in (
        ("12x", "is no number"),
        ("", "Type a number"),
        ("0x1" + 16 * "0", "18,446,744,073,709,551,615"),
        ("999999", "beyond the end of the file"),
    ):
        hand.to(0, OFFSET)
        hand.type("1")
        (mark,) = hand.editor().actions()
        assert not mark.isVisible()
        hand.editor().selectAll()
        hand.key(Key.Key_Delete)
        QTest.keyClicks(hand.editor(), text)
        assert mark.isVisible()
        assert sentence in about.text()
        hand.editor().setText("1")
        assert not mark.isVisible()
        assert about.text() == ""
        hand.key(Key.Key_Escape)
        assert hand.tab.editing.pending is None

    hand.to(0, OFFSET)
    hand.type("12x")
    hand.key(Key.Key_Return)
    assert hand.entries() == start
    assert hand.tab.editing.pending is None
    assert "is no number" in about.text()
    settle(hand.qtbot, hand.window)  # the editor of the cell goes when the event loop turns

    hand.to(0, OFFSET)
    hand.enter("18446744073709551615")
    assert hand.entries()[0][0] == 2**64 - 1
    assert "outside" in hand.target(0)
    assert not hand.panel.model.index(0, TARGET).data(Qt.ItemDataRole.DecorationRole).isNull()


def test_two_numbers_in_one_cell_are_an_entry_and_one_past_the_end_is_in_the_headline(hand: Hand) -> None:
    hand.to(0, OFFSET)
    hand.enter("157,1000")
    assert hand.entries()[0] == (157, 1000)
    assert "outside" not in hand.tab.banner.sentence.text()
    hand.to(0, OFFSET)
    hand.enter("1,571,000")
    assert hand.entries()[0] == (1_571_000, 1000)
    banner = hand.tab.banner
    hand.qtbot.waitUntil(lambda: "Entry 0 (1,571,000, 1,000 bytes) points outside this file" in banner.sentence.text())
    assert hand.tab.document.status.state is State.WARNING
    assert "Sound" not in banner.state.text()


def test_an_entry_points_to_the_bytes_or_the_member_selected_before(hand: Hand) -> None:
    tab, view = hand.tab, hand.tab.hex_pane.hex
    view.setFocus()
    view.goTo(200)
    for _ in range(11):
        hand.key(Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    settle(hand.qtbot, hand.window)
    press(hand.window, "show_header")
    hand.to(1, OFFSET)  # on the way the bytes of both entries light up
    settle(hand.qtbot, hand.window)
    assert hand.panel.buttons["bytes"].toolTip().endswith("12 bytes at 0xc8")
    hand.alt(Key.Key_Y)
    assert hand.entries()[1] == (200, 12)

    tab.document.select_member(1, "members")
    settle(hand.qtbot, hand.window)
    press(hand.window, "show_header")
    hand.to(1, OFFSET)
    hand.alt(Key.Key_B)
    assert hand.target(1).startswith("the data of ")
    hand.run("write")
    offset, length = tacozip.read_header(str(hand.path))[1]
    assert tab.document.status.members == 5
    assert hand.entries()[1] == (offset, length)


@pytest.mark.parametrize("others", [("journey.caf",), in_the_sweep(("journey.caf", "weather"))], ids=len)
def test_where_there_is_no_header_to_edit_the_panel_says_why(
    show: Show, window: Window, qtbot: QtBot, others: tuple[str, ...]
) -> None:
    for name in others:
        assert show(name).header.stack.shown_sentence().startswith("Only TACO"), name
    tab = show("count-8.tacozip")
    press(window, "show_header")
    settle(qtbot, window)
    panel = tab.header
    assert panel.stack.shown_sentence() or panel.about.text()
    assert not any(button.isEnabled() for button in panel.buttons.values())
    assert not panel.model.flags(panel.model.index(0, OFFSET)) & Qt.ItemFlag.ItemIsEditable
