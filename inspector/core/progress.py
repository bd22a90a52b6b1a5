"""How far a long piece of work is. The worker writes it, others poll it; advancing is where cancelling happens."""

from __future__ import annotations


class Cancelled(Exception):  # noqa: N818 - not an error: the user asked for it
    """The work was cancelled."""


class Progress:
    """Counters without a lock: one writer, any number of readers that may be a moment late."""

    def __init__(self, label: str = "", total: int = 0, unit: str = "bytes") -> None:
        self.label = label
        self.unit = unit
        self.total = total
        self.done = 0
        self._cancelled = False

    def begin(self, label: str, total: int, unit: str = "bytes") -> None:
        """Start the next stage; raises Cancelled."""
        self.label, self.total, self.unit, self.done = label, total, unit, 0
        self.advance(0)

    def advance(self, count: int) -> None:
        """Add ``count`` to what is done; raises Cancelled when cancelling was asked for."""
        self.done += count
        if self._cancelled:
            raise Cancelled

    def cancel(self) -> None:
        """Ask the worker to stop at its next step."""
        self._cancelled = True
