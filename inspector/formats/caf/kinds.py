"""The kinds of fields of a CAF archive, beside its index."""

from __future__ import annotations

from inspector.core.kinds import Family, Kind, Role
from inspector.formats._kinds import INDEX

FOOTER = Kind(
    "footer",
    "The last 4 bytes of a CAF archive: the size of the index in bytes, little-endian.",
    Role.HEADER,
    Family.END,
    points_to=(INDEX,),
)
