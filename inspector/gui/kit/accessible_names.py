"""Names for the parts of widgets that Qt makes itself and calls nothing: screen readers meet them too."""

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
"""Buttons that come up where there is not enough room, by Qt's names of them."""


def name_of(widget: QWidget) -> str:
    """What a screen reader calls a widget."""
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""


def name_parts(root: QWidget) -> None:
    """Name what is in a window, or a part of it, and has no name but that of what it belongs to."""
    for kind, name in _NAMING.items():
        for widget in root.findChildren(kind):
            name(widget)
    for known, words in EXTENSIONS.items():
        for button in root.findChildren(QAbstractButton, known):
            button.setAccessibleName(words)


def name_where_the_keyboard_goes(_: QWidget | None, now: QWidget | None) -> None:
    """Name the parts of the window that the keyboard has gone to. Without a screen reader nothing asks for names."""
    if now is not None and QAccessible.isActive():
        name_parts(now.window())


def watch(app: QApplication) -> None:
    """Have the parts of the window that the keyboard is in, and of whatever window it goes to, named."""
    name_where_the_keyboard_goes(None, app.focusWidget())
    app.focusChanged.connect(name_where_the_keyboard_goes)


def _edit(edit: QLineEdit) -> None:
    for button in edit.findChildren(QAbstractButton):
        if not name_of(button):
            button.setAccessibleName(f"Clear {name_of(edit)}".rstrip())


def _box(box: QComboBox) -> None:
    name = name_of(box)
    for part in (box.view(), box.lineEdit()):
        if part is not None and not part.accessibleName():
            part.setAccessibleName(name)


def _spin(box: QAbstractSpinBox) -> None:
    edit = box.lineEdit()
    if edit is not None and not edit.accessibleName():
        edit.setAccessibleName(name_of(box))


def _table(table: QTableView) -> None:
    for corner in table.findChildren(QAbstractButton, "qt_tableview_cornerbutton"):
        corner.setAccessibleName("Select all")


def _tabs(bar: QTabBar) -> None:
    for at in range(bar.count()):
        for side in (QTabBar.ButtonPosition.LeftSide, QTabBar.ButtonPosition.RightSide):
            button = bar.tabButton(at, side)
            if button is not None:
                button.setAccessibleName(f"Close {bar.tabText(at)}")


def _asking(dialog: QInputDialog) -> None:
    for box in dialog.findChildren(QComboBox):
        box.setAccessibleName(dialog.labelText())


_NAMING: dict[type[QWidget], Callable[..., None]] = {
    QInputDialog: _asking,
    QLineEdit: _edit,
    QComboBox: _box,
    QAbstractSpinBox: _spin,
    QTableView: _table,
    QTabBar: _tabs,
}
"""Whose parts have no names, in the order of naming: a part may be named after what was named before."""
