"""Asking what is to be added to an RCA archive, and how."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from inspector.gui.ipc.client import create_client
from inspector.gui.panels.archive_options import RcaOptionsPage
from inspector.gui.panels.inputs import InputsPanel
from inspector.operations.protocol.create_views import ArchiveKind, Draft

SIZE = (720, 460)


class AppendDialog(QDialog):
    """Lists what will be added to the archive at ``location``; ``then`` gets what is agreed to."""

    def __init__(self, parent: QWidget, name: str, location: str, then: Callable[[Draft], object]) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Add to {name}")
        self._location = location
        self._then = then
        self.client = create_client(self)
        self.inputs = InputsPanel(self.client, self.draft)
        self.options = RcaOptionsPage(own=True)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.add = self.buttons.addButton("&Add", QDialogButtonBox.ButtonRole.AcceptRole)
        self.add.setDefault(True)
        layout = QVBoxLayout(self)
        layout.addWidget(self.inputs, 1)
        layout.addWidget(self.options)
        layout.addWidget(self.buttons)
        self.resize(*SIZE)
        self.inputs.looked.connect(self._enable)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.finished.connect(self._end)
        self._enable()

    def draft(self) -> Draft:
        """What is asked for."""
        draft = Draft(ArchiveKind.RCA, self._location, tuple(self.inputs.locations), grows=True)
        return self.options.apply(draft)

    def accept(self) -> None:
        """See QDialog: only what was looked at is added."""
        if self.add.isEnabled():
            self._then(self.draft())
            super().accept()

    def _enable(self) -> None:
        contents = self.inputs.contents
        self.add.setEnabled(contents is not None and not contents.obstacle and contents.count > 0)

    def _end(self) -> None:
        self.inputs.stop()
        self.client.close()
