"""A Collection: archives that belong together, known by their names before any is opened."""

from __future__ import annotations

from typing import NamedTuple

from inspector.core.finding import Finding


class Range(NamedTuple):
    """One archive of a dataset: the datapoints with the keys ``first`` to ``last``, inclusive.

    ``location`` is where the archive is, ``beside`` where its metadata or index is (empty if there is none), ``name``
    its own name, ``size`` its size in bytes.
    """

    dataset: str
    first: int
    last: int
    name: str
    location: str
    beside: str
    size: int


class Overlap(NamedTuple):
    """The keys ``first`` to ``last``, inclusive, that range number ``later`` shares with an earlier range."""

    finding: Finding
    later: int
    first: int
    last: int


class Orphan(NamedTuple):
    """Metadata or an index, called ``name``, for the keys ``first`` to ``last``, inclusive, without its archive."""

    dataset: str
    first: int
    last: int
    name: str


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
