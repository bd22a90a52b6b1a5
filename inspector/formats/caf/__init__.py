"""CAF, the Chunk Archive Format, version 1.0: file data, a JSON index and a four-byte footer.

``locate`` finds the index, ``fast`` or ``exact`` reads it into an ``Index``, ``decode`` turns that into members and
fields, ``findings`` reports their problems, ``repair`` and ``salvage`` fix them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from inspector.core.archive import Archive
from inspector.core.damage import Damage
from inspector.core.format import Concern, DiagramColumn, Format, Functions, MimeType, Signature
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.formats._kinds import DATA_SECTION, INDEX, INDEX_ENTRY
from inspector.formats.caf import codes
from inspector.formats.caf.kinds import FOOTER

if TYPE_CHECKING:  # opening an archive needs neither
    from inspector.core.reader import Reader
    from inspector.core.repair import Repair


def _repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    from inspector.formats.caf.repair import repairs

    return repairs(archive, progress)


@cache
def _functions() -> Functions:
    from inspector.formats.caf.decode import check, decode, doubt, read
    from inspector.formats.caf.locate import probe

    return Functions(probe, decode, read, check, _repairs, doubt=doubt)


@cache
def _readers() -> Sequence[Reader]:
    from inspector.formats.caf.readers import READERS

    return READERS


@cache
def _damage() -> Damage:
    from inspector.formats.caf.damage import DAMAGE

    return DAMAGE


FORMAT = Format(
    name="caf",
    title="Chunk Archive (CAF)",
    suffixes=(".caf",),
    specification="Chunk Archive Format (CAF) Specification, version 1.0",
    limitations=(
        "An index larger than 256 MiB is not read.",
        "The first 2,000,000 members are listed.",
        "The format has no checksums, so a check covers the structure only.",
    ),
    load=_functions,
    findings=codes.FINDINGS,
    readers=_readers,
    kinds=(DATA_SECTION, INDEX, INDEX_ENTRY, FOOTER),
    mime=(
        MimeType(
            "application/x-caf-archive",
            "CAF archive",
            (("*.caf", 40),),
            uti="org.archive-inspector.caf",
            uti_of_others=("com.apple.coreaudio-format",),
            reason="Core Audio files have the same suffix, and theirs weighs 50.",
        ),
    ),
    diagram=(
        DiagramColumn("File", (Kind.DATA, INDEX, FOOTER)),
        DiagramColumn("Index", (INDEX_ENTRY,), apart=True),
    ),
    has_checksums=False,
    concerns={"caf-duplicate-name": Concern.NAME, "caf-end-byte-inclusive": Concern.READING},
    signature=Signature(b"", "a CAF"),
    damage=_damage,
)
