"""What a CAF index says, in columns (CAF.md, section 2, File Index Section)."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from inspector.core.finding import Severity
from inspector.core.span import Span, Spans

MEMBERS = 2_000_000
"""The most members listed of one archive."""
PARTS = 256
"""The most values of the index's outermost object that are kept apart; further ones are syntax."""
PROBLEMS = 10_000
"""The most problems kept of one index."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the index itself; ``spans`` are file bytes, ``entry`` the entry's position in the index."""

    severity: Severity
    code: str
    message: str
    spans: Spans
    entry: int | None = None


@dataclass(slots=True)
class Part:
    """One value of the index's outermost object: its key, the span of its value, and the entries it holds."""

    key: bytes
    span: Span
    first: int = 0
    last: int = 0


@dataclass(slots=True)
class Index:
    """What the index says, entry by entry in its own order.

    ``positions`` are the file offsets where the entries begin (their opening quotes), ``starts`` and ``stops`` the
    claimed ranges (half-open), ``marks`` the members' marks, ``unread`` the end of the index where it could not be
    followed any further.
    """

    span: Span
    names: bytearray = field(default_factory=bytearray)
    name_stops: array[int] = field(default_factory=lambda: array("Q"))
    starts: array[int] = field(default_factory=lambda: array("Q"))
    stops: array[int] = field(default_factory=lambda: array("Q"))
    marks: array[int] = field(default_factory=lambda: array("B"))
    positions: array[int] = field(default_factory=lambda: array("Q"))
    parts: list[Part] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unread: Span | None = None

    def __len__(self) -> int:
        return len(self.positions)

    def name(self, entry: int) -> bytes:
        """The name of an entry."""
        return bytes(self.names[self.name_stops[entry - 1] if entry else 0 : self.name_stops[entry]])

    def add(self, position: int, name: bytes, start: int, stop: int, marks: int = 0) -> None:
        """Add one entry; numbers beyond 64 bits are told before."""
        self.positions.append(position)
        self.names += name
        self.starts.append(start)
        self.stops.append(stop)
        self.marks.append(marks)
        self.name_stops.append(len(self.names))
