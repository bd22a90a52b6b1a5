"""Plain tar: POSIX.1-2017 (pax), ustar Interchange Format, with the GNU and the V7 dialect."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from inspector.core.damage import Damage
from inspector.core.format import Concern, Format, Functions, MimeType, Signature
from inspector.formats._kinds import TAR_DIAGRAM, TAR_KINDS
from inspector.formats._tar import codes

if TYPE_CHECKING:  # opening an archive needs none
    from inspector.core.reader import Reader


@cache
def _functions() -> Functions:
    from inspector.formats._tar import reading
    from inspector.formats._tar.check import doubt
    from inspector.formats.tar.decode import check, repairs

    return Functions(
        *(reading.probe, reading.decode, reading.read, check, repairs, reading.member_metadata),
        doubt=doubt,
        hides_members=reading.hides_members,
    )


@cache
def _readers() -> Sequence[Reader]:
    from inspector.formats._readers import TAR_READERS

    return TAR_READERS


@cache
def _damage() -> Damage:
    from inspector.formats._tar.damage import DAMAGE

    return DAMAGE


FORMAT = Format(
    name="tar",
    title="tar",
    suffixes=(".tar",),
    specification="POSIX.1-2017, pax, ustar Interchange Format; GNU tar, Basic Tar Format",
    limitations=(
        "Links and devices are listed, with the targets of links; they have no content of their own.",
        "Sparse files are read up to 1 TiB and 250,000 extents.",
        "Behind zeros, members are searched for up to 256 MiB after the last one.",
        "Members that another has swallowed are looked for in files of this machine; from 32 MiB on, by a check.",
        "A compressed tar is not decompressed.",
        "The format has checksums of headers only, none of the data.",
    ),
    load=_functions,
    findings=codes.FINDINGS,
    readers=_readers,
    kinds=TAR_KINDS,
    mime=(MimeType("application/x-tar", uti="public.tar-archive"),),
    sequential=(".tar",),
    diagram=TAR_DIAGRAM,
    concerns=dict.fromkeys(("tar-checksum", "tar-extension", "tar-name-cut"), Concern.RECORD),
    signature=Signature(b"ustar", "a tar archive", at=257),
    damage=_damage,
)
