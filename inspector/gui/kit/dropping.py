"""Drops are always accepted as copies: after a move, the source program would delete the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.gui.kit.locations import absolute, from_mime

if TYPE_CHECKING:  # imported only for types, to speed up the first paint
    from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent


def take_copy(event: QDropEvent) -> bool:
    """Accept a drag or drop as a copy; ignore it and return False if no copy is offered."""
    offered = bool(event.possibleActions() & Qt.DropAction.CopyAction)
    if offered:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    else:
        event.ignore()
    return offered


class PathField(QLineEdit):
    """A field for a path or URL, which can also be dropped on it."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if not from_mime(event.mimeData()) or not take_copy(event):
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        take_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the first of several locations."""
        found = from_mime(event.mimeData())
        if found and take_copy(event):
            self.setText(absolute(found[0]))
            self.setFocus()
            self.editingFinished.emit()
        else:
            event.ignore()


def leave_drops(within: QWidget) -> None:
    """Disable drops in plain fields: QLineEdit itself would also accept moves."""
    for field in within.findChildren(QLineEdit):
        if not isinstance(field, PathField):
            field.setAcceptDrops(False)
