"""Check and repair a plain tar archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inspector.core.archive import Archive, Emitter
from inspector.core.program.progress import Progress
from inspector.formats._tar.check import check_padding, headers_summary
from inspector.formats._tar.resync import layout_of

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Repair


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """Check the padding. Decoding has compared the checksums of headers, and no others are recorded."""
    check_padding(archive, emitter, progress, layout_of(archive).doubtful)
    return headers_summary(archive)


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs. Nothing shows whether members are missing at the end, so rewriting it needs confirming."""
    # Listing repairs nothing.
    from inspector.formats._tar.repair import repair_end, repair_headers
    from inspector.formats._tar.salvage import salvage

    progress.begin("Planning repairs", len(archive.members), "members")
    saved = salvage(archive, layout_of(archive))
    return [*repair_headers(archive), *repair_end(archive, whole=False), *((saved,) if saved is not None else ())]
