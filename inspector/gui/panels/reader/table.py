"""What each reader makes of an archive, as a table: accepts, reads wrongly or rejects, and where."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSizePolicy, QWidget

from inspector.core import verdict
from inspector.core.finding import Severity
from inspector.core.numbers import count
from inspector.core.reader import ReaderKind
from inspector.gui.document.document import Document
from inspector.gui.kit.icons import severity_icon, verdict_icon
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import row_height
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Emptiable
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.trace_views import ReaderRow, ReaderVerdict

KIND_LABELS = {ReaderKind.RUN: "runs", ReaderKind.DESCRIBED: "simulated"}
MAX_ROWS = 6
"""Rows that are seen without scrolling."""
_MARKS: dict[ReaderVerdict, Severity | verdict.Verdict] = {
    ReaderVerdict.ACCEPTS: verdict.Verdict.VERIFIED,
    ReaderVerdict.REJECTS: Severity.ERROR,
    ReaderVerdict.WRONG: Severity.WARNING,
    ReaderVerdict.UNKNOWN: Severity.INFO,
}


def _why(row: ReaderRow) -> str:
    is_stopped = row.stopped_at is not None and row.verdict is not ReaderVerdict.ACCEPTS
    place = f"step {row.stopped_at:,}: " if is_stopped else ""
    return place + (row.message or count(row.members, "member"))


def _mark(row: ReaderRow) -> QIcon:
    mark = _MARKS[row.verdict]
    return severity_icon(mark) if isinstance(mark, Severity) else verdict_icon(mark)


COLUMNS = (
    Column("Reader", lambda row: row.title, 130, icon=_mark),
    Column("Kind", lambda row: KIND_LABELS[row.kind], 90),
    Column("Verdict", lambda row: str(row.verdict), 110),
    Column("Why", _why),
)


class ReadersTable(Emptiable):
    """Asks what all readers make of the archive shown, and lists it.

    Signals:
        chosen(str name): the user activated the row of a reader.
    """

    chosen = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        self._document = document
        self.model = Rows(COLUMNS)
        self.table = ListView(self.model, "What each reader makes of this archive")
        super().__init__(self.table)
        self.setParent(parent)
        self.model.setParent(self)
        self._asked = 0
        self.table.activated.connect(self.table.each_row(lambda row: self.chosen.emit(row.name)))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def ask(self) -> None:
        """Ask all readers anew."""
        self._asked += 1
        asked = self._asked
        self.show_sentence("Asking every reader…")

        def take(rows: tuple[ReaderRow, ...]) -> None:
            if asked == self._asked:
                self.model.show(rows)
                self.show_view(self.table)
                if not rows:
                    self.show_sentence("No other reader of this format is known.")
                self.updateGeometry()

        def fail(sentence: str) -> None:
            if asked == self._asked:
                self.show_sentence(sentence)

        self._document.start(ArchiveRequests.compare_readers, self._document.layer).then(take, fail)

    def forget(self) -> None:
        """Show nothing until all are asked again."""
        self._asked += 1
        self.model.show(())

    def sizeHint(self) -> QSize:
        rows = min(MAX_ROWS, max(1, self.model.rowCount()))
        return QSize(0, (rows + 1) * row_height(self) + 2 * row_height(self) // 3)
