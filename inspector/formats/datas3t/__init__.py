"""datas3t: tar archives of numbered datapoints, and their metadata (S3 Storage Layout for datas3t)."""

from __future__ import annotations

from functools import cache

from inspector.core.damage import Damage
from inspector.core.format import Concern, DiagramColumn, Format, MimeType, imported
from inspector.core.kinds import Kind
from inspector.formats._kinds import FRAME, INDEX_ENTRY, TAR_END, TAR_EXTENSION, TAR_HEADER, TAR_KINDS
from inspector.formats._kinds import INDEX as INDEX_KIND
from inspector.formats._tar import codes as tar_codes
from inspector.formats.datas3t import codes
from inspector.formats.datas3t.kinds import METADATA as METADATA_KIND
from inspector.formats.datas3t.kinds import METADATA_ROW

_SPECIFICATION = "S3 Storage Layout for datas3t"


@cache
def _damage() -> Damage:
    from inspector.formats._tar.damage import DAMAGE
    from inspector.formats.datas3t import datapoints

    return DAMAGE._replace(
        named=True,
        beside=(".metadata",),
        missing=datapoints.missing,
        landmarks=datapoints.landmarks,
        undecided=datapoints.undecided,
    )


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
    doubt=imported("inspector.formats._tar.reading:doubt"),
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
    damage=_damage,
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
