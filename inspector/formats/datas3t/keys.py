"""Names that carry datapoint keys (S3 Storage Layout, Datapoint Ranges and Datapoint Structure)."""

from __future__ import annotations

import re
from typing import NamedTuple

DIGITS = 20
"""A key is written with so many digits."""

HOLDERS = ("datapoints", "dataranges")
"""The folders in a dataset that hold ranges."""

_OBJECT = re.compile(r"(\d+)-(\d+)(-\d+)?\.tar", re.ASCII)
_DATAPOINT = re.compile(rb"(\d{1,40})(\.[^/]*)?")


class RangeName(NamedTuple):
    """``<from>-<to>.tar``, or ``<from>-<to>-<counter>.tar`` in the later layout.

    ``regular`` is whether both keys have 20 digits, ``counted`` whether a counter follows them.
    """

    first: int
    last: int
    regular: bool
    counted: bool = False


def last_part(name: str) -> str:
    """The file's own name at the end of a path or of an object's key."""
    return re.split(r"[/\\]", name)[-1]


def among_ranges(name: str) -> bool:
    """Whether a path or an object's key stands in a folder of ranges."""
    return re.split(r"[/\\]", name)[-2:-1] in ([holder] for holder in HOLDERS)


def range_name(name: str) -> RangeName | None:
    """What the name of a tar object says; None where it is not named after a range."""
    found = _OBJECT.fullmatch(last_part(name))
    if found is None or len(found[0]) > 200:
        return None
    return RangeName(int(found[1]), int(found[2]), len(found[1]) == len(found[2]) == DIGITS, bool(found[3]))


def is_beyond(name: bytes) -> bool:
    """Whether ``name`` is that of a datapoint but for its key, which is too large for the 64 bits of a key."""
    found = _DATAPOINT.fullmatch(name)
    return found is not None and len(found[1]) == DIGITS and int(found[1]) >> 64 > 0


def datapoint_key(name: bytes) -> tuple[int, bool] | None:
    """The key of a datapoint called ``name`` and whether it is written with 20 digits; None where there is none."""
    found = _DATAPOINT.fullmatch(name)
    if found is None:
        return None
    key = int(found[1])
    return (key, len(found[1]) == DIGITS) if key < 1 << 64 else None
