"""Findings of one kind, of which only the first are kept one by one."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.core.archive import Emitter
from inspector.core.finding import Severity
from inspector.core.numbers import grouped

KEPT = 1_000
"""The most findings of one kind; the rest are counted in one more."""


class Kept:
    """Findings of one kind; ``things`` says what they are about (``members that lie out of range``).

    ``dropped`` are those that are only counted.
    """

    def __init__(self, emitter: Emitter, severity: Severity, code: str, things: str) -> None:
        self._emitter = emitter
        self._severity = severity
        self._code = code
        self._things = things
        self._kept = 0
        self.dropped = 0

    def full(self) -> bool:
        """Whether another one is only to be counted, which this does."""
        self.dropped += self._kept >= KEPT
        return self._kept >= KEPT

    def add(self, message: str, spans: Iterable[tuple[int, int]], member: int | None = None) -> None:
        """Report one; to be asked only where there is room."""
        self._kept += 1
        self._emitter.find(self._severity, self._code, message, spans, member)

    def close(self) -> None:
        """Report how many were only counted."""
        if self.dropped:
            self._emitter.find(self._severity, self._code, f"There are {grouped(self.dropped)} more {self._things}.")
