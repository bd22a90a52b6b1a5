"""What screen readers are told of the byte at the caret, asked as they ask."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from inspector.core.finding import Severity
from inspector.core.kinds import Kind, Role
from inspector.core.span import Span
from inspector.gui.app.window import Window
from inspector.gui.hex.hex_pane import accessible_text
from inspector.operations.protocol.views import Explanation, FieldRow
from tests.gui.conftest import Show, settle


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[tuple[QAccessible.Event, str]]:
    """What readers are told, while one is listening."""
    told: list[tuple[QAccessible.Event, str]] = []

    def take(event: QAccessibleEvent) -> None:
        words = getattr(event, "message", getattr(event, "value", str))()
        told.append((event.type(), str(words)))

    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", take)
    return told


def row(name: str, spans: tuple[Span, ...], value: str = "", note: str = "") -> FieldRow:
    return FieldRow((0,), name, Kind.DIGEST, Role.DIGEST, spans, value, note, "", 0, None, None)


def test_a_byte_is_said_with_its_place_in_its_field_over_all_its_stretches() -> None:
    leaf = row("crc 32", (Span(10, 12), Span(20, 22)), "0x4d6c0647", "Fits.")
    known = Explanation(0, 20, (row("header", (Span(0, 30),)), leaf), None, ((Severity.ERROR, "It is wrong."),))
    said = "offset 20, byte 3 of 4, crc 32, value 0x4d6c0647, reads 06, in header. It is wrong. Fits"
    assert accessible_text(known, 6) == said


def test_a_byte_that_no_field_owns_is_said_by_its_offset() -> None:
    assert accessible_text(Explanation(0, 1_234, (), None, ()), None) == "offset 1,234"


def test_a_reader_is_given_the_byte_at_the_caret_and_can_move_it(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show("two-entries.tacozip")
    tab.document.select_byte(0, 16, "test")
    settle(qtbot, window)
    view = tab.hex_pane.hex
    found = QAccessible.queryAccessibleInterface(view)
    assert found is not None
    assert (found.role(), found.text(QAccessible.Text.Name)) == (QAccessible.Role.Canvas, "Bytes")
    words = found.text(QAccessible.Text.Value)
    assert words.startswith("offset 16, byte 3 of 4, CRC-32, value 0x4d6c0647, reads 6C, in local file header")
    assert found.text(QAccessible.Text.Description) == words
    value = found.valueInterface()
    assert (value.currentValue(), value.minimumValue(), value.maximumValue()) == (16, 0, 5_875)
    value.setCurrentValue(41)
    assert view.caret() == 41
    view.goTo(41, 8)
    assert found.text(QAccessible.Text.Value).endswith(", 8 bytes selected")
    # Other interfaces are none, and no wild addresses.
    assert found.textInterface() is None
    assert found.tableCellInterface() is None
    assert found.actionInterface() is None


def test_each_byte_that_the_caret_comes_to_is_spoken_unless_the_user_is_elsewhere(
    show: Show, window: Window, qtbot: QtBot, events: list[tuple[QAccessible.Event, str]]
) -> None:
    tab = show("two-entries.tacozip")
    view = tab.hex_pane.hex
    window.activateWindow()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    events.clear()
    QTest.keyClick(view, Qt.Key.Key_Down)
    settle(qtbot, window)
    assert (QAccessible.Event.ValueChanged, "16") in events
    spoken_now = [words for kind, words in events if kind is QAccessible.Event.Announcement]
    assert len(spoken_now) == 1
    assert spoken_now[0].startswith("offset 16, byte 3 of 4, CRC-32")

    tab.members.filter.setFocus()
    qtbot.waitUntil(tab.members.filter.hasFocus)
    events.clear()
    tab.document.select_byte(0, 500, "test")
    settle(qtbot, window)
    assert [kind for kind, _ in events if kind is QAccessible.Event.Announcement] == []
