"""What's This: every panel, column and kind of field is explained, by key and by pointer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QToolTip, QWhatsThis, QWidget
from pytestqt.qtbot import QtBot

from inspector.core.kinds import declared_kinds
from inspector.gui.app.actions.actions import ACTIONS
from inspector.gui.app.help.help_texts import COLUMNS, PANELS
from inspector.gui.app.help.whats_this import about_column, about_field, header_of
from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from tests.gui.conftest import Show, every_panel, press, settle

ROOT = Path(__file__).parents[3] / "resources" / "samples"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is explained, in place of the window in which Qt shows it."""
    texts: list[str] = []
    monkeypatch.setattr(QWhatsThis, "showText", lambda _, text, *__: texts.append(text))
    monkeypatch.setattr(QToolTip, "showText", lambda _, text, *__: texts.append(text))
    return texts


def ask(widget: QWidget, place: QPoint, kind: QEvent.Type) -> None:
    QApplication.sendEvent(widget, QHelpEvent(kind, place, widget.mapToGlobal(place)))


def shift_f1(window: Window, tab: Tab, widget: QWidget, qtbot: QtBot) -> None:
    window.activateWindow()
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    QTest.keyClick(widget, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    settle(qtbot, window)
    assert tab.isVisible()


def views(root: QWidget) -> Iterator[QAbstractItemView]:
    for view in root.findChildren(QAbstractItemView):
        if header_of(view) is not None and view.accessibleName() and view.model() is not None:
            yield view


@pytest.mark.usefixtures("said")
def test_every_column_of_every_view_is_explained(show: Show, window: Window) -> None:
    every_panel(show(ROOT / "weather"))
    for name in ("new_archive", "browse", "new_audit", "show_keys"):
        press(window, name)
    seen = set()
    for view in views(window):
        model = view.model()
        seen.add(view.accessibleName())
        for column in range(model.columnCount()):
            title = model.headerData(column, Qt.Orientation.Horizontal)
            where = f"COLUMNS[{view.accessibleName()!r}] of inspector/gui/app/help/help_texts.py"
            assert about_column(view, column), f"{where} does not say what {title!r} holds."
    assert seen >= set(COLUMNS) - {"Members found"}


def test_every_action_says_what_it_does(window: Window) -> None:
    assert [command.name for command in ACTIONS if not window.actions_[command.name].whatsThis()] == []


def test_the_pointer_and_shift_f1_explain_heads_bytes_columns_fields_and_panels(
    show: Show, window: Window, qtbot: QtBot, said: list[str]
) -> None:
    tab = show("plain.zip")
    assert set(PANELS) == {*tab.docks, "Bytes"}
    assert all(text.endswith(".") for text in (*(kind.meaning for kind in declared_kinds()), *PANELS.values()))
    header = tab.structure.tree.header()
    place = QPoint(header.sectionViewportPosition(1) + 5, 5)
    ask(header.viewport(), place, QEvent.Type.ToolTip)
    ask(header.viewport(), place, QEvent.Type.WhatsThis)
    assert said == ["The value of the bytes, in the specification's notation"] * 2
    said.clear()
    ask(tab.hex_pane.hex.viewport(), QPoint(100, 30), QEvent.Type.WhatsThis)
    assert "Fixed bytes that identify a structure" in said.pop()

    explanation = tab.document.explanation
    assert explanation is not None
    row = replace(explanation.fields[-1], name="<b>bold</b>")  # a name that looks like a command for text
    assert "&lt;b&gt;bold" in about_field(row)

    view = tab.members.view
    QTest.keyClick(view, Qt.Key.Key_Down)
    shift_f1(window, tab, view, qtbot)
    assert "The path of the member in the archive" in said[0]
    assert "The files in the archive" in said.pop(0)
    shift_f1(window, tab, tab.members.filter, qtbot)  # buttons and fields say their tooltip or their panel's words
    assert "The files in the archive" in said.pop(0)

    tab.document.go_to_expression("end of central directory")
    settle(qtbot, window)
    shift_f1(window, tab, tab.structure.tree, qtbot)
    assert "APPNOTE" in said[0]


def test_shift_f1_explains_the_field_at_the_caret(show: Show, window: Window, qtbot: QtBot, said: list[str]) -> None:
    tab = show("two-entries.tacozip")
    tab.document.select_byte(0, 45, "test")
    settle(qtbot, window)
    shift_f1(window, tab, tab.hex_pane.hex, qtbot)
    assert "offset: offset" in said[0]
    assert "The offset where something starts" in said[0]
    assert "Specification: " in said[0]
