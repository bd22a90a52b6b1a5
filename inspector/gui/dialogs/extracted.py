"""What an extraction came to: which members were refused, damaged or left out."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from inspector.gui.kit.widgets import SelectableLabel
from inspector.gui.panels.problem_table import ProblemTable
from inspector.operations.protocol.extraction_views import ExtractionResult

SIZE = (720, 420)


class ExtractedDialog(QDialog):
    """Lists the troubles of a result; it can stay open beside the window."""

    def __init__(self, parent: QWidget, result: ExtractionResult, sentence: str) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Extraction Result")
        self.sentence = SelectableLabel()
        self.sentence.setAccessibleName("Extraction result")
        self.sentence.setText(" ".join((sentence, *result.warnings)))
        self.troubles = ProblemTable()
        self.troubles.show_troubles(result)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.sentence)
        layout.addWidget(self.troubles, 1)
        layout.addWidget(buttons)
        self.resize(*SIZE)
