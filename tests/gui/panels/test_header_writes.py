"""What editing a TACO header would write stands in the editor, and is shown once before it is written."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.panels.changing.header import OFFSET, HeaderWrites
from tests.gui.conftest import Copied, Show, press, previewed, settle

NAME = "two-entries.tacozip"


def type_offset(tab: Tab, window: Window, qtbot: QtBot, number: int) -> None:
    """Type an offset into the first entry."""
    table = tab.header.table
    press(window, "show_header")
    settle(qtbot, window)
    table.setCurrentIndex(tab.header.model.index(0, OFFSET))
    QTest.keyClick(table, Qt.Key.Key_F2)
    editor = table.findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, str(number))
    with qtbot.waitSignal(tab.editing.changed):
        QTest.keyClick(editor, Qt.Key.Key_Return)
    previewed(qtbot, window, tab)


def said(writes: HeaderWrites) -> str:
    return re.sub("<[^>]*>", " ", writes.label.text())


def test_the_writes_are_named_in_their_order_and_shown_once_before_they_are_made(
    copied: Copied, window: Window, qtbot: QtBot
) -> None:
    tab, path = copied(NAME)
    writes = tab.header.writes
    assert writes.isHidden()
    type_offset(tab, window, qtbot, 5_462)
    assert writes.isVisible()
    assert writes.label.accessibleName().splitlines() == [
        "1 of 3: the payload (count, padding, seven entries), 116 bytes at 41 (0x29)",
        "2 of 3: the local CRC-32, 4 bytes at 14 (0xe)",
        "3 of 3: the central CRC-32, 4 bytes at 5,555 (0x15b3)",
    ]
    assert "<b><u>F5</u></b> <b><u>13</u></b>" in writes.label.text()  # the old bytes of the offset...
    assert "<b><u>56</u></b> <b><u>15</u></b>" in writes.label.text()  # ... and the new ones
    assert "the data of METADATA/level0.parquet (308 bytes at 5,109)" in said(writes)
    assert "elsewhere in this file (308 bytes at 5,462)" in said(writes)
    before = path.read_bytes()
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() != before  # they were on the screen
    qtbot.waitUntil(writes.isHidden)

    before = path.read_bytes()
    type_offset(tab, window, qtbot, 5_463)
    tab.docks["Changes"].raise_()
    settle(qtbot, window)
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() == before
    assert not writes.visibleRegion().isEmpty()
    assert "Ctrl+S again" in tab.note.text.text()
    tab.docks["Changes"].raise_()
    press(window, "write")
    settle(qtbot, window)
    assert path.read_bytes() != before


@pytest.mark.sweep
def test_an_older_header_is_shown_and_not_edited(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("ghost.taco")
    press(window, "show_header")
    settle(qtbot, window)
    panel = tab.header
    assert panel.table.isVisible()
    assert not panel.model.flags(panel.model.index(0, OFFSET)) & Qt.ItemFlag.ItemIsEditable
    assert not panel.count.isEnabled()
    assert panel.about.text()
