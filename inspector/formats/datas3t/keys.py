"""Names that contain datapoint keys (S3 Storage Layout, Datapoint Ranges and Datapoint Structure)."""

from __future__ import annotations

import re

from msgspec import Struct

DIGITS = 20
"""Digits of a key in a name."""

RANGE_FOLDERS = ("datapoints", "dataranges")
"""The folders of a dataset that contain ranges."""

_OBJECT = re.compile(r"(\d+)-(\d+)(-\d+)?\.tar", re.ASCII)
_DATAPOINT = re.compile(rb"(\d{1,40})(\.[^/]*)?")


class RangeName(Struct, frozen=True):
    """``<from>-<to>.tar``, or ``<from>-<to>-<counter>.tar`` in the later layout.

    ``regular`` is whether both keys have 20 digits, ``counted`` whether a counter follows them.
    """

    first: int
    last: int
    regular: bool
    counted: bool = False


def base_name(name: str) -> str:
    """The last component of a path or of an object's key."""
    return re.split(r"[/\\]", name)[-1]


def in_range_folder(name: str) -> bool:
    """Whether a path or an object's key is in a folder of ranges."""
    return re.split(r"[/\\]", name)[-2:-1] in ([range_folder] for range_folder in RANGE_FOLDERS)


def range_name(name: str) -> RangeName | None:
    """The keys in the name of a tar object; None if it is not named after a range."""
    found = _OBJECT.fullmatch(base_name(name))
    if found is None or len(found[0]) > 200:
        return None
    return RangeName(int(found[1]), int(found[2]), len(found[1]) == len(found[2]) == DIGITS, bool(found[3]))


def key_overflows(name: bytes) -> bool:
    """Whether ``name`` is that of a datapoint except that its key has more than 64 bits."""
    found = _DATAPOINT.fullmatch(name)
    return found is not None and len(found[1]) == DIGITS and int(found[1]) >> 64 > 0


def datapoint_key(name: bytes) -> tuple[int, bool] | None:
    """The key in the name of a datapoint and whether it has 20 digits; None without a key."""
    found = _DATAPOINT.fullmatch(name)
    if found is None:
        return None
    key = int(found[1])
    return (key, len(found[1]) == DIGITS) if key < 1 << 64 else None
