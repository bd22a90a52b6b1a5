"""Auditing: checking every archive of a location once, in several processes, with results that survive a kill.

``prepare`` lists the archives and leaves out finished ones; ``run`` checks the rest. To resume a killed audit, prepare
it again with the same results file.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice

from inspector.core.finding import Finding, Severity
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.formats._causes.table import PREFIX
from inspector.operations.audit.audit_places import Choice, Found, archives_in, seen_of
from inspector.operations.audit.audit_results import Results
from inspector.operations.check.checking import (
    CheckReport,
    check_location,
    read_location,
    unreadable,
    with_finding,
)
from inspector.operations.check.report import as_object
from inspector.operations.jobs.process_pool import ProcessPool, TaskFailure
from inspector.operations.jobs.subprogress import CHECKING, SubProgress
from inspector.operations.open.collection import OVERLAP
from inspector.operations.protocol.audit_views import MAX_STORED_FINDINGS, NO_ARCHIVE, UNCHECKED, Amount, Result
from inspector.sources.s3.connection import DEFAULT, Connection

LISTING = "Listing"
STALL_SECONDS = 600.0
"""Seconds without progress after which the check of an archive is given up."""
_MIN_WORKER_BYTES = 2 << 30
"""The least limit of a worker's address space, in bytes."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is audited, and how thoroughly.

    ``quick``: the structure only. ``aside`` are full paths of files to leave out.
    """

    place: str
    quick: bool = False
    choice: Choice = Choice()  # noqa: RUF009 - it cannot change
    aside: frozenset[str] = frozenset()
    connection: Connection = DEFAULT


@dataclass(frozen=True, slots=True)
class Todo:
    """The work of an audit: ``earlier`` is finished already, ``left`` is not."""

    earlier: Amount
    left: Amount


def prepare(plan: Plan, results: Results, progress: Progress, passed: list[str] | None = None) -> Todo:
    """List the archives, leaving out the files of the results; ``passed`` collects what is no regular file.

    Raises SourceError if there is nothing, OperationError if the results cannot be read, and Cancelled.
    """
    progress.begin(LISTING, 0, "archives")
    results.request(_chosen_archives(plan, plan.aside | results.files(), progress, passed), quick=plan.quick)
    return Todo(results.amount(done=True), results.amount(done=False))


def _chosen_archives(
    plan: Plan, aside: frozenset[str], progress: Progress, passed: list[str] | None
) -> Iterator[Found]:
    for found in archives_in(plan.place, plan.connection, aside, passed):
        progress.advance(1)
        if found.name in plan.choice:
            yield found


def run(
    plan: Plan, results: Results, progress: Progress, workers: int = 0, patience: float = STALL_SECONDS
) -> Generator[Result]:
    """Check what is left and yield each result once it is stored. Raises Cancelled and OperationError.

    ``workers`` is the number of processes, 0 for one per processor and at least two. An archive that kills its process,
    or makes no progress for ``patience`` seconds, is unreadable. Closing the iterator kills the processes.
    """
    left = results.amount(done=False)
    workers = min(workers or max(2, os.cpu_count() or 1), left.files)
    progress.begin(CHECKING, left.size)
    if not workers:
        return
    jobs = (Job(found, plan.quick, plan.connection) for found in results.pending())
    with ProcessPool(workers, examine, progress, stall_timeout_s=patience, memory_limit=_memory(workers)) as pool:
        asked = _submit(pool, islice(jobs, 2 * workers))
        while asked:
            job, answer = pool.next_result()
            result = lost(job, answer.sentence, again=not answer.begun) if isinstance(answer, TaskFailure) else answer
            results.keep(result)
            asked += _submit(pool, islice(jobs, 1)) - 1
            yield result
    progress.done = progress.total


def _submit(pool: ProcessPool[Job, Result], jobs: Iterator[Job]) -> int:
    """Submit jobs; returns their number."""
    number = 0
    for job in jobs:
        pool.submit(job)
        number += 1
    return number


def _memory(workers: int) -> int:
    """The address space of each worker in bytes: an equal share of physical memory."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows
        return 0
    return max(_MIN_WORKER_BYTES, there // workers)


@dataclass(frozen=True, slots=True)
class Job:
    """One file to audit; ``quick``: the structure only."""

    found: Found
    quick: bool
    connection: Connection = DEFAULT


def examine(job: Job, progress: Progress) -> Result:
    """Check one archive; raises Cancelled."""
    start = time.perf_counter()
    share = SubProgress(progress, progress.done, progress.done + job.found.size)
    look = read_location if job.quick else check_location
    report = look(job.found.location, share, job.connection, seen=seen_of(job.found))
    share.fill()
    if job.found.overlaps:
        report = with_finding(report, Finding(Severity.ERROR, OVERLAP, job.found.overlaps))
    return _result(job, report, time.perf_counter() - start)


def lost(job: Job, sentence: str, *, again: bool = False) -> Result:
    """The result for an archive whose check killed its process; ``again``: the archive may not be the cause."""
    return _result(job, unreadable(job.found.location, sentence), 0.0, again=again)


def _result(job: Job, report: CheckReport, seconds: float, *, again: bool = True) -> Result:
    found = job.found
    if found.listed and report.no_archive:
        return Result(
            found.location, found.size, found.stamp, job.quick, NO_ARCHIVE, seconds=seconds, finished=time.time()
        )
    whole = as_object(report)
    findings = sorted(whole["findings"], key=lambda finding: Severity(finding["severity"]).rank)
    counts = Counter(finding["severity"] for finding in findings if not finding["code"].startswith(PREFIX))
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
