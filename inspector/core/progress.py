"""Progress of long work: the worker advances it, others poll it, pause it and cancel it."""

from __future__ import annotations

from threading import Event

CANCELLED = "Cancelled."
"""The message for work that was cancelled."""


class Cancelled(Exception):  # noqa: N818 - not an error: the user asked for it
    """Raised in work that was cancelled."""


class Progress:
    """Counters without a lock: one writer; readers may see values a moment late."""

    def __init__(self, label: str = "", total: int = 0, unit: str = "bytes") -> None:
        self.label = label
        self.unit = unit
        self.total = total
        self.done = 0
        self._interrupted = False
        self._cancelled = False
        self._running = Event()
        self._running.set()

    @property
    def paused(self) -> bool:
        """Whether the work is paused."""
        return not self._running.is_set()

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        """Start a stage of ``total`` units. Raises Cancelled."""
        self.label, self.total, self.unit, self.done = label, total, unit, 0
        self.advance(0)

    def advance(self, count: int) -> None:
        """Add ``count`` units; wait while paused. Raises Cancelled."""
        self.done += count
        if self._interrupted:  # one test, because advance is called very often
            self.wait()
            if self._cancelled:
                raise Cancelled

    def wait(self) -> None:
        """Wait while paused, without advancing: for helper threads."""
        self._running.wait()

    def pause(self) -> None:
        """Pause the work at its next step; has no effect after ``cancel``."""
        self._interrupted = True
        self._running.clear()
        if self._cancelled:
            self._running.set()

    def resume(self) -> None:
        """Continue paused work."""
        self._running.set()

    def cancel(self) -> None:
        """Stop the work at its next step, even if it is paused."""
        self._cancelled = self._interrupted = True
        self._running.set()
