"""Runs of zeros, and bytes that stand twice in a source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.operations.compare.alignment import hashes_of
from inspector.operations.protocol.bytes_views import Repeat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MIN_ZEROS = 64
"""The shortest run of zeros that is found unless another length is asked for, in bytes."""
MIN_REPEAT = 256
"""The shortest repeat that is told, in bytes. In large sources short ones are missed, see ``repeats``."""
MAX_ANCHORS = 1 << 18
"""About so many places of a source are remembered: memory."""
ANCHOR_WORDS = 4
"""The size of what is compared at each place, in words of 8 bytes."""
MAX_REPEATS = 10_000
"""The most repeats that are told."""
_WINDOW = 1 << 20
_PIECE = 1 << 16
"""The most bytes compared at a time around a place."""
_FIRST_PIECE = 256
"""Bytes compared first; pieces grow, because most places that look alike soon differ."""
_ZEROS = re.compile(rb"\x00+")


# ---- zeros -----------------------------------------------------------------------------------------------------------


def zero_runs(source: Source, progress: Progress, minimum: int = MIN_ZEROS, start: int = 0) -> Iterator[Span]:
    """The runs of at least ``minimum`` zeros from ``start``, ascending. Raises SourceError and Cancelled."""
    progress.begin("Searching for zeros", max(0, source.size - start))
    last = Span(start, start)
    at = start
    for window in blocks(source, start, source.size, _WINDOW):
        for low, high in _runs_in(window, bytes(max(1, minimum))):
            if last.stop == at + low:
                last = Span(last.start, at + high)
                continue
            if last.size >= minimum:
                yield last
            last = Span(at + low, at + high)
        at += len(window)
        progress.advance(len(window))
    if last.size >= max(1, minimum):
        yield last


def _runs_in(window: bytes, pattern: bytes) -> Iterator[tuple[int, int]]:
    """The runs of zeros in a window that are as long as ``pattern``, or at its edges."""
    match = _ZEROS.match(window)
    stop = match.end() if match else 0
    if stop:
        yield 0, stop
    while (place := window.find(pattern, stop)) >= 0:
        match = _ZEROS.match(window, place)
        stop = match.end() if match else place
        yield place, stop
    tail = len(window.rstrip(b"\0"))
    if stop <= tail < len(window):
        yield tail, len(window)


# ---- repeats ---------------------------------------------------------------------------------------------------------


def repeats(source: Source, progress: Progress) -> tuple[Repeat, ...]:
    """Stretches that stand earlier too, in their order, at any distance; not those that only repeat a short pattern.

    Places are chosen by the hash of what stands there, about ``MAX_ANCHORS`` however large the source is, and compared
    byte by byte: what is told is true, and a repeat that holds no place chosen is missed, which a repeat of some
    ``source.size / MAX_ANCHORS * 8`` bytes hardly does. Raises SourceError and Cancelled.
    """
    import numpy as np

    hashes, places = _anchors(source, progress)
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(hashes[order][1:] == hashes[order][:-1]) + 1
    # Each place with the one before it that has the same hash, in the order of the later places.
    pairs = sorted(zip(places[order[same]].tolist(), places[order[same - 1]].tolist(), strict=True))
    found: list[Repeat] = []
    done = 0
    short = (0, 0)  # where the last stretch that is no repeat ends, and the distance of its copy
    progress.begin("Comparing repeats", len(pairs), "places")
    for later, earlier in pairs:
        progress.advance(1)
        if later < done or (later < short[0] and later - earlier == short[1]):
            continue
        repeat = _grown(source, later, earlier, done)
        if repeat.stop - repeat.start >= MIN_REPEAT:
            found.append(repeat)
            done = repeat.stop
            if len(found) == MAX_REPEATS:
                break
        else:
            short = repeat.stop, later - earlier
    return tuple(found)


def _anchors(source: Source, progress: Progress) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The hashes of the places chosen, and the places."""
    import numpy as np

    width = 8 * ANCHOR_WORDS
    share = min(1.0, MAX_ANCHORS / max(1, source.size))
    limit = np.uint64(min(2**64 - 1, int(share * 2**64)))
    hashes, places = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    count, held, at = 0, b"", 0
    progress.begin("Looking for repeats", source.size)
    for block in blocks(source, 0, source.size, _WINDOW):
        data = held + block
        if len(data) >= width:
            all_hashes = hashes_of(data, ANCHOR_WORDS)
            taken = np.flatnonzero(all_hashes <= limit)
            kept = all_hashes[taken]
            # In a short pattern again and again the same few hashes come again and again: they say nothing.
            fresh = np.ones(len(kept), bool)
            for step in range(1, min(9, len(kept))):
                near = (kept[step:] == kept[:-step]) & (taken[step:] - taken[:-step] <= width)
                fresh[step:] &= ~near
                fresh[:-step] &= ~near
            hashes.append(kept[fresh])
            places.append(taken[fresh] + at)
            count += len(hashes[-1])
            if count > 2 * MAX_ANCHORS:
                limit //= np.uint64(2)
                hashes, places = _fewer(hashes, places, limit)
                count = len(hashes[0])
            held = data[len(data) - width + 1 :]
        else:
            held = data
        at += len(data) - len(held)
        progress.advance(len(block))
    return np.concatenate(hashes), np.concatenate(places)


def _fewer(
    hashes: Sequence[NDArray[np.uint64]], places: Sequence[NDArray[np.int64]], limit: np.uint64
) -> tuple[list[NDArray[np.uint64]], list[NDArray[np.int64]]]:
    import numpy as np

    all_hashes, all_places = np.concatenate(hashes), np.concatenate(places)
    few = all_hashes <= limit
    return [all_hashes[few]], [all_places[few]]


def _grown(source: Source, later: int, earlier: int, first: int) -> Repeat:
    """What is the same around two places, byte by byte, from ``first`` at the earliest; neither overlaps the other."""
    before = _same_before(source, later, earlier, first)
    start, copy = later - before, earlier - before
    return Repeat(start, start + _same_after(source, start, copy), copy)


def _same_after(source: Source, later: int, earlier: int) -> int:
    length, most, piece = 0, min(source.size - later, later - earlier), _FIRST_PIECE
    while length < most:
        size = min(piece, most - length)
        piece = min(_PIECE, 4 * piece)
        same = _common(source.read(later + length, size), source.read(earlier + length, size))
        length += same
        if same < size:
            break
    return length


def _same_before(source: Source, later: int, earlier: int, first: int) -> int:
    length, most, piece = 0, min(later - first, earlier, later - earlier), _FIRST_PIECE
    while length < most:
        size = min(piece, most - length)
        piece = min(_PIECE, 4 * piece)
        one, other = source.read(later - length - size, size), source.read(earlier - length - size, size)
        same = _common(one[::-1], other[::-1])
        length += same
        if same < size:
            break
    return length


def _common(one: bytes, other: bytes) -> int:
    """How many bytes at the beginning are the same."""
    import numpy as np

    size = min(len(one), len(other))
    if one[:size] == other[:size]:
        return size
    return int(np.argmax(np.frombuffer(one, np.uint8, size) != np.frombuffer(other, np.uint8, size)))
