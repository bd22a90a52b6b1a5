"""Opening a location: one archive, or the ranges of a folder."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from inspector.cli.bootstrap import FINE, UNREADABLE
from inspector.cli.options import STANDARD_INPUT
from inspector.cli.output import ProgressBar, complain, remark
from inspector.core.finding import Severity
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SourceError
from inspector.operations.edit.interrupted import interrupted, may_be_interrupted
from inspector.operations.open.listing import load
from inspector.operations.open.location import inside
from inspector.operations.open.opening import Opened, not_read
from inspector.sources.local.file import spooled
from inspector.sources.s3.connection import DEFAULT, Connection

_MAX_FINDINGS = 5
"""Findings of one archive that are printed; the rest are counted."""


Condition = Callable[[Mapping[str, Any]], bool]


def condition(where: str | None, names: str) -> Condition | None:
    """Whether a row is one that is asked for; None where nothing is asked. Raises AskError.

    ``names`` is which names there are: an attribute of ``inspector.operations.open.asked``.
    """
    if where is None:
        return None
    from inspector.operations.open import asked  # which needs numpy
    from inspector.operations.open.ask import Question

    question = Question(where, getattr(asked, names))
    return lambda row: question.holds(asked.placed(row))


class LocationPart(Struct, frozen=True):
    """One archive of a location; ``key`` is its path inside the folder, empty if the location is the archive itself.

    ``source`` is its location, which can be opened, as every object of JSON has it.
    """

    archive: Opened
    label: str
    key: str
    source: str

    def report_findings(self) -> None:
        """Print on standard error what decoding found wrong, the worst first."""
        archive = self.archive
        wrong = [finding for finding in archive.findings if finding.severity is not Severity.INFO]
        wrong.sort(key=lambda finding: finding.severity.rank)
        for finding in wrong[:_MAX_FINDINGS]:
            remark(f"{self.label}: {finding.severity}: {finding.message}")
        more = len(wrong) - len(wrong[:_MAX_FINDINGS]) + archive.findings_dropped
        if more:
            remark(f"{self.label}: {count(more, 'more finding')}.")


def status_of(opened: Iterable[LocationPart]) -> int:
    """UNREADABLE if bytes could not be read, so that the output may be incomplete; else FINE."""
    return UNREADABLE if not_read(part.archive for part in opened) else FINE


def report_interrupted(location: str) -> None:
    """Print on standard error that a change of this file was interrupted, so that it is between two states."""
    if location == STANDARD_INPUT or not may_be_interrupted(location):
        return
    from inspector.core.edit import EditError

    with contextlib.suppress(EditError):
        if (found := interrupted(location)) is not None:
            hint = " archive-inspector repair finishes it, or undoes it with --roll-back." if found.finish else ""
            complain(f"{found.story}{hint}")


def standard_input(location: str, progress: Progress) -> Source | None:
    """All of standard input if ``location`` stands for it, else None. Raises SourceError as ``spooled`` does."""
    if location != STANDARD_INPUT:
        return None
    if sys.stdin.isatty():
        raise SourceError(
            "Standard input is the keyboard. Pipe an archive into the command, or give the name of a file."
        )
    return spooled(sys.stdin.buffer.read, STANDARD_INPUT, progress)


def open_parts(
    location: str,
    connection: Connection = DEFAULT,
    *,
    sparing: bool = False,
    names: Iterable[str] = (),
    quick: bool = False,
) -> list[LocationPart]:
    """Open and decode ``location``, with a progress bar; raises SourceError.

    ``connection``, ``sparing``, ``names`` and ``quick`` are as in ``load``.
    """
    report_interrupted(location)
    with ProgressBar(Progress()) as progress:
        place = standard_input(location, progress)
        archives = load(location, progress, connection, sparing=sparing, names=names, place=place, quick=quick)
    keys = [inside(location, archive.source.name) for archive in archives]
    return [
        LocationPart(archive, key or location, key, f"{location.rstrip('/')}/{key}" if key else location)
        for archive, key in zip(archives, keys, strict=True)
    ]
