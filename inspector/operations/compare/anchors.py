"""Anchors: short stretches that occur once in each of two ranges of bytes, and so show how they line up.

A stretch is chosen by the hash of its own bytes, so the same ones are chosen on both sides wherever they stand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.compare.runs import read_exactly

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

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

    ``words`` is how long an anchor is, in words of 8 bytes; 0 takes half a word. Raises SourceError and Cancelled.
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
    width = words * _WORD_BYTES or _WORD_BYTES // 2
    in_a_order, in_b_order = pairs_a[order].tolist(), pairs_b[order].tolist()
    return _joined([(in_a_order[i], in_b_order[i]) for i in ascending(in_b_order)], width)


def _chosen(
    source: Source, start: int, stop: int, words: int, share: float, progress: Progress
) -> tuple[Numbers, Numbers]:
    """The hashes and the places of the stretches chosen, in order of their places."""
    import numpy as np

    width = words * _WORD_BYTES or _WORD_BYTES // 2
    limit = int(share * 2**64) if share < 1 else 2**64
    hashes: list[Numbers] = []
    places: list[Numbers] = []
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
    if not hashes:
        return np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64)
    return np.concatenate(hashes), np.concatenate(places)


def hashes_of(data: bytes, words: int) -> Numbers:
    """The hash of every stretch of ``data``."""
    import numpy as np

    if not words:
        raw = np.frombuffer(data, dtype=np.uint8).astype(np.uint64)
        half = raw[:-3] | raw[1:-2] << np.uint64(8) | raw[2:-1] << np.uint64(16) | raw[3:] << np.uint64(24)
        mixed: Numbers = half * np.uint64(_MIX[0])
        return mixed
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

    order: NDArray[np.int64] = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    alone = np.ones(len(ordered), dtype=bool)
    same = ordered[1:] == ordered[:-1]
    alone[1:] &= ~same
    alone[:-1] &= ~same
    return order[alone]


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
