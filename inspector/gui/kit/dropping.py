"""What is dropped is always taken as a copy: a program that gave it away as a move would then delete the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from inspector.gui.kit.locations import absolute, from_mime

if TYPE_CHECKING:  # not for the first paint to wait for
    from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent


def take_copy(event: QDropEvent) -> bool:
    """Accept what is held over a place, or let go there, as a copy; refused, and False, where none is offered."""
    offered = bool(event.possibleActions() & Qt.DropAction.CopyAction)
    if offered:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    else:
        event.ignore()
    return offered


class PathField(QLineEdit):
    """A field for a path or another location: what is dropped on it is what it says then."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if not from_mime(event.mimeData()) or not take_copy(event):
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        take_copy(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """See QWidget: the first of several is taken."""
        found = from_mime(event.mimeData())
        if found and take_copy(event):
            self.setText(absolute(found[0]))
            self.setFocus()
            self.editingFinished.emit()
        else:
            event.ignore()


def leave_drops(within: QWidget) -> None:
    """Have the other fields of a part take no drops: Qt's own take them as they are proposed, a move too."""
    for field in within.findChildren(QLineEdit):
        if not isinstance(field, PathField):
            field.setAcceptDrops(False)
