"""TACO archives: a ZIP whose first member is the TACO Header (TACO_HEADER.md)."""

from __future__ import annotations

from functools import cache

from inspector.core.format import Format, Functions
from inspector.formats._zip.records import TACO_SUFFIXES


@cache
def _functions() -> Functions:
    from inspector.formats._zip.members import member_metadata, read_member
    from inspector.formats.taco.decode import check, decode
    from inspector.formats.taco.header import probe
    from inspector.formats.taco.repair import repairs

    return Functions(probe, decode, read_member, check, repairs, member_metadata)


FORMAT = Format(
    name="taco",
    title="TACO archive",
    suffixes=TACO_SUFFIXES,
    specification="TACO Header format; APPNOTE.TXT 6.3.10",
    limitations=(
        "The older layout TACO_GHOST can be read but not edited.",
        "Members that are encrypted, or compressed with anything but deflate, are listed but not read.",
        "The first 2,000,000 members are listed.",
    ),
    load=_functions,
    torn=frozenset({"taco-torn-after-write-1", "taco-torn-after-write-2"}),
)
