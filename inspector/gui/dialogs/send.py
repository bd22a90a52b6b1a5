"""The dialog that confirms an upload to S3."""

from __future__ import annotations

from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QWidget

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.gui.document.editing import PendingUpload
from inspector.gui.kit.building import Dialog, dressed
from inspector.gui.kit.widgets import sentence_label
from inspector.sources.s3.connection import Consent

SIZE = (640, 340)
NOTE = (
    "Metadata, tags and storage class of the object are kept. If the bucket keeps versions, the old version is "
    "kept too; otherwise it is lost."
)


class SendDialog(Dialog):
    """Shows the planned upload as ``lines``."""

    def __init__(self, parent: QWidget, location: str, upload: PendingUpload, lines: tuple[str, ...]) -> None:
        risk = "&Send Anyway" if upload.consents else "&Send"
        super().__init__(parent, "Send to S3", "&Send All of It" if Consent.WHOLE in upload.consents else risk)
        self.send = self.answer
        self.sentence = sentence_label(_summary(location, upload))
        siblings = (f"{name}: written next to it" for name in upload.siblings)
        self.lines = dressed(QPlainTextEdit("\n".join((*lines, *siblings))), "What will be sent", readOnly=True)
        self.lines.setTabChangesFocus(True)
        self.remark = sentence_label(NOTE)
        self.lay_out(self.sentence, (self.lines, 1), self.remark)
        self.resize(*SIZE)
        # Enter must not start an upload that costs or risks more than was requested.
        usual = self.buttons.button(QDialogButtonBox.StandardButton.Cancel) if upload.consents else self.send
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
