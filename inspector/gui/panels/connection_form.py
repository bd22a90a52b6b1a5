"""How S3 is to be reached: profile, region, endpoint, and whether requests are signed. Never a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QGroupBox, QLineEdit, QSizePolicy

from inspector.core.names import visible
from inspector.gui.kit.text import plain
from inspector.gui.kit.widgets import sentence_label
from inspector.sources.s3.connection import Connection

if TYPE_CHECKING:
    from inspector.sources.s3.connection import Profile

LOOPBACK = ("localhost", "127.0.0.1", "::1")
NO_URL = "The endpoint is the address of a server, such as https://s3.example.org."
NO_SECRETS = "The endpoint must not contain credentials: choose a profile instead."
PLAIN = "With http:// anybody on the network can read what is sent. Tick the box to use it anyway."


def endpoint_trouble(endpoint: str) -> str:
    """What is wrong with an endpoint, empty where it could be one."""
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
    """Whether what is sent to an endpoint can be read on its way."""
    try:
        url = urlsplit(endpoint)
        return url.scheme == "http" and url.hostname not in LOOPBACK
    except ValueError:
        return False


class ConnectionForm(QGroupBox):
    """Fields for a Connection.

    Signals:
        changed(): something else was entered.
        endpointChosen(str): one of the endpoints that were used before was chosen.
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
        self.requester_pays = QCheckBox("I accept to be &charged for requests (requester pays)")
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
        """What is entered."""
        return Connection(
            "" if self.anonymous.isChecked() else self.profile.currentText().strip(),
            self.region.text().strip(),
            self.endpoint.currentText().strip(),
            self.anonymous.isChecked(),
            self.requester_pays.isChecked(),
        )

    def show_connection(self, connection: Connection) -> None:
        """Enter a connection; one that was used before may be exposed again."""
        self.profile.setEditText(connection.profile)
        self.region.setText(connection.region)
        self.endpoint.setEditText(connection.endpoint)
        self.anonymous.setChecked(connection.anonymous)
        self.requester_pays.setChecked(connection.requester_pays)

    def offer_profiles(self, profiles: Sequence[Profile]) -> None:
        """Offer profiles; what is entered stays."""
        self._profiles = {profile.name: profile for profile in profiles}
        _offer(self.profile, [profile.name for profile in profiles])
        self._change()

    def offer_endpoints(self, endpoints: Sequence[str]) -> None:
        """Offer endpoints; what is entered stays."""
        _offer(self.endpoint, endpoints)

    def trouble(self) -> str:
        """Why it cannot be used as it is, empty where it can."""
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
        """What the profile brings along."""
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
    box.setToolTip(plain(f"{name}: where it is empty, {nothing}"))
    return box


def _offer(box: QComboBox, texts: Sequence[str]) -> None:
    kept = box.currentText()
    box.clear()
    box.addItems([visible(text) for text in texts])
    box.setCurrentIndex(-1)
    box.setEditText(kept)
