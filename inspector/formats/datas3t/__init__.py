"""datas3t: tar archives of numbered datapoints, and their metadata (S3 Storage Layout for datas3t)."""

from __future__ import annotations

import re

from msgspec import Struct

from inspector.core.format import Concern, DiagramColumn, Format, MimeType, imported
from inspector.core.kinds import Family, Kind, Role, Shape
from inspector.formats._kinds import FRAME, INDEX_ENTRY, TAR_END, TAR_EXTENSION, TAR_HEADER, TAR_KINDS
from inspector.formats._kinds import INDEX as INDEX_KIND
from inspector.formats._tar import codes as tar_codes
from inspector.formats.datas3t import codes

# ---- names that contain keys (Datapoint Ranges and Datapoint Structure) ----------------------------------------------

DIGITS = 20
"""Digits of a key in a name."""

RANGE_FOLDERS = ("datapoints", "dataranges")
"""The folders of a dataset that contain ranges."""

_OBJECT = re.compile(r"(\d+)-(\d+)(?:-(\d+))?\.tar", re.ASCII)
_DATAPOINT = re.compile(rb"(\d{1,40})(\.[^/]*)?")


class RangeName(Struct, frozen=True):
    """``<from>-<to>.tar``, or ``<from>-<to>-<counter>.tar`` in the later layout.

    ``regular`` is whether both keys have 20 digits; ``upload`` is the counter, None without one.
    """

    first: int
    last: int
    regular: bool
    upload: int | None = None


def base_name(name: str) -> str:
    """The last component of a path or of an object's key."""
    return re.split(r"[/\\]", name)[-1]


def in_range_folder(name: str) -> bool:
    """Whether a path or an object's key is in a folder of ranges."""
    return re.split(r"[/\\]", name)[-2:-1] in ([range_folder] for range_folder in RANGE_FOLDERS)


def range_name(name: str) -> RangeName | None:
    """The keys in the name of a tar object; None if it is not named after a range."""
    found = _OBJECT.fullmatch(base_name(name))
    if found is None or len(found[0]) > 200:
        return None
    upload = int(found[3]) if found[3] else None
    return RangeName(int(found[1]), int(found[2]), len(found[1]) == len(found[2]) == DIGITS, upload)


def key_overflows(name: bytes) -> bool:
    """Whether ``name`` is that of a datapoint except that its key has more than 64 bits."""
    found = _DATAPOINT.fullmatch(name)
    return found is not None and len(found[1]) == DIGITS and int(found[1]) >> 64 > 0


def datapoint_key(name: bytes) -> tuple[int, bool] | None:
    """The key in the name of a datapoint and whether it has 20 digits; None without a key."""
    if (found := _DATAPOINT.fullmatch(name)) is None:
        return None
    key = int(found[1])
    return (key, len(found[1]) == DIGITS) if key < 1 << 64 else None


# ---- the formats ----------------------------------------------------------------------------------------------------

METADATA_KIND = Kind(
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
    word="row",
    about_member=True,
)

_SPECIFICATION = "S3 Storage Layout for datas3t"


FORMAT = Format(
    name="datas3t",
    title="datas3t range",
    suffixes=(),
    specification=_SPECIFICATION,
    limitations=(
        "Recorded hashes (xxHash64) are compared when the range is checked, not on opening.",
        "The short-lived .index.zst is not read.",
    ),
    probe=imported("inspector.formats.datas3t.decode:probe"),
    decode=imported("inspector.formats.datas3t.decode:decode"),
    read=imported("inspector.formats._tar.reading:read"),
    check=imported("inspector.formats.datas3t.check:check"),
    repairs=imported("inspector.formats.datas3t.repair:repairs"),
    member_metadata=imported("inspector.formats._tar.reading:member_metadata"),
    doubt=imported("inspector.formats.datas3t.datapoints:doubt"),
    hides_members=imported("inspector.formats.datas3t.check:hides_members"),
    readers=imported("inspector.formats.datas3t.readers:READERS"),
    findings=(*tar_codes.FINDINGS, *codes.FINDINGS),
    kinds=(*TAR_KINDS, METADATA_ROW, INDEX_ENTRY),
    general="tar",
    diagram=(
        DiagramColumn("Headers and data", (TAR_HEADER, TAR_EXTENSION, Kind.DATA, Kind.PADDING), single=True),
        DiagramColumn("Tar members", (Kind.MEMBER, TAR_END), opened=True),
        DiagramColumn("Metadata rows", (METADATA_ROW,), apart=True),
    ),
    concerns={
        "datas3t-datapoint-name": Concern.NAME,
        "datas3t-index-offset": Concern.NAME,
        "datas3t-key-gap": Concern.NAME,
        "datas3t-key-twice": Concern.NAME,
        "datas3t-metadata-offset": Concern.NAME,
        "datas3t-metadata-row": Concern.RECORD,
        "datas3t-metadata-row-missing": Concern.RECORD,
    },
    damage=imported("inspector.formats.datas3t.datapoints:DAMAGE"),
)

METADATA = Format(
    name="datas3t-metadata",
    title="datas3t metadata",
    suffixes=(".tar.metadata",),
    specification=_SPECIFICATION,
    limitations=("Opened by itself it is not compared with its tar; open the tar for that.",),
    probe=imported("inspector.formats.datas3t.standalone:probe_metadata"),
    decode=imported("inspector.formats.datas3t.standalone:decode_metadata"),
    read=imported("inspector.formats.datas3t.standalone:read_metadata"),
    check=imported("inspector.formats.datas3t.standalone:check_metadata"),
    findings=codes.METADATA_FINDINGS,
    kinds=(METADATA_KIND, METADATA_ROW, FRAME),
    diagram=(DiagramColumn("File", (FRAME,)), DiagramColumn("Rows in it", (METADATA_ROW,), apart=True)),
    mime=(
        MimeType(
            "application/x-datas3t-metadata",
            "datas3t metadata",
            (("*.tar.metadata", 50),),
            uti="org.archive-inspector.datas3t-metadata",
            conforms_to="public.data",
        ),
    ),
    sequential=(".metadata",),
)

INDEX = Format(
    name="datas3t-index",
    title="datas3t index",
    suffixes=(),
    specification="none: the later layout as its programs write it",
    limitations=("Opened by itself it is not compared with its tar; open the tar for that.",),
    probe=imported("inspector.formats.datas3t.standalone:probe_index"),
    decode=imported("inspector.formats.datas3t.standalone:decode_index"),
    read=imported("inspector.formats.datas3t.standalone:read_index"),
    findings=codes.INDEX_FINDINGS,
    kinds=(INDEX_KIND, INDEX_ENTRY),
    diagram=(DiagramColumn("File", (INDEX_ENTRY,)),),
    sequential=(".index",),
)
