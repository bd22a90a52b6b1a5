"""The dialogs before something is written elsewhere: the target of a copy, and what is sent to S3."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialogButtonBox, QGridLayout, QPlainTextEdit, QWidget

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.source import SourceError
from inspector.gui.document.editing import PendingUpload
from inspector.gui.kit.building import Dialog, dressed
from inspector.gui.kit.files import PathField, ask_for_new_file
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.widgets import label_of, push_button, sentence_label
from inspector.gui.panels.s3_connection import S3Target
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import Consent

WIDTH = 680
HINT = "A local path, or s3://bucket/key."
EXISTS = "The file exists already: choose another name, or replace it."
NO_KEY = "An object needs a key: s3://bucket/key."
SIZE = (640, 340)
NOTE = (
    "Metadata, tags and storage class of the object are kept. If the bucket keeps versions, the old version is "
    "kept too; otherwise it is lost."
)


class SaveToDialog(Dialog):
    """Asks for a target; ``target`` is the first suggestion, ``s3_target`` shows the S3 connection.

    Signals:
        chosen(str, bool, object): the path or address, whether to replace an existing file, and the Connection.
    """

    chosen = Signal(str, bool, object)

    def __init__(self, parent: QWidget, title: str, target: str, s3_target: S3Target) -> None:
        super().__init__(parent, title, "&Save")
        self.target = dressed(PathField(target), "Path, or address on S3")
        # The check box of this dialog decides whether to replace; do not ask twice.
        self.browse = push_button(
            "&Browse…",
            "Choose a file on this computer",
            lambda: ask_for_new_file(self, title, "", self.target.setText, confirms=False),
        )
        self.s3_target = s3_target
        self.overwrite = QCheckBox("&Replace existing files")
        self.remark = dressed(sentence_label(), "About the target")
        grid = QGridLayout()
        grid.addWidget(label_of("&Write to", self.target), 0, 0)
        grid.addWidget(self.target, 0, 1)
        grid.addWidget(self.browse, 0, 2)
        for at, widget in enumerate((self.remark, self.s3_target, self.overwrite), 1):
            grid.addWidget(widget, at, 1, 1, 2)
        self.lay_out(grid, 1)
        self.target.textChanged.connect(self._enable)
        self.overwrite.toggled.connect(self._enable)
        self.resize(WIDTH, self.sizeHint().height())
        self._enable()

    def text(self) -> str:
        """The absolute target, without credentials."""
        typed = self.target.text().strip().strip("'\"")
        return absolute(typed) if typed else ""

    def _problem(self) -> str:
        """Why the target is invalid, "" if it is valid."""
        text = self.text()
        if not is_s3(text):
            return "" if text else "Choose where to write it."
        try:
            return "" if parse(text).name else NO_KEY
        except SourceError as error:
            return str(error)

    def _enable(self) -> None:
        problem = self._problem()
        self.remark.setText(problem or HINT)
        self.s3_target.follow(self.text())
        self.answer.setEnabled(not problem)

    def accept(self) -> None:
        """Accept a valid target; ask for the connection of an unknown bucket first."""
        if not self.answer.isEnabled():
            return
        if not is_s3(self.text()) and not self.overwrite.isChecked() and Path(self.text()).exists():
            self.remark.setText(EXISTS)
        elif not self.s3_target.is_settled:
            self.s3_target.ask(then=self.accept)
        else:
            self.s3_target.remember()
            self.chosen.emit(self.text(), self.overwrite.isChecked(), self.s3_target.connection)
            super().accept()


class SendDialog(Dialog):
    """Shows the planned upload as ``lines``."""

    def __init__(self, parent: QWidget, location: str, upload: PendingUpload, lines: tuple[str, ...]) -> None:
        risk = "&Send Anyway" if upload.consents else "&Send"
        super().__init__(parent, "Send to S3", "&Send All of It" if Consent.WHOLE in upload.consents else risk)
        self.sentence = sentence_label(_summary(location, upload))
        siblings = (f"{name}: written next to it" for name in upload.siblings)
        self.lines = dressed(QPlainTextEdit("\n".join((*lines, *siblings))), "What will be sent", readOnly=True)
        self.lines.setTabChangesFocus(True)
        self.remark = sentence_label(NOTE)
        self.lay_out(self.sentence, (self.lines, 1), self.remark)
        self.resize(*SIZE)
        # Enter must not start an upload that costs or risks more than was requested.
        usual = self.buttons.button(QDialogButtonBox.StandardButton.Cancel) if upload.consents else self.answer
        usual.setDefault(True)
        usual.setFocus()


def _summary(location: str, upload: PendingUpload) -> str:
    """What will change, after the reason for asking again if there is one."""
    edit, target = upload.edit, visible(location)
    if edit is None:
        return f"Files that will be written next to {target}:"
    changed = f"{in_bytes(sum(len(patch.new) for patch in edit.patches))} in {count(len(edit.patches), 'place')}"
    cut = f", {in_bytes(edit.dropped.size)} cut off" if edit.dropped.size else ""
    summary = f"{edit.label}: {changed}{cut}. A new object will replace {target}."
    return f"{upload.why}\n\n{summary}" if upload.why else summary
