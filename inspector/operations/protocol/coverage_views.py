"""The ranges of a collection: how they cover the keys of its datasets, and expressions that name a key."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:  # only types: the window loads what its panels need
    from inspector.core.collection import Orphan


class RangeState(StrEnum):
    """What is known about one range. VERIFIED: all of its datapoints match recorded hashes."""

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
"""All states in a fixed order; a state is sent as its position here, one byte."""
FAILED = frozenset((RangeState.TORN, RangeState.DAMAGED, RangeState.UNREADABLE))
"""The states that mean damage."""


class RangeMetadata(StrEnum):
    """What describes a range beside it: rows with hashes, the index of the later layout, or nothing."""

    METADATA = "with metadata"
    INDEX = "with an index (later layout)"
    NOTHING = "without metadata"

    @classmethod
    def of(cls, beside: str) -> RangeMetadata:
        """What ``Range.beside`` is."""
        return cls.NOTHING if not beside else cls.INDEX if beside.endswith(".index") else cls.METADATA


class DatasetRow(Struct, frozen=True):
    """One dataset: its ranges are ``[start, start + ranges)``, ``size`` bytes in total.

    ``first`` and ``last`` are its lowest and highest key, of ranges or orphans. ``overlaps`` are inclusive intervals of
    shared keys. ``beside`` counts ranges by what describes them.
    """

    name: str
    start: int
    ranges: int
    size: int
    first: int
    last: int
    overlaps: tuple[tuple[int, int], ...]
    orphans: tuple[Orphan, ...]
    beside: tuple[tuple[RangeMetadata, int], ...]


class RangePlace(Struct, frozen=True):
    """The location of a range: its layer and its first member, None without members."""

    layer: int
    member: int | None


_KEY = re.compile(r"\s*(?:key|datapoint)\s*(?:\[(?P<inside>[^\]]*)\]|\s(?P<after>.*))\s*", re.IGNORECASE | re.DOTALL)
_DATASET_AND_KEY = re.compile(r"\s*(?:(?P<dataset>.*\S)\s*/)?\s*(?P<key>[0-9][0-9,_]{0,40})\s*", re.ASCII | re.DOTALL)


def datapoint_key(expression: str) -> tuple[str, int] | None:
    """The dataset (empty for any) and the key that an expression names; None for other expressions.

    Such expressions are ``key 12345``, ``datapoint[12345]`` and ``key weather/12345``. The window has to recognize them
    because going to a datapoint may require reading its range, which is a job.
    """
    found = _KEY.fullmatch(expression)
    wanted = found and _DATASET_AND_KEY.fullmatch(found["inside"] or found["after"] or "")
    return (wanted["dataset"] or "", int(re.sub("[,_]", "", wanted["key"]))) if wanted else None
