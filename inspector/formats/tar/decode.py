"""Decode, check and repair a plain tar archive."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.archive import Archive, Emitter
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
