"""Aligning two sources byte by byte, over insertions and deletions.

What is equal at the start and at the end is compared in large blocks. What is left is compared in step where both sides
have the same size, and lined up by anchors where that shows nothing in common: coarse ones first, then ever finer ones
between them. Time is linear in the sizes, and memory does not grow with them.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError
from inspector.core.span import Span
from inspector.operations.protocol.compare_views import Alignment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

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


# ---- anchors: short stretches that occur once in each of two ranges of bytes -----------------------------------------

MAX_ANCHORS = 1 << 16
"""About so many stretches are chosen on each side, however long the ranges are."""
_BLOCK_BYTES = 1 << 18
_WORD_BYTES = 8
_MIX = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93)
"""Odd numbers without a pattern; zeros must not hash to zero, or every stretch of zeros would be chosen."""


class Stretch(Struct, frozen=True):
    """``size`` bytes at ``a`` of one range that probably are those at ``b`` of the other, apart from what changed."""

    a: int
    b: int
    size: int


def stretches(
    a: Source, a_range: tuple[int, int], b: Source, b_range: tuple[int, int], words: int, progress: Progress
) -> list[Stretch]:
    """How two ranges of bytes line up: stretches in the order of both, none overlapping another on either side.

    ``words`` is how long an anchor is, in words of 8 bytes. Raises SourceError and Cancelled.
    """
    import numpy as np

    longest = max(a_range[1] - a_range[0], b_range[1] - b_range[0])
    share = min(1.0, MAX_ANCHORS / max(1, longest))
    a_hashes, a_places = _chosen(a, *a_range, words, share, progress)
    b_hashes, b_places = _chosen(b, *b_range, words, share, progress)
    a_once, b_once = _single(a_hashes), _single(b_hashes)
    _, in_a, in_b = np.intersect1d(a_hashes[a_once], b_hashes[b_once], assume_unique=True, return_indices=True)
    pairs_a, pairs_b = a_places[a_once][in_a], b_places[b_once][in_b]
    order = np.argsort(pairs_a, kind="stable")
    in_a_order, in_b_order = pairs_a[order].tolist(), pairs_b[order].tolist()
    return _joined([(in_a_order[i], in_b_order[i]) for i in ascending(in_b_order)], words * _WORD_BYTES)


def _chosen(
    source: Source, start: int, stop: int, words: int, share: float, progress: Progress
) -> tuple[Numbers, Numbers]:
    """The hashes and the places of the stretches chosen, in order of their places."""
    import numpy as np

    width = words * _WORD_BYTES
    limit = int(share * 2**64) if share < 1 else 2**64
    hashes: list[Numbers] = [np.zeros(0, dtype=np.uint64)]
    places: list[Numbers] = [np.zeros(0, dtype=np.uint64)]
    count = 0
    for at in range(start, stop - width + 1, _BLOCK_BYTES):
        data = read_exactly(source, at, min(_BLOCK_BYTES + width - 1, stop - at))
        found = hashes_of(data, words)
        taken = np.flatnonzero(found < np.uint64(limit)) if limit < 2**64 else np.arange(len(found))
        kept = found[taken]
        # Of a period of one byte, zeros for example, one stretch is enough.
        fresh = np.ones(len(kept), dtype=bool)
        fresh[1:] = kept[1:] != kept[:-1]
        hashes.append(kept[fresh])
        places.append((taken[fresh] + at).astype(np.uint64))
        count += len(hashes[-1])
        if count > 2 * MAX_ANCHORS:  # longer periods
            limit //= 2
            for i, each in enumerate(hashes):
                few = each < np.uint64(limit)
                hashes[i], places[i] = each[few], places[i][few]
            count = sum(map(len, hashes))
        progress.advance(0)
    return np.concatenate(hashes), np.concatenate(places)


def hashes_of(data: bytes, words: int) -> Numbers:
    """The hash of every stretch of ``data``."""
    import numpy as np

    count = len(data) - words * _WORD_BYTES + 1
    found = np.empty(count, dtype=np.uint64)
    for shift in range(min(_WORD_BYTES, count)):
        rows = (len(data) - shift) // _WORD_BYTES
        all_words = np.frombuffer(data, dtype="<u8", count=rows, offset=shift)
        length = rows - words + 1
        value: Numbers = all_words[:length] + np.uint64(1)
        value *= np.uint64(_MIX[0])
        for at in range(1, words):
            value ^= value >> np.uint64(29)
            value += all_words[at : at + length]
            value *= np.uint64(_MIX[at % len(_MIX)])
        value ^= value >> np.uint64(32)
        value *= np.uint64(_MIX[-1])
        found[shift::_WORD_BYTES] = value
    return found


def _single(hashes: Numbers) -> NDArray[np.int64]:
    """The indices of the hashes that occur once, in order of the hashes."""
    import numpy as np

    _, places, counts = np.unique(hashes, return_index=True, return_counts=True)
    alone: NDArray[np.int64] = places[counts == 1]
    return alone


def ascending(values: Sequence[int]) -> list[int]:
    """The indices of the longest ascending subsequence, in order."""
    ends: list[int] = []  # the smallest last value of an ascending sequence of each length
    last: list[int] = []  # the index of that value
    before = [-1] * len(values)
    for i, value in enumerate(values):
        length = bisect_left(ends, value)
        before[i] = last[length - 1] if length else -1
        if length == len(ends):
            ends.append(value)
            last.append(i)
        else:
            ends[length], last[length] = value, i
    chain: list[int] = []
    i = last[-1] if last else -1
    while i >= 0:
        chain.append(i)
        i = before[i]
    chain.reverse()
    return chain


def _joined(pairs: Sequence[tuple[int, int]], width: int) -> list[Stretch]:
    """Anchors at the same distance joined into stretches, and what overlaps cut off the later one."""
    found: list[Stretch] = []
    for a, b in pairs:
        if found:
            last = found[-1]
            if b - a == last.b - last.a:
                found[-1] = Stretch(last.a, last.b, a + width - last.a)
                continue
            cut = max(0, last.a + last.size - a, last.b + last.size - b)
            if cut < width:
                found.append(Stretch(a + cut, b + cut, width - cut))
        else:
            found.append(Stretch(a, b, width))
    return found


# ---- aligning --------------------------------------------------------------------------------------------------------

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
_LEVELS = ((4, sys.maxsize), (4, 1 << 20), (1, 1 << 16))
"""How long anchors are, in words of 8 bytes, and in how many bytes they are looked for: finer ones between coarser
ones. Shorter ones would occur by chance in more bytes."""


def align(a: Source, b: Source, progress: Progress) -> Alignment:
    """Two sources side by side. Raises SourceError and Cancelled."""
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
        self.runs = Alignment(a.size, b.size)

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
        some, others = read_exactly(self._a, a.start, a.size), read_exactly(self._b, b.start, b.size)
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


class _Clamped(Progress):
    """A progress for several passes over the same bytes: it counts every byte, and stops short of the end."""

    def __init__(self, whole: Progress) -> None:
        super().__init__()
        self._whole = whole

    def advance(self, count: int) -> None:
        """See Progress."""
        self._whole.advance(min(count, max(0, self._whole.total - self._whole.done)))
