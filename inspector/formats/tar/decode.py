"""Decode, check and repair a plain tar archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector.core.archive import Archive, Emitter
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.formats._tar import reading
from inspector.formats._tar.check import check_padding, headers_summary
from inspector.formats._tar.resync import Layout

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Repair


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode a tar without metadata outside it."""
    reading.decode(source, emitter, progress)


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """Check the padding. Decoding has compared the checksums of headers, and no others are recorded."""
    layout = archive.detail
    check_padding(archive, emitter, progress, layout.doubtful if isinstance(layout, Layout) else ())
    return headers_summary(archive)


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs. Nothing shows whether members are missing at the end, so rewriting it needs confirming."""
    # Listing repairs nothing.
    from inspector.formats._tar.repair import repair_end, repair_headers
    from inspector.formats._tar.salvage import salvage

    progress.begin("Planning repairs", len(archive.members), "members")
    found = [*repair_headers(archive), *repair_end(archive, whole=False)]
    saved = salvage(archive, archive.detail) if isinstance(archive.detail, Layout) else None
    return (*found, saved) if saved is not None else found


def hides_members(archive: Archive, progress: Progress) -> bool:
    """Whether members have swallowed others that decoding, which reads headers only, did not see."""
    return isinstance(archive.detail, Layout) and reading.hides_members(archive, archive.detail, progress)
