"""CAF, the Chunk Archive Format, version 1.0: file data, a JSON index and a four-byte footer.

``locate`` finds the index, ``fast`` or ``exact`` reads it into an ``Index``, ``decode`` turns that into members and
fields, ``findings`` reports their problems, ``repair`` and ``salvage`` fix them.
"""

from __future__ import annotations

from functools import cache

from inspector.core.format import Format, Functions


@cache
def _functions() -> Functions:
    from inspector.formats.caf.decode import check, decode, read
    from inspector.formats.caf.locate import probe
    from inspector.formats.caf.repair import repairs

    return Functions(probe, decode, read, check, repairs)


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
)
