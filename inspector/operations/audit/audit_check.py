"""What an audit keeps of one archive, and how that comes about in a worker process."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.operations.audit.audit_places import Found, seen_of
from inspector.operations.check.checking import Report, check_location, read_location, unreadable
from inspector.operations.check.report import as_object
from inspector.operations.jobs.subprogress import Subprogress
from inspector.operations.protocol.audit_views import MAX_STORED_FINDINGS, NO_ARCHIVE, UNCHECKED, Result
from inspector.sources.s3.connection import DEFAULT, Connection


@dataclass(frozen=True, slots=True)
class Job:
    """One file to be audited, whether its structure is enough, and how S3 is reached."""

    found: Found
    quick: bool
    connection: Connection = DEFAULT


def examine(job: Job, progress: Progress) -> Result:
    """Check one archive; raises Cancelled."""
    start = time.perf_counter()
    share = Subprogress(progress, progress.done, progress.done + job.found.size)
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
        findings=json.dumps(findings[:MAX_STORED_FINDINGS]),
        seconds=seconds,
        finished=time.time(),
        again=again and report.state is State.UNREADABLE,
    )
