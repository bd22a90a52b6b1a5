"""Checking many archives once, several at a time: those of a check in order, those of an audit with stored results.

``check_many`` checks targets and yields their outcomes. An audit lists its targets (``prepare``), leaves out what its
results file has already, and stores each result (``run``): prepare it again with the same file to resume it.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.cause import PREFIX
from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.formats.datas3t import range_name
from inspector.operations.audit.results import Results
from inspector.operations.audit.targets import archives_in, seen_of
from inspector.operations.check.checking import (
    CheckReport,
    check_location,
    read_names,
    unreadable,
    with_finding,
    with_readers,
)
from inspector.operations.check.report import RENDERED, as_object
from inspector.operations.jobs.process_pool import ProcessPool, TaskFailure
from inspector.operations.jobs.subprogress import CHECKING, SubProgress, map_with_progress, subprogresses
from inspector.operations.open.collection import open_collection, overlap_type
from inspector.operations.open.location import MAX_REMOTE_READS
from inspector.operations.protocol.audit_views import MAX_STORED_FINDINGS, NO_ARCHIVE, UNCHECKED, Amount, Result
from inspector.operations.protocol.check_views import CheckTarget, ReportKind
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import DEFAULT, Connection

LISTING = "Listing"
STALL_SECONDS = 600.0
"""Seconds without progress after which an audit gives up on an archive."""
MIN_BYTES_FOR_PROCESSES = 32 << 20
"""Starting processes for a check saves time from so many bytes on."""
_BYTES_PER_FILE = 256 << 10
"""What opening a file costs, as bytes that could be read in that time."""
_MIN_REMOTE_WORKERS = 4
"""Processes for remote archives at least: most of the time each waits."""
MAX_REMOTE_WORKERS = 16
"""Processes of an audit on S3."""
_FILES_PER_REMOTE_WORKER = 8
_MAX_AHEAD_PER_WORKER = 4
"""Archives a worker may be ahead of the next outcome."""
_MIN_WORKER_BYTES = 2 << 30
"""The least limit of a worker's address space, in bytes."""


class Job(Struct, frozen=True):
    """One archive to check; ``quick``: the structure only. ``report``: also render a report of this kind."""

    target: CheckTarget
    quick: bool = False
    report: ReportKind | None = None

    @property
    def size(self) -> int:
        """The bytes to check, 0 if unknown."""
        return self.target.size or 0


class JobOutcome(Struct, frozen=True):
    """What checking one archive found, and the report that the job asked for."""

    result: Result
    report: str = ""


def examine(job: Job, progress: Progress, see: Callable[[CheckReport], None] = lambda _: None) -> JobOutcome:
    """Check one archive; ``see`` is shown the report. Raises Cancelled, and what ``see`` raises."""
    start, target = time.perf_counter(), job.target
    if target.why:
        report = unreadable(target.location, target.why)
    elif target.names_only:
        report = read_names(target.location, target.connection)
    else:
        report = check_location(
            target.location,
            progress,
            target.connection,
            seen=target.seen or seen_of(target),
            place=target.place,
            quick=job.quick,
        )
    if target.readers:
        report = with_readers(report, SubProgress(progress, progress.done, progress.done))
    if target.overlaps:
        named = range_name(target.location)
        report = with_finding(report, overlap_type(named.upload if named else None).finding(target.overlaps))
    see(report)
    return outcome_of(job, report, time.perf_counter() - start)


def lost(job: Job, sentence: str, *, again: bool = False) -> JobOutcome:
    """The outcome for an archive whose check killed its process; ``again``: the archive may not be the cause."""
    return outcome_of(job, unreadable(job.target.location, sentence), 0.0, again=again)


def outcome_of(job: Job, report: CheckReport, seconds: float, *, again: bool = True) -> JobOutcome:
    """What a check found as a row of results; ``again``: what was unreadable may be read another time."""
    target = job.target
    result = Result(
        target.location, job.size, target.stamp, job.quick, NO_ARCHIVE, seconds=seconds, finished=time.time()
    )
    if target.found and report.no_archive:
        return JobOutcome(result)
    findings = sorted(as_object(report)["findings"], key=lambda finding: Severity(finding["severity"]).rank)
    counts = Counter(finding["severity"] for finding in findings if not finding["code"].startswith(PREFIX))
    result = replace(
        result,
        state=str(report.state or UNCHECKED),
        format=report.format,
        members=report.members,
        errors=counts[Severity.ERROR],
        warnings=counts[Severity.WARNING],
        infos=counts[Severity.INFO],
        code=findings[0]["code"] if findings else "",
        sentence=visible(report.sentence),
        findings=json.dumps(findings[:MAX_STORED_FINDINGS]),
        again=again and report.state is State.UNREADABLE,
    )
    return JobOutcome(result, RENDERED[job.report](report) if job.report is not None else "")


# ---- many at a time --------------------------------------------------------------------------------------------------


