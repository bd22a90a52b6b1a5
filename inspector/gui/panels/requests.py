"""The S3 requests of a document as a log, and their totals."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtGui import QIcon, QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes, rounded
from inspector.gui.document.watches import RequestWatch
from inspector.gui.kit.building import LINE, dressed, in_column
from inspector.gui.kit.icons import icon_of
from inspector.gui.kit.listing import ListView, Rows
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import Column
from inspector.gui.kit.widgets import Emptiable, SelectableLabel
from inspector.operations.protocol.browse_views import RemoteState
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.request_log import MAX_REQUESTS_KEPT, OPEN_END, Phase, Request

_FIRST_ERROR_STATUS = 400

LOCAL = "This archive is local: no requests are made."
NONE_YET = "No request has been made yet."


def totals_summary(state: RemoteState) -> str:
    """``12 requests, 3.4 MiB of 1.2 GiB``."""
    made = f"{count(state.totals.requests, 'request')}, {rounded(state.totals.received)}"
    return f"{made} of {rounded(state.size)}" if state.size else made


def totals_details(state: RemoteState) -> str:
    """The exact totals, with the time spent waiting, what is in flight, and what was retried."""
    totals = state.totals
    of = f" of {in_bytes(state.size)}" if state.size else ""
    time = f"{grouped(round(totals.milliseconds))} ms waited"
    text = f"{count(totals.requests, 'request')}, {in_bytes(totals.received)} received{of}, {time}"
    text += f", {grouped(state.in_flight)} in flight" if state.in_flight else ""
    text += f" ({grouped(state.waiting)} waiting for the server)" if state.waiting else ""
    return f"{text}, {grouped(totals.retried)} retried" if totals.retried else text


def range_text(request: Request) -> str:
    """The requested bytes, half-open; "last N bytes" for a suffix range."""
    if request.start < 0:
        return f"last {in_bytes(-request.start)}"
    if request.stop == OPEN_END:
        return f"{request.start:,}.. to the end"
    return f"{request.start:,}..{request.stop:,}" if request.stop else ""


def status_text(request: Request) -> str:
    """The HTTP status, and the number of tries if there were several."""
    answer = request.phase if request.phase is not Phase.DONE else request.status or "no answer"
    return f"{answer} after {request.attempts} tries" if request.attempts > 1 else str(answer)


def _mark(request: Request) -> QIcon | None:
    failed = request.phase is Phase.DONE and not 0 < request.status < _FIRST_ERROR_STATUS
    return icon_of(Severity.WARNING) if failed else None


COLUMNS = (
    Column("When", lambda row: datetime.fromtimestamp(row.when).astimezone().time().isoformat("milliseconds"), 100),
    Column("Request", lambda row: row.method, 70),
    Column("Range", range_text, 210),
    Column("Bytes", lambda row: grouped(row.received), 90, is_number=True),
    Column("ms", lambda row: grouped(round(row.milliseconds)), 60, is_number=True),
    Column("Status", status_text, 90, icon=_mark, is_number=True),
    Column("Why", lambda row: str(row.why), 150),
    Column("Of", lambda row: visible(row.location)),
)


class RequestsPanel(QWidget):
    """Lists the requests. The list is updated only while it is visible."""

    def __init__(self, watch: RequestWatch) -> None:
        super().__init__()
        self._watch = watch
        self.model = Rows(COLUMNS, self)
        self.table = ListView(self.model, "Requests to S3")
        self.sentence = dressed(SelectableLabel(), "Totals of the requests")
        self.sentence.setContentsMargins(*LINE)
        self.sentence.hide()
        self.stack = Emptiable(self.table)
        self.setFocusProxy(self.stack)
        self.stack.show_sentence(NONE_YET if watch.is_remote else LOCAL)
        in_column(self.sentence, (self.stack, 1), on=self)
        watch.changed.connect(self._refresh)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refresh()

    def _refresh(self) -> None:
        state = self._watch.state
        if state is None or not self.isVisible():
            return
        are_many = state.totals.requests > MAX_REQUESTS_KEPT
        limit = f"; the last {grouped(MAX_REQUESTS_KEPT)} are listed" if are_many else ""
        used = f" Read {state.used}." if state.used else ""
        self.sentence.setText(f"{totals_details(state)}{limit}.{used}")
        self.sentence.show()
        self._watch.document.client.ask(ArchiveRequests.requests).then(self._show_requests)

    def _show_requests(self, requests: tuple[Request, ...]) -> None:
        at_end = self.table.verticalScrollBar().value() == self.table.verticalScrollBar().maximum()
        self.model.renew(requests)
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
