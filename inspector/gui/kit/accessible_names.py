"""Accessible names for the child widgets that Qt creates without one."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QInputDialog,
    QLineEdit,
    QTabBar,
    QTableView,
    QWidget,
)

EXTENSIONS = {"qt_menubar_ext_button": "More menus", "qt_toolbar_ext_button": "More tools"}
"""Names of overflow buttons, by their object names in Qt."""


def name_of(widget: QWidget) -> str:
    """The accessible name of a widget."""
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""


def name_parts(root: QWidget) -> None:
    """Name the unnamed child widgets of a window or a child of it after their parents."""
    for kind, name in _NAMERS.items():
        for widget in root.findChildren(kind):
            name(widget)
    for object_name, text in EXTENSIONS.items():
        for button in root.findChildren(QAbstractButton, object_name):
            button.setAccessibleName(text)


def name_focused_window(_: QWidget | None, now: QWidget | None) -> None:
    """Name the child widgets of the window with the keyboard focus, if a screen reader is running."""
    if now is not None and QAccessible.isActive():
        name_parts(now.window())


def watch(app: QApplication) -> None:
    """Name child widgets in the window with the focus, now and whenever it changes."""
    name_focused_window(None, app.focusWidget())
    app.focusChanged.connect(name_focused_window)


def _edit(edit: QLineEdit) -> None:
    for button in edit.findChildren(QAbstractButton):
        if not name_of(button):
            button.setAccessibleName(f"Clear {name_of(edit)}".rstrip())


def _box(box: QComboBox) -> None:
    name = name_of(box)
    for child in (box.view(), box.lineEdit()):
        if child is not None and not child.accessibleName():
            child.setAccessibleName(name)


def _spin(box: QAbstractSpinBox) -> None:
    edit = box.lineEdit()
    if edit is not None and not edit.accessibleName():
        edit.setAccessibleName(name_of(box))


def _table(table: QTableView) -> None:
    for corner in table.findChildren(QAbstractButton, "qt_tableview_cornerbutton"):
        corner.setAccessibleName("Select all")


def _tabs(bar: QTabBar) -> None:
    for index in range(bar.count()):
        for side in (QTabBar.ButtonPosition.LeftSide, QTabBar.ButtonPosition.RightSide):
            button = bar.tabButton(index, side)
            if button is not None:
                button.setAccessibleName(f"Close {bar.tabText(index)}")


def _input_dialog(dialog: QInputDialog) -> None:
    for box in dialog.findChildren(QComboBox):
        box.setAccessibleName(dialog.labelText())


_NAMERS: dict[type[QWidget], Callable[..., None]] = {
    QInputDialog: _input_dialog,
    QLineEdit: _edit,
    QComboBox: _box,
    QAbstractSpinBox: _spin,
    QTableView: _table,
    QTabBar: _tabs,
}
"""Functions that name the children of a widget class. The order matters: later names build on earlier ones."""
