"""TACO archives: a ZIP whose first member is the TACO Header (TACO_HEADER.md)."""

from __future__ import annotations

from functools import cache

from inspector.core.damage import Damage
from inspector.core.format import DiagramColumn, Format, Magic, MimeType, imported
from inspector.formats._kinds import LOCAL_HEADER, ZIP_DIRECTORY, ZIP_FILE, ZIP_KINDS
from inspector.formats._zip import codes as zip_codes
from inspector.formats._zip.records import TACO_SUFFIXES
from inspector.formats.taco import codes
from inspector.formats.taco.codes import TACO_ENTRY, TACO_PAYLOAD


@cache
def _damage() -> Damage:
    from inspector.formats._zip.damage import DAMAGE

    return DAMAGE._replace(header_member=0)


FORMAT = Format(
    name="taco",
    title="TACO archive",
    suffixes=TACO_SUFFIXES,
    specification="TACO Header format; APPNOTE.TXT 6.3.10",
    limitations=(
        "The older layout TACO_GHOST can be read but not edited.",
        "Members that are encrypted, or compressed with Deflate64, PPMd or rarer methods, are listed but not read.",
        "The first 2,000,000 members are listed.",
    ),
    probe=imported("inspector.formats.taco.header:probe"),
    decode=imported("inspector.formats.taco.decode:decode"),
    read=imported("inspector.formats._zip.members:read_member"),
    check=imported("inspector.formats._zip.check:check"),
    repairs=imported("inspector.formats.taco.repair:repairs"),
    member_metadata=imported("inspector.formats._zip.members:member_metadata"),
    readers=imported("inspector.formats.taco.readers:READERS"),
    findings=(*zip_codes.FINDINGS, *codes.FINDINGS),
    general="zip",
    mime=(
        MimeType(
            "application/x-taco",
            "TACO archive",
            (("*.tacozip", 50), ("*.taco", 50), ("*.taco.zip", 60)),
            Magic(r"PK\003\004", 0, (Magic("TACO_HEADER", 30), Magic("TACO_GHOST", 30))),
            parent="application/zip",
            uti="org.archive-inspector.taco",
            conforms_to="public.zip-archive",
            reason="There is no glob for *.zip on purpose: some readers of this database would then take every ZIP for "
            "a TACO.",
        ),
    ),
    kinds=(LOCAL_HEADER, TACO_PAYLOAD, TACO_ENTRY, *ZIP_KINDS),
    diagram=(
        DiagramColumn("TACO header", (TACO_ENTRY,), apart=True),
        ZIP_FILE._replace(opened=True),
        ZIP_DIRECTORY,
    ),
    torn=frozenset({"taco-torn-after-write-1", "taco-torn-after-write-2"}),
    damage=_damage,
    header_edited=True,
)
