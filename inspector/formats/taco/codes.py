"""The kinds of fields of a TACO header, and what may be found in it, beside what its ZIP may have."""

from __future__ import annotations

from inspector.core.finding import CORRECT_WRITER, error, finding_types, info, warning
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
    word="entry",
    words=("entry",),
    is_range=True,
)
COUNT = error(
    "taco-count",
    "The header's count is higher than the entries it has room for.",
    "Write the entries again, or restore the header from another copy.",
)
PADDING = warning("taco-padding", "The three padding bytes of the header are not zero.", CORRECT_WRITER)
UNUSED_ENTRY = info("taco-unused-entry", "Entries that the header does not count are not zero. They are ignored.")
GHOST = warning(
    "taco-ghost",
    "The header has the layout of tacozip before 0.6, which can be read but not edited.",
    "Write the archive again with tacozip 0.6 or later to edit it.",
)
LAYOUT = warning(
    "taco-layout",
    "The header is not laid out as it must be to be edited in place.",
    "Write the archive again to edit its header.",
)
CRC = error(
    "taco-crc",
    "The payload of the header or its checksums are damaged.",
    "Restore the header from another copy, or write the entries again.",
)
TORN_AFTER_WRITE_1 = warning(
    "taco-torn-after-write-1",
    "An update of the header was interrupted after the first of its three writes.",
    "Compare the entries with the members that they point to.",
)
TORN_AFTER_WRITE_2 = warning(
    "taco-torn-after-write-2",
    "An update of the header was interrupted after the second of its three writes.",
    "Compare the entries with the members that they point to.",
)
ENTRY_IN_HEADER = info("taco-entry-in-header", "An entry points into the header itself.")
ENTRY_OUTSIDE = info("taco-entry-outside", "An entry points outside the file.")
ENTRIES_OVERLAP = info("taco-entries-overlap", "Two entries point to the same bytes.")
SECOND_HEADER = warning(
    "taco-second-header",
    "A further member is named TACO_HEADER, which programs may take for the header.",
    "Rename the further member.",
)
FINDINGS = finding_types(globals())
"""All of them."""
