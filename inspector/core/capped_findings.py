"""Findings of one kind, capped: the first are reported one by one, the rest are counted."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.core.archive import Emitter
from inspector.core.finding import FindingType
from inspector.core.numbers import grouped

MAX_FINDINGS_PER_KIND = 1_000
"""Findings of one kind that are reported one by one."""


class CappedFindings:
    """Findings of one kind; ``subjects`` is what they are about, in the plural (``members that lie out of range``).

    ``dropped`` counts those that were not reported one by one.
    """

    def __init__(self, emitter: Emitter, what: FindingType, subjects: str) -> None:
        self._emitter = emitter
        self._what = what
        self._subjects = subjects
        self._reported = 0
        self.dropped = 0

    def full(self) -> bool:
        """Whether the cap is reached. If so, this call counts one dropped finding."""
        self.dropped += self._reported >= MAX_FINDINGS_PER_KIND
        return self._reported >= MAX_FINDINGS_PER_KIND

    def add(self, message: str, spans: Iterable[tuple[int, int]], member: int | None = None) -> None:
        """Report one finding. Call ``full`` first."""
        self._reported += 1
        self._emitter.report(self._what, message, *spans, member=member)

    def close(self) -> None:
        """Report how many were dropped, if any."""
        if self.dropped:
            self._emitter.report(self._what, f"There are {grouped(self.dropped)} more {self._subjects}.")
