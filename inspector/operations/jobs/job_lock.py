"""Work that must not be done twice at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from inspector.core.progress import Progress

_LOOK = 0.05
"""Seconds between two looks at whether to go on waiting."""


class JobLock:
    """One piece of work after another, in threads of their own."""

    def __init__(self) -> None:
        self._lock = Lock()

    @contextmanager
    def one(self, progress: Progress) -> Iterator[None]:
        """Do something while nothing else is done. Raises Cancelled while it waits."""
        while not self._lock.acquire(timeout=_LOOK):
            progress.advance(0)
        try:
            yield
        finally:
            self._lock.release()
