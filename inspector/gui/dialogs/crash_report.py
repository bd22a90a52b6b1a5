"""The dialog for internal errors: a sentence, and a report to copy."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from inspector.core.numbers import plural
from inspector.gui.kit.building import dressed, in_column
from inspector.gui.kit.style import EDGE, GRID
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import sentence_label

SENTENCE = "The program hit an internal error. It keeps running, but what you see may be out of date."
SAFE = (
    "Archives on disk are unchanged: only Write and creating files change any. The report names no files and "
    "holds none of their contents, so it can be shared with the developers."
)
SIZE = (640, 420)


class CrashReportDialog(QDialog):
    """Shows crash reports; the window stays usable.

    Signals:
        saveRequested(): save the session and pending changes.
    """

    saveRequested = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Internal Error")
        self.setModal(False)
        self.resize(*SIZE)
        self.sentence = sentence_label(SENTENCE)
        self.note = sentence_label(SAFE)
        self.report = dressed(QPlainTextEdit(), "Report", readOnly=True, tabChangesFocus=True)
        self.report.setFont(fixed_font())
        buttons = QDialogButtonBox()
        self.copy = buttons.addButton("&Copy Report", QDialogButtonBox.ButtonRole.ActionRole)
        self.save = buttons.addButton("&Save and Continue", QDialogButtonBox.ButtonRole.AcceptRole)
        self.close_button = buttons.addButton("C&ontinue", QDialogButtonBox.ButtonRole.RejectRole)
        self.save.setToolTip("Save the session for the next start, and ask where to save pending changes")
        self.copy.clicked.connect(self._copy)
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        self.close_button.setDefault(True)
        in_column(self.sentence, (self.report, 1), self.note, buttons, on=self, edge=EDGE, gap=2 * GRID)

    def show_reports(self, reports: list[str], happened: int) -> None:
        """Show the reports of ``happened`` errors; equal errors share one report."""
        times = plural("It happened {number} time.", "It happened {number} times.", happened) if happened > 1 else ""
        self.sentence.setText(f"{SENTENCE} {times}".rstrip())
        text = "\n\n".join(reports)
        if text != self.report.toPlainText():
            self.report.setPlainText(text)
        if not self.isVisible():
            self.close_button.setFocus()
            self.show()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.report.toPlainText())

    def _save(self) -> None:
        self.saveRequested.emit()
        self.accept()
