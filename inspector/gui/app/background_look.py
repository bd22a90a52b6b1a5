"""The state of archives in tabs that are not open yet: one worker looks at their structure, one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # not for the first paint to wait for
    from inspector.gui.ipc.client import Client
    from inspector.operations.protocol.requests import CheckRequests


class BackgroundLook(QObject):
    """Looks at the structure of local archives in one process, which ends with the last of them.

    Objects on S3 are left out: looking costs requests. An archive on which the worker dies has no state.

    Signals:
        found(str, object): the State of a location; None if nothing is wrong with its structure.
    """

    found = Signal(str, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._queue: deque[str] = deque()
        self._client: Client[CheckRequests] | None = None

    @property
    def running(self) -> bool:
        """Whether there is more to look at."""
        return self._client is not None

    def add(self, locations: Iterable[str]) -> None:
        """Look at these locations too."""
        self._queue.extend(location for location in locations if not is_remote(location))
        if self._client is None:
            self._next()

    def end(self) -> None:
        """End the worker."""
        self._queue.clear()
        if self._client is not None:
            self._client.close()
            self._client = None

    def _next(self) -> None:
        from inspector.gui.ipc.client import check_client
        from inspector.operations.protocol.requests import CheckRequests

        if not self._queue:
            self.end()
            return
        if self._client is None:
            self._client = check_client(self)
            self._client.lost.connect(self._lost)
        location = self._queue.popleft()

        def take(state: object) -> None:
            self.found.emit(location, state)
            self._next()

        self._client.start(CheckRequests.look, location).then(take, lambda _: self._next())

    def _lost(self, _: str) -> None:
        """Go on with another worker, unless none can be started."""
        if self.sender() is self._client and self._client is not None:
            if not self._client.link.started:
                self._queue.clear()
            self._client = None
            self._next()
