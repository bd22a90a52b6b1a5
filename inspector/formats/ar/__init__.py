"""Unix ar, as static libraries and Debian packages are: members end to end, each behind a header of 60 bytes.

``layout`` has the header, the kinds of fields and the findings; ``decode`` goes from header to header; ``fields`` shows
the bytes. There are no checksums, so the check is the usual one.
"""

from __future__ import annotations

from functools import cache

from inspector.core.format import DiagramColumn, Format, Functions, MimeType, Signature
from inspector.core.kinds import Kind
from inspector.formats.ar.layout import (
    AR_HEADER,
    FINDINGS,
    GLOBAL_HEADER,
    KINDS,
    MAGIC,
    NAME_TABLE,
    SPECIFICATION,
    SYMBOL_TABLE,
)


@cache
def _functions() -> Functions:
    from inspector.formats.ar.decode import decode, member_metadata, probe, read

    return Functions(probe, decode, read, member_metadata=member_metadata)


FORMAT = Format(
    name="ar",
    title="Unix ar archive",
    suffixes=(".a", ".ar", ".deb"),
    specification=SPECIFICATION,
    limitations=(
        "The members of a thin archive are files beside it: they are listed, not read.",
        "Of the symbol tables, those of GNU and BSD are decoded, the second one of Windows libraries is not.",
        "The format has no checksums, so a check covers the structure only.",
    ),
    load=_functions,
    kinds=KINDS,
    mime=(MimeType("application/x-archive"), MimeType("application/vnd.debian.binary-package")),
    sequential=(".a", ".ar", ".deb"),
    has_checksums=False,
    findings=FINDINGS,
    diagram=(
        DiagramColumn("File", (GLOBAL_HEADER, Kind.MEMBER, SYMBOL_TABLE, NAME_TABLE), opened=True),
        DiagramColumn("Headers and data", (AR_HEADER, Kind.DATA, Kind.PADDING)),
    ),
    signature=Signature(MAGIC, "a Unix ar archive"),
)
