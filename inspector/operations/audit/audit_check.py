"""What an audit keeps of one archive, and how that comes about in a worker process."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.operations.audit.audit_places import Found, seen_of
from inspector.operations.check.checking import Report, check_location, read_location, unreadable
from inspector.operations.check.report import as_object
from inspector.operations.jobs.subprogress import Share
from inspector.sources.s3.connection import DEFAULT, Connection

FINDINGS = 20
"""The most findings that are kept of one archive, the worst; all are counted."""

UNCHECKED = "unchecked"
"""The state of an archive in which nothing wrong was seen, and of which not all was read."""
NO_ARCHIVE = "no archive"
"""The state of a file that was found and is of no format that is known."""
STATES = (State.SOUND.value, UNCHECKED, *(state.value for state in State if state is not State.SOUND))
"""The states of archives, best first."""


@dataclass(frozen=True, slots=True)
class Result:
    """What an audit knows of one file; plain values.

    ``size`` is the file's in bytes, ``stamp`` see Found; ``quick``: only the structure was read. ``state`` is one of
    STATES, or NO_ARCHIVE. ``errors``, ``warnings`` and ``infos`` count findings; ``findings`` is JSON, a list of the
    worst as ``check --json`` writes them, ``code`` that of the first. ``seconds`` is how long it took, ``finished``
    when that was (seconds since 1970). ``again``: the reason may lie outside of the file, so it is tried again.
    ``attempts`` is how often the file was audited.
    """

    location: str
    size: int
    stamp: str
    quick: bool
    state: str
    format: str | None = None
    members: int = 0
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    code: str = ""
    sentence: str = ""
    findings: str = "[]"
    seconds: float = 0.0
    finished: float = 0.0
    again: bool = False
    attempts: int = 1

    @property
    def read(self) -> int:
        """How many bytes of it were read: of one that could not be read, none."""
        return 0 if self.state == State.UNREADABLE else self.size

    def as_object(self) -> dict[str, Any]:
        """The object that scripts read: that of ``check --json``, with what only an audit knows."""
        return {
            "source": self.location,
            "format": self.format,
            "state": self.state,
            "members": self.members,
            "bytes": self.size,
            "findings": json.loads(self.findings),
            "counts": {"error": self.errors, "warning": self.warnings, "info": self.infos},
            "quick": self.quick,
            "seconds": round(self.seconds, 3),
            "finished": round(self.finished, 3),
        }


@dataclass(frozen=True, slots=True)
class Job:
    """One file to be audited, whether its structure is enough, and how S3 is reached."""

    found: Found
    quick: bool
    connection: Connection = DEFAULT


def examine(job: Job, progress: Progress) -> Result:
    """Check one archive; raises Cancelled."""
    start = time.perf_counter()
    share = Share(progress, progress.done, progress.done + job.found.size)
    look = read_location if job.quick else check_location
    report = look(job.found.location, share, job.connection, seen=seen_of(job.found))
    share.fill()
    return _result(job, report, time.perf_counter() - start)


def lost(job: Job, sentence: str, *, again: bool = False) -> Result:
    """What is kept of an archive whose check ended the process it ran in; ``again``: something else may have."""
    return _result(job, unreadable(job.found.location, sentence), 0.0, again=again)


def _result(job: Job, report: Report, seconds: float, *, again: bool = True) -> Result:
    found = job.found
    if found.listed and report.no_archive:
        return Result(
            found.location, found.size, found.stamp, job.quick, NO_ARCHIVE, seconds=seconds, finished=time.time()
        )
    whole = as_object(report)
    findings = sorted(whole["findings"], key=lambda finding: Severity(finding["severity"]).rank)
    counts = Counter(finding["severity"] for finding in findings)
    return Result(
        location=found.location,
        size=found.size,
        stamp=found.stamp,
        quick=job.quick,
        state=str(report.state or UNCHECKED),
        format=report.format,
        members=report.members,
        errors=counts[Severity.ERROR],
        warnings=counts[Severity.WARNING],
        infos=counts[Severity.INFO],
        code=findings[0]["code"] if findings else "",
        sentence=visible(report.sentence),
        findings=json.dumps(findings[:FINDINGS]),
        seconds=seconds,
        finished=time.time(),
        again=again and report.state is State.UNREADABLE,
    )
