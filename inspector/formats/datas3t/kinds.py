"""The kinds of fields of the metadata beside a datas3t range; the range is a tar."""

from __future__ import annotations

from inspector.core.kinds import Family, Kind, Role, Shape

METADATA = Kind(
    "metadata",
    "The rows beside a datas3t range that locate each datapoint.",
    Role.DIRECTORY,
    Family.INDEX,
    Shape.LIST,
)
METADATA_ROW = Kind(
    "metadata row",
    "One datapoint: its key, the offset of its tar header, the offset of its end, and a hash of its content.",
    Role.DIRECTORY,
    Family.INDEX,
    about_member=True,
)
