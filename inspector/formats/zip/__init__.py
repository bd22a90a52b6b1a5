"""Plain ZIP archives (APPNOTE.TXT 6.3.10)."""

from __future__ import annotations

from functools import cache

from inspector.core.damage import Damage
from inspector.core.format import Concern, Format, MimeType, Signature, imported
from inspector.formats._kinds import ZIP_DIRECTORY, ZIP_FILE, ZIP_KINDS
from inspector.formats._zip import codes


@cache
def _damage() -> Damage:
    from inspector.formats._zip.damage import DAMAGE
    from inspector.formats._zip.decode import older

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
    probe=imported("inspector.formats._zip.decode:probe"),
    decode=imported("inspector.formats._zip.decode:decode"),
    read=imported("inspector.formats._zip.members:read_member"),
    check=imported("inspector.formats._zip.check:check"),
    repairs=imported("inspector.formats._zip.decode:repairs"),
    member_metadata=imported("inspector.formats._zip.members:member_metadata"),
    readers=imported("inspector.formats._readers:ZIP_READERS"),
    findings=codes.FINDINGS,
    kinds=ZIP_KINDS,
    mime=(MimeType("application/zip", uti="public.zip-archive"),),
    diagram=(ZIP_FILE, ZIP_DIRECTORY),
    concerns={"zip-overlap": Concern.NAME},  # the mark SHARED shows it instead, on every member concerned
    signature=Signature(b"PK\x03\x04", "a ZIP archive"),
    damage=_damage,
)
