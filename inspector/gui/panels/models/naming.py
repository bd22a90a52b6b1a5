"""Asking for the names of members that are in view and whose headers were not read yet."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.gui.ipc.client import Client, Job
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import MemberRow

MOST = 200
"""Names asked for at a time."""
SETTLING = 60
"""Milliseconds from the first wish to asking: what is in view arrives together."""


class LazyNames(QObject):
    """Wishes of what is painted, those of one moment together. Older ones are dropped: painting repeats them.

    Signals:
        named(object): members have names now: rows by their numbers.
    """

    named = Signal(object)

    def __init__(self, client: Client[ArchiveRequests], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._client = client
        self._wanted: dict[int, None] = {}
        self._asked: set[int] = set()
        self._job: Job[tuple[MemberRow, ...]] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLING)
        self._timer.timeout.connect(self._ask)

    def want(self, row: MemberRow) -> None:
        """A member is in view."""
        if not row.read and row.index not in self._asked:
            self._wanted.pop(row.index, None)
            self._wanted[row.index] = None
            if not self._timer.isActive():  # beginning anew with each wish, it would never end while much is painted
                self._timer.start()

    def forget(self) -> None:
        """The members are others now: what could not be had before is asked for again."""
        self._wanted.clear()
        self._asked.clear()

    def _ask(self) -> None:
        if self._job is not None or not self._wanted:
            return
        numbers = sorted(list(self._wanted)[-MOST:])
        self._wanted.clear()
        self._asked.update(numbers)
        self._job = self._client.start(ArchiveRequests.name_members, tuple(numbers)).then(self._came)
        self._job.finished.connect(self._over)

    def _came(self, rows: Any) -> None:
        self.named.emit({row.index: row for row in rows})

    def _over(self) -> None:
        self._job = None
        if self._wanted:
            self._timer.start()
