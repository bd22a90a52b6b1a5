"""The requests that were made to S3 as the rows of a table: the newest at the end, as in a log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from PySide6.QtCore import QObject, Qt

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.table_models import NOWHERE, Index, TitledTable
from inspector.gui.kit.text import plain, short
from inspector.sources.s3.ledger import Request

TITLES = (
    "When",
    "Request",
    "Range",
    "Bytes",
    "ms",
    "Status",
    "Why",
    "Of",
)
WHEN, METHOD, RANGE, BYTES, TOOK, STATUS, WHY, WHERE = range(len(TITLES))
NUMBERS = frozenset((BYTES, TOOK, STATUS))
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_REFUSED = 400


def range_text(request: Request) -> str:
    """Which bytes were asked for, half-open."""
    if request.start < 0:
        return f"last {in_bytes(-request.start)}"
    return f"{request.start:,}..{request.stop:,}" if request.stop else ""


def status_text(request: Request) -> str:
    """What the server answered."""
    answer = str(request.status) if request.status else "no answer"
    return f"{answer} after {request.attempts} tries" if request.attempts > 1 else answer


def texts(request: Request) -> tuple[str, ...]:
    """What the cells of a row say."""
    when = datetime.fromtimestamp(request.when).astimezone()
    return (
        f"{when:%H:%M:%S}.{when.microsecond // 1000:03}",
        request.method,
        range_text(request),
        grouped(request.received),
        grouped(round(request.milliseconds)),
        status_text(request),
        str(request.why),
        visible(request.location),
    )


class RequestsModel(TitledTable):
    """Rows that grow at the end and, when there are very many, go at the head."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, parent)
        self._rows: list[Request] = []
        self._texts: list[tuple[str, ...]] = []

    def take(self, requests: tuple[Request, ...]) -> None:
        """Show these requests: rows that are there already stay the same rows."""
        gone = self._gone(requests)
        if gone:
            self.beginRemoveRows(NOWHERE, 0, gone - 1)
            del self._rows[:gone], self._texts[:gone]
            self.endRemoveRows()
        fresh = requests[len(self._rows) :]
        if fresh:
            first = len(self._rows)
            self.beginInsertRows(NOWHERE, first, first + len(fresh) - 1)
            self._rows += fresh
            self._texts += map(texts, fresh)
            self.endInsertRows()

    def _gone(self, requests: tuple[Request, ...]) -> int:
        """How many rows at the head are no longer among the requests."""
        if not requests:
            return len(self._rows)
        return next((i for i, row in enumerate(self._rows) if row == requests[0]), len(self._rows))

    def line(self, row: int) -> str:
        """A row as text for the clipboard."""
        return "\t".join(self._texts[row])

    # ---- overrides ---------------------------------------------------------------------------------------------

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        text, request = self._texts[index.row()][index.column()], self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return short(text)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(text))
        if role == Qt.ItemDataRole.DecorationRole and index.column() == STATUS:
            return severity_icon(Severity.WARNING) if not 0 < request.status < _REFUSED else None
        return _RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in NUMBERS else None
