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
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import NOWHERE, Index, TitledTable
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, dress_table
from inspector.operations.protocol.browse_views import RemoteState
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.request_log import MAX_REQUESTS_KEPT, OPEN_END, Phase, Request

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
_FIRST_ERROR_STATUS = 400

WIDTHS = {WHEN: 100, METHOD: 70, RANGE: 210, BYTES: 90, TOOK: 60, STATUS: 90, WHY: 150}
LOCAL = "This archive is local: no requests are made."
NONE_YET = "No request has been made yet."


def totals_summary(state: RemoteState) -> str:
    """``12 requests, 3.4 MiB of 1.2 GiB``."""
    made = f"{count(state.totals.requests, 'request')}, {rounded(state.totals.received)}"
    return f"{made} of {rounded(state.size)}" if state.size else made


def totals_details(state: RemoteState) -> str:
    """The exact totals, with the time spent waiting, what is in flight, and what was retried."""
    text = "{requests}, {received} received, {time} ms waited"
    if state.size:
        text = "{requests}, {received} received of {size}, {time} ms waited"
    totals = state.totals
    if state.in_flight:
        text += f", {grouped(state.in_flight)} in flight"
    if state.waiting:
        text += f" ({grouped(state.waiting)} waiting for the server)"
    if totals.retried:
        text += f", {grouped(totals.retried)} retried"
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
        self.sentence.setContentsMargins(2 * GRID, GRID, 2 * GRID, GRID)
        self.sentence.setAccessibleName("Totals of the requests")
        self.sentence.hide()
        self.stack = Emptiable(self.table)
        self.setFocusProxy(self.stack)
        self.stack.show_sentence(NONE_YET if watch.is_remote else LOCAL)
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
        limit = (
            "; " + f"the last {grouped(MAX_REQUESTS_KEPT)} are listed"
            if state.totals.requests > MAX_REQUESTS_KEPT
            else ""
        )
        used = f" Read {state.used}." if state.used else ""
        self.sentence.setText(f"{totals_details(state)}{limit}.{used}")
        self.sentence.show()
        self._watch.document.client.ask(ArchiveRequests.requests).then(self._show_requests)

    def _show_requests(self, requests: tuple[Request, ...]) -> None:
        at_end = self.table.verticalScrollBar().value() == self.table.verticalScrollBar().maximum()
        self.model.show_requests(requests)
        if requests:
            self.stack.show_view(self.table)
            if at_end:
                self.table.scrollToBottom()


class RequestTotals(QLabel):
    """The request totals of the current tab, for the status bar."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Requests to S3")
        self.setContentsMargins(2 * GRID, 0, 2 * GRID, 0)
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
        self.setText(totals_summary(state) if state is not None else "")
        self.setToolTip(totals_details(state) if state is not None else "")


def range_text(request: Request) -> str:
    """The requested bytes, half-open; "last N bytes" for a suffix range."""
    if request.start < 0:
        return f"last {in_bytes(-request.start)}"
    if request.stop == OPEN_END:
        return f"{request.start:,}.. to the end"
    return f"{request.start:,}..{request.stop:,}" if request.stop else ""


def status_text(request: Request) -> str:
    """The HTTP status, and the number of tries if there were several."""
    answer = str(request.status) if request.status else "no answer"
    if request.phase is not Phase.DONE:
        answer = str(request.phase)
    return f"{answer} after {request.attempts} tries" if request.attempts > 1 else answer


def row_texts(request: Request) -> tuple[str, ...]:
    """The cell texts of a row."""
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

    def show_requests(self, requests: tuple[Request, ...]) -> None:
        """Show these requests; rows that are already shown are kept, but for those that were in flight."""
        self._remove_running()
        removed = self._removed_count(requests)
        if removed:
            self.beginRemoveRows(NOWHERE, 0, removed - 1)
            del self._rows[:removed], self._texts[:removed]
            self.endRemoveRows()
        added = requests[len(self._rows) :]
        if added:
            first = len(self._rows)
            self.beginInsertRows(NOWHERE, first, first + len(added) - 1)
            self._rows += added
            self._texts += map(row_texts, added)
            self.endInsertRows()

    def _remove_running(self) -> None:
        """Remove the rows of requests in flight, which are the last."""
        first = next((at for at, row in enumerate(self._rows) if row.phase is not Phase.DONE), len(self._rows))
        if first < len(self._rows):
            self.beginRemoveRows(NOWHERE, first, len(self._rows) - 1)
            del self._rows[first:], self._texts[first:]
            self.endRemoveRows()

    def _removed_count(self, requests: tuple[Request, ...]) -> int:
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
            failed = request.phase is Phase.DONE and not 0 < request.status < _FIRST_ERROR_STATUS
            return severity_icon(Severity.WARNING) if failed else None
        return _RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and index.column() in NUMBERS else None
