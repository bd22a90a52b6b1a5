"""Plain tar: POSIX.1-2017 (pax), ustar Interchange Format, with the GNU and the V7 dialect."""

from __future__ import annotations

from inspector.core.format import Concern, Format, MimeType, Signature, imported
from inspector.formats._kinds import TAR_DIAGRAM, TAR_KINDS
from inspector.formats._tar import codes

FORMAT = Format(
    name="tar",
    title="tar",
    suffixes=(".tar",),
    specification="POSIX.1-2017, pax, ustar Interchange Format; GNU tar, Basic Tar Format",
    limitations=(
        "Links and devices are listed, with the targets of links; they have no content of their own.",
        "Sparse files are read up to 1 TiB and 250,000 extents.",
        "Behind zeros, members are searched for up to 256 MiB after the last one.",
        "Members hidden inside another member's data are looked for in local files; from 32 MiB on, by a check.",
        "A compressed tar is not decompressed.",
        "The format has checksums of headers only, none of the data.",
    ),
    probe=imported("inspector.formats._tar.reading:probe"),
    decode=imported("inspector.formats._tar.reading:decode"),
    read=imported("inspector.formats._tar.reading:read"),
    check=imported("inspector.formats._tar.reading:check"),
    repairs=imported("inspector.formats._tar.reading:repairs"),
    member_metadata=imported("inspector.formats._tar.reading:member_metadata"),
    doubt=imported("inspector.formats._tar.reading:doubt"),
    hides_members=imported("inspector.formats._tar.reading:hides_members"),
    readers=imported("inspector.formats._readers:TAR_READERS"),
    damage=imported("inspector.formats._tar.damage:DAMAGE"),
    findings=codes.FINDINGS,
    kinds=TAR_KINDS,
    mime=(MimeType("application/x-tar", uti="public.tar-archive"),),
    sequential=(".tar",),
    diagram=TAR_DIAGRAM,
    concerns=dict.fromkeys(("tar-checksum", "tar-extension", "tar-name-cut"), Concern.RECORD),
    signature=Signature(b"ustar", "a tar archive", at=257),
)
