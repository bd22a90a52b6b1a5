"""What a window is shown of a collection as it covers the keys of its datasets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.core.collection import Orphan


class RangeState(StrEnum):
    """What is known of one range. VERIFIED: all of its datapoints were compared with something, and are right."""

    NOT_READ = "not read yet"
    NOT_CHECKED = "not checked"
    CHECKING = "being checked"
    VERIFIED = "verified"
    SOUND = "sound, but not all hashes are recorded"
    WARNING = "with warnings"
    TORN = "torn"
    DAMAGED = "damaged"
    UNREADABLE = "unreadable"


RANGE_STATES = tuple(RangeState)
"""All states in a fixed order: states are given as positions in it, a byte each."""
FAILED = frozenset((RangeState.TORN, RangeState.DAMAGED, RangeState.UNREADABLE))
"""The states that say that something is wrong with the bytes."""


class Beside(StrEnum):
    """What stands beside a range and describes it: rows with hashes, the index of the later layout, or nothing."""

    METADATA = "with metadata"
    INDEX = "with an index (later layout)"
    NOTHING = "without metadata"


@dataclass(frozen=True, slots=True)
class RangeRow:
    """One range: the keys ``first`` to ``last``, both included, in an archive of ``size`` bytes."""

    first: int
    last: int
    name: str
    size: int
    beside: Beside


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """One dataset: its ``ranges`` ranges are those from number ``start`` on, of ``size`` bytes together.

    ``first`` and ``last`` are its least and greatest key, of ranges or orphans. ``overlaps`` are shared keys, first and
    last included. ``beside`` counts ranges by what stands beside them.
    """

    name: str
    start: int
    ranges: int
    size: int
    first: int
    last: int
    overlaps: tuple[tuple[int, int], ...]
    orphans: tuple[Orphan, ...]
    beside: tuple[tuple[Beside, int], ...]


@dataclass(frozen=True, slots=True)
class RangePlace:
    """Where a range is: its layer, and the number of its first member; None where it has none."""

    layer: int
    member: int | None
