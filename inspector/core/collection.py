"""A Collection: archives that belong together, known by their names before any is opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import NamedTuple

from inspector.core.finding import Finding


class Fate(StrEnum):
    """What the names of a dataset tell of an upload to it.

    SUPERSEDED: a later upload holds exactly its keys and those of others; REPEATED: a later one has the same keys.
    UNFINISHED: the tar or what describes it is missing, so the upload is in progress, or was given up.
    """

    LIVE = "live"
    SUPERSEDED = "superseded"
    REPEATED = "repeated"
    UNFINISHED = "unfinished"


class Range(NamedTuple):
    """One archive of a dataset: the datapoints with the keys ``first`` to ``last``, inclusive.

    ``location`` is where the archive is, ``beside`` where its metadata or index is (empty if there is none), ``name``
    its own name, ``size`` its size in bytes. ``upload`` is the counter of the later layout, None without one;
    ``modified`` is in seconds since 1970, 0 if unknown. ``by`` is the upload that holds its keys as well, see Fate.
    """

    dataset: str
    first: int
    last: int
    name: str
    location: str
    beside: str
    size: int
    upload: int | None = None
    modified: float = 0.0
    fate: Fate = Fate.LIVE
    by: int | None = None


class Overlap(NamedTuple):
    """The keys ``first`` to ``last``, inclusive, that range number ``later`` shares with number ``other``."""

    finding: Finding
    later: int
    first: int
    last: int
    other: int


class Orphan(NamedTuple):
    """Metadata or an index, called ``name``, for the keys ``first`` to ``last``, inclusive, without its archive."""

    dataset: str
    first: int
    last: int
    name: str
    upload: int | None = None
    modified: float = 0.0


def gaps_between(firsts: Sequence[int], lasts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The keys, inclusive, between ranges that are sorted by their first key."""
    for reached, first in zip(accumulate(lasts, max), firsts[1:], strict=False):
        if first > reached + 1:
            yield reached + 1, first - 1


class Collection(NamedTuple):
    """Datasets of ranges; ``ranges`` are sorted by dataset, then by key.

    ``findings`` and ``overlaps`` are what the names alone reveal, for the collection and for single ranges;
    ``orphans`` are the ones that ``findings`` report.
    """

    location: str
    title: str
    datasets: tuple[str, ...]
    ranges: tuple[Range, ...]
    findings: tuple[Finding, ...]
    overlaps: tuple[Overlap, ...] = ()
    orphans: tuple[Orphan, ...] = ()

    @property
    def size(self) -> int:
        """The total size of all archives, in bytes."""
        return sum(each.size for each in self.ranges)

    def prefix(self, number: int) -> bytes:
        """The path ``dataset/range/`` under which the members of range ``number`` appear in a tree."""
        each = self.ranges[number]
        return f"{each.dataset}/{each.name}/".encode("utf-8", "surrogateescape")
