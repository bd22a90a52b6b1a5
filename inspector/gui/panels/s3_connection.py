"""S3 connections: the form, the dialog, and the line that shows the connection of a target. None contains a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.gui.document.connections import Connections
from inspector.gui.ipc.client import Client
from inspector.gui.kit.dropping import leave_drops
from inspector.gui.kit.text import plain
from inspector.gui.kit.widgets import ElidedLabel, push_button, sentence_label
from inspector.operations.protocol.requests import ProfileRequests
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:
    from inspector.sources.s3.profiles import Profile


WIDTH = 560

LOOPBACK = ("localhost", "127.0.0.1", "::1")
NO_URL = "The endpoint is the address of a server, such as https://s3.example.org."
NO_SECRETS = "The endpoint must not contain credentials: choose a profile instead."
PLAIN = "With http://, anyone on the network can read what is sent. Tick the box to use it anyway."


def endpoint_trouble(endpoint: str) -> str:
    """Why an endpoint is invalid, "" if it is valid."""
    try:
        url = urlsplit(endpoint)
        named = bool(url.hostname) and (url.port or True)
    except ValueError:
        return NO_URL
    if not endpoint:
        return ""
    if "@" in endpoint or url.query:
        return NO_SECRETS
    return "" if url.scheme in ("http", "https") and named else NO_URL


def is_exposed(endpoint: str) -> bool:
    """Whether requests to an endpoint would cross the network unencrypted."""
    try:
        url = urlsplit(endpoint)
        return url.scheme == "http" and url.hostname not in LOOPBACK
    except ValueError:
        return False


class ConnectionForm(QGroupBox):
    """The fields of a Connection.

    Signals:
        changed(): a field was edited.
        endpointChosen(str): a previously used endpoint was selected.
    """

    changed = Signal()
    endpointChosen = Signal(str)

    def __init__(self) -> None:
        super().__init__("Connection to S3")
        self._profiles: dict[str, Profile] = {}
        self.profile = _choice("Profile", "the default chain: environment, default profile, instance role")
        self.region = QLineEdit()
        self.region.setAccessibleName("Region")
        self.region.setPlaceholderText("from the profile or the server")
        self.endpoint = _choice("Endpoint URL", "Amazon S3, or from the profile")
        self.anonymous = QCheckBox("Do not &sign requests (public data)")
        self.requester_pays = QCheckBox("I agree to be &charged for requests (requester pays)")
        self.exposed = QCheckBox("Send un&encrypted anyway")
        self.note = sentence_label()
        self.note.setAccessibleName("About the connection")
        form = QFormLayout(self)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow("&Profile", self.profile)
        form.addRow("&Region", self.region)
        form.addRow("E&ndpoint URL", self.endpoint)
        for row in (self.anonymous, self.requester_pays, self.note, self.exposed):
            form.addRow(row)
        for field in (self.profile, self.endpoint):
            field.editTextChanged.connect(self._change)
        self.endpoint.activated.connect(lambda _: self.endpointChosen.emit(self.endpoint.currentText()))
        self.region.textChanged.connect(self._change)
        for box in (self.anonymous, self.requester_pays, self.exposed):
            box.toggled.connect(self._change)
        self._change()

    def connection(self) -> Connection:
        """The connection that the fields describe."""
        return Connection(
            "" if self.anonymous.isChecked() else self.profile.currentText().strip(),
            self.region.text().strip(),
            self.endpoint.currentText().strip(),
            self.anonymous.isChecked(),
            self.requester_pays.isChecked(),
        )

    def show_connection(self, connection: Connection) -> None:
        """Fill the fields from a connection."""
        self.profile.setEditText(connection.profile)
        self.region.setText(connection.region)
        self.endpoint.setEditText(connection.endpoint)
        self.anonymous.setChecked(connection.anonymous)
        self.requester_pays.setChecked(connection.requester_pays)

    def offer_profiles(self, profiles: Sequence[Profile]) -> None:
        """Suggest profiles; text that was entered stays."""
        self._profiles = {profile.name: profile for profile in profiles}
        _offer(self.profile, [profile.name for profile in profiles])
        self._change()

    def offer_endpoints(self, endpoints: Sequence[str]) -> None:
        """Suggest endpoints; text that was entered stays."""
        _offer(self.endpoint, endpoints)

    def trouble(self) -> str:
        """Why the connection cannot be used, "" if it can."""
        endpoint = self.endpoint.currentText().strip()
        wrong = endpoint_trouble(endpoint)
        if wrong:
            return wrong
        return PLAIN if is_exposed(endpoint) and not self.exposed.isChecked() else ""

    def _change(self, *_: object) -> None:
        self.profile.setEnabled(not self.anonymous.isChecked())
        self.exposed.setVisible(is_exposed(self.endpoint.currentText().strip()))
        remark = self.trouble() or self._told()
        self.note.setText(remark)
        self.note.setVisible(bool(remark))
        self.changed.emit()

    def _told(self) -> str:
        """What the selected profile sets."""
        found = self._profiles.get(self.profile.currentText().strip())
        if found is None or self.anonymous.isChecked():
            return ""
        parts = [f"region {visible(found.region)}"] if found.region else []
        parts += [f"endpoint {visible(found.endpoint)}"] if found.endpoint else []
        return f"This profile sets {' and '.join(parts)}." if parts else ""


def _choice(name: str, nothing: str) -> QComboBox:
    box = QComboBox()
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.setAccessibleName(name)
    box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    box.setMinimumContentsLength(20)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    line = box.lineEdit()
    assert line is not None
    line.setPlaceholderText(nothing)
    box.setToolTip(plain(f"{name}; if empty: {nothing}"))
    return box


def _offer(box: QComboBox, texts: Sequence[str]) -> None:
    kept = box.currentText()
    box.clear()
    box.addItems([visible(text) for text in texts])
    box.setCurrentIndex(-1)
    box.setEditText(kept)


class ConnectDialog(QDialog):
    """Edits a connection; ``client`` is a browser's client and lists the profiles.

    Signals:
        chosen(object): the Connection to use from now on.
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
