"""Plain tar: POSIX.1-2017 (pax), ustar Interchange Format, with the GNU and the V7 dialect."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.archive import Archive, Emitter
from inspector.core.format import Format
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.formats import _tar
from inspector.formats._tar.check import check_padding, headers_sentence
from inspector.formats._tar.metadata import member_metadata
from inspector.formats._tar.repair import mend_end, mend_headers


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """See Format.decode."""
    _tar.decode(source, emitter, progress)


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """See Format.check: decoding has compared the headers' checksums, and no others are recorded."""
    check_padding(archive, emitter, progress)
    return headers_sentence(archive)


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """See Format.repairs: nothing tells whether members are missing at the end, so the end waits for a word."""
    progress.begin("Planning repairs", len(archive.members), "members")
    return (*mend_headers(archive), *mend_end(archive, whole=False))


FORMAT = Format(
    name="tar",
    title="tar",
    suffixes=(".tar",),
    specification="POSIX.1-2017, pax, ustar Interchange Format; GNU tar, Basic Tar Format",
    limitations=(
        "Links, devices and sparse files are listed; their content is not given.",
        "Bytes after the two blocks of zeros that end an archive are shown, not searched for members.",
        "A compressed tar is not unpacked.",
        "The format records no digest of the data, only checksums of headers.",
    ),
    probe=_tar.probe,
    decode=decode,
    read=_tar.read,
    check=check,
    repairs=repairs,
    member_metadata=member_metadata,
)
