"""S3 connections: the form, the dialog, and the line that shows the connection of a target. None contains a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGroupBox, QLineEdit, QSizePolicy, QWidget

from inspector.core.names import visible
from inspector.gui.document.connections import Connections, bucket_of
from inspector.gui.ipc.client import Client, Job
from inspector.gui.kit.building import Dialog, choice_of, dressed, edited, in_form, in_row, set_value, value_of
from inspector.gui.kit.files import leave_drops
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import plain
from inspector.gui.kit.widgets import ElidedLabel, push_button, sentence_label
from inspector.operations.protocol.requests import ProfileRequests
from inspector.sources.s3.address import SCHEME, is_s3
from inspector.sources.s3.connection import DEFAULT, Addressing, Attempt, Connection, Profile

DIALOG_WIDTH = 560
OUTCOME_HEIGHT = 90
"""Room for what a test tells; a dialog does not grow for a label that wraps."""
ADDRESSING_LABELS = {
    Addressing.AUTO: "Automatic",
    Addressing.PATH: "Bucket in the path",
    Addressing.VIRTUAL: "Bucket in the host name",
}

LOOPBACK = ("localhost", "127.0.0.1", "::1")
INVALID_URL = "The endpoint is the address of a server, such as https://s3.example.org."
NO_SECRETS = "The endpoint must not contain credentials: choose a profile instead."
UNENCRYPTED = "With http://, anyone on the network can read what is sent. Tick the box to use it anyway."


def endpoint_problem(endpoint: str, exposed: bool = True) -> str:
    """Why an endpoint cannot be used, "" if it can; ``exposed``: what is sent to it need not be encrypted."""
    try:
        url = urlsplit(endpoint)
        is_address = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        return INVALID_URL
    if not endpoint:
        return ""
    if "@" in endpoint or url.query:
        return NO_SECRETS
    if not is_address:
        return INVALID_URL
    return UNENCRYPTED if not exposed and url.scheme == "http" and url.hostname not in LOOPBACK else ""


class ConnectionForm(QGroupBox):
    """The fields of a Connection.

    Signals:
        changed(): a field was edited.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__("Connection to S3")
        self._profiles: dict[str, Profile] = {}
        self.profile = _combo_box("Profile", "the default chain: environment, default profile, instance role")
        self.endpoint = _combo_box("Endpoint URL", "Amazon S3, or from the profile")
        styles = {style.value: label for style, label in ADDRESSING_LABELS.items()}
        tip = "Where the bucket name goes in the address of a request"
        self.fields = {
            "profile": self.profile,
            "region": dressed(QLineEdit(placeholderText="from the profile or the server"), "Region"),
            "endpoint": self.endpoint,
            "addressing": choice_of("Addressing style", styles, toolTip=tip),
            "anonymous": QCheckBox("Do not &sign requests (public data)"),
            "requester_pays": QCheckBox("I agree to be &charged for requests (requester pays)"),
        }
        """The fields of a Connection, by its names for them."""
        self.exposed = QCheckBox("Send un&encrypted anyway")
        self.note = dressed(sentence_label(), "About the connection")
        tip = "Ask the server for one listing, and say how it was reached"
        self.test = push_button("&Test Connection", tip, self._start_test)
        self.test.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.outcome = dressed(sentence_label(), "Outcome of the test")
        self._attempt_at: Callable[[Connection], Job[Attempt]] | None = None
        self._attempt: Job[Attempt] | None = None
        self._shown: tuple[Connection, str] = DEFAULT, ""
        self.test.hide()
        self.outcome.hide()
        *labelled, anonymous, requester_pays = self.fields.values()
        labels = "&Profile", "&Region", "E&ndpoint URL", "&Addressing style"
        alone = (anonymous, requester_pays, self.note, self.exposed, self.test, self.outcome)
        in_form(*zip(labels, labelled, strict=True), *alone, on=self, edge=2 * GRID)
        for field in (*self.fields.values(), self.exposed):
            edited(field).connect(self._refresh_form)
        self._refresh_form()

    def connection(self) -> Connection:
        """The connection that the fields describe."""
        found = Connection(**{name: value_of(field) for name, field in self.fields.items()})
        return found._replace(profile="") if found.anonymous else found

    def show_connection(self, connection: Connection) -> None:
        """Fill the fields from a connection."""
        for name, value in connection._asdict().items():
            set_value(self.fields[name], value)

    def offer_profiles(self, profiles: Sequence[Profile]) -> None:
        """Suggest profiles; text that was entered stays."""
        self._profiles = {profile.name: profile for profile in profiles}
        _set_items(self.profile, [profile.name for profile in profiles])
        self._refresh_form()

    def serve(self, client: Client[ProfileRequests], connections: Connections, location: Callable[[], str]) -> None:
        """Suggest what was used before and the profiles that ``client`` lists, and let the connection be tested.

        It is tested with what is at ``location``; ``s3://`` alone lists the buckets.
        """
        _set_items(self.endpoint, connections.endpoints())
        self.endpoint.activated.connect(lambda _: self.show_connection(connections.at(self.endpoint.currentText())))
        profiles = client.start(ProfileRequests.profiles).then(self.offer_profiles)
        self._attempt_at = lambda connection: client.start(ProfileRequests.attempt, connection, location() or SCHEME)
        self.destroyed.connect(profiles.forget)
        self.test.show()

    def end_test(self) -> None:
        """Give up a test, and what the last one told."""
        if self._attempt is not None:
            self._attempt.supersede()
        self._end_attempt("")

    def _start_test(self) -> None:
        assert self._attempt_at is not None
        self.end_test()
        self._attempt = self._attempt_at(self.connection()).then(
            lambda found: self._end_attempt(f"{'It works.' if found.ok else 'It does not work.'} {found.sentence}"),
            self._end_attempt,
        )
        self._tell("Testing…")

    def _end_attempt(self, sentence: str) -> None:
        self._attempt = None
        self._tell(sentence)

    def _tell(self, outcome: str) -> None:
        self.outcome.setText(outcome)
        self.outcome.setVisible(bool(outcome))
        self.test.setEnabled(self._attempt is None and not self.problem())

    def problem(self) -> str:
        """Why the connection cannot be used, "" if it can."""
        return endpoint_problem(value_of(self.endpoint), self.exposed.isChecked())

    def _refresh_form(self, *_: object) -> None:
        shown = connection, problem = self.connection(), self.problem()
        self.profile.setEnabled(not connection.anonymous)
        self.exposed.setVisible(endpoint_problem(connection.endpoint, exposed=False) == UNENCRYPTED)
        note = problem or self._profile_text(connection)
        self.note.setText(note)
        self.note.setVisible(bool(note))
        self.test.setEnabled(not problem and self._attempt is None)
        before, self._shown = self._shown, shown
        if connection != before[0]:
            self.end_test()
        if shown != before:
            self.changed.emit()

    def _profile_text(self, connection: Connection) -> str:
        """What the selected profile sets."""
        found = self._profiles.get(connection.profile)
        values = {"region": found.region, "endpoint": found.endpoint} if found is not None else {}
        parts = [f"{name} {visible(value)}" for name, value in values.items() if value]
        return f"This profile sets {' and '.join(parts)}." if parts else ""


