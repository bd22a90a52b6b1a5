"""Where two sources differ: reading them side by side, and the runs of bytes that differ, in columns.

What is between the runs is equal.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError
from inspector.core.span import Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# ---- reading side by side --------------------------------------------------------------------------------------------

BLOCK_BYTES = 1 << 17
"""Bytes compared at a time: blocks stay in the processor's cache, and the system takes their memory back from none."""


def read_exactly(source: Source, offset: int, length: int) -> bytes:
    """``length`` bytes at ``offset``. Raises SourceError where they cannot be had, all of them."""
    data = source.read(offset, length)
    while len(data) < length:
        more = source.read(offset + len(data), length - len(data))
        if not more:
            raise SourceError(f"{visible(source.name)} became shorter while it was compared.")
        data += more
    return data


def mismatches(a: bytes, b: bytes) -> NDArray[np.int64]:
    """The places where two pieces of the same size differ."""
    import numpy as np

    return np.flatnonzero(np.frombuffer(a, dtype=np.uint8) != np.frombuffer(b, dtype=np.uint8))


def pairs(
    a: Source, a_start: int, b: Source, b_start: int, size: int, progress: Progress
) -> Iterator[tuple[int, bytes, bytes]]:
    """Both sides in blocks, each with how far it is from the start; advances ``progress`` by their sizes.

    Raises SourceError and Cancelled.
    """
    for at in range(0, size, BLOCK_BYTES):
        length = min(BLOCK_BYTES, size - at)
        yield at, read_exactly(a, a_start + at, length), read_exactly(b, b_start + at, length)
        progress.advance(length)


def common_start(a: Source, a_start: int, b: Source, b_start: int, size: int, progress: Progress) -> int:
    """How many of ``size`` bytes are equal from the start. Raises SourceError and Cancelled."""
    for at, some, others in pairs(a, a_start, b, b_start, size, progress):
        if some != others:
            return at + int(mismatches(some, others)[0])
    return size


def common_end(a: Source, a_stop: int, b: Source, b_stop: int, size: int, progress: Progress) -> int:
    """How many of ``size`` bytes are equal at the end. Raises SourceError and Cancelled."""
    for at in range(0, size, BLOCK_BYTES):
        length = min(BLOCK_BYTES, size - at)
        some = read_exactly(a, a_stop - at - length, length)
        others = read_exactly(b, b_stop - at - length, length)
        if some != others:
            return at + length - 1 - int(mismatches(some, others)[-1])
        progress.advance(length)
    return size


# ---- runs ------------------------------------------------------------------------------------------------------------

MAX_RUNS = 100_000
"""Runs listed; where there are more, neighbours are listed as one."""
_FIRST_GAP_BYTES = 16
"""Neighbours this near are listed as one before others are."""


class Run(NamedTuple):
    """Bytes ``a`` of one source stand where the other has ``b``; one of them may be empty."""

    a: Span
    b: Span


class Runs:
    """Differing runs in the order of both sources, neither touching nor overlapping.

    A run has as many bytes on both sides (changed), or none in B (removed) or none in A (added). ``changed``, ``added``
    and ``removed`` count bytes; a few equal ones among many that changed count as changed. ``gap`` is 0, or the largest
    equal stretch in bytes that a listed run may contain because there were too many runs.
    """

    def __init__(self, most: int = MAX_RUNS) -> None:
        self.a_starts = array("Q")
        self.a_stops = array("Q")
        self.b_starts = array("Q")
        self.b_stops = array("Q")
        self.changed = 0
        self.added = 0
        self.removed = 0
        self.gap = 0
        self._most = most

    def __len__(self) -> int:
        return len(self.a_starts)

    def __getitem__(self, at: int) -> Run:
        return Run(Span(self.a_starts[at], self.a_stops[at]), Span(self.b_starts[at], self.b_stops[at]))

    def __iter__(self) -> Iterator[Run]:
        return map(self.__getitem__, range(len(self)))

    def add(self, a: Span, b: Span) -> None:
        """Append a run behind all others. One with different sizes becomes a changed and an added or removed one."""
        same = min(a.size, b.size)
        self.changed += same
        self.added += b.size - same
        self.removed += a.size - same
        self._append(a.start, a.start + same, b.start, b.start + same)
        self._append(a.start + same, a.stop, b.start + same, b.stop)
        if len(self) > self._most:
            self._merge()

    def _append(self, a_start: int, a_stop: int, b_start: int, b_stop: int) -> None:
        a_size, b_size = a_stop - a_start, b_stop - b_start
        if not a_size and not b_size:
            return
        if self._touches(a_start, b_start) and self._kind(len(self) - 1) == (a_size > 0, b_size > 0):
            self.a_stops[-1], self.b_stops[-1] = a_stop, b_stop
            return
        for column, value in zip(self._columns(), (a_start, a_stop, b_start, b_stop), strict=True):
            column.append(value)

    def _touches(self, a_start: int, b_start: int) -> bool:
        return len(self) > 0 and self.a_stops[-1] == a_start and self.b_stops[-1] == b_start

    def _kind(self, at: int) -> tuple[bool, bool]:
        return self.a_stops[at] > self.a_starts[at], self.b_stops[at] > self.b_starts[at]

    def _columns(self) -> tuple[array[int], ...]:
        return self.a_starts, self.a_stops, self.b_starts, self.b_stops

    def _merge(self) -> None:
        """List neighbours as one, the nearest first, until half of the room is free."""
        self.gap = max(self.gap, _FIRST_GAP_BYTES)
        while len(self) > self._most // 2:
            before = list(self)
            for column in self._columns():
                del column[:]
            a, b = before[0]
            for run in before[1:]:
                if run.a.start - a.stop <= self.gap:
                    a, b = Span(a.start, run.a.stop), Span(b.start, run.b.stop)
                else:
                    self._append_both(a, b)
                    a, b = run
            self._append_both(a, b)
            if len(self) > self._most // 2:
                self.gap *= 2

    def _append_both(self, a: Span, b: Span) -> None:
        same = min(a.size, b.size)
        self._append(a.start, a.start + same, b.start, b.start + same)
        self._append(a.start + same, a.stop, b.start + same, b.stop)
