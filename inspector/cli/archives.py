"""What a location holds, as the sub-commands walk it: one archive, or the ranges of a folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass

from inspector.cli.exit_codes import FINE, UNREADABLE
from inspector.cli.output import complain
from inspector.cli.progress_bar import ProgressBar
from inspector.core.edit import EditError
from inspector.core.finding import Severity
from inspector.core.numbers import count
from inspector.core.progress import Progress
from inspector.operations.edit.interrupted import interrupted
from inspector.operations.open.listing import load
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened, not_read
from inspector.sources.s3.connection import DEFAULT, Connection

_SAID = 5
"""Findings of one archive that are said before the rest is counted."""


@dataclass(frozen=True, slots=True)
class Part:
    """One archive of a location. ``key`` is its path inside the folder, empty where the location is the archive."""

    archive: Opened
    label: str
    key: str

    def say_findings(self) -> None:
        """Say on standard error what decoding found wrong, the worst first; nothing where nothing is."""
        archive = self.archive
        wrong = [finding for finding in archive.findings if finding.severity is not Severity.INFO]
        wrong.sort(key=lambda finding: finding.severity.rank)
        for finding in wrong[:_SAID]:
            complain(f"{self.label}: {finding.severity}: {finding.message}")
        more = len(wrong) - len(wrong[:_SAID]) + archive.findings_dropped
        if more:
            complain(f"{self.label}: {count(more, 'more finding')}.")


def status_of(opened: Iterable[Part]) -> int:
    """UNREADABLE where bytes could not be had, so that what was shown may not be all there is; else FINE."""
    return UNREADABLE if not_read(part.archive for part in opened) else FINE


def say_interrupted(location: str) -> None:
    """Say on standard error that a change of this file was interrupted: what is read is in between two states."""
    with contextlib.suppress(EditError):
        found = interrupted(location)
        if found is not None:
            ways = " archive-inspector repair finishes it or, with --roll-back, takes it back." if found.finish else ""
            complain(f"{found.story}{ways}")


def parts(
    location: str, connection: Connection = DEFAULT, *, sparing: bool = False, names: Iterable[str] = ()
) -> list[Part]:
    """Open and decode ``location``, with a bar on standard error; raises SourceError.

    ``connection``, ``sparing`` and ``names`` are as in load.
    """
    say_interrupted(location)
    with ProgressBar(Progress()) as progress:
        archives = load(location, progress, connection, sparing=sparing, names=names)
    keys = [inside(location, archive.source.name) for archive in archives]
    return [Part(archive, key or location, key) for archive, key in zip(archives, keys, strict=True)]
