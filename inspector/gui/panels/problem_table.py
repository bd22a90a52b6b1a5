"""A table of members that are not, or not as asked, extracted, with the whole sentence of the one that is selected."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from inspector.core.finding import Severity
from inspector.core.numbers import grouped
from inspector.gui.kit.table_models import FixedRow, FixedTable
from inspector.gui.kit.widgets import Details, table_view
from inspector.operations.protocol.extraction_views import ExtractionPlan, ExtractionResult, Problems

WHAT, MEMBER, WHY = range(3)
_KINDS = (
    ("refused", "refused", Severity.ERROR),
    ("damaged", "damaged", Severity.ERROR),
    ("unproved", "nothing proves it", Severity.WARNING),
    ("doubtful", "needs confirmation", Severity.WARNING),
    ("conflicts", "file exists", Severity.WARNING),
)


class ProblemTable(QWidget):
    """Shows the troubles of a plan or of a result; hidden where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.model = FixedTable(("What", "Member", "Why"), parent=self)
        self.table = table_view(self.model, {WHAT: 145, MEMBER: 200, WHY: 250}, "Members with problems")
        self.details = Details("The selected problem in full")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.details)
        self.table.selectionModel().currentRowChanged.connect(self._tell)
        self.hide()

    def show_troubles(self, found: ExtractionPlan | ExtractionResult) -> None:
        """Show what is wrong with a plan or a result."""
        rows: list[FixedRow] = []
        for name, text, mark in _KINDS:
            words = text
            troubles = getattr(found, name, Problems())
            rows += [FixedRow((words, each.path, _why(each.path, each.sentence)), mark) for each in troubles.listed]
            if troubles.count > len(troubles.listed):
                left = grouped(troubles.count - len(troubles.listed))
                rows.append(FixedRow((words, "…", f"and {left} more"), mark))
        self.fill(rows)

    def fill(self, rows: Sequence[FixedRow]) -> None:
        """Show these rows."""
        self.model.show(rows)
        self.details.say("")
        self.setVisible(bool(rows))

    def _tell(self) -> None:
        row = self.table.currentIndex().row()
        texts = self.model.texts(row) if row >= 0 else ("", "", "")
        self.details.say(f"{texts[MEMBER]} {texts[WHY]}".strip())


def _why(path: str, sentence: str) -> str:
    """What a trouble's sentence says behind the name of the member."""
    return sentence.removeprefix(path).strip()
