"""``audit``: check every archive under a folder once; the work can be stopped, resumed and divided."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Generator, Iterator
from contextlib import closing, nullcontext
from pathlib import Path

from inspector.cli.bootstrap import FINE, UNREADABLE
from inspector.cli.commands.check import WorstStatus, report_skipped, status_of
from inspector.cli.options import CONNECTION, Option, connection_of, json_option, location, one_or_more
from inspector.cli.output import Lines, ProgressBar, complain, json_text, progress_line
from inspector.core.numbers import count, grouped, rounded
from inspector.core.program.progress import Progress, duration
from inspector.operations.audit.audit import Plan, Todo, prepare
from inspector.operations.audit.audit import run as run_audit
from inspector.operations.audit.dask_cluster import run_on_cluster
from inspector.operations.audit.results import Results
from inspector.operations.audit.summary import Run, Summary, as_object, as_text, summary, write_csv
from inspector.operations.audit.targets import Choice
from inspector.operations.protocol.audit_views import NO_ARCHIVE, Amount, Result

_LOG_INTERVAL_S = 60.0
"""Seconds between two progress lines where standard error is not a terminal."""
_BYTES_PER_FILE = 256 << 10
"""What opening a file costs, as bytes that could be read in that time."""


def _per_cent(text: str) -> float:
    number = float(text.removesuffix("%"))
    if not 0 < number <= 100:
        raise argparse.ArgumentTypeError("a sample is more than 0 and at most 100 per cent")
    return number


def _shard(text: str) -> tuple[int, int]:
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise argparse.ArgumentTypeError("a shard is I/N, I being 1 to N")
    return number, count


OPTIONS = (
    location("a folder or a prefix, with everything below it"),
    Option("--workers", type=one_or_more, default=0, metavar="N", help="processes to use"),
    Option("--dask", metavar="ADDRESS", help="use a Dask cluster whose scheduler is tcp://HOST:PORT"),
    Option("--results", metavar="FILE", help="store results here, and skip archives it has already"),
    Option("--merge", action="append", default=[], metavar="FILE", help="import these results first"),
    Option("--quick", action="store_true", help="check the structure only, and read no content"),
    Option("--sample", type=_per_cent, default=100.0, metavar="P", help="check only P per cent"),
    Option("--shard", type=_shard, default=(1, 1), metavar="I/N", help="check only part I of N, from 1"),
    Option("--csv", metavar="FILE", help="write the results for a spreadsheet"),
    Option("--strict", action="store_true", help="warnings count: exit with 1 for them too"),
    json_option("JSON, one object a line: the archives, then the summary"),
    *CONNECTION,
)


# ---- work --------------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """Audit a location and return the exit status: that of its worst archive."""
    path = Path(options.results) if options.results else None
    worst = WorstStatus()
    with worst, Results(path) as results, Lines() as out:
        for shard in map(Path, options.merge):
            results.import_shard(shard)
        summed = _audited(options, results, out, worst)
        out.write(f"{json_text(as_object(summed))}\n" if options.json else as_text(summed))
        if options.csv:
            write_csv(results, Path(options.csv))
    return worst.status if worst.cut_off else _status(options, summed)


def _audited(options: argparse.Namespace, results: Results, out: Lines, worst: WorstStatus) -> Summary:
    """Check what is left to check, and with ``--json`` print the result of each archive."""
    clock, skipped = _Clock(), list[str]()
    # Files that this audit itself reads and writes are not taken for archives.
    aside = frozenset(map(os.path.abspath, [*options.merge, *filter(None, (options.csv,))]))
    choice, connection = Choice(options.sample, options.shard), connection_of(options)
    plan = Plan((options.location,), options.quick, choice, aside, connection)
    # No progress bar appears between lines that are printed.
    bar = ProgressBar(clock.progress, clock.line, _LOG_INTERVAL_S)
    with nullcontext() if options.json and sys.stdout.isatty() else bar:
        todo = prepare(plan, results, clock.progress, skipped)
        if options.json:
            _write(out, results.results(f"WHERE state <> '{NO_ARCHIVE}' ORDER BY location"))
        clock.start(todo)
        try:
            with closing(_work(options, plan, results, clock.progress)) as work:
                for result in work:
                    clock.count(result)
                    worst.add(status_of(result.state, options.strict))
                    if options.json:
                        _write(out, (result,))
        except KeyboardInterrupt:
            _report_interruption(options, results)
            raise
    report_skipped(skipped)
    return summary(results, Run(Amount(clock.done, clock.read), clock.seconds, todo.earlier))


def _work(options: argparse.Namespace, plan: Plan, results: Results, progress: Progress) -> Generator[Result]:
    if options.dask:
        return run_on_cluster(options.dask, plan, results, progress)
    return run_audit(plan, results, progress, options.workers)


def _write(out: Lines, results: Iterator[Result] | tuple[Result]) -> None:
    for result in results:
        if result.state != NO_ARCHIVE:
            out.write(f"{json_text(result.as_object())}\n")
    out.flush()


def _report_interruption(options: argparse.Namespace, results: Results) -> None:
    done, left = results.amount(done=True), results.amount(done=False)
    if options.results:
        stored = f"{count(done.files, 'result')} {'is' if done.files == 1 else 'are'} stored in {options.results}"
        complain(f"Interrupted: {stored}, and {count(left.files, 'file')} left; the same command continues from there.")
    else:
        complain("Interrupted, and no results are stored: with --results FILE an audit can be resumed.")


class _Clock:
    """How far the audit is, in archives and in bytes, and for how long it has been running."""

    def __init__(self) -> None:
        self.progress = Progress()
        self.done = 0
        self.read = 0
        self._files = 0
        self._began = time.monotonic()

    def start(self, todo: Todo) -> None:
        """Start the time: from here on archives are checked."""
        self._files = todo.left.files
        self._began = time.monotonic()

    def count(self, result: Result) -> None:
        """Count an archive."""
        self.done += 1
        self.read += result.read

    @property
    def seconds(self) -> float:
        """Seconds since ``start``."""
        return time.monotonic() - self._began

    def line(self, progress: Progress) -> str:
        """The progress line: archives, bytes, speed and time left."""
        if not self._files:
            return progress_line(progress)
        seconds = max(self.seconds, 1e-3)
        files = f"{grouped(self.done)} of {count(self._files, 'file')}"
        rate = f"{rounded(int(progress.done / seconds))}/s"
        return progress_line(progress, files, rate, *_time_left(self._fraction(progress), seconds))

    def _fraction(self, progress: Progress) -> float:
        """How much of the work is done, 0 to 1, counting bytes and a fixed cost per archive."""
        each = progress.total // self._files + _BYTES_PER_FILE
        return (progress.done + each * self.done) / (progress.total + each * self._files)


def _time_left(fraction: float, seconds: float) -> list[str]:
    """How long the rest takes, if ``fraction`` of the work took ``seconds``; empty while that is unknown."""
    return [f"{duration(seconds / fraction - seconds)} left"] if 0 < fraction < 1 and seconds >= 1 else []


def _status(options: argparse.Namespace, summed: Summary) -> int:
    everything = options.sample == 100 and options.shard == (1, 1)
    if everything and summed.all == Amount():
        complain("There is no archive in this folder, so nothing was checked.")
        return UNREADABLE
    return max((status_of(state, options.strict) for state in summed.states), default=FINE)
