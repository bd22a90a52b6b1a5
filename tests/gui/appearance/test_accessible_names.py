"""Every control has a name that a screen reader can say: the whole window is gone through, with all there is in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.gui.app.tab import Tab
from inspector.gui.app.window import Window
from inspector.gui.kit import help_texts
from inspector.gui.kit.help_texts import name_of, name_parts
from tests.gui.conftest import Show, press, settle

ROOT = Path(__file__).parents[3] / "resources" / "samples"
OPENING = (
    *("ask_location", "extract", "add_bookmark", "show_settings"),
    *("show_commands", "show_keys", "show_about", "open_files", "open_folder", "export_report"),
)
"""Actions that open a dialog."""
TABS = ("new_archive", "browse", "new_audit")
"""Actions that open a tab, some of them after a dialog."""


def path_of(widget: QWidget) -> str:
    names = []
    above: QWidget | None = widget
    while above is not None:
        names.append(type(above).__name__ + (f"#{above.objectName()}" if above.objectName() else ""))
        above = above.parentWidget()
    return " in ".join(names)


def is_control(widget: QWidget) -> bool:
    """Whether the keyboard or the pointer can do something with a widget that is, or may yet be, shown."""
    can = widget.focusPolicy() is not Qt.FocusPolicy.NoFocus or isinstance(widget, QAbstractButton)
    empty = isinstance(widget, QTabBar) and not widget.count()  # it is named after the tab that is shown
    return can and not empty and not widget.isHidden()


def nameless(root: QWidget) -> list[str]:
    name_parts(root)
    return [path_of(widget) for widget in root.findChildren(QWidget) if is_control(widget) and not name_of(widget)]


def unsaid_buttons(root: QWidget) -> list[str]:
    """Buttons with a picture alone that say nothing when the pointer rests on them, but for those Qt makes itself."""
    return [
        path_of(button)
        for button in root.findChildren(QAbstractButton)
        if is_control(button) and not button.text() and not button.toolTip() and not _of_qt(button)
    ]


def _of_qt(button: QAbstractButton) -> bool:
    return button.objectName().startswith("qt_") or isinstance(button.parentWidget(), QLineEdit)


def rows_without_buddies(root: QWidget) -> list[str]:
    """Captions in forms that do not say which field they belong to."""
    found = []
    for form in root.findChildren(QFormLayout):
        for row in range(form.rowCount()):
            pair = [form.itemAt(row, role) for role in (QFormLayout.ItemRole.LabelRole, QFormLayout.ItemRole.FieldRole)]
            label, field = (item.widget() if item is not None else None for item in pair)
            if isinstance(label, QLabel) and label.text() and field is not None and is_control(field):
                named = label.buddy() is not None or name_of(field)
                found += [] if named else [label.text()]
    return found


def every_problem(root: QWidget) -> list[str]:
    return [*nameless(root), *unsaid_buttons(root), *rows_without_buddies(root)]


@pytest.fixture
def dialogs() -> Iterator[None]:
    yield
    close_dialogs()


def close_dialogs() -> None:
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog):
            widget.close()


def every_panel_has_names(tab: Tab, window: Window) -> None:
    for dock in tab.docks.values():
        dock.show()
        dock.raise_()
        QApplication.processEvents()
        assert name_of(dock)
    assert every_problem(window) == []


def test_an_archive_with_all_its_panels_and_with_work_in_them(
    show: Show, window: Window, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert every_problem(window) == [], "with nothing open"
    tab = show("torn-after-write-2.tacozip")
    (clear,) = tab.members.filter.findChildren(QAbstractButton)
    help_texts.name_focused_window(None, tab.members.filter)
    assert not name_of(clear), "nobody listens"
    with monkeypatch.context() as patched:
        patched.setattr(QAccessible, "isActive", lambda: True)
        help_texts.name_focused_window(None, tab.members.filter)
    assert name_of(clear) == "Clear Filter members by name"

    every_panel_has_names(tab, window)
    for name in ("check", "plan_repairs", "edit_bytes", "show_header"):
        press(window, name)
        settle(qtbot, window)
    tab.document.reported.emit("A sentence.")
    assert every_problem(window) == []


@pytest.mark.usefixtures("dialogs")
def test_a_dataset_and_all_dialogs_and_tabs(show: Show, window: Window, qtbot: QtBot) -> None:
    tab = show(ROOT / "weather")
    file_map = QAccessible.queryAccessibleInterface(tab.hex_pane.map)
    assert file_map is not None
    assert file_map.text(QAccessible.Text.Name) == "Map of the file"
    assert "are shown" in file_map.text(QAccessible.Text.Description)
    every_panel_has_names(tab, window)
    for name in (*OPENING, *TABS):
        window.tabs.setCurrentWidget(tab)
        before = set(window.findChildren(QWidget))
        press(window, name)
        qtbot.waitUntil(lambda before=before: bool(set(window.findChildren(QWidget)) - before))
        assert every_problem(window) == [], name
        close_dialogs()


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["two-entries.tacozip", "two-resets-spec.rca"])
def test_further_archives_with_all_their_panels(show: Show, window: Window, name: str) -> None:
    every_panel_has_names(show(ROOT / name), window)
