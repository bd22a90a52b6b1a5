"""The S3 requests of a document as a log, and their totals."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QTableView, QVBoxLayout, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, rounded
from inspector.gui.document.request_watch import RequestWatch
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.model_titled_table import NOWHERE, Index, TitledTable
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, dress_table
from inspector.operations.protocol.browse_views import RemoteState
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.ledger import KEPT, Request

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

WIDTHS = {WHEN: 100, METHOD: 70, RANGE: 210, BYTES: 90, TOOK: 60, STATUS: 90, WHY: 150}
HERE = "This archive is local: no requests are made."
NONE_YET = "No request has been made yet."


def totals_text(state: RemoteState) -> str:
    """``12 requests, 3.4 MiB of 1.2 GiB``."""
    made = f"{count(state.totals.requests, 'request')}, {rounded(state.totals.received)}"
    return f"{made} of {rounded(state.size)}" if state.size else made


def told(state: RemoteState) -> str:
    """The exact totals, with the time spent waiting."""
    text = "{requests}, {received} received, {time} ms waited"
    if state.size:
        text = "{requests}, {received} received of {size}, {time} ms waited"
    totals = state.totals
    return text.format(
        requests=count(totals.requests, "request"),
        received=in_bytes(totals.received),
        size=in_bytes(state.size),
        time=grouped(round(totals.milliseconds)),
    )


class RequestTable(QTableView):
    """The table of requests; rows can be copied."""

    def __init__(self, model: RequestsModel) -> None:
        super().__init__()
        self._rows = model
        dress_table(self, model, WIDTHS, "Requests to S3")
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def copy(self) -> None:
        """Copy the selected rows."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        QGuiApplication.clipboard().setText("\n".join(map(self._rows.line, rows)))


class RequestsPanel(QWidget):
    """Lists the requests. The list is updated only while it is visible."""

    def __init__(self, watch: RequestWatch) -> None:
        super().__init__()
        self._watch = watch
        self.model = RequestsModel(self)
        self.table = RequestTable(self.model)
        self.sentence = SelectableLabel()
        self.sentence.setContentsMargins(8, 4, 8, 4)
        self.sentence.setAccessibleName("Totals of the requests")
        self.sentence.hide()
        self.stack = Emptiable(self.table)
        self.setFocusProxy(self.stack)
        self.stack.show_sentence(NONE_YET if watch.is_remote else HERE)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.sentence)
        layout.addWidget(self.stack, 1)
        watch.changed.connect(self._refresh)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _refresh(self) -> None:
        state = self._watch.state
        if state is None or not self.isVisible():
            return
        kept = "; " + f"the last {grouped(KEPT)} are listed" if state.totals.requests > KEPT else ""
        self.sentence.setText(f"{told(state)}{kept}.")
        self.sentence.show()
        self._watch.document.client.ask(ArchiveRequests.requests).then(self._take)

    def _take(self, requests: tuple[Request, ...]) -> None:
        at_end = self.table.verticalScrollBar().value() == self.table.verticalScrollBar().maximum()
        self.model.take(requests)
        if requests:
            self.stack.show_view(self.table)
            if at_end:
                self.table.scrollToBottom()


class RequestTotals(QLabel):
    """The request totals of the current tab, for the status bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Requests to S3")
        self.setContentsMargins(8, 0, 8, 0)
        self._watch: RequestWatch | None = None
        self.hide()

    def follow(self, watch: RequestWatch | None) -> None:
        """Show the totals of another document, or none."""
        if self._watch is not None:
            self._watch.changed.disconnect(self._refresh)
        self._watch = watch
        if watch is not None:
            watch.changed.connect(self._refresh)
        self._refresh()

    def _refresh(self) -> None:
        state = self._watch.state if self._watch is not None else None
        self.setVisible(state is not None and bool(state.totals.requests))
        self.setText(totals_text(state) if state is not None else "")
        self.setToolTip(told(state) if state is not None else "")


def range_text(request: Request) -> str:
    """The requested bytes, half-open; "last N bytes" for a suffix range."""
    if request.start < 0:
        return f"last {in_bytes(-request.start)}"
    return f"{request.start:,}..{request.stop:,}" if request.stop else ""


def status_text(request: Request) -> str:
    """The HTTP status, and the number of tries if there were several."""
    answer = str(request.status) if request.status else "no answer"
    return f"{answer} after {request.attempts} tries" if request.attempts > 1 else answer


def texts(request: Request) -> tuple[str, ...]:
    """The texts of a row."""
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
    """Requests, newest last. When there are very many, the oldest rows go."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, parent)
        self._rows: list[Request] = []
        self._texts: list[tuple[str, ...]] = []

    def take(self, requests: tuple[Request, ...]) -> None:
        """Show these requests; rows that are already shown are kept."""
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
        """How many of the first rows are no longer among the requests."""
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
