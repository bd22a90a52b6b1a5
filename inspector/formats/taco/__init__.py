"""TACO archives: a ZIP whose first member is the TACO Header (TACO_HEADER.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from inspector.core.archive import Archive
from inspector.core.damage import Damage
from inspector.core.format import DiagramColumn, Format, Functions, Magic, MimeType
from inspector.core.program.progress import Progress
from inspector.formats._kinds import LOCAL_HEADER, ZIP_DIRECTORY, ZIP_FILE, ZIP_KINDS
from inspector.formats._zip import codes as zip_codes
from inspector.formats._zip.records import TACO_SUFFIXES
from inspector.formats.taco import codes
from inspector.formats.taco.kinds import TACO_ENTRY, TACO_PAYLOAD

if TYPE_CHECKING:  # opening an archive needs neither
    from inspector.core.reader import Reader
    from inspector.core.repair import Repair


def _repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    from inspector.formats.taco.repair import repairs

    return repairs(archive, progress)


@cache
def _functions() -> Functions:
    from inspector.formats._zip.check import check
    from inspector.formats._zip.members import member_metadata, read_member
    from inspector.formats.taco.decode import decode
    from inspector.formats.taco.header import probe

    return Functions(probe, decode, read_member, check, _repairs, member_metadata)


@cache
def _readers() -> Sequence[Reader]:
    from inspector.formats.taco.readers import READERS

    return READERS


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
    load=_functions,
    findings=(*zip_codes.FINDINGS, *codes.FINDINGS),
    readers=_readers,
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
