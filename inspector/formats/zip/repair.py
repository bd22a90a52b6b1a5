"""Repairing a plain ZIP archive."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.archive import Archive
from inspector.core.finding import Severity
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.header_consensus import repair_headers
from inspector.formats._zip.repair import repair_end, repair_records
from inspector.formats._zip.salvage import has_whole, salvage


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """See Format.repairs."""
    directory = archive.detail
    if not isinstance(directory, Directory):
        return ()
    found = [
        *repair_end(archive, directory, progress),
        *repair_headers(archive, directory, progress),
        *repair_records(archive, directory),
    ]
    if has_whole(archive) and any(finding.severity is Severity.ERROR for finding in archive.findings):
        found.append(salvage(archive, directory))
    return found
