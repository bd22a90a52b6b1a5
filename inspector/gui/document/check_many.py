"""Checking many locations in a few worker processes, one after another in each."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector.gui.ipc import worker
from inspector.gui.ipc.link import Link
from inspector.operations.jobs.process_pool import DIED
from inspector.operations.protocol.check_views import Wanted, check_failed
from inspector.sources.s3.address import is_s3, strip_credentials
from inspector.sources.s3.connection import DEFAULT, Connection

WORKERS = 2
"""Processes at a time."""
FAR_WORKERS = 4
"""The same where archives are on S3: most of the time each waits."""


class ManyChecks(QObject):
    """The checks of many locations, time after time. No method waits.

    Signals:
        started(): it is going to be found out which locations there are.
        found(object): which locations there are to check: a list of Wanted, whose places the other signals give.
        began(int): the check of one has begun.
        came(int, object): what the check of one came to, an Outcome.
        finished(): all are over, or it was cancelled.
    """

    started = Signal()
    found = Signal(object)
    began = Signal(int)
    came = Signal(int, object)
    finished = Signal()

    def __init__(self, locations: list[str], parent: QObject | None = None, connection: Connection = DEFAULT) -> None:
        super().__init__(parent)
        self._locations = locations
        self._connection = connection
        self._wanted: list[Wanted] = []
        self._waiting: deque[int] = deque()
        self._at: dict[Link, int | None] = {}
        self.links: list[Link] = []
        self._most = FAR_WORKERS if any(map(is_s3, locations)) else WORKERS
        self.running = False

    def start(self) -> None:
        """Begin, or begin again with what is there now."""
        if not self.running:
            self.running = True
            self._waiting.clear()
            self.started.emit()
            self._start(("expand", self._locations, self._connection))

    def cancel(self) -> None:
        """Stop at once; what was checked until then stays."""
        if self.running:
            self.running = False
            for link in tuple(self._at):
                link.close()
            self._at.clear()
            self.finished.emit()

    def _start(self, message: Any, at: int | None = None) -> None:
        link = Link(target=worker.check)
        link.setParent(self)
        link.arrived.connect(partial(self._arrived, link))
        link.ended.connect(partial(self._ended, link))
        self.links.append(link)
        self._at[link] = at
        link.start()
        link.send(message)

    def _arrived(self, link: Link, answer: Any) -> None:
        if link not in self._at:
            return
        at = self._at[link]
        if at is None:
            self._wanted = answer
            self._waiting.extend(range(len(answer)))
            self.found.emit(answer)
        else:
            self.came.emit(at, answer)
        self._go_on(link)
        while self.running and self._waiting and len(self._at) < self._most:
            self._start(*self._next())

    def _next(self) -> tuple[Wanted, int]:
        at = self._waiting.popleft()
        self.began.emit(at)
        return self._wanted[at], at

    def _go_on(self, link: Link) -> None:
        """Give a worker the next location; one for which there is none ends."""
        if not self.running:
            return
        if self._waiting:
            wanted, self._at[link] = self._next()
            link.send(wanted)
        else:
            self._let_go(link)

    def _let_go(self, link: Link) -> None:
        del self._at[link]
        link.close()
        if not self._at:
            self.running = False
            self.finished.emit()

    def _ended(self, link: Link) -> None:
        """A worker died over one location, about which nothing is known; another one goes on with the rest."""
        if link not in self._at:
            return
        at = self._at[link]
        if at is not None:
            self.came.emit(at, check_failed(strip_credentials(self._wanted[at].location), DIED))
        if self._waiting:
            del self._at[link]
            link.close()
            self._start(*self._next())
        else:
            self._let_go(link)
