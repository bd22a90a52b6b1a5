"""Plain tar: POSIX.1-2017 (pax), ustar Interchange Format, with the GNU and the V7 dialect."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.archive import Archive, Emitter
from inspector.core.format import Format
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.formats import _tar
from inspector.formats._tar.check import check_padding, headers_summary
from inspector.formats._tar.repair import repair_end, repair_headers


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode a tar without metadata outside it."""
    _tar.decode(source, emitter, progress)


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """Check the padding. Decoding has compared the checksums of headers, and no others are recorded."""
    check_padding(archive, emitter, progress)
    return headers_summary(archive)


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs. Nothing shows whether members are missing at the end, so rewriting it needs confirming."""
    progress.begin("Planning repairs", len(archive.members), "members")
    return (*repair_headers(archive), *repair_end(archive, whole=False))


FORMAT = Format(
    name="tar",
    title="tar",
    suffixes=(".tar",),
    specification="POSIX.1-2017, pax, ustar Interchange Format; GNU tar, Basic Tar Format",
    limitations=(
        "Links, devices and sparse files are listed, but their content is not read.",
        "Bytes after the two blocks of zeros that end an archive are shown, but not searched for members.",
        "A compressed tar is not decompressed.",
        "The format has checksums of headers only, none of the data.",
    ),
    probe=_tar.probe,
    decode=decode,
    read=_tar.read,
    check=check,
    repairs=repairs,
    member_metadata=_tar.member_metadata,
)
