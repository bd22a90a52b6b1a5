"""A lock for jobs that must not run at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from inspector.core.progress import Progress

_POLL_S = 0.05
"""Seconds between two checks for cancellation while waiting."""


class JobLock:
    """Lets the jobs of one session run one after another, each in its own thread."""

    def __init__(self) -> None:
        self._lock = Lock()

    @contextmanager
    def held(self, progress: Progress) -> Iterator[None]:
        """Hold the lock inside the block. Raises Cancelled while waiting for it."""
        while not self._lock.acquire(timeout=_POLL_S):
            progress.advance(0)
        try:
            yield
        finally:
            self._lock.release()
