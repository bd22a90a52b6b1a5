"""A million names sorted by their bytes, eight bytes of all of them at a time, without a Python object for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.core.progress import Progress

Numbers = NDArray[Any]
WORD = 8
_KEEP = np.array([0] + [(2**64 - 1) << (8 * (WORD - count)) & (2**64 - 1) for count in range(1, WORD + 1)], np.uint64)
"""What to keep of a word of which ``count`` bytes belong to the name."""


class Names:
    """Names one after another in ``blob``; name ``i`` is ``blob[stops[i - 1]:stops[i]]``. A snapshot: nothing grows."""

    def __init__(self, blob: bytes | bytearray, stops: Numbers) -> None:
        self.blob = b"".join((blob, bytes(WORD)))  # so that a word can be read at every byte of a name
        self.stops = stops
        self.starts: Numbers = np.zeros_like(stops)
        self.starts[1:] = stops[:-1]
        self._words: Numbers = np.ndarray((len(blob) + 1,), ">u8", self.blob, strides=(1,))

    def __len__(self) -> int:
        return len(self.stops)

    def words(self, rows: Numbers, depth: int) -> Numbers:
        """Bytes ``[depth, depth + 8)`` of each name as a number that sorts like them; zero past the end."""
        at = self.starts[rows] + depth
        left = np.clip(self.stops[rows] - at, 0, WORD)
        words: Numbers = self._words[np.minimum(at, len(self._words) - 1)].astype(np.uint64)
        words &= _KEEP[left]
        return words


@dataclass(frozen=True, slots=True)
class NameOrder:
    """Names in order: ``order[row]`` is the name, ``common[row]`` how many bytes it shares with the row before."""

    order: Numbers
    common: Numbers


def sort_names(names: Names, progress: Progress) -> NameOrder:
    """Sort by bytes, equal names in their own order; raises Cancelled.

    A most-significant-word-first sort: each round orders by eight bytes more what was equal so far.
    """
    count = len(names)
    progress.begin("Sorting names", count, "members")
    order = np.arange(count)
    common = np.zeros(count, np.int64)
    lengths = names.stops - names.starts
    # Rows that are equal so far, and the group of equal rows that each belongs to.
    tied, group, depth = np.arange(count), np.zeros(count, np.int64), 0
    while len(tied):
        progress.advance(0)
        rows = order[tied]
        key = names.words(rows, depth)
        # A name that ends here and one that goes on with NULs have the same word: the shorter one comes first.
        left = np.minimum(lengths[rows] - depth, WORD)
        rank = _ranked(group, key, left)
        order[tied], key, left = rows[rank], key[rank], left[rank]
        same_group = np.zeros(len(tied), bool)
        same_group[1:] = group[1:] == group[:-1]
        equal = same_group.copy()
        equal[1:] &= (key[1:] == key[:-1]) & (left[1:] == left[:-1])
        split = np.flatnonzero(same_group & ~equal)
        common[tied[split]] = depth + _shared(key[split - 1], key[split], left[split - 1], left[split])
        common[tied[equal]] = depth + left[equal]
        more = left == WORD
        keep = equal & more
        keep[:-1] |= equal[1:] & more[:-1]
        group = np.cumsum(~equal)[keep]
        tied = tied[keep]
        progress.done = count - len(tied)
        depth += WORD
    return NameOrder(order.astype(np.uint32), common.astype(np.uint32))


def _ranked(group: Numbers, key: Numbers, left: Numbers) -> Numbers:
    """The stable order by group, word and length; cheap where it is in order already."""
    later = (group[1:] == group[:-1]) & ((key[1:] < key[:-1]) | ((key[1:] == key[:-1]) & (left[1:] < left[:-1])))
    return np.lexsort((left, key, group)) if later.any() else np.arange(len(key))


def _shared(some: Numbers, others: Numbers, some_left: Numbers, others_left: Numbers) -> Numbers:
    """How many leading bytes two words have in common."""
    differing = some ^ others
    shared = np.full(len(some), WORD)
    for count in range(WORD):
        byte = (differing >> np.uint64(8 * (WORD - 1 - count))) & np.uint64(0xFF)
        shared = np.where((shared == WORD) & (byte != 0), count, shared)
    least: Numbers = np.minimum(shared, np.minimum(some_left, others_left))
    return least


def kept(whole: NameOrder, shown: Numbers) -> NameOrder:
    """The order of some of the names; ``shown`` says of each name whether it is one of them."""
    rows = np.flatnonzero(shown[whole.order])
    if not len(rows):
        return NameOrder(whole.order[:0], whole.common[:0])
    # What two rows share that have others between them is the least that the neighbours in between share.
    least = np.minimum.reduceat(whole.common[: rows[-1] + 1], np.concatenate(([0], rows[:-1] + 1)))
    least[0] = 0
    return NameOrder(whole.order[rows], least)
