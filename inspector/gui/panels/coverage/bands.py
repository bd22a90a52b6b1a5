"""What each pixel column of a band shows. Exact for any number of ranges; the time depends only on the columns.

Pure: no Qt here. A column shows a *set*, as bits: the states of the ranges it intersects, whether it contains keys
of no range (a gap), keys of two ranges (an overlap), or keys of metadata without an archive (an orphan).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import numpy as np

from inspector.core.collection import gaps_between
from inspector.operations.protocol.views import RANGE_STATES, RangeState

MIN_KEYS = 4
"""Keys that a band shows at the highest zoom."""
_TICK_STEPS = (1, 2, 5)

GAP, OVERLAP, ORPHAN = (1 << (len(RANGE_STATES) + at) for at in range(3))
"""Bits of a set that are not states."""
_BITS = {state: 1 << at for at, state in enumerate(RANGE_STATES)}


def bit(state: RangeState) -> int:
    """The bit of a state in a set."""
    return _BITS[state]


def states_in(shown: int) -> list[RangeState]:
    """The states in a set."""
    return [state for state in RANGE_STATES if shown & _BITS[state]]


class Run(NamedTuple):
    """Adjacent pixel columns ``[left, right)`` that show the same set."""

    left: int
    right: int
    shown: int


class Intervals:
    """Disjoint intervals of keys, both ends included, for lookups by column."""

    def __init__(self, intervals: Iterable[tuple[int, int]]) -> None:
        self.firsts: list[int] = []
        self.lasts: list[int] = []
        reached = -2
        for first, last in sorted(intervals):
            if first > reached + 1:
                self.firsts.append(first)
                self.lasts.append(last)
                reached = last
            elif last > reached:
                self.lasts[-1] = reached = last

    def first_in(self, start: int, stop: int) -> tuple[int, int] | None:
        """The first interval that contains a key of ``[start, stop)``, None if none does."""
        at = bisect_left(self.lasts, start)
        found = at < len(self.firsts) and self.firsts[at] < stop
        return (self.firsts[at], self.lasts[at]) if found else None


class Band:
    """The ranges of one dataset, sorted by first key; both ends are included."""

    def __init__(
        self,
        firsts: Sequence[int],
        lasts: Sequence[int],
        overlaps: Iterable[tuple[int, int]] = (),
        orphans: Iterable[tuple[int, int]] = (),
    ) -> None:
        self.firsts = list(firsts)
        self.lasts = list(lasts)
        self._reach = list(accumulate(self.lasts, max))
        self.gaps = Intervals(gaps_between(self.firsts, self.lasts))
        self.overlaps = Intervals(overlaps)
        self.orphans = Intervals(orphans)
        self._by_last = np.argsort(np.array(self.lasts, object), kind="stable")  # keys have up to 20 digits
        self._sorted_lasts = sorted(self.lasts)
        self.set_states(bytes(len(self.firsts)))

    def set_states(self, states: bytes) -> None:
        """Set the state of each range, as positions in RANGE_STATES."""
        is_in = np.frombuffer(states, np.uint8) == np.arange(len(RANGE_STATES), dtype=np.uint8)[:, None]
        # For each state, how many of the first so many ranges have it: in order of first key, and of last key.
        self._begun, self._ended = (
            np.cumsum(np.insert(each, 0, False, axis=1), axis=1) for each in (is_in, is_in[:, self._by_last])
        )

    def _met(self, columns: Sequence[tuple[int, int]]) -> np.ndarray:
        """How many ranges with each state have a key of each column."""
        begun = [bisect_left(self.firsts, stop) for _, stop in columns]
        ended = [bisect_left(self._sorted_lasts, first) for first, _ in columns]
        met: np.ndarray = self._begun[:, begun] - self._ended[:, ended]
        return met

    # ---- columns -----------------------------------------------------------------------------------------------

    def sets(self, keys: Keys) -> list[int]:
        """The set of each pixel column."""
        columns = [keys.column(x) for x in range(keys.width)]
        found: list[int] = ((self._met(columns) > 0) * np.array(list(_BITS.values()))[:, None]).sum(axis=0).tolist()
        for intervals, mark in ((self.gaps, GAP), (self.overlaps, OVERLAP), (self.orphans, ORPHAN)):
            if intervals.firsts:
                found = [
                    each | mark * (intervals.first_in(*column) is not None)
                    for each, column in zip(found, columns, strict=True)
                ]
        return found

    def runs(self, keys: Keys) -> list[Run]:
        """Runs of columns with the same set; empty sets are left out."""
        runs, left = [], 0
        for shown, alike in groupby(self.sets(keys)):
            right = left + sum(1 for _ in alike)
            if shown:
                runs.append(Run(left, right, shown))
            left = right
        return runs

    def edges(self, keys: Keys, min_px: int) -> list[int]:
        """The pixels at which ranges start, and at which they end inside another range.

        Empty if ranges are narrower than ``min_px`` pixels on average.
        """
        low = bisect_left(self.firsts, keys.start)
        high = bisect_left(self.firsts, keys.stop)
        if (high - low) * min_px > keys.width:
            return []
        ends = (last + 1 for last in self.overlaps.lasts if keys.start <= last + 1 < keys.stop)
        return sorted({keys.x(key) for key in (*self.firsts[low:high], *ends)})

    # ---- ranges ------------------------------------------------------------------------------------------------

    def at(self, first: int, stop: int) -> int | None:
        """The last range to start of those with a key of ``[first, stop)``, None if there is none."""
        near = range(bisect_left(self._reach, first), bisect_left(self.firsts, stop))
        return next((each for each in reversed(near) if self.lasts[each] >= first), None)

    def tally(self, first: int, stop: int) -> list[tuple[RangeState, int]]:
        """How many ranges with a key of ``[first, stop)`` have each state; states without ranges are left out."""
        counted = self._met([(first, stop)])[:, 0].tolist()
        return [(state, number) for state, number in zip(RANGE_STATES, counted, strict=True) if number]


class Keys(NamedTuple):
    """The visible part of the key axis: keys ``[start, stop)`` across ``width`` pixels. Keys have up to 20 digits."""

    start: int
    stop: int
    width: int

    @property
    def size(self) -> int:
        """The number of keys."""
        return self.stop - self.start

    def column(self, x: int) -> tuple[int, int]:
        """The keys ``[first, stop)`` of a pixel column: at least one; together the columns cover all keys."""
        first = self.start + x * self.size // self.width
        return first, max(first + 1, self.start + (x + 1) * self.size // self.width)

    def x(self, key: int) -> int:
        """The pixel at which a key starts; outside the band if the key is."""
        return -((self.start - key) * self.width // self.size)

    def sized(self, width: int) -> Keys:
        """The same keys across ``width`` pixels."""
        return self._replace(width=max(1, width))

    def zoomed(self, steps: int, x: int, limits: Keys) -> Keys:
        """Half as many keys per step, or twice as many per negative step; the key at ``x`` stays in place."""
        size = self.size >> steps if steps > 0 else self.size << -steps
        size = max(min(MIN_KEYS, limits.size), min(size, limits.size))
        at = self.start + x * self.size // self.width
        return Keys(at - x * size // self.width, at - x * size // self.width + size, self.width).within(limits)

    def moved(self, pixels: int, limits: Keys) -> Keys:
        """Moved right by ``pixels``, within the limits."""
        by = pixels * self.size // self.width
        return Keys(self.start + by, self.stop + by, self.width).within(limits)

    def within(self, limits: Keys) -> Keys:
        """The same number of keys, moved into the limits."""
        start = max(limits.start, min(self.start, limits.stop - self.size))
        return Keys(start, start + self.size, self.width)

    def showing(self, first: int, last: int, limits: Keys) -> Keys:
        """Moved as little as possible to show the keys ``first`` to ``last``, or at least ``first``."""
        if self.start <= first and last < self.stop:
            return self
        if last - first >= self.size or first < self.start:
            return Keys(first, first + self.size, self.width).within(limits)
        return Keys(last + 1 - self.size, last + 1, self.width).within(limits)

    def ticks(self, min_px: int) -> list[int]:
        """Round keys for the axis labels, at least ``min_px`` pixels from each other."""
        least = max(1, min_px * self.size // self.width)
        power = 10 ** (len(str(least)) - 1)
        step = next((each * power for each in _TICK_STEPS if each * power >= least), 10 * power)
        return list(range(-(-self.start // step) * step, self.stop, step))


def limits_of(first: int, last: int, width: int) -> Keys:
    """All keys of a dataset, ``first`` to ``last``, with a margin of 2 % on both sides."""
    room = max(1, (last + 1 - first) // 50)
    return Keys(max(0, first - room), last + 1 + room, max(1, width))
