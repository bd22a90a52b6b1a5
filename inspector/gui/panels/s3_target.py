"""How the bucket is reached that something is to be written to: a line that says it, and a button to change it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.gui.document.connections import Connections
from inspector.gui.ipc.client import Client
from inspector.gui.kit.widgets import ElidedLabel, push_button
from inspector.gui.panels.connect import ConnectDialog
from inspector.operations.protocol.requests import ProfileRequests
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection


class S3Target(QWidget):
    """Follows a location that is typed; hidden while that is on this computer.

    ``client`` knows the profiles. Buckets that were never reached are reached as ``usual``; without that it is asked.
    """

    def __init__(
        self, client: Client[ProfileRequests], connections: Connections, usual: Connection | None = None
    ) -> None:
        super().__init__()
        self._usual = usual
        self._client = client
        self._connections = connections
        self._location = ""
        self._chosen: Connection | None = None
        self.text = ElidedLabel(elide=Qt.TextElideMode.ElideRight)
        self.text.setAccessibleName("How S3 is reached")
        self.button = push_button("Connectio&n…", "Choose profile, region and endpoint")
        self.button.clicked.connect(lambda _: self.ask())
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.text, 1)
        layout.addWidget(self.button)
        self.hide()

    def follow(self, location: str) -> None:
        """Say how the bucket of this location is reached: as before, unless another connection was chosen here."""
        if _bucket(location) != _bucket(self._location):
            self._chosen = None
        self._location = location
        self.setVisible(is_s3(location))
        self._tell()

    @property
    def connection(self) -> Connection:
        """How the bucket is reached; what it is for a location on this computer does not matter."""
        if not is_s3(self._location):
            return DEFAULT
        if self._chosen is None and self._usual is not None and not self._connections.has(self._location):
            return self._usual
        return self._chosen or self._connections.known(self._location)

    @property
    def is_sure(self) -> bool:
        """Whether it need not be asked: the bucket was reached before, or it has been asked."""
        chosen = self._chosen or self._usual
        return not is_s3(self._location) or chosen is not None or self._connections.has(self._location)

    def ask(self, then: Callable[[], object] | None = None) -> None:
        """Ask for another connection and use it from now on, and ``then`` go on."""

        def take(connection: Connection) -> None:
            self._chosen = connection
            self._tell()
            if then is not None:
                then()

        dialog = ConnectDialog(self, self._client, self._connections, self.connection)
        dialog.chosen.connect(take)
        dialog.open()

    def remember(self) -> None:
        """Reach the bucket so from now on, everywhere."""
        if is_s3(self._location):
            self._connections.remember(self._location, self.connection)

    def _tell(self) -> None:
        told = f"S3 is accessed {words(self.connection)}."
        sure = "" if self.is_sure else "This bucket is new: you will be asked how to reach it."
        self.text.setText(f"{told} {sure}".strip())


def words(connection: Connection) -> str:
    """A connection in words."""
    who = "with the usual credentials"
    if connection.profile:
        who = f"with the profile {visible(connection.profile)}"
    parts = ["without signing" if connection.anonymous else who]
    parts += [f"at {visible(connection.endpoint)}"] if connection.endpoint else []
    parts += [f"in the region {visible(connection.region)}"] if connection.region else []
    return ", ".join(parts)


def _bucket(location: str) -> str:
    try:
        return parse(location).bucket
    except SourceError:
        return ""
