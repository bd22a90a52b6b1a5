"""datas3t: tar archives of numbered datapoints, and their metadata (S3 Storage Layout for datas3t)."""

from __future__ import annotations

from inspector.core.format import Format
from inspector.formats import _tar
from inspector.formats.datas3t import decode, standalone
from inspector.formats.datas3t.check import check
from inspector.formats.datas3t.repair import repairs

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
    probe=decode.probe,
    decode=decode.decode,
    read=_tar.read,
    check=check,
    repairs=repairs,
    member_metadata=_tar.member_metadata,
)

METADATA = Format(
    name="datas3t-metadata",
    title="datas3t metadata",
    suffixes=(standalone.SUFFIX,),
    specification=_SPECIFICATION,
    limitations=("Opened by itself it is not compared with its tar; open the tar for that.",),
    probe=standalone.probe_metadata,
    decode=standalone.decode_metadata,
    read=standalone.read_metadata,
    check=standalone.check_metadata,
)

INDEX = Format(
    name="datas3t-index",
    title="datas3t index",
    suffixes=(),
    specification="none: the later layout as its programs write it",
    limitations=("Opened by itself it is not compared with its tar; open the tar for that.",),
    probe=standalone.probe_index,
    decode=standalone.decode_index,
    read=standalone.read_index,
)
