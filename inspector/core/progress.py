"""How far long work is. The worker writes it, others poll it; advancing is where it waits and is cancelled."""

from __future__ import annotations

from threading import Event

CANCELLED = "Cancelled."
"""What is answered for work that was cancelled, where a sentence is wanted."""


class Cancelled(Exception):  # noqa: N818 - not an error: the user asked for it
    """The work was cancelled."""


class Progress:
    """Counters without a lock: one writer, any number of readers that may be a moment late."""

    def __init__(self, label: str = "", total: int = 0, unit: str = "bytes") -> None:
        self.label = label
        self.unit = unit
        self.total = total
        self.done = 0
        self._asked = False
        self._cancelled = False
        self._going = Event()
        self._going.set()

    @property
    def paused(self) -> bool:
        """Whether the worker was asked to wait."""
        return not self._going.is_set()

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        """Start the next stage; raises Cancelled."""
        self.label, self.total, self.unit, self.done = label, total, unit, 0
        self.advance(0)

    def advance(self, count: int) -> None:
        """Add ``count`` to what is done; waits while paused, and raises Cancelled when cancelling was asked for."""
        self.done += count
        if self._asked:  # one look, because small pieces of work advance very often
            self.wait()
            if self._cancelled:
                raise Cancelled

    def wait(self) -> None:
        """Wait while paused: for threads that help the one that advances."""
        self._going.wait()

    def pause(self) -> None:
        """Ask the worker to wait at its next step; what was cancelled is not paused."""
        self._asked = True
        self._going.clear()
        if self._cancelled:
            self._going.set()

    def resume(self) -> None:
        """Let a paused worker go on."""
        self._going.set()

    def cancel(self) -> None:
        """Ask the worker to stop at its next step, even if that is paused."""
        self._cancelled = self._asked = True
        self._going.set()