def _combo_box(name: str, nothing: str) -> QComboBox:
    box = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert, minimumContentsLength=20)
    box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    line = box.lineEdit()
    assert line is not None
    line.setPlaceholderText(nothing)
    return dressed(box, name, toolTip=plain(f"{name}; if empty: {nothing}"))


def _set_items(box: QComboBox, texts: Sequence[str]) -> None:
    entered = box.currentText()
    with QSignalBlocker(box):  # what was entered has not changed
        box.clear()
        box.addItems([visible(text) for text in texts])
        box.setCurrentIndex(-1)
        box.setEditText(entered)


class ConnectDialog(Dialog):
    """Edits a connection; ``client`` lists the profiles, and tests the connection with what is at ``location``.

    Signals:
        chosen(object): the Connection to use from now on.
    """

    chosen = Signal(object)

    def __init__(
        self,
        parent: QWidget,
        client: Client[ProfileRequests],
        connections: Connections,
        connection: Connection,
        location: str,
    ) -> None:
        super().__init__(parent, "Connection", "&Use It")
        self.form = ConnectionForm()
        self.form.show_connection(connection)
        self.lay_out(self.form, 1)
        self.form.changed.connect(self._enable)
        self.form.serve(client, connections, lambda: location)
        self.accepted.connect(lambda: self.chosen.emit(self.form.connection()))
        self.finished.connect(self.form.end_test)
        leave_drops(self)
        self.resize(DIALOG_WIDTH, self.sizeHint().height() + OUTCOME_HEIGHT)
        self._enable()

    def _enable(self) -> None:
        self.answer.setEnabled(not self.form.problem())


