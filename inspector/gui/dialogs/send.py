"""The dialog that confirms an upload to S3."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.gui.document.editing import PendingUpload
from inspector.gui.kit.style import EDGE, on_grid
from inspector.gui.kit.widgets import sentence_label

SIZE = (640, 340)
NOTE = (
    "Metadata, tags and storage class of the object are kept. If the bucket keeps versions, the old version is "
    "kept too; otherwise it is lost."
)


class SendDialog(QDialog):
    """Shows the planned upload as ``lines``."""

    def __init__(self, parent: QWidget, location: str, upload: PendingUpload, lines: tuple[str, ...]) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Send to S3")
        self.sentence = sentence_label(_summary(location, upload))
        self.lines = QPlainTextEdit("\n".join((*lines, *_sibling_lines(upload))))
        self.lines.setReadOnly(True)
        self.lines.setTabChangesFocus(True)
        self.lines.setAccessibleName("What will be sent")
        self.remark = sentence_label(NOTE)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        label = "&Send All of It" if upload.whole else "&Send"
        self.send = self.buttons.addButton(label, QDialogButtonBox.ButtonRole.AcceptRole)
        cancel = self.buttons.button(QDialogButtonBox.StandardButton.Cancel)
        # Enter must not start an upload that costs much more than was requested.
        (cancel if upload.whole else self.send).setDefault(True)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = on_grid(QVBoxLayout(self), EDGE)
        layout.addWidget(self.sentence)
        layout.addWidget(self.lines, 1)
        layout.addWidget(self.remark)
        layout.addWidget(self.buttons)
        self.resize(*SIZE)
        (cancel if upload.whole else self.send).setFocus()


def _summary(location: str, upload: PendingUpload) -> str:
    """What will change, after the reason for asking again if there is one."""
    edit, target = upload.edit, visible(location)
    if edit is None:
        return f"Files that will be written next to {target}:"
    text = "{label}: {bytes} in {places}. A new object will replace {object}."
    if edit.dropped.size:
        text = "{label}: {bytes} in {places}, {cut} cut off. A new object will replace {object}."
    summary = text.format(
        label=edit.label,
        bytes=in_bytes(sum(len(patch.new) for patch in edit.patches)),
        places=count(len(edit.patches), "place"),
        cut=in_bytes(edit.dropped.size),
        object=target,
    )
    return f"{upload.why}\n\n{summary}" if upload.why else summary


def _sibling_lines(upload: PendingUpload) -> tuple[str, ...]:
    return tuple(f"{name}: written next to it" for name in upload.siblings)
