"""Checking many locations in a few worker processes, one after another in each."""

from __future__ import annotations

from collections import deque
from functools import partial

from PySide6.QtCore import QObject, Signal

from inspector.core.redaction import strip_credentials
from inspector.gui.ipc.client import Client, check_client
from inspector.operations.jobs.process_pool import DIED
from inspector.operations.protocol.check_views import CheckTarget, Outcome, check_failed
from inspector.operations.protocol.requests import CheckRequests
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection

WORKERS = 2
"""Processes at a time."""
FAR_WORKERS = 4
"""The same where archives are on S3: most of the time each waits."""


class ManyChecks(QObject):
    """The checks of many locations, time after time. No method waits.

    Signals:
        started(): it is going to be found out which locations there are.
        found(object): which locations there are to check: a list of CheckTarget, whose places the other signals give.
        began(int): the check of one has begun.
        came(int, object): what the check of one came to, an Outcome.
        failed(str): it cannot be done, or not gone on with; why. Then it is finished.
        finished(): all are over, or it was cancelled.
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
        self._wanted: list[CheckTarget] = []
        self._waiting: deque[int] = deque()
        self._at: dict[Client[CheckRequests], int | None] = {}
        self._most = FAR_WORKERS if any(map(is_s3, locations)) else WORKERS
        self.running = False

    def start(self) -> None:
        """Begin, or begin again with what is there now."""
        if not self.running:
            self.running = True
            self._waiting.clear()
            self.started.emit()
            client = self._new_client()
            client.start(CheckRequests.expand, self._locations, self._connection).then(
                partial(self._found, client), self._fail
            )

    def cancel(self) -> None:
        """Stop at once; what was checked until then stays."""
        if self.running:
            self.running = False
            for client in tuple(self._at):
                client.close()
            self._at.clear()
            self.finished.emit()

    def _fail(self, sentence: str) -> None:
        self.failed.emit(sentence)
        self.cancel()

    def _new_client(self) -> Client[CheckRequests]:
        client = check_client(self)
        client.lost.connect(partial(self._lost, client))
        self._at[client] = None
        return client

    def _found(self, client: Client[CheckRequests], wanted: list[CheckTarget]) -> None:
        self._wanted = wanted
        self._waiting.extend(range(len(wanted)))
        self.found.emit(wanted)
        self._go_on(client)
        while self.running and self._waiting and len(self._at) < self._most:
            self._go_on(self._new_client())

    def _go_on(self, client: Client[CheckRequests]) -> None:
        """Give a worker the next location; one for which there is none ends."""
        if not self.running:
            return
        if self._waiting:
            at = self._at[client] = self._waiting.popleft()
            self.began.emit(at)
            job = client.start(CheckRequests.check, self._wanted[at])
            job.then(partial(self._came, client, at), partial(self._not_checked, client, at))
        else:
            del self._at[client]
            client.close()
            self._finish()

    def _finish(self) -> None:
        if not self._at:
            self.running = False
            self.finished.emit()

    def _came(self, client: Client[CheckRequests], at: int, outcome: Outcome) -> None:
        self.came.emit(at, outcome)
        self._go_on(client)

    def _not_checked(self, client: Client[CheckRequests], at: int, sentence: str) -> None:
        self._tell_unknown(at, sentence)
        self._go_on(client)

    def _tell_unknown(self, at: int, sentence: str) -> None:
        """Nothing is known of one location; say why."""
        self.came.emit(at, check_failed(strip_credentials(self._wanted[at].location), sentence))

    def _lost(self, client: Client[CheckRequests], sentence: str) -> None:
        """A worker died over one location; another one goes on with the rest, unless none can be started."""
        if client not in self._at:
            return
        at = self._at.pop(client)
        if at is None or not client.link.started:
            self._fail(sentence)
            return
        self._tell_unknown(at, DIED)
        if self._waiting:
            self._go_on(self._new_client())
        else:
            self._finish()
