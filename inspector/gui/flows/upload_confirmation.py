"""Before anything is sent to S3: saying what will be sent, and asking."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from inspector.gui.dialogs.send import SendDialog
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Dispatch, Editing
from inspector.operations.protocol.requests import ArchiveRequests


class UploadConfirmation(QObject):
    """Asks before a document's changes are sent. ``parent`` is what the dialogs belong to."""

    def __init__(self, document: Document, editing: Editing, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._parent = parent
        editing.agreementWanted.connect(self._ask)

    def _ask(self, dispatch: Dispatch) -> None:
        if dispatch.edit is None:
            self._show(dispatch, ())
            return
        self._document.client.ask(ArchiveRequests.upload_preview, dispatch.edit, dispatch.whole).then(
            partial(self._show, dispatch), self._document.said.emit
        )

    def _show(self, dispatch: Dispatch, lines: tuple[str, ...]) -> None:
        dialog = SendDialog(self._parent, self._document.location, dispatch, lines)
        dialog.accepted.connect(lambda: dispatch.start(dispatch.whole))
        dialog.open()
