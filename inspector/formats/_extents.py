"""Lay out the extents that members claim: rows that own every byte of a range once, overlaps and gaps.

Many are sorted by numpy, which is imported only then.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import le
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

GAP = -1
"""The owner of a row that no extent claims."""
MAX_OVERLAPS = 1_000
"""Overlaps kept; the rest are counted."""

_MAX_EXTENTS_WITHOUT_NUMPY = 4_096
_BLOCK_EXTENTS = 65_536


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

    def overlap(self, earlier: int, later: int, start: int, stop: int) -> None:
        """Count an overlap, and keep it below the limit."""
        self.overlap_count += 1
        if len(self.overlaps) < MAX_OVERLAPS:
            self.overlaps.append(Overlap(earlier, later, start, stop))


def lay_out(starts: array[int], stops: array[int], low: int, high: int) -> Rows:
    """Rows for the extents ``[starts[i], stops[i])`` within ``[low, high)``; ``gaps`` are the rows that are gaps.

    The columns are ``array("Q")`` in any order. Extents are clipped to the range; one that ends before it begins
    claims nothing.
    """
    if _tiled(starts, stops, low, high):
        return Rows(high, starts, range(len(starts)))
    owners = array("i")
    rows = Rows(high, array("Q"), owners)
    end = _lay(rows, owners, starts, stops, low)
    if end < high:
        rows.gaps.append(len(rows.starts))
        rows.starts.append(end)
        owners.append(GAP)
    return rows


def _tiled(starts: array[int], stops: array[int], low: int, high: int) -> bool:
    """Whether the extents tile the range in order, as in every sound archive."""
    if not len(starts) or starts[0] != low or stops[-1] != high or starts[1:] != stops[:-1]:
        return False
    if len(starts) <= _MAX_EXTENTS_WITHOUT_NUMPY:
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


def _lay(rows: Rows, owners: array[int], starts: array[int], stops: array[int], low: int) -> int:
    high, end, holder = rows.stop, low, GAP
    for position in in_order(starts, stops):
        start, stop = max(starts[position], low), min(stops[position], high)
        empty = starts[position] == stops[position]
        if start > stop or (start == stop and not empty):
            continue
        if start < end and not empty:
            rows.overlap(holder, position, start, min(stop, end))
        if start > end:
            rows.gaps.append(len(rows.starts))
            rows.starts.append(end)
            owners.append(GAP)
        if stop > end or start >= end:
            rows.starts.append(max(start, end))
            owners.append(position)
        if stop > end:
            end, holder = stop, position
    return end


def in_order(starts: array[int], stops: array[int]) -> Sequence[int]:
    """The positions of extents by start, stop and position; a range where they are in order already."""
    if len(starts) <= _MAX_EXTENTS_WITHOUT_NUMPY:
        return sorted(range(len(starts)), key=lambda at: (starts[at], stops[at]))
    import numpy as np

    lows, highs = np.frombuffer(starts, np.uint64), np.frombuffer(stops, np.uint64)
    rising = (lows[1:] > lows[:-1]) | ((lows[1:] == lows[:-1]) & (highs[1:] >= highs[:-1]))
    if rising.all():
        return range(len(starts))
    order = array("I", (0,)) * len(starts)
    np.frombuffer(order, np.uint32)[:] = sorted_extents(lows, highs)
    return order


def sorted_extents(starts: Numbers, stops: Numbers) -> Numbers:
    """The positions of extents, sorted by start, stop and position.

    The fastest sort is not stable, so extents with equal starts are sorted again by all three.
    """
    import numpy as np

    order: Numbers = np.argsort(starts)
    tied = np.zeros(len(order), bool)
    for first in range(0, len(order), _BLOCK_EXTENTS):
        begins = starts[order[first : first + _BLOCK_EXTENTS + 1]]
        same = begins[1:] == begins[:-1]
        tied[first : first + len(same)] |= same
        tied[first + 1 : first + 1 + len(same)] |= same
    if tied.any():
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, stops[rows], starts[rows]))]
    return order
