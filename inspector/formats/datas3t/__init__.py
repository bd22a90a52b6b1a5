"""datas3t: tar archives of numbered datapoints, and their metadata (S3 Storage Layout for datas3t)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from inspector.core.archive import Archive
from inspector.core.damage import Damage
from inspector.core.format import Concern, DiagramColumn, Format, Functions, MimeType
from inspector.core.kinds import Kind
from inspector.core.program.progress import Progress
from inspector.formats._kinds import FRAME, INDEX_ENTRY, TAR_END, TAR_EXTENSION, TAR_HEADER, TAR_KINDS
from inspector.formats._kinds import INDEX as INDEX_KIND
from inspector.formats._tar import codes as tar_codes
from inspector.formats.datas3t import codes
from inspector.formats.datas3t.kinds import METADATA as METADATA_KIND
from inspector.formats.datas3t.kinds import METADATA_ROW

if TYPE_CHECKING:  # opening an archive needs neither
    from inspector.core.reader import Reader
    from inspector.core.repair import Repair

_SPECIFICATION = "S3 Storage Layout for datas3t"


def _repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    from inspector.formats.datas3t.repair import repairs

    return repairs(archive, progress)


@cache
def _range() -> Functions:
    from inspector.formats._tar import reading
    from inspector.formats._tar.check import doubt
    from inspector.formats.datas3t import decode
    from inspector.formats.datas3t.check import check, hides_members

    return Functions(
        *(decode.probe, decode.decode, reading.read, check, _repairs, reading.member_metadata),
        doubt=doubt,
        hides_members=hides_members,
    )


@cache
def _metadata() -> Functions:
    from inspector.formats.datas3t import standalone

    return Functions(
        standalone.probe_metadata, standalone.decode_metadata, standalone.read_metadata, standalone.check_metadata
    )


@cache
def _index() -> Functions:
    from inspector.formats.datas3t import standalone

    return Functions(standalone.probe_index, standalone.decode_index, standalone.read_index)


@cache
def _readers() -> Sequence[Reader]:
    from inspector.formats.datas3t.readers import READERS

    return READERS


@cache
def _damage() -> Damage:
    from inspector.formats._tar.damage import DAMAGE
    from inspector.formats.datas3t import datapoints

    return DAMAGE._replace(
        named=True, beside=(".metadata",), missing=datapoints.missing, landmarks=datapoints.landmarks
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
    load=_range,
    findings=(*tar_codes.FINDINGS, *codes.FINDINGS),
    readers=_readers,
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
    load=_metadata,
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
    load=_index,
    findings=codes.INDEX_FINDINGS,
    kinds=(INDEX_KIND, INDEX_ENTRY),
    diagram=(DiagramColumn("File", (INDEX_ENTRY,)),),
    sequential=(".index",),
)
