"""Watch the requests of a document. The state is refreshed after other requests, never on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.span import Spans
from inspector.gui.document.document import Document
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.operations.protocol.browse_views import RemoteState

POLL_MS = 500
"""The refresh interval while jobs run or requests are in flight."""


class RequestWatch(QObject):
    """The state of the S3 requests of one document; None while it is unknown, and for local files.

    Signals:
        changed(): the state changed.
        kept(object): the spans of the layer shown that can be read without a request.
    """

    changed = Signal()
    kept = Signal(object)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.state: RemoteState | None = None
        self._asked_before = -1
        self.is_remote = is_remote(document.location)
        if not self.is_remote:
            return
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self.refresh)
        document.client.settled.connect(self._settled)
        document.client.jobsChanged.connect(self._follow_jobs)
        document.layersChanged.connect(self._refresh_cached)
        self._follow_jobs()

    def refresh(self) -> None:
        """Request the state."""
        client = self.document.client
        client.ask(ArchiveRequests.remote).then(self._take)
        self._asked_before = client.asked

    def _settled(self) -> None:
        """All requests are answered; refresh if any of them was not our own, for it may have read from S3."""
        if self.document.client.asked != self._asked_before:
            self.refresh()

    def _follow_jobs(self) -> None:
        if not self.document.client.jobs and (self.state is None or not self.state.in_flight):
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def _take(self, state: RemoteState | None) -> None:
        if state == self.state:
            return
        self.state = state
        self._follow_jobs()
        self.changed.emit()
        self._refresh_cached()

    def _refresh_cached(self) -> None:
        document = self.document
        layer = document.layer

        def take(spans: Spans) -> None:
            if layer == document.layer:
                self.kept.emit(spans)

        if document.layer_info(layer) is not None:
            only_ours = document.client.asked == self._asked_before
            document.client.ask(ArchiveRequests.cached, layer).then(take)
            self._asked_before = document.client.asked if only_ours else self._asked_before
