"""datas3t: tar archives of numbered datapoints, with what is recorded about them (S3 Storage Layout for datas3t)."""

from __future__ import annotations

from inspector.core.format import Format
from inspector.formats import _tar
from inspector.formats._tar.traits import traits
from inspector.formats.datas3t import alone, archive
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
    probe=archive.probe,
    decode=archive.decode,
    read=_tar.read,
    check=check,
    repairs=repairs,
    traits=traits,
)

METADATA = Format(
    name="datas3t-metadata",
    title="datas3t metadata",
    suffixes=(alone.SUFFIX,),
    specification=_SPECIFICATION,
    limitations=("By itself it is compared with no tar; open the tar for that.",),
    probe=alone.probe_metadata,
    decode=alone.decode_metadata,
    read=alone.read_metadata,
    check=alone.check_metadata,
)

INDEX = Format(
    name="datas3t-index",
    title="datas3t index",
    suffixes=(),
    specification="none: the later layout as its programs write it",
    limitations=("By itself it is compared with no tar; open the tar for that.",),
    probe=alone.probe_index,
    decode=alone.decode_index,
    read=alone.read_index,
)
