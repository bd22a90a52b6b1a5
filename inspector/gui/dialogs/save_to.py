"""The dialog that asks for the target of a copy: a local file or an S3 object."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from inspector.core.source import SourceError
from inspector.gui.kit.building import Dialog, dressed
from inspector.gui.kit.files import PathField, ask_for_new_file
from inspector.gui.kit.locations import absolute
from inspector.gui.kit.widgets import label_of, push_button, sentence_label
from inspector.gui.panels.s3_connection import S3Target
from inspector.sources.s3.address import is_s3, parse

WIDTH = 680
HINT = "A local path, or s3://bucket/key."
EXISTS = "The file exists already: choose another name, or replace it."
NO_KEY = "An object needs a key: s3://bucket/key."


class SaveToDialog(Dialog):
    """Asks for a target; ``target`` is the first suggestion, ``s3_target`` shows the S3 connection.

    Signals:
        chosen(str, bool, object): the path or address, whether to replace an existing file, and the Connection.
    """

    chosen = Signal(str, bool, object)

    def __init__(self, parent: QWidget, title: str, target: str, s3_target: S3Target) -> None:
        super().__init__(parent, title, "&Save")
        self.save = self.answer
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
        self.save.setEnabled(not problem)

    def accept(self) -> None:
        """Accept a valid target; ask for the connection of an unknown bucket first."""
        if not self.save.isEnabled():
            return
        if not is_s3(self.text()) and not self.overwrite.isChecked() and Path(self.text()).exists():
            self.remark.setText(EXISTS)
        elif not self.s3_target.is_settled:
            self.s3_target.ask(then=self.accept)
        else:
            self.s3_target.remember()
            self.chosen.emit(self.text(), self.overwrite.isChecked(), self.s3_target.connection)
            super().accept()
