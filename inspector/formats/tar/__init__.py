"""Plain tar: POSIX.1-2017 (pax), ustar Interchange Format, with the GNU and the V7 dialect."""

from __future__ import annotations

from inspector.core.archive import Emitter
from inspector.core.format import Format
from inspector.core.progress import Progress
from inspector.core.source import Source
from inspector.formats import _tar


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """See Format.decode."""
    _tar.decode(source, emitter, progress)


FORMAT = Format(
    name="tar",
    title="tar",
    suffixes=(".tar",),
    specification="POSIX.1-2017, pax, ustar Interchange Format; GNU tar, Basic Tar Format",
    limitations=(
        "Links, devices and sparse files are listed; their content is not given.",
        "Bytes after the two blocks of zeros that end an archive are shown, not searched for members.",
        "A compressed tar is not unpacked.",
    ),
    probe=_tar.likeness,
    decode=decode,
    read=_tar.read,
)
