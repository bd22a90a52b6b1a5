"""What each reader makes of an archive, as a table: accepts, reads wrongly or rejects, and where."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSize, Signal
from PySide6.QtWidgets import QAbstractItemView, QSizePolicy, QWidget

from inspector.core import verdict
from inspector.core.finding import Severity
from inspector.core.numbers import count
from inspector.core.reader import ReaderKind
from inspector.gui.document.document import Document
from inspector.gui.kit.style import Sentences, row_height
from inspector.gui.kit.table_models import FixedRow, FixedTable
from inspector.gui.kit.widgets import Emptiable, table_view
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.trace_views import ReaderRow, ReaderVerdict

TITLES = ("Reader", "Kind", "Verdict", "Why")
WHY = TITLES.index("Why")
WIDTHS = {0: 130, 1: 90, 2: 110}
KIND_LABELS = {ReaderKind.RUN: "runs", ReaderKind.DESCRIBED: "as described"}
MAX_ROWS = 6
"""Rows that are seen without scrolling."""
_MARKS: dict[ReaderVerdict, Severity | verdict.Verdict] = {
    ReaderVerdict.ACCEPTS: verdict.Verdict.VERIFIED,
    ReaderVerdict.REJECTS: Severity.ERROR,
    ReaderVerdict.WRONG: Severity.WARNING,
    ReaderVerdict.UNKNOWN: Severity.INFO,
}


def table_row(row: ReaderRow) -> FixedRow:
    """A reader, what it is, its verdict, and where and why it stops."""
    why = row.message or count(row.members, "member")
    place = (
        f"step {row.stopped_at:,}: " if row.stopped_at is not None and row.verdict is not ReaderVerdict.ACCEPTS else ""
    )
    texts = (row.title, KIND_LABELS[row.kind], str(row.verdict), f"{place}{why}")
    return FixedRow(texts, _MARKS.get(row.verdict))


class ReadersTable(Emptiable):
    """Asks what all readers make of the archive shown, and lists it.

    Signals:
        chosen(str name): the user activated the row of a reader.
    """

    chosen = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        self._document = document
        self.model = FixedTable(TITLES, ())
        self.table = table_view(self.model, WIDTHS, "What each reader makes of this archive")
        self.table.setItemDelegateForColumn(WHY, Sentences(self.table))
        super().__init__(self.table)
        self.setParent(parent)
        self.model.setParent(self)
        self.rows: tuple[ReaderRow, ...] = ()
        self._asked = 0
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.activated.connect(self._activated)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def ask(self) -> None:
        """Ask all readers anew."""
        self._asked += 1
        asked, self.rows = self._asked, ()
        self.show_sentence("Asking every reader…")
        job = self._document.start(ArchiveRequests.compare_readers, self._document.layer)
        job.then(lambda rows: self._take(asked, rows), lambda sentence: self._fail(asked, sentence))

    def _take(self, asked: int, rows: tuple[ReaderRow, ...]) -> None:
        if asked != self._asked:
            return
        self.rows = rows
        self.model.show([table_row(row) for row in rows])
        if rows:
            self.show_view(self.table)
        else:
            self.show_sentence("No other reader of this format is known.")
        self.updateGeometry()

    def _fail(self, asked: int, sentence: str) -> None:
        if asked == self._asked:
            self.show_sentence(sentence)

    def _activated(self, index: QModelIndex) -> None:
        self.chosen.emit(self.rows[index.row()].name)

    def sizeHint(self) -> QSize:
        rows = min(MAX_ROWS, max(1, len(self.rows)))
        return QSize(0, (rows + 1) * row_height(self) + 2 * row_height(self) // 3)
