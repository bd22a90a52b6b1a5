"""Checking many archives, several at once in their own processes if that saves time."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from inspector.core.finding import Severity
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.formats._causes.table import is_cause
from inspector.operations.check.checking import CheckReport, check_location, unreadable
from inspector.operations.check.report import RENDERED
from inspector.operations.jobs.process_pool import ProcessPool, TaskFailure
from inspector.operations.jobs.subprogress import CHECKING, SubProgress, map_with_progress
from inspector.operations.open.collection import open_collection
from inspector.operations.open.location import MAX_REMOTE_READS
from inspector.operations.protocol.check_views import CheckTarget, Outcome, ReportKind
from inspector.sources.s3.address import is_s3

MIN_BYTES_FOR_PROCESSES = 32 << 20
"""Starting processes saves time from so many bytes on."""
_BYTES_PER_FILE = 256 << 10
"""What opening a file costs, as bytes that could be read in that time."""
_MIN_REMOTE_WORKERS = 4
"""Processes for remote archives at least: most of the time each waits."""
_MAX_AHEAD_PER_WORKER = 4
"""Locations a worker may be ahead of the next one to report."""


def check_one(wanted: CheckTarget, kind: ReportKind, progress: Progress) -> Outcome:
    """Check one location; raises Cancelled."""
    if wanted.why:
        return _outcome(unreadable(wanted.location, wanted.why), kind)
    report = check_location(wanted.location, progress, wanted.connection, seen=wanted.seen, place=wanted.place)
    if wanted.found and report.no_archive:
        return Outcome(wanted.location, State.UNREADABLE, report.sentence, "", left_out=True)
    return _outcome(report, kind)


def _outcome(report: CheckReport, kind: ReportKind) -> Outcome:
    assert report.state is not None, "a completed check has a state"
    every = list(chain(report.findings, *(archive.findings for archive in report.archives)))
    found = Counter(finding.severity for finding in every if not is_cause(finding))
    counts = tuple((severity, found[severity]) for severity in Severity if found[severity])
    wrong = [finding for finding in every if finding.severity is not Severity.INFO]
    worst = min(wrong, key=lambda finding: finding.severity.rank).message if wrong else ""
    return Outcome(report.location, report.state, report.sentence, RENDERED[kind](report), counts=counts, worst=worst)


def check_many(
    wanted: Iterable[CheckTarget], kind: ReportKind, progress: Progress, workers: int = 0
) -> Generator[Outcome]:
    """Check all of these and yield their outcomes in order.

    ``workers`` is the maximum number of processes, 0 for one per processor and at least two. Closing the iterator ends
    them at once. Raises Cancelled.
    """
    waiting = list(wanted)
    remote = any(is_s3(each.location) for each in waiting)
    workers = min(workers or max(_MIN_REMOTE_WORKERS if remote else 2, os.cpu_count() or 1), len(waiting))
    sizes = [_size(each) for each in waiting]
    if workers < 2 or sum(sizes) + _BYTES_PER_FILE * len(sizes) < MIN_BYTES_FOR_PROCESSES:
        yield from _in_threads(waiting, kind, MAX_REMOTE_READS if remote and workers > 1 else 1, sizes, progress)
        return
    progress.begin(CHECKING, sum(sizes))
    yield from _in_processes(waiting, kind, workers, progress)
    progress.done = progress.total


def _in_threads(
    wanted: Sequence[CheckTarget], kind: ReportKind, most: int, sizes: Sequence[int], progress: Progress
) -> Generator[Outcome]:
    """Check up to ``most`` at a time: remote archives are waited for most of the time."""
    by_size = most == 1 or all(size or each.size is not None for size, each in zip(sizes, wanted, strict=True))
    parts, unit = (sizes, "bytes") if by_size else ([1] * len(wanted), "archives")
    return map_with_progress(progress, CHECKING, parts, lambda at, part: check_one(wanted[at], kind, part), most, unit)


def _size(wanted: CheckTarget) -> int:
    """The bytes to check at a location; 0 if unknown."""
    if wanted.size is not None:
        return wanted.size
    path = Path(wanted.location)
    try:
        if path.is_dir():
            collection = open_collection(path)
            return collection.size if collection else 0
        return path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError, SourceError):
        return 0


def _in_processes(
    wanted: Sequence[CheckTarget], kind: ReportKind, workers: int, progress: Progress
) -> Iterator[Outcome]:
    finished: dict[int, Outcome] = {}
    with ProcessPool(workers, partial(_work, kind), progress) as pool:
        submitted = 0
        for turn in range(len(wanted)):
            while turn not in finished:
                for number in range(submitted, min(len(wanted), turn + workers * _MAX_AHEAD_PER_WORKER)):
                    pool.submit((number, wanted[number]))
                    submitted += 1
                (number, each), answer = pool.next_result()
                if isinstance(answer, TaskFailure):  # the process ended while working on it
                    answer = _outcome(unreadable(each.location, answer.sentence), kind)
                finished[number] = answer
            yield finished.pop(turn)


def _work(kind: ReportKind, task: tuple[int, CheckTarget], progress: Progress) -> Outcome:
    wanted = task[1]
    part = SubProgress(progress, progress.done, progress.done + _size(wanted))
    outcome = check_one(wanted, kind, part)
    part.fill()
    return outcome
