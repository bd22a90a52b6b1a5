"""Lay out the extents that members claim: rows that own every byte of a range once, overlaps and gaps.

A few extents are processed one by one; many in blocks with numpy, which is imported only then.
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
    lay = _one_by_one if len(starts) <= _MAX_EXTENTS_WITHOUT_NUMPY else _in_blocks
    end = lay(rows, owners, starts, stops, low)
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


def _one_by_one(rows: Rows, owners: array[int], starts: array[int], stops: array[int], low: int) -> int:
    high, end, holder = rows.stop, low, GAP
    for position in sorted(range(len(starts)), key=lambda i: (starts[i], stops[i])):
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


def sorted_extents(starts: Numbers, stops: Numbers) -> Numbers:
    """The positions of extents, sorted by start, stop and position.

    The fastest sort is not stable, so extents with equal starts are sorted again by all three.
    """
    import numpy as np

    order: Numbers = np.argsort(starts)
    tied = np.zeros(len(order), bool)
    for first in range(0, len(order), _BLOCK_EXTENTS):
        in_order = starts[order[first : first + _BLOCK_EXTENTS + 1]]
        same = in_order[1:] == in_order[:-1]
        tied[first : first + len(same)] |= same
        tied[first + 1 : first + 1 + len(same)] |= same
    if tied.any():
        rows = order[tied]
        order[tied] = rows[np.lexsort((rows, stops[rows], starts[rows]))]
    return order


def _in_blocks(rows: Rows, owners: array[int], starts: array[int], stops: array[int], low: int) -> int:
    import numpy as np

    all_starts, all_stops = np.frombuffer(starts, np.uint64), np.frombuffer(stops, np.uint64)
    ahead, behind = all_starts[1:], all_starts[:-1]
    tied_badly = (ahead == behind) & (all_stops[1:] < all_stops[:-1])
    order = sorted_extents(all_starts, all_stops) if ((ahead < behind) | tied_badly).any() else None
    carried = _Carried(low, low, GAP)
    for first in range(0, len(starts), _BLOCK_EXTENTS):
        last = min(first + _BLOCK_EXTENTS, len(starts))
        positions = np.arange(first, last) if order is None else order[first:last]
        carried = _block(rows, owners, positions, all_starts[positions], all_stops[positions], carried)
    return carried.end


class _Carried(Struct, frozen=True):
    """State passed from block to block: how far the extents reach, and which one reaches there."""

    low: int
    end: int
    holder: int


def _block(
    rows: Rows, owners: array[int], positions: Numbers, starts: Numbers, stops: Numbers, carried: _Carried
) -> _Carried:
    """Lay out a block of sorted extents, by the same steps as ``_one_by_one``."""
    import numpy as np

    empty = starts == stops
    starts, stops = np.maximum(starts, np.uint64(carried.low)), np.minimum(stops, np.uint64(rows.stop))
    valid = (stops > starts) | (empty & (stops == starts))
    positions, starts, stops, empty = positions[valid], starts[valid], stops[valid], empty[valid]
    if not len(positions):
        return carried
    reach = np.maximum.accumulate(np.maximum(stops, np.uint64(carried.end)))
    ends = np.concatenate((np.array([carried.end], np.uint64), reach[:-1]))
    raising = stops > ends
    holders = np.maximum.accumulate(np.where(raising, np.arange(len(positions)), -1))

    def holder(index: int) -> int:
        held = int(holders[index]) if index >= 0 else -1
        return int(positions[held]) if held >= 0 else carried.holder

    overlapping = np.flatnonzero((starts < ends) & ~empty)
    rows.overlap_count += len(overlapping)
    for index in overlapping[: max(0, MAX_OVERLAPS - len(rows.overlaps))].tolist():
        stop = min(int(stops[index]), int(ends[index]))
        rows.overlaps.append(Overlap(holder(index - 1), int(positions[index]), int(starts[index]), stop))

    kept, gap = raising | (starts >= ends), starts > ends
    after = np.cumsum(kept.astype(np.int64) + gap)
    new_starts, new_owners = np.empty(int(after[-1]), np.uint64), np.full(int(after[-1]), GAP, np.int32)
    new_starts[after[kept] - 1] = np.maximum(starts, ends)[kept]
    new_owners[after[kept] - 1] = positions[kept]
    new_starts[after[gap] - 2] = ends[gap]
    rows.gaps.frombytes((after[gap] - 2 + len(rows.starts)).astype(np.uint64).tobytes())
    rows.starts.frombytes(new_starts.tobytes())
    owners.frombytes(new_owners.tobytes())
    return _Carried(carried.low, int(reach[-1]), holder(len(positions) - 1))
