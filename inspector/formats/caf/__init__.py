"""CAF, the Chunk Archive Format, version 1.0: file data, a JSON index and a four-byte footer.

``locate`` finds the index, ``reading`` makes an ``Index`` of it, ``decode`` turns that into members and fields and
reports their problems, ``repair`` and ``salvage`` fix them.
"""

from __future__ import annotations

from inspector.core.format import Concern, DiagramColumn, Format, MimeType, Signature, imported
from inspector.core.kinds import Family, Kind, Role
from inspector.formats._kinds import DATA_SECTION, INDEX, INDEX_ENTRY
from inspector.formats.caf import codes

FOOTER = Kind(
    "footer",
    "The last 4 bytes of a CAF archive: the size of the index in bytes, little-endian.",
    Role.HEADER,
    Family.END,
    points_to=(INDEX,),
)

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
    probe=imported("inspector.formats.caf.locate:probe"),
    decode=imported("inspector.formats.caf.decode:decode"),
    read=imported("inspector.formats.caf.decode:read"),
    check=imported("inspector.formats.caf.decode:check"),
    repairs=imported("inspector.formats.caf.repair:repairs"),
    doubt=imported("inspector.formats.caf.decode:doubt"),
    readers=imported("inspector.formats.caf.readers:READERS"),
    damage=imported("inspector.formats.caf.damage:DAMAGE"),
    findings=codes.FINDINGS,
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
)
