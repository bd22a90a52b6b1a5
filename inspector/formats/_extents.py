"""Lay out the extents that members claim: rows that own every byte of a range once, overlaps and gaps."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import le
from typing import NamedTuple

from msgspec import Struct, field

from inspector.core.archive import Archive
from inspector.core.format import MemberError
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import blocks

GAP = -1
"""The owner of a row that no extent claims."""
MAX_OVERLAPS = 1_000
"""Overlaps kept; the rest are counted."""
_MANY = 16_384
"""Fewer extents than numpy is worth its import for."""


class Overlap(NamedTuple):
    """Bytes ``[start, stop)`` of the extent ``later`` that the extent ``earlier`` claims too."""

    earlier: int
    later: int
    start: int
    stop: int


class Rows(Struct):
    """Rows in file order that tile a range ending at ``stop``.

    Row ``i`` is ``[starts[i], starts[i + 1])`` and the last row ends at ``stop``; ``owners[i]`` is the position of its
    extent in the columns, or GAP. Bytes that several extents claim go to the one that begins first. An extent that
    is left with nothing has no row; an empty extent between others has an empty row.
    """

    stop: int
    starts: array[int]
    owners: Sequence[int]
    gaps: array[int] = field(default_factory=lambda: array("Q"))
    overlaps: list[Overlap] = field(default_factory=list)
    overlap_count: int = 0

    def row_stop(self, row: int) -> int:
        """The end of a row (exclusive)."""
        return self.starts[row + 1] if row + 1 < len(self.starts) else self.stop


def lay_out(starts: array[int], stops: array[int], low: int, high: int) -> Rows:
    """Rows for the extents ``[starts[i], stops[i])`` within ``[low, high)``; ``gaps`` are the rows that are gaps.

    The columns are ``array("Q")`` in any order. Extents are clipped to the range; one that ends before it begins
    claims nothing.
    """
    # The extents of every sound archive tile the range in order.
    if len(starts) and starts[0] == low and stops[-1] == high and starts[1:] == stops[:-1] and _end_late(starts, stops):
        return Rows(high, starts, range(len(starts)))
    owners = array("i")
    rows = Rows(high, array("Q"), owners)
    end, holder = low, GAP
    order = sorted(range(len(starts)), key=stops.__getitem__)
    order.sort(key=starts.__getitem__)  # without a pair for each of a million extents
    for position in order:
        start, stop = max(starts[position], low), min(stops[position], high)
        empty = starts[position] == stops[position]
        if start > stop or (start == stop and not empty):
            continue
        if start < end and not empty:
            rows.overlap_count += 1
            if len(rows.overlaps) < MAX_OVERLAPS:
                rows.overlaps.append(Overlap(holder, position, start, min(stop, end)))
        if start > end:
            rows.gaps.append(len(rows.starts))
            rows.starts.append(end)
            owners.append(GAP)
        if stop > end or start >= end:
            rows.starts.append(max(start, end))
            owners.append(position)
        if stop > end:
            end, holder = stop, position
    if end < high:
        rows.gaps.append(len(rows.starts))
        rows.starts.append(end)
        owners.append(GAP)
    return rows


def _end_late(starts: array[int], stops: array[int]) -> bool:
    """Whether no extent ends before it begins."""
    if len(starts) < _MANY:
        return all(map(le, starts, stops))
    import numpy as np

    return bool((np.frombuffer(starts, np.uint64) <= np.frombuffer(stops, np.uint64)).all())


def shared_extents(starts: array[int], stops: array[int]) -> Sequence[int]:
    """The positions of all extents that share bytes with another; the columns are as in ``lay_out``."""
    import numpy as np

    all_starts, all_stops = np.frombuffer(starts, np.uint64), np.frombuffer(stops, np.uint64)
    order = np.flatnonzero(all_starts < all_stops)
    order = order[np.argsort(all_starts[order])]
    begins, ends = all_starts[order], all_stops[order]
    shared = np.zeros(len(order), bool)
    shared[1:] = begins[1:] < np.maximum.accumulate(ends)[:-1]
    shared[:-1] |= begins[1:] < ends[:-1]
    found: list[int] = order[shared].tolist()
    return found


def read_stored(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a member that is stored as it is. Raises MemberError if some are missing, and SourceError."""
    member = archive.members[index]
    left = member.size
    for piece in blocks(archive.source, *member.spans[0]):
        left -= len(piece)
        yield piece
        progress.advance(len(piece))
    if left > 0:
        there = f"{grouped(member.size - left)} of {in_bytes(member.size)}"
        raise MemberError(f"{visible(member.path)} is cut off: {there} are there.")
