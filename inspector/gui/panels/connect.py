"""Asking how S3 is to be reached, for a browser that is open."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from inspector.gui.document.connections import Connections
from inspector.gui.ipc.client import Client
from inspector.gui.kit.dropping import leave_drops
from inspector.gui.panels.connection_form import ConnectionForm
from inspector.operations.protocol.requests import ProfileRequests
from inspector.sources.s3.connection import Connection

WIDTH = 560


class ConnectDialog(QDialog):
    """Shows a connection and asks for another one; ``client`` is that of a browser.

    Signals:
        chosen(object): the Connection to be used from now on.
    """

    chosen = Signal(object)

    def __init__(
        self, parent: QWidget, client: Client[ProfileRequests], connections: Connections, connection: Connection
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Connection")
        self.form = ConnectionForm()
        self.form.offer_endpoints(connections.endpoints())
        self.form.show_connection(connection)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.use = self.buttons.addButton("&Use It", QDialogButtonBox.ButtonRole.AcceptRole)
        self.use.setDefault(True)
        layout = QVBoxLayout(self)
        layout.addWidget(self.form)
        layout.addStretch(1)
        layout.addWidget(self.buttons)
        self.form.changed.connect(self._enable)
        self.form.endpointChosen.connect(lambda endpoint: self.form.show_connection(connections.at(endpoint)))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        asked = client.start(ProfileRequests.profiles).then(self.form.offer_profiles)
        self.finished.connect(asked.forget)
        leave_drops(self)
        self.resize(WIDTH, self.sizeHint().height())
        self._enable()

    def accept(self) -> None:
        if self.use.isEnabled():
            self.chosen.emit(self.form.connection())
            super().accept()

    def _enable(self) -> None:
        self.use.setEnabled(not self.form.trouble())
