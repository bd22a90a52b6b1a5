"""Checking many archives, several at once in processes of their own where that pays."""

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
from inspector.operations.check.checking import Report, check_location, unreadable
from inspector.operations.check.report import RENDERED
from inspector.operations.jobs.process_pool import Lost, Pool
from inspector.operations.jobs.subprogress import CHECKING, Subprogress, together
from inspector.operations.open.collection import open_collection
from inspector.operations.open.location import FAR_AT_A_TIME
from inspector.operations.protocol.check_views import CheckLocation, Outcome, ReportKind
from inspector.sources.s3.address import is_s3

PAYS = 32 << 20
"""Bytes to be checked from which on starting processes pays."""
_EACH = 256 << 10
"""Bytes that could be read in the time that opening a file takes."""
_FAR_WORKERS = 4
"""Processes at least where archives are far away: most of the time each waits."""
_AHEAD = 4
"""Locations a worker may be ahead of the one whose turn it is to be told."""


def check_one(wanted: CheckLocation, kind: ReportKind, progress: Progress) -> Outcome:
    """Check one location; raises Cancelled."""
    if wanted.why:
        return _outcome(unreadable(wanted.location, wanted.why), kind)
    report = check_location(wanted.location, progress, wanted.connection, seen=wanted.seen, place=wanted.place)
    if wanted.found and report.no_archive:
        return Outcome(wanted.location, State.UNREADABLE, report.sentence, "", left_out=True)
    return _outcome(report, kind)


def _outcome(report: Report, kind: ReportKind) -> Outcome:
    assert report.state is not None, "a check that has come to its end knows what it has found"
    every = list(chain(report.findings, *(archive.findings for archive in report.archives)))
    found = Counter(finding.severity for finding in every)
    counts = tuple((severity, found[severity]) for severity in Severity if found[severity])
    wrong = [finding for finding in every if finding.severity is not Severity.INFO]
    worst = min(wrong, key=lambda finding: finding.severity.rank).message if wrong else ""
    return Outcome(report.location, report.state, report.sentence, RENDERED[kind](report), counts=counts, worst=worst)


def check_many(
    wanted: Iterable[CheckLocation], kind: ReportKind, progress: Progress, workers: int = 0
) -> Generator[Outcome]:
    """Check all of these and give what each came to, in their order.

    ``workers`` is how many processes may be used, 0 for as many as there are processors and two at least. Closing the
    iterator ends them at once. Raises Cancelled.
    """
    waiting = list(wanted)
    far = any(is_s3(each.location) for each in waiting)
    workers = min(workers or max(_FAR_WORKERS if far else 2, os.cpu_count() or 1), len(waiting))
    sizes = [_size(each) for each in waiting]
    if workers < 2 or sum(sizes) + _EACH * len(sizes) < PAYS:
        yield from _in_threads(waiting, kind, FAR_AT_A_TIME if far and workers > 1 else 1, sizes, progress)
        return
    progress.begin(CHECKING, sum(sizes))
    yield from _in_processes(waiting, kind, workers, progress)
    progress.done = progress.total


def _in_threads(
    wanted: Sequence[CheckLocation], kind: ReportKind, most: int, sizes: Sequence[int], progress: Progress
) -> Generator[Outcome]:
    """Up to ``most`` at a time: what is far away is waited for most of the time."""
    by_size = most == 1 or all(size or each.size is not None for size, each in zip(sizes, wanted, strict=True))
    parts, unit = (sizes, "bytes") if by_size else ([1] * len(wanted), "archives")
    return together(progress, CHECKING, parts, lambda at, part: check_one(wanted[at], kind, part), most, unit)


def _size(wanted: CheckLocation) -> int:
    """The bytes that are to be checked at a location; 0 where that cannot be told."""
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
    wanted: Sequence[CheckLocation], kind: ReportKind, workers: int, progress: Progress
) -> Iterator[Outcome]:
    come: dict[int, Outcome] = {}
    with Pool(workers, partial(_work, kind), progress) as pool:
        asked = 0
        for turn in range(len(wanted)):
            while turn not in come:
                for number in range(asked, min(len(wanted), turn + workers * _AHEAD)):
                    pool.ask((number, wanted[number]))
                    asked += 1
                (number, each), answer = pool.answer()
                if isinstance(answer, Lost):  # the process ended over it
                    answer = _outcome(unreadable(each.location, answer.sentence), kind)
                come[number] = answer
            yield come.pop(turn)


def _work(kind: ReportKind, task: tuple[int, CheckLocation], progress: Progress) -> Outcome:
    wanted = task[1]
    share = Subprogress(progress, progress.done, progress.done + _size(wanted))
    outcome = check_one(wanted, kind, share)
    share.fill()
    return outcome
