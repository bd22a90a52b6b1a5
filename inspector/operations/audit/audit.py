"""Auditing: every archive of a place is checked once, by several processes, and what is finished stays finished.

``prepare`` lists what there is and leaves out what is done; ``run`` does the rest. A killed audit is taken up by
preparing it again with the same results file.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.operations.audit.audit_places import Choice, Found, archives_in, seen_of
from inspector.operations.audit.audit_results import Results
from inspector.operations.check.checking import Report, check_location, read_location, unreadable
from inspector.operations.check.report import as_object
from inspector.operations.jobs.process_pool import Lost, Pool
from inspector.operations.jobs.subprogress import CHECKING, Subprogress
from inspector.operations.protocol.audit_views import MAX_STORED_FINDINGS, NO_ARCHIVE, UNCHECKED, Amount, Result
from inspector.sources.s3.connection import DEFAULT, Connection

LISTING = "Listing"
STALL_SECONDS = 600.0
"""Seconds for which the check of an archive may come no further."""
_MIN_WORKER_BYTES = 2 << 30
"""Bytes of address space that a worker may always have."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is audited, and how thoroughly.

    ``quick``: the structure only. ``aside`` are files that are no archives of the place, by their whole path.
    """

    place: str
    quick: bool = False
    choice: Choice = Choice()  # noqa: RUF009 - it cannot change
    aside: frozenset[str] = frozenset()
    connection: Connection = DEFAULT


@dataclass(frozen=True, slots=True)
class Todo:
    """What there is to do: ``earlier`` is finished already, ``left`` is not."""

    earlier: Amount
    left: Amount


def prepare(plan: Plan, results: Results, progress: Progress, passed: list[str] | None = None) -> Todo:
    """List the archives there are; the results' own files are none of them, and what is no regular file is ``passed``.

    Raises SourceError where there is nothing, Refused where the results cannot be had, and Cancelled.
    """
    progress.begin(LISTING, 0, "archives")
    results.want(_chosen_archives(plan, plan.aside | results.files(), progress, passed), quick=plan.quick)
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
    """Check what is left and give each result, kept by then, as it comes. Raises Cancelled and Refused.

    ``workers`` is how many processes are used, 0 for as many as there are processors and two at least. An archive
    that ends its process, or comes no further for ``patience`` seconds, is unreadable. Closing the iterator ends
    the processes at once.
    """
    left = results.amount(done=False)
    workers = min(workers or max(2, os.cpu_count() or 1), left.files)
    progress.begin(CHECKING, left.size)
    if not workers:
        return
    jobs = (Job(found, plan.quick, plan.connection) for found in results.missing())
    with Pool(workers, examine, progress, patience=patience, memory=_memory(workers)) as pool:
        asked = _submit(pool, islice(jobs, 2 * workers))
        while asked:
            job, answer = pool.answer()
            result = lost(job, answer.sentence, again=not answer.begun) if isinstance(answer, Lost) else answer
            results.keep(result)
            asked += _submit(pool, islice(jobs, 1)) - 1
            yield result
    progress.done = progress.total


def _submit(pool: Pool[Job, Result], jobs: Iterator[Job]) -> int:
    """Ask for these, and say how many they are."""
    number = 0
    for job in jobs:
        pool.ask(job)
        number += 1
    return number


def _memory(workers: int) -> int:
    """Bytes of address space for each worker: a fair part of what the machine has."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows
        return 0
    return max(_MIN_WORKER_BYTES, there // workers)


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