def check_many(
    targets: Iterable[CheckTarget], report: ReportKind, progress: Progress, workers: int = 0
) -> Generator[JobOutcome]:
    """Check all of these and yield their outcomes in order, in this process if others would save no time.

    ``workers`` is the maximum number of processes, 0 for one per processor and at least two. Closing the iterator ends
    them at once. Raises Cancelled.
    """
    jobs = [Job(_sized(target), report=report) for target in targets]
    remote = any(is_s3(job.target.location) for job in jobs)
    workers = min(workers or _usual_workers(remote=remote), len(jobs))
    total = sum(job.size for job in jobs)
    if workers < 2 or total + _BYTES_PER_FILE * len(jobs) < MIN_BYTES_FOR_PROCESSES:
        if remote and workers > 1:  # they are waited for most of the time
            by_size = all(job.target.size is not None for job in jobs)
            parts, unit = ([job.size for job in jobs], "bytes") if by_size else ([1] * len(jobs), "archives")
            yield from map_with_progress(
                progress, CHECKING, parts, lambda at, part: examine(jobs[at], part), MAX_REMOTE_READS, unit
            )
            return
        for job, part in zip(jobs, subprogresses(progress, CHECKING, [job.size for job in jobs]), strict=True):
            yield examine(job, part)
        return
    progress.begin(CHECKING, total)
    with ProcessPool(workers, _work, progress) as pool:
        yield from _in_processes(pool, iter(jobs), workers, ordered=True)
    progress.done = progress.total


def _usual_workers(*, remote: bool) -> int:
    return max(_MIN_REMOTE_WORKERS if remote else 2, os.cpu_count() or 1)


def _sized(target: CheckTarget) -> CheckTarget:
    """A target with its size, if that can be known before it is opened."""
    if target.size is not None:
        return target
    path = Path(target.location)
    try:
        if path.is_dir():
            collection = open_collection(path)
            return replace(target, size=collection.size if collection else 0)
        return replace(target, size=path.stat().st_size) if path.is_file() else target
    except (OSError, ValueError, SourceError):
        return target


def _in_processes(
    pool: ProcessPool[tuple[int, Job], JobOutcome], jobs: Iterator[Job], workers: int, *, ordered: bool
) -> Iterator[JobOutcome]:
    """The outcomes of jobs in their order, or as they finish. Only so many jobs are taken before they are needed."""
    finished: dict[int, JobOutcome] = {}
    submitted = received = given = 0
    while True:
        for job in islice(jobs, given + workers * _MAX_AHEAD_PER_WORKER - submitted):
            pool.submit((submitted, job))
            submitted += 1
        if received == submitted:
            return
        (number, job), answer = pool.next_result()
        if isinstance(answer, TaskFailure):
            answer = lost(job, answer.sentence, again=not answer.begun)
        finished[number if ordered else given] = answer
        received += 1
        while given in finished:
            given += 1
            yield finished.pop(given - 1)


def _work(task: tuple[int, Job], progress: Progress) -> JobOutcome:
    job = task[1]
    part = SubProgress(progress, progress.done, progress.done + job.size)
    outcome = examine(job, part)
    part.fill()
    return outcome


# ---- audits ----------------------------------------------------------------------------------------------------------


class Plan(Struct, frozen=True):
    """What is audited. ``quick``: the structure only. ``datasets``: folders of ranges have a result of their own."""

    places: tuple[str, ...]
    quick: bool = False
    connection: Connection = DEFAULT
    datasets: bool = False


class Todo(Struct, frozen=True):
    """The work of an audit: ``earlier`` is finished already, ``left`` is not."""

    earlier: Amount
    left: Amount


def prepare(plan: Plan, results: Results, progress: Progress, passed: list[str] | None = None) -> Todo:
    """List the archives, leaving out the files of the results; ``passed`` collects what is no regular file.

    Raises SourceError if there is nothing, OperationError if the results cannot be read, and Cancelled.
    """
    progress.begin(LISTING, 0, "archives")
    results.request(_listed(plan, results.files(), progress, passed), quick=plan.quick)
    return Todo(results.amount(done=True), results.amount(done=False))


def _listed(plan: Plan, aside: frozenset[str], progress: Progress, passed: list[str] | None) -> Iterator[CheckTarget]:
    for place in plan.places:
        try:
            for found in archives_in(place, plan.connection, aside, passed, datasets=plan.datasets):
                progress.advance(1)
                yield found
        except SourceError as error:
            if len(plan.places) == 1:
                raise
            yield CheckTarget(place, why=str(error), name=place)


def jobs_of(plan: Plan, results: Results) -> Iterator[Job]:
    """The jobs that are left to do."""
    return (Job(target, plan.quick) for target in results.pending(plan.connection))


def run(
    plan: Plan, results: Results, progress: Progress, workers: int = 0, patience: float = STALL_SECONDS
) -> Generator[Result]:
    """Check what is left and yield each result once it is stored. Raises Cancelled and OperationError.

    ``workers`` is the number of processes, 0 for one per processor and at least two, or MAX_REMOTE_WORKERS on S3, where
    each waits for a server most of the time. An archive that kills its process, or makes no progress for ``patience``
    seconds, is unreadable. Closing the iterator kills the processes.
    """
    left = results.amount(done=False)
    usual = _usual_workers(remote=False)
    if any(map(is_s3, plan.places)):
        # Starting a process takes as long as some waits do.
        usual = max(usual, min(MAX_REMOTE_WORKERS, left.files // _FILES_PER_REMOTE_WORKER))
    workers = min(workers or usual, left.files)
    progress.begin(CHECKING, left.size)
    if not workers:
        return
    with ProcessPool(workers, _work, progress, stall_timeout_s=patience, memory_limit=_memory(workers)) as pool:
        for outcome in _in_processes(pool, jobs_of(plan, results), workers, ordered=False):
            results.keep(outcome.result)
            yield outcome.result
    progress.done = progress.total


def _memory(workers: int) -> int:
    """The address space of each worker in bytes: an equal share of physical memory."""
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows
        return 0
    return max(_MIN_WORKER_BYTES, there // workers)
