"""Plain ZIP archives (APPNOTE.TXT 6.3.10)."""

from __future__ import annotations

from functools import cache

from inspector.core.format import Format, Functions


@cache
def _functions() -> Functions:
    from inspector.formats._zip.members import member_metadata, read_member
    from inspector.formats.zip.decode import check, decode, probe, repairs

    return Functions(probe, decode, read_member, check, repairs, member_metadata)


FORMAT = Format(
    name="zip",
    title="ZIP archive",
    suffixes=(".zip",),
    specification="APPNOTE.TXT 6.3.10",
    limitations=(
        "Members that are encrypted, or compressed with anything but deflate, are listed but not read.",
        "Archives of several disks are shown one file at a time.",
        "The first 2,000,000 members are listed.",
    ),
    load=_functions,
)
