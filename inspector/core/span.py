"""Half-open ranges of bytes, with the set operations that the field tree needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """Bytes ``[start, stop)`` of exactly one source."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.stop - self.start

    def clipped(self, start: int, stop: int) -> Span:
        """The part of the span inside ``[start, stop)``; an empty span if there is none."""
        low = min(max(self.start, start), stop)
        return Span(low, max(low, min(self.stop, stop)))


Spans = tuple[Span, ...]


def total(spans: Iterable[Span]) -> int:
    """The total number of bytes."""
    return sum(span.size for span in spans)


def united(spans: Iterable[Span]) -> list[Span]:
    """The spans sorted; those that overlap or touch become one."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].stop:
            found[-1] = Span(found[-1].start, max(found[-1].stop, span.stop))
        else:
            found.append(span)
    return found


def intersect(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """The parts of ``some`` inside ``others``. Both are sorted, and so is the result; touching parts are not joined."""
    found: list[Span] = []
    i = j = 0
    while i < len(some) and j < len(others):
        start, stop = max(some[i].start, others[j].start), min(some[i].stop, others[j].stop)
        if start < stop:
            found.append(Span(start, stop))
        if some[i].stop < others[j].stop:
            i += 1
        else:
            j += 1
    return found


def subtract(some: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """The parts of ``some`` outside ``others``. Both are sorted, and so is the result."""
    taken, end = united(others), max((span.stop for span in some), default=0)
    starts, stops = [span.start for span in taken], [span.stop for span in taken]
    return intersect(some, list(map(Span, (0, *stops), (*starts, end))))