class S3Target(QWidget):
    """Shows the connection of an S3 target, with a button to change it; hidden for local targets.

    ``client`` lists the profiles. ``usual`` is the connection of unknown buckets; without it the user is asked.
    """

    def __init__(
        self, client: Client[ProfileRequests], connections: Connections, usual: Connection | None = None
    ) -> None:
        super().__init__()
        self._default = usual
        self._client = client
        self._connections = connections
        self._location = ""
        self._chosen: Connection | None = None
        self.text = dressed(ElidedLabel(elide=Qt.TextElideMode.ElideRight), "S3 connection")
        self.button = push_button("Connectio&n…", "Choose profile, region and endpoint", self.ask)
        in_row((self.text, 1), self.button, on=self)
        self.hide()

    def follow(self, location: str) -> None:
        """Show the connection of this location's bucket: the remembered one, or the one chosen here."""
        if bucket_of(location) != bucket_of(self._location):
            self._chosen = None
        self._location = location
        self.setVisible(is_s3(location))
        self._refresh()

    @property
    def connection(self) -> Connection:
        """The connection of the target; DEFAULT for local targets."""
        if not is_s3(self._location):
            return DEFAULT
        usual = None if self._connections.has(self._location) else self._default
        return self._chosen or usual or self._connections.known(self._location)

    @property
    def is_settled(self) -> bool:
        """Whether the connection is known: the bucket was used before, or the user has been asked."""
        chosen = self._chosen or self._default
        return not is_s3(self._location) or chosen is not None or self._connections.has(self._location)

    def ask(self, *, then: Callable[[], object] | None = None) -> None:
        """Ask for a connection, use it from now on, and call ``then``."""

        def use(connection: Connection) -> None:
            self._chosen = connection
            self._refresh()
            if then is not None:
                then()

        dialog = ConnectDialog(self, self._client, self._connections, self.connection, self._location)
        dialog.chosen.connect(use)
        dialog.open()

    def remember(self) -> None:
        """Remember the connection for the bucket."""
        if is_s3(self._location):
            self._connections.remember(self._location, self.connection)

    def _refresh(self) -> None:
        text = f"S3 is accessed {connection_text(self.connection)}."
        hint = "" if self.is_settled else "This bucket is new: you will be asked for its connection."
        self.text.setText(f"{text} {hint}".strip())


def connection_text(connection: Connection) -> str:
    """A connection as a phrase that follows "S3 is accessed"."""
    credentials = "with the usual credentials"
    if connection.profile:
        credentials = f"with the profile {visible(connection.profile)}"
    parts = ["without signing" if connection.anonymous else credentials]
    parts += [f"at {visible(connection.endpoint)}"] if connection.endpoint else []
    parts += [f"in the region {visible(connection.region)}"] if connection.region else []
    parts += [ADDRESSING_LABELS[Addressing(connection.addressing)].lower()] if connection.addressing else []
    return ", ".join(parts)
