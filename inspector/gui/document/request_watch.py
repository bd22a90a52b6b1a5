"""Watches what a document on S3 costs: asked whenever something else was asked, never on its own."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.span import Spans
from inspector.gui.document.document import Document
from inspector.operations.protocol.browse_views import RemoteState
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.address import is_s3

LOOK = 500
"""Milliseconds between two looks while long work goes on."""


class RequestWatch(QObject):
    """The state of the requests of one document; None while it is not known, and for what is on this machine.

    Signals:
        changed(): the state is another one.
        kept(object): the spans of the layer shown that can be read without a request.
    """

    changed = Signal()
    kept = Signal(object)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.state: RemoteState | None = None
        self._asked = -1
        self.is_remote = is_s3(document.location)
        if not self.is_remote:
            return
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK)
        self._timer.timeout.connect(self.look)
        document.client.settled.connect(self._settled)
        document.client.jobsChanged.connect(self._follow_jobs)
        document.layersChanged.connect(self._look_at_layer)
        self._follow_jobs()

    def look(self) -> None:
        """Ask how it stands."""
        client = self.document.client
        client.ask(ArchiveRequests.remote).then(self._take)
        self._asked = client.asked

    def _settled(self) -> None:
        """All is answered; where anything but this was asked since, it may have made requests."""
        if self.document.client.asked != self._asked:
            self.look()

    def _follow_jobs(self) -> None:
        if self.document.client.jobs:
            self._timer.start()
        else:
            self._timer.stop()

    def _take(self, state: RemoteState | None) -> None:
        if state == self.state:
            return
        self.state = state
        self.changed.emit()
        self._look_at_layer()

    def _look_at_layer(self) -> None:
        document = self.document
        layer = document.layer

        def take(spans: Spans) -> None:
            if layer == document.layer:
                self.kept.emit(spans)

        if document.layer_info(layer) is not None:
            mine = document.client.asked == self._asked
            document.client.ask(ArchiveRequests.cached, layer).then(take)
            self._asked = document.client.asked if mine else self._asked
