"""Aligning two sources byte by byte, over insertions and deletions.

What is equal at the start and at the end is compared in large blocks. What is left is compared in step where both sides
have the same size, and lined up by anchors where that shows nothing in common: coarse ones first, then ever finer ones
between them. Time is linear in the sizes, and memory does not grow with them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.operations.compare.anchors import MAX_ANCHORS, stretches
from inspector.operations.compare.runs import Runs, common_end, common_start, mismatches, pairs, read_exactly

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COMPARING = "Comparing bytes"

_MIN_DENSE_BYTES = 32
"""A shorter cluster of differences is a change in place; a longer one may be a shift."""
_MAX_BRIDGED_BYTES = 8
"""Equal stretches up to this size do not end a cluster: among 2,000 random bytes 8 are equal by chance."""
_MAX_KEPT_INTERVALS = 4_096
"""Intervals of one cluster kept; one with more is dense."""
_MAX_INTERVALS_PER_BLOCK = 2_048
"""Where a block has more, it is not worth while to tell them apart."""
_MAX_PRODUCT = 4_096
"""Ranges whose sizes have at most this product are lined up byte by byte."""
_MIN_FOLLOWED_BYTES = 4 << 20
"""Shorter ranges are lined up by anchors alone."""
_WINDOWS_BYTES = (4 << 10, 64 << 10, 1 << 20)
"""How many bytes of both sides are looked at behind a difference, in turn, to find where they go on alike."""
_PROBES = 16
_PROBE_BYTES = 32
_MIN_AGREEING_PROBES = 6
"""Probes of a window that have to be found once, at one distance; a block that was moved has fewer."""
_MAX_PROBED_SHARE = 2
"""Bytes looked at in windows for each byte of the ranges, before anchors are used for the rest."""
_LEVELS = ((4, sys.maxsize), (4, 1 << 20), (1, 1 << 16), (0, 1 << 12))
"""How long anchors are, in words of 8 bytes (0 is half a word), and in how many bytes they are looked for: finer ones
between coarser ones. Shorter ones would occur by chance in more bytes."""


def align(a: Source, b: Source, progress: Progress) -> Runs:
    """The runs in which two sources differ. Raises SourceError and Cancelled."""
    progress.begin(COMPARING, max(a.size, b.size))
    aligner = _Aligner(a, b, progress)
    aligner.region(Span(0, a.size), Span(0, b.size), 0)
    progress.done = progress.total
    return aligner.runs


class _Cluster(Struct):
    """Differences near each other: the bytes ``[start, stop)``, ``differing`` of them, in ``intervals`` if not many."""

    start: int
    stop: int
    differing: int
    intervals: list[tuple[int, int]]


class _Aligner:
    def __init__(self, a: Source, b: Source, progress: Progress) -> None:
        self._a = a
        self._b = b
        self._progress = _Clamped(progress)
        self._probes_left = _MAX_PROBED_SHARE * (a.size + b.size)
        self.runs = Runs()

    def region(self, a: Span, b: Span, level: int) -> None:
        """Compare two ranges, what is equal at both ends first."""
        start = common_start(self._a, a.start, self._b, b.start, min(a.size, b.size), self._progress)
        a, b = Span(a.start + start, a.stop), Span(b.start + start, b.stop)
        end = common_end(self._a, a.stop, self._b, b.stop, min(a.size, b.size), self._progress)
        a, b = Span(a.start, a.stop - end), Span(b.start, b.stop - end)
        if not a.size or not b.size:
            self.runs.add(a, b)
        elif a.size == b.size and not (level == 0 and self._shifted(a, b)):
            self._in_step(a.start, b.start, a.size, level)
        elif not self._by_anchors(a, b, level):
            self._replaced(a, b)

    def _replaced(self, a: Span, b: Span) -> None:
        """Ranges of different sizes that no anchor lines up."""
        if a.size * b.size <= _MAX_PRODUCT and self._by_single_bytes(a, b):
            return
        same = min(a.size, b.size)
        self._in_step(a.start, b.start, same, len(_LEVELS))
        self.runs.add(Span(a.start + same, a.stop), Span(b.start + same, b.stop))

    def _by_single_bytes(self, a: Span, b: Span) -> bool:
        """Line two short ranges up byte by byte. False if most of the shorter one is not in the other."""
        some, others = read_exactly(self._a, *_sized(a)), read_exactly(self._b, *_sized(b))
        steps = SequenceMatcher(None, some, others, autojunk=False).get_opcodes()
        if 2 * sum(stop - start for what, start, stop, _, _ in steps if what == "equal") < min(a.size, b.size):
            return False
        for what, a_start, a_stop, b_start, b_stop in steps:
            if what != "equal":
                self.runs.add(Span(a.start + a_start, a.start + a_stop), Span(b.start + b_start, b.start + b_stop))
        return True

    def _in_step(self, a: int, b: int, size: int, level: int) -> None:
        """Compare ``size`` bytes in step; where nearly all differ, look for a shift."""
        cluster: _Cluster | None = None
        for at, some, others in pairs(self._a, a, self._b, b, size, self._progress):
            if some == others:
                continue
            for start, stop, differing in self._intervals(mismatches(some, others)):
                if cluster is not None and at + start - cluster.stop > _MAX_BRIDGED_BYTES:
                    self._settle(cluster, a, b, level)
                    cluster = None
                if cluster is None:
                    cluster = _Cluster(at + start, at + stop, 0, [])
                cluster.stop = at + stop
                cluster.differing += differing
                if len(cluster.intervals) < _MAX_KEPT_INTERVALS:
                    cluster.intervals.append((at + start, at + stop))
        if cluster is not None:
            self._settle(cluster, a, b, level)

    def _intervals(self, places: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
        """The places as intervals and how many are in each; neighbours are joined where there would be too many."""
        bridged = 0
        while True:
            ends = (places[1:] > places[:-1] + 1 + bridged).nonzero()[0]
            if len(ends) < _MAX_INTERVALS_PER_BLOCK:
                break
            bridged = max(_MAX_BRIDGED_BYTES, 2 * bridged)
            self.runs.gap = max(self.runs.gap, bridged)
        firsts, lasts = [0, *(ends + 1).tolist()], [*ends.tolist(), len(places) - 1]
        starts, stops = places[firsts].tolist(), (places[lasts] + 1).tolist()
        counts = [last + 1 - first for first, last in zip(firsts, lasts, strict=True)]
        return zip(starts, stops, counts, strict=True)

    def _settle(self, cluster: _Cluster, a: int, b: int, level: int) -> None:
        size = cluster.stop - cluster.start
        dense = size >= _MIN_DENSE_BYTES and 2 * cluster.differing > size
        many = len(cluster.intervals) == _MAX_KEPT_INTERVALS
        a_span = Span(a + cluster.start, a + cluster.stop)
        b_span = Span(b + cluster.start, b + cluster.stop)
        if dense and self._by_anchors(a_span, b_span, level):
            return
        if many or dense:
            self.runs.add(a_span, b_span)
            return
        for start, stop in cluster.intervals:
            self.runs.add(Span(a + start, a + stop), Span(b + start, b + stop))

    # ---- following what is near --------------------------------------------------------------------------------

    def _followed(self, a: Span, b: Span) -> tuple[Span, Span]:
        """Line large ranges up from difference to difference, as long as both sides go on alike soon behind each.

        Returns what is left. What is equal is only compared, which takes far less time than to look for anchors in it.
        """
        while min(a.size, b.size) >= _MIN_FOLLOWED_BYTES and self._probes_left > 0:
            found = self._next_alike(a, b)
            if found is None:
                break
            a_at, b_at = found
            self.region(Span(a.start, a_at), Span(b.start, b_at), 0)
            size = min(a.stop - a_at, b.stop - b_at)
            same = common_start(self._a, a_at, self._b, b_at, size, self._progress)
            a, b = Span(a_at + same, a.stop), Span(b_at + same, b.stop)
        return a, b

    def _shifted(self, a: Span, b: Span) -> bool:
        """Whether large ranges of one size seem to go on at different distances from their starts."""
        found = self._next_alike(a, b) if a.size >= _MIN_FOLLOWED_BYTES else None
        return found is not None and found[0] - a.start != found[1] - b.start

    def _next_alike(self, a: Span, b: Span) -> tuple[int, int] | None:
        """Where both ranges go on alike; None where that is not near or not sure."""
        for window in _WINDOWS_BYTES:
            some = read_exactly(self._a, a.start, min(window, a.size))
            others = read_exactly(self._b, b.start, min(window, b.size))
            self._probes_left -= len(some) + len(others)
            self._progress.advance(0)
            shifts: dict[int, list[int]] = {}
            for at in range(0, len(some) - _PROBE_BYTES, max(1, len(some) // _PROBES)):
                probe = some[at : at + _PROBE_BYTES]
                there = others.find(probe)
                if there >= 0 and others.find(probe, there + 1) < 0 and some.find(probe) == at == some.rfind(probe):
                    shifts.setdefault(there - at, []).append(at)
            shift = max(shifts, key=lambda each: len(shifts[each]), default=0)
            if len(shifts.get(shift, ())) >= _MIN_AGREEING_PROBES:
                at = shifts[shift][0]
                return a.start + at, b.start + at + shift
        return None

    # ---- anchors -----------------------------------------------------------------------------------------------

    def _by_anchors(self, a: Span, b: Span, level: int) -> bool:
        """Line two ranges up by anchors, and compare what lies between them. False if there is none."""
        rest = self._followed(a, b) if level == 0 else (a, b)
        if rest != (a, b):
            self.region(*rest, level)
            return True
        longest = max(a.size, b.size)
        while level < len(_LEVELS):
            words, most = _LEVELS[level]
            if longest > most:
                return False
            found = stretches(self._a, a, self._b, b, words, self._progress)
            # Of up to MAX_ANCHORS bytes the first level takes all anchors that the second would.
            level += 2 if level == 0 and longest <= MAX_ANCHORS else 1
            if found and not (a.size == b.size and all(each.a - a.start == each.b - b.start for each in found)):
                break
        else:
            return False
        a_at, b_at = a.start, b.start
        for each in found:
            self.region(Span(a_at, each.a), Span(b_at, each.b), level)
            self._in_step(each.a, each.b, each.size, level)
            a_at, b_at = each.a + each.size, each.b + each.size
        self.region(Span(a_at, a.stop), Span(b_at, b.stop), level)
        return True


def _sized(span: Span) -> tuple[int, int]:
    return span.start, span.size


class _Clamped(Progress):
    """A progress for several passes over the same bytes: it counts every byte, and stops short of the end."""

    def __init__(self, whole: Progress) -> None:
        super().__init__()
        self._whole = whole

    def advance(self, count: int) -> None:
        """See Progress."""
        self._whole.advance(min(count, max(0, self._whole.total - self._whole.done)))
