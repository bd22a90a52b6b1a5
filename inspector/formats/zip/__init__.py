"""Plain ZIP archives (APPNOTE.TXT 6.3.10)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from inspector.core.damage import Damage
from inspector.core.format import Concern, Format, Functions, MimeType, Signature
from inspector.formats._kinds import ZIP_DIRECTORY, ZIP_FILE, ZIP_KINDS
from inspector.formats._zip import codes

if TYPE_CHECKING:  # opening an archive needs none
    from inspector.core.reader import Reader


@cache
def _functions() -> Functions:
    from inspector.formats._zip.check import check
    from inspector.formats._zip.members import member_metadata, read_member
    from inspector.formats.zip.decode import decode, probe, repairs

    return Functions(probe, decode, read_member, check, repairs, member_metadata)


@cache
def _readers() -> Sequence[Reader]:
    from inspector.formats._readers import ZIP_READERS

    return ZIP_READERS


@cache
def _damage() -> Damage:
    from inspector.formats._zip.damage import DAMAGE
    from inspector.formats.zip.decode import older

    return DAMAGE._replace(older=older)


FORMAT = Format(
    name="zip",
    title="ZIP archive",
    suffixes=(".zip", ".zipx"),
    specification="APPNOTE.TXT 6.3.10",
    limitations=(
        "Members that are encrypted, or compressed with Deflate64, PPMd or rarer methods, are listed but not read.",
        "Archives of several disks are shown one file at a time.",
        "The first 2,000,000 members are listed.",
    ),
    load=_functions,
    findings=codes.FINDINGS,
    readers=_readers,
    kinds=ZIP_KINDS,
    mime=(MimeType("application/zip", uti="public.zip-archive"),),
    diagram=(ZIP_FILE, ZIP_DIRECTORY),
    concerns={"zip-overlap": Concern.NAME},  # the mark SHARED shows it instead, on every member concerned
    signature=Signature(b"PK\x03\x04", "a ZIP archive"),
    damage=_damage,
)
