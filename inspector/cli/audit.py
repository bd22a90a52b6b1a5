"""``audit``: every archive under a folder, checked once, so that the work can be stopped, taken up and shared."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path

from inspector.cli.check import Worst, say_passed, status_of
from inspector.cli.connecting import connection_of
from inspector.cli.exit_codes import FINE, UNREADABLE
from inspector.cli.output import Lines, complain, json_text
from inspector.cli.progress_bar import ProgressBar, bar
from inspector.core.numbers import count, grouped, rounded
from inspector.core.progress import Progress
from inspector.core.verdict import State
from inspector.operations.audit.audit import Plan, Todo, prepare
from inspector.operations.audit.audit import run as run_audit
from inspector.operations.audit.audit_dask import run_on_cluster
from inspector.operations.audit.audit_places import Choice
from inspector.operations.audit.audit_results import ENDINGS, Results, ShardFiles
from inspector.operations.audit.audit_summary import Run, Summary, as_object, as_text, summary, write_csv
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.protocol.audit_views import NO_ARCHIVE, UNCHECKED, Amount, Result

_LOGGED = 60.0
"""Seconds between two lines that say how far it is, where there is no terminal."""


def run(options: argparse.Namespace) -> int:
    """Audit a place and give the exit status: that of the worst archive in it."""
    shards = _shards(options)
    path = Path(options.results) if options.results and shards is None else None
    worst = Worst()
    with worst, shards or nullcontext(), Results(path) as results, Lines() as out:
        for shard in (*map(Path, options.merge), *(shards.known() if shards is not None else ())):
            results.import_shard(shard)
        summed = _audited(options, results, shards, out, worst)
        out.write(f"{json_text(as_object(summed))}\n" if options.json else as_text(summed))
        if options.csv:
            write_csv(results, Path(options.csv))
    return worst.status if worst.cut_off else _status(options, summed)


def _shards(options: argparse.Namespace) -> ShardFiles | None:
    """The files that results are kept in where they are kept by shards; raises Refused where they cannot be."""
    if not options.shards:
        return None
    if not options.dask or not options.results:
        raise Refused(
            "--shards N is for an audit on a Dask cluster, and needs --results FILE: the files of the shards are named "
            "after it."
        )
    return ShardFiles(Path(options.results), options.shards)


def _audited(
    options: argparse.Namespace, results: Results, shards: ShardFiles | None, out: Lines, worst: Worst
) -> Summary:
    """Do what is to be done; what comes of each archive is written where it was asked for."""
    clock = _Clock()
    choice = Choice(options.sample, options.shard)
    plan = Plan(options.location, options.quick, choice, _own(options, shards), connection_of(options))
    passed: list[str] = []
    with _shown(clock, options):
        todo = prepare(plan, results, clock.progress, passed)
        if options.json:
            _write(out, results.results(f"WHERE state <> '{NO_ARCHIVE}' ORDER BY location"))
        clock.start(todo)
        work = _work(options, plan, results, shards, clock.progress)
        try:
            with closing(work):
                for result in work:
                    clock.count(result)
                    worst.meet(_status_of(result.state, options.strict))
                    if options.json:
                        _write(out, (result,))
        except KeyboardInterrupt:
            _say_what_is_left(options, results)
            raise
    say_passed(passed)
    return summary(results, Run(Amount(clock.done, clock.read), clock.seconds, todo.earlier))


def _work(
    options: argparse.Namespace, plan: Plan, results: Results, shards: ShardFiles | None, progress: Progress
) -> Generator[Result]:
    if options.dask:
        return run_on_cluster(options.dask, plan, results, progress, shards)
    return run_audit(plan, results, progress, options.workers)


def _write(out: Lines, results: Iterator[Result] | tuple[Result]) -> None:
    for result in results:
        if result.state != NO_ARCHIVE:
            out.write(f"{json_text(result.as_object())}\n")
    out.flush()


def _own(options: argparse.Namespace, shards: ShardFiles | None) -> frozenset[str]:
    """Files that this audit writes or reads itself, which are no archives of the place."""
    mine = [*options.merge, *filter(None, (options.csv,))]
    if shards is not None:
        mine += [f"{path}{ending}" for path in (*shards.paths, *shards.known()) for ending in ENDINGS]
    return frozenset(map(os.path.abspath, mine))


def _say_what_is_left(options: argparse.Namespace, results: Results) -> None:
    done, left = results.amount(done=True), results.amount(done=False)
    if options.results:
        where = f"the shards of {options.results}" if options.shards else options.results
        kept = f"{count(done.files, 'result')} {'is' if done.files == 1 else 'are'} kept in {where}"
        complain(f"Interrupted: {kept}, and {count(left.files, 'file')} left; the same command goes on from there.")
    else:
        complain("Interrupted, and nothing is kept: --results FILE keeps results, so that an audit can be taken up.")


class _Clock:
    """How far the audit is, in archives and in bytes, and how long it has been at it."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.done = 0
        self.read = 0
        self._files = 0
        self._began = time.monotonic()

    def start(self, todo: Todo) -> None:
        """From here on archives are checked."""
        self._files = todo.left.files
        self._began = time.monotonic()

    def count(self, result: Result) -> None:
        """Count an archive."""
        self.done += 1
        self.read += result.read

    @property
    def seconds(self) -> float:
        """Since archives are checked."""
        return time.monotonic() - self._began

    def line(self, progress: Progress) -> str:
        """What the bar shows: archives, bytes, how fast and how long still."""
        if not self._files:
            return bar(progress)
        seconds = max(self.seconds, 1e-3)
        files = f"{grouped(self.done)} of {count(self._files, 'file')}, {rounded(int(progress.done / seconds))}/s"
        return f"{bar(progress)}, {files}{_left(self._part(progress), seconds)}"

    def _part(self, progress: Progress) -> float:
        """How much of the work is done: an archive costs something however small it is, a byte wherever it is."""
        each = progress.total // self._files + (256 << 10)
        return (progress.done + each * self.done) / (progress.total + each * self._files)


def _left(part: float, seconds: float) -> str:
    if not 0 < part < 1 or seconds < 1:
        return ""
    left = int(seconds / part - seconds) + 1
    minutes, hours = left // 60, left // 3600
    words = f"{hours} h {minutes % 60} min" if hours else f"{minutes} min {left % 60} s" if minutes else f"{left} s"
    return f", {words} left"


def _shown(clock: _Clock, options: argparse.Namespace) -> ExitStack:
    """A bar, unless it would stand among the lines that are written."""
    stack = ExitStack()
    if not (options.json and sys.stdout.isatty()):
        stack.enter_context(ProgressBar(clock.progress, clock.line, _LOGGED))
    return stack


def _status(options: argparse.Namespace, summed: Summary) -> int:
    everything = options.sample == 100 and options.shard == (1, 1)
    if everything and summed.all == Amount():
        complain("There is no archive in this folder, so nothing was checked.")
        return UNREADABLE
    return max((_status_of(state, options.strict) for state in summed.states), default=FINE)


def _status_of(state: str, strict: bool) -> int:
    return FINE if state in (UNCHECKED, NO_ARCHIVE) else status_of(State(state), strict)
