"""Checking many archives, several at once in processes of their own where that pays."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, MutableSequence, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from types import TracebackType
from typing import Self

from inspector.core.finding import Severity
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.checking import Report, check_location, unreadable
from inspector.operations.collection import open_collection
from inspector.operations.folders import Wanted
from inspector.operations.report import RENDERED
from inspector.operations.share import CHECKING, Meter, Share, shares
from inspector.operations.views import ReportKind

PAYS = 32 << 20
"""Bytes to be checked from which on starting processes pays."""
_EACH = 256 << 10
"""Bytes that could be read in the time that opening a file takes."""
_AHEAD = 4
"""Locations a worker is given ahead of the one whose turn it is to be told."""
_LOOK = 0.1
"""Seconds between two looks at how far the processes are."""
_DIED = "The process that was checking this ended unexpectedly, so nothing is known of it."


@dataclass(frozen=True, slots=True)
class Outcome:
    """What checking one location came to; ``report`` is written as was asked, ``counts`` are findings by severity.

    ``left_out``: it was found in a folder and is no archive that is known here, so it does not count.
    """

    location: str
    state: State
    sentence: str
    report: str
    left_out: bool = False
    counts: tuple[tuple[Severity, int], ...] = ()


def check_one(wanted: Wanted, kind: ReportKind, progress: Progress) -> Outcome:
    """Check one location; raises Cancelled."""
    report = check_location(wanted.location, progress)
    if wanted.found and report.format is None and report.archives:
        return Outcome(wanted.location, State.UNREADABLE, report.sentence, "", left_out=True)
    return _outcome(report, kind)


def _outcome(report: Report, kind: ReportKind) -> Outcome:
    assert report.state is not None, "a check that has come to its end knows what it has found"
    every = chain(report.findings, *(archive.findings for archive in report.archives))
    found = Counter(finding.severity for finding in every)
    counts = tuple((severity, found[severity]) for severity in Severity if found[severity])
    return Outcome(report.location, report.state, report.sentence, RENDERED[kind](report), counts=counts)


def check_many(wanted: Iterable[Wanted], kind: ReportKind, progress: Progress, workers: int = 0) -> Generator[Outcome]:
    """Check all of these and give what each came to, in their order.

    ``workers`` is how many processes may be used, 0 for as many as there are processors and two at least. Closing the
    iterator ends them at once. Raises Cancelled.
    """
    waiting = list(wanted)
    workers = min(workers or max(2, os.cpu_count() or 1), len(waiting))
    sizes = [_size(each) for each in waiting]
    if workers < 2 or sum(sizes) + _EACH * len(sizes) < PAYS:
        for part, each in zip(shares(progress, CHECKING, sizes), waiting, strict=True):
            yield check_one(each, kind, part)
        return
    progress.begin(CHECKING, sum(sizes))
    yield from _in_processes(waiting, kind, workers, progress)
    progress.done = progress.total


def _size(wanted: Wanted) -> int:
    """The bytes that are to be checked at a location; 0 where that cannot be told."""
    path = Path(wanted.location)
    try:
        if path.is_dir():
            collection = open_collection(path)
            return collection.size if collection else 0
        return path.stat().st_size if path.is_file() else 0
    except (OSError, ValueError, SourceError):
        return 0


def _in_processes(wanted: Sequence[Wanted], kind: ReportKind, workers: int, progress: Progress) -> Iterator[Outcome]:
    left = deque(wanted)
    while left:
        asked: deque[tuple[Wanted, Future[Outcome]]] = deque()
        with _Pool(workers, progress) as pool:
            try:
                while asked or left:
                    while left and len(asked) < workers * _AHEAD:
                        asked.append((left[0], pool.ask(left[0], kind)))
                        left.popleft()
                    yield pool.outcome(asked[0][1])
                    asked.popleft()
            except BrokenProcessPool:
                pass  # one of those that were asked for ends its process: they are told apart below
        yield from (_alone(each, kind, progress) for each, _ in asked)


def ended(location: str, kind: ReportKind) -> Outcome:
    """What is known of a location whose check ended the process it ran in."""
    return _outcome(unreadable(location, _DIED), kind)


def _alone(wanted: Wanted, kind: ReportKind, progress: Progress) -> Outcome:
    """Check in a process that nothing else depends on."""
    with _Pool(1, progress) as pool:
        try:
            return pool.outcome(pool.ask(wanted, kind))
        except BrokenProcessPool:
            return ended(wanted.location, kind)


class _Pool:
    """Worker processes that end when the block ends, whatever they are doing, and when this process does.

    What they have done is added to ``progress``.
    """

    def __init__(self, workers: int, progress: Progress) -> None:
        context = multiprocessing.get_context("spawn")
        self._theirs, self._lifeline = context.Pipe(duplex=False)
        self._progress = progress
        self._before = progress.done
        self._counts = context.RawArray("Q", workers)
        places = context.SimpleQueue()
        for place in range(workers):
            places.put(place)
        self._executor = ProcessPoolExecutor(workers, context, _begin, (self._theirs, self._counts, places))

    def ask(self, wanted: Wanted, kind: ReportKind) -> Future[Outcome]:
        """Check one location soon; raises BrokenProcessPool."""
        with _uninterrupted():
            return self._executor.submit(_work, wanted, kind)

    def outcome(self, asked: Future[Outcome]) -> Outcome:
        """What was asked for, once it is there; raises BrokenProcessPool and Cancelled."""
        while not wait((asked,), _LOOK).done:
            self._look()
        self._look()
        return asked.result()

    def _look(self) -> None:
        progress = self._progress
        # Where a process died, what it was doing is done again, and counted again.
        progress.done = max(progress.done, min(progress.total, self._before + sum(self._counts)))
        progress.advance(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._lifeline.close()
        self._executor.shutdown(cancel_futures=True)
        self._lifeline.close()
        self._theirs.close()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Processes started here do not hear Ctrl+C, not even before they can say so: it is for the one that asks."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_meter = Progress()


def _begin(lifeline: Connection, counts: MutableSequence[int], places: SimpleQueue[int]) -> None:
    """What a worker does first."""
    global _meter  # noqa: PLW0603 - the one thing that a worker keeps from one location to the next
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _meter = Meter(counts, places.get())
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    """End this process when the other end of the pipe is closed."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def _work(wanted: Wanted, kind: ReportKind) -> Outcome:
    share = Share(_meter, _meter.done, _meter.done + _size(wanted))
    outcome = check_one(wanted, kind, share)
    share.fill()
    return outcome
