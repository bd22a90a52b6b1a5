"""A Collection: archives that belong together, known by their names before any of them is opened."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.core.finding import Finding


@dataclass(frozen=True, slots=True)
class Range:
    """One archive of a dataset: the datapoints with the keys ``first`` to ``last``, both included.

    ``location`` is where the archive is, ``beside`` where its metadata or index is (empty where there is none),
    ``name`` its own name, ``size`` its size in bytes.
    """

    dataset: str
    first: int
    last: int
    name: str
    location: str
    beside: str
    size: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """The keys ``first`` to ``last``, both included, that the range number ``later`` shares with one before it."""

    finding: Finding
    later: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Orphan:
    """Metadata or an index, ``name``, of the keys ``first`` to ``last``, both included, whose archive is missing."""

    dataset: str
    first: int
    last: int
    name: str


@dataclass(frozen=True, slots=True)
class Collection:
    """Datasets of ranges. ``ranges`` are sorted by dataset, then by key.

    ``findings`` and ``overlaps`` are what their names tell: of all of them, and of single ones; ``orphans`` are those
    that findings tell of.
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
        """The size of all archives together, in bytes."""
        return sum(each.size for each in self.ranges)

    def prefix(self, number: int) -> bytes:
        """What stands before the names of the members of range ``number`` in a tree: dataset and range."""
        each = self.ranges[number]
        return f"{each.dataset}/{each.name}/".encode("utf-8", "surrogateescape")
