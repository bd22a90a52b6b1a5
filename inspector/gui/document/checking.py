"""Checks of one document, and of many locations in a few worker processes."""

from __future__ import annotations

from collections import deque
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.redaction import strip_credentials
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Client, Job, check_client
from inspector.operations.jobs.process_pool import DIED
from inspector.operations.protocol.check_views import CheckTarget, Outcome, check_failed
from inspector.operations.protocol.requests import ArchiveRequests, CheckRequests
from inspector.operations.protocol.views import CheckResult
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection

POLL_MS = 250
"""The interval at which the status is requested while a check runs."""


class Checking(QObject):
    """The check of a document; one at a time.

    Signals:
        changed(): a check started, paused, resumed or finished.
    """

    changed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._job: Job[CheckResult] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(document.refresh_status)
        document.lost.connect(self._timer.stop)

    @property
    def running(self) -> bool:
        """Whether a check is running or paused."""
        return self._job is not None and self._job.running

    def start(self) -> None:
        """Check everything; resume a check that is paused."""
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
        self._document.refresh_status()
        self._document.refresh_explanation()
        self.changed.emit()


LOCAL_WORKERS = 2
"""Worker processes for local locations."""
S3_WORKERS = 4
"""Worker processes for locations on S3: they mostly wait for the network."""


class ManyChecks(QObject):
    """Checks many locations in a few worker processes, and again whenever it is started. No method blocks.

    Signals:
        started(): folders are being expanded into locations.
        found(object): the locations to check, a list of CheckTarget; the other signals refer to its indexes.
        began(int): the check of one location started.
        came(int, object): the check of one location finished with this Outcome.
        failed(str): the checks cannot start or continue, and why. ``finished`` follows.
        finished(): all checks finished or were cancelled.
    """

    started = Signal()
    found = Signal(object)
    began = Signal(int)
    came = Signal(int, object)
    failed = Signal(str)
    finished = Signal()

    def __init__(self, locations: list[str], parent: QObject | None = None, connection: Connection = DEFAULT) -> None:
        super().__init__(parent)
        self._locations = locations
        self._connection = connection
        self._targets: list[CheckTarget] = []
        self._queue: deque[int] = deque()
        self._clients: dict[Client[CheckRequests], int | None] = {}
        self._max_workers = S3_WORKERS if any(map(is_s3, locations)) else LOCAL_WORKERS
        self.running = False

    def start(self) -> None:
        """Start, or start over with the files that exist now."""
        if not self.running:
            self.running = True
            self._queue.clear()
            self.started.emit()
            client = self._new_client()
            client.start(CheckRequests.expand, self._locations, self._connection).then(
                partial(self._take_targets, client), self._fail
            )

    def cancel(self) -> None:
        """Stop at once; results so far stay."""
        if self.running:
            self.running = False
            for client in tuple(self._clients):
                client.close()
            self._clients.clear()
            self.finished.emit()

    def _fail(self, sentence: str) -> None:
        self.failed.emit(sentence)
        self.cancel()

    def _new_client(self) -> Client[CheckRequests]:
        client = check_client(self)
        client.lost.connect(partial(self._worker_lost, client))
        self._clients[client] = None
        return client

    def _take_targets(self, client: Client[CheckRequests], targets: list[CheckTarget]) -> None:
        self._targets = targets
        self._queue.extend(range(len(targets)))
        self.found.emit(targets)
        self._check_next(client)
        while self.running and self._queue and len(self._clients) < self._max_workers:
            self._check_next(self._new_client())

    def _check_next(self, client: Client[CheckRequests]) -> None:
        """Give a worker the next location, or close it when none is left."""
        if not self.running:
            return
        if self._queue:
            index = self._clients[client] = self._queue.popleft()
            self.began.emit(index)
            job = client.start(CheckRequests.check, self._targets[index])
            job.then(partial(self._take_outcome, client, index), partial(self._check_failed, client, index))
        else:
            del self._clients[client]
            client.close()
            self._finish()

    def _finish(self) -> None:
        if not self._clients:
            self.running = False
            self.finished.emit()

    def _take_outcome(self, client: Client[CheckRequests], index: int, outcome: Outcome) -> None:
        self.came.emit(index, outcome)
        self._check_next(client)

    def _check_failed(self, client: Client[CheckRequests], index: int, sentence: str) -> None:
        self._report_unknown(index, sentence)
        self._check_next(client)

    def _report_unknown(self, index: int, sentence: str) -> None:
        """Report one location as not checked, and why."""
        self.came.emit(index, check_failed(strip_credentials(self._targets[index].location), sentence))

    def _worker_lost(self, client: Client[CheckRequests], sentence: str) -> None:
        """Report the location that a worker died on; a new worker continues, unless workers cannot start."""
        if client not in self._clients:
            return
        index = self._clients.pop(client)
        if index is None or not client.link.started:
            self._fail(sentence)
            return
        self._report_unknown(index, DIED)
        if self._queue:
            self._check_next(self._new_client())
        else:
            self._finish()
