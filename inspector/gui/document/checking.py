"""Checking one document: starting, pausing and following the job."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Job
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import CheckResult

LOOK = 250
"""Milliseconds between two looks at what a running check has found."""


class Checking(QObject):
    """The check of a document, of which there is one at a time.

    Signals:
        changed(): a check has begun, waits, goes on or is over.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._job: Job[CheckResult] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK)
        self._timer.timeout.connect(document.look)
        document.lost.connect(self._timer.stop)

    @property
    def running(self) -> bool:
        """Whether a check is going on, be it paused."""
        return self._job is not None and self._job.running

    def start(self) -> None:
        """Check everything; where that is going on already, let it go on."""
        if self._job is not None and self._job.running and not self._job.cancelled:
            self._job.pause(False)
        else:
            self._job = self._document.start(ArchiveRequests.check)
            self._job.finished.connect(self._over)
            self._timer.start()
        self.changed.emit()

    def _over(self) -> None:
        if self.sender() not in (None, self._job):
            return
        self._job = None
        self._timer.stop()
        self._document.look()
        self._document.resolve_again()
        self.changed.emit()
