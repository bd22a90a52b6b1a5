"""datas3t: tar archives of numbered datapoints, and their metadata (S3 Storage Layout for datas3t)."""

from __future__ import annotations

from functools import cache

from inspector.core.format import Format, Functions

_SPECIFICATION = "S3 Storage Layout for datas3t"


@cache
def _range() -> Functions:
    from inspector.formats import _tar
    from inspector.formats.datas3t import decode
    from inspector.formats.datas3t.check import check
    from inspector.formats.datas3t.repair import repairs

    return Functions(decode.probe, decode.decode, _tar.read, check, repairs, _tar.member_metadata)


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
)

METADATA = Format(
    name="datas3t-metadata",
    title="datas3t metadata",
    suffixes=(".tar.metadata",),
    specification=_SPECIFICATION,
    limitations=("Opened by itself it is not compared with its tar; open the tar for that.",),
    load=_metadata,
)

INDEX = Format(
    name="datas3t-index",
    title="datas3t index",
    suffixes=(),
    specification="none: the later layout as its programs write it",
    limitations=("Opened by itself it is not compared with its tar; open the tar for that.",),
    load=_index,
)
