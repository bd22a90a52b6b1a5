"""Every request that was made to S3 for a document, and what they cost together."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QTableView, QVBoxLayout, QWidget

from inspector.core.numbers import count, grouped, in_bytes, rounded
from inspector.gui.document.request_watch import RequestWatch
from inspector.gui.kit.widgets import Emptiable, SelectableLabel, dress_table
from inspector.gui.panels.models.requests import BYTES, METHOD, RANGE, STATUS, TOOK, WHEN, WHY, RequestsModel
from inspector.operations.protocol.browse_views import RemoteState
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.ledger import KEPT, Request

WIDTHS = {WHEN: 100, METHOD: 70, RANGE: 210, BYTES: 90, TOOK: 60, STATUS: 90, WHY: 150}
HERE = "This archive is local: no requests are made."
NONE_YET = "No request has been made yet."


def totals_text(state: RemoteState) -> str:
    """``12 requests, 3.4 MiB of 1.2 GiB``."""
    made = f"{count(state.totals.requests, 'request')}, {rounded(state.totals.received)}"
    return f"{made} of {rounded(state.size)}" if state.size else made


def told(state: RemoteState) -> str:
    """The same exactly, with the time that was waited."""
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
    """The table, of which rows can be copied."""

    def __init__(self, model: RequestsModel) -> None:
        super().__init__()
        self._rows = model
        dress_table(self, model, WIDTHS, "Requests to S3")
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def copy(self) -> None:
        """Copy the rows that are selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        QGuiApplication.clipboard().setText("\n".join(map(self._rows.line, rows)))


class RequestsPanel(QWidget):
    """Lists the requests while it is seen; those that were made meanwhile come when it is shown again."""

    def __init__(self, watch: RequestWatch) -> None:
        super().__init__()
        self._watch = watch
        self.model = RequestsModel(self)
        self.table = RequestTable(self.model)
        self.sentence = SelectableLabel()
        self.sentence.setContentsMargins(8, 4, 8, 4)
        self.sentence.setAccessibleName("What the requests cost together")
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
    """What the requests of the tab that is shown have cost, for the foot of the window."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Requests to S3")
        self.setContentsMargins(8, 0, 8, 0)
        self._watch: RequestWatch | None = None
        self.hide()

    def follow(self, watch: RequestWatch | None) -> None:
        """Tell those of another document, or none."""
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
