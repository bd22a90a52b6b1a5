"""CAF, the Chunk Archive Format, version 1.0: file data, a JSON index, a footer of four bytes."""

from __future__ import annotations

from inspector.core.format import Format
from inspector.formats.caf.check import check
from inspector.formats.caf.decode import decode, read
from inspector.formats.caf.probe import probe
from inspector.formats.caf.repair import repairs

FORMAT = Format(
    name="caf",
    title="Chunk Archive (CAF)",
    suffixes=(".caf",),
    specification="Chunk Archive Format (CAF) Specification, version 1.0",
    limitations=(
        "An index larger than 256 MiB is not read.",
        "The first 2,000,000 members are listed.",
        "The format has no checksums: soundness is structural.",
    ),
    probe=probe,
    decode=decode,
    read=read,
    check=check,
    repairs=repairs,
)
