"""Actions whose dialogs have a worker of their own, which ends with the dialog or with the window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QDialog, QWidget

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.ipc.client import Client


class DialogActions(QObject):
    """Base of such actions; ``parent`` is the window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._parent = parent
        self._clients: list[Client[Any]] = []

    def end(self) -> None:
        """Close the workers of dialogs that are still open."""
        for client in self._clients:
            client.close()

    def track(self, dialog: QDialog, client: Client[Any]) -> None:
        """Remember the client of a dialog as long as that is open; the dialog closes it."""
        self._clients.append(client)
        dialog.finished.connect(lambda: self._clients.remove(client))
