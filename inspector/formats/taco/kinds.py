"""The kinds of fields of a TACO header; the rest of a TACO archive is a ZIP."""

from __future__ import annotations

from inspector.core.kinds import Family, Kind, Role, Shape

TACO_PAYLOAD = Kind(
    "TACO payload",
    "116 bytes at byte 41: how many of the 7 entries are in use, 3 reserved bytes, and the entries.",
    Role.HEADER,
    Family.TACO,
    Shape.LIST,
    label="TACO header",
)
TACO_ENTRY = Kind(
    "TACO entry",
    "The offset and the length of one part of a TACO archive, 8 bytes each, little-endian.",
    Role.HEADER,
    Family.TACO,
    words=("entry",),
    is_range=True,
)
