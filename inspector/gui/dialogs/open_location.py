"""The dialog that opens a path or an S3 address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from inspector.core.names import visible
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.gui.document.connections import Connections, bucket_of
from inspector.gui.ipc.client import browse_client
from inspector.gui.kit.building import Dialog, dressed, in_form
from inspector.gui.kit.files import PathField, leave_drops
from inspector.gui.kit.widgets import sentence_label
from inspector.gui.panels.s3_connection import ConnectionForm
from inspector.sources.s3.address import SCHEME, is_s3, parse
from inspector.sources.web.address import enter, is_remote, is_web, without_query
from inspector.sources.web.address import parse as parse_web

if TYPE_CHECKING:
    from inspector.sources.s3.connection import Connection

SIZE = (620, 430)
HINT = (
    "A path, an https:// address, or an S3 address: s3://bucket/key for an object, s3://bucket/prefix/ for everything "
    "below a prefix."
)
ON_THE_WEB = "This is an address on the web. It is only read, and its query is not kept."
LOCAL_PATH = "This is a path on this computer."
TAKEN_AS_PATH = "This is taken as the path {path} on this computer."


class OpenLocationDialog(Dialog):
    """Asks for a location; ``connections`` remembers the connection of each bucket.

    Signals:
        chosen(str, object): open this location with this Connection.
        browseRequested(str, object): list this location with this Connection.
    """

    chosen = Signal(str, object)
    browseRequested = Signal(str, object)

    def __init__(self, parent: QWidget, connections: Connections, location: str = SCHEME) -> None:
        super().__init__(parent, "Open Location", "&Open")
        self._connections = connections
        self._bucket = ""
        self._filled: Connection | None = None
        """What was filled in for a bucket; None once it is to stay for another bucket too."""
        self.client = browse_client(self)
        hint = "s3://bucket/key, https://host/path or a path"
        self.location = dressed(PathField(), "Location", placeholderText=hint, clearButtonEnabled=True)
        self.remark = dressed(sentence_label(), "About the location")
        self.form = ConnectionForm()
        self.browse = self.add_button("&Browse", "List the contents instead of opening the location")
        self.lay_out(in_form(("&Location", self.location)), self.remark, self.form, 1)
        self.location.textChanged.connect(self._change_location)
        self.form.changed.connect(self._enable)
        self.browse.clicked.connect(self._browse)
        self.accepted.connect(self._open)
        self.finished.connect(lambda _: self.client.close())
        self._fill(connections.latest())
        self.location.setText(location)
        self.location.selectAll()  # typing a path or a full address replaces it
        self.form.serve(self.client, connections, self.text)
        leave_drops(self)
        self.resize(*SIZE)

    # ---- fields ------------------------------------------------------------------------------------------------

    def text(self) -> str:
        """The entered location without credentials."""
        return strip_credentials(without_query(self._entered()))

    def _entered(self) -> str:
        return _location(self.location.text().strip().strip("'\""))

    def show_connection(self, connection: Connection) -> None:
        """Fill in a connection instead of the remembered one, and move the focus to it."""
        self.form.show_connection(connection)
        self._filled = None
        self.form.profile.setFocus()

    def _fill(self, connection: Connection) -> None:
        self.form.show_connection(connection)
        self._filled = self.form.connection()

    def _change_location(self) -> None:
        """Use the remembered connection of a new bucket unless the user has edited the connection."""
        bucket = bucket_of(self.text())
        if bucket and bucket != self._bucket and self.form.connection() == self._filled:
            self._bucket = bucket
            self._fill(self._connections.known(self.text()))
        self.form.end_test()
        self._enable()

    def _enable(self) -> None:
        remote, problem, (remark, is_valid) = is_s3(self.text()), self.form.problem(), self._remark()
        self.form.setEnabled(remote)
        self.remark.setText(remark)
        self.remark.setVisible(bool(remark))
        is_valid = is_valid and not (remote and problem)
        self.answer.setEnabled(is_valid)
        self.answer.setToolTip("" if is_valid else remark or problem)
        self.browse.setEnabled(remote and not problem)

    def _remark(self) -> tuple[str, bool]:
        """How the location is interpreted or why it cannot be opened, and whether it can."""
        text = self.text()
        try:
            if is_web(text):
                parse_web(self._entered())
                return ON_THE_WEB, True
            if is_s3(text):
                parse(text)
                return "", True
        except SourceError as error:
            return HINT if text == SCHEME else str(error), False
        if is_s3(self.location.text().strip()):
            return TAKEN_AS_PATH.format(path=visible(text)), True
        return (LOCAL_PATH, True) if text else (HINT, False)

    # ---- actions -----------------------------------------------------------------------------------------------

    def _open(self) -> None:
        entered = self._entered()
        self.chosen.emit(enter(entered) if is_web(entered) else self.text(), self.form.connection())

    def _browse(self) -> None:
        self.browseRequested.emit(self.text(), self.form.connection())
        self.reject()


def _location(typed: str) -> str:
    """The typed text, or the path or full address typed after the preset ``s3://``."""
    rest = typed[len(SCHEME) :]
    if is_s3(typed) and (
        rest.startswith(("/", "~", "./", "../", "\\")) or rest[1:3] in (":\\", ":/") or is_remote(rest)
    ):
        return rest
    return typed
