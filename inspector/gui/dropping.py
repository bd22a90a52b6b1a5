"""What is dropped is always taken as a copy: a program that gave it away as a move would then delete the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

if TYPE_CHECKING:  # not for the first paint to wait for
    from PySide6.QtGui import QDropEvent


def take_copy(event: QDropEvent) -> bool:
    """Accept what is held over a place, or let go there, as a copy; refused, and False, where none is offered."""
    offered = bool(event.possibleActions() & Qt.DropAction.CopyAction)
    if offered:
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
    else:
        event.ignore()
    return offered


def leave_drops(within: QWidget) -> None:
    """Have the fields of a part take no drops: Qt's own take them as they are proposed, a move too."""
    for field in within.findChildren(QLineEdit):
        field.setAcceptDrops(False)
