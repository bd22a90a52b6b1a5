"""``audit``: check every archive under a folder once; the work can be stopped and resumed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

from inspector.cli.archives import condition
from inspector.cli.bootstrap import FINE, UNREADABLE
from inspector.cli.commands.check import WorstStatus, report_skipped, status_of
from inspector.cli.options import CONNECTION, Option, connection_of, json_option, location, one_or_more, where
from inspector.cli.output import ProgressBar, complain, emit, flush, json_text
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Plan, prepare
from inspector.operations.audit.audit import run as run_audit
from inspector.operations.audit.dask_cluster import run_on_cluster
from inspector.operations.audit.results import Results, Run, Summary, as_object, as_text, summary
from inspector.operations.protocol.audit_views import NO_ARCHIVE, Amount, Result

_LOG_INTERVAL_S = 60.0
"""Seconds between two progress lines where standard error is not a terminal."""


OPTIONS = (
    location("a folder or a prefix, with everything below it"),
    Option("--workers", type=one_or_more, default=0, metavar="N", help="processes to use"),
    Option("--dask", metavar="ADDRESS", help="use a Dask cluster whose scheduler is tcp://HOST:PORT"),
    Option("--results", metavar="FILE", help="store results here, and skip archives it has already"),
    Option("--quick", action="store_true", help="check the structure only, and read no content"),
    Option("--strict", action="store_true", help="warnings count: exit with 1 for them too"),
    where("'state != \"sound\" and bytes > 1GiB'"),
    json_option("JSON, one object a line: the archives, then the summary"),
    *CONNECTION,
)


# ---- work --------------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """Audit a location and return the exit status: that of its worst archive."""
    options.holds = condition(options.where, "ARCHIVE_NAMES")
    path = Path(options.results) if options.results else None
    worst = WorstStatus()
    with worst, Results(path) as results:
        summed = _audited(options, results, worst)
        emit(f"{json_text(as_object(summed))}\n" if options.json else as_text(summed))
        flush()
    if worst.cut_off:
        return worst.status
    if summed.all == Amount():
        complain("There is no archive in this folder, so nothing was checked.")
        return UNREADABLE
    return max((status_of(state, options.strict) for state in summed.states), default=FINE)


def _audited(options: argparse.Namespace, results: Results, worst: WorstStatus) -> Summary:
    """Check what is left to check, and with ``--json`` print the result of each archive."""
    progress, skipped, done, read = Progress(), list[str](), 0, 0
    plan = Plan((options.location,), options.quick, connection_of(options), datasets=True)
    # No progress bar appears between lines that are printed.
    bar = ProgressBar(progress, log_interval_s=_LOG_INTERVAL_S)
    with nullcontext() if (options.json or options.holds) and sys.stdout.isatty() else bar:
        todo = prepare(plan, results, progress, skipped)
        if options.json or options.holds:
            _write(options, results.results(f"WHERE state <> '{NO_ARCHIVE}' ORDER BY location"))
        began = time.monotonic()
        try:
            work = run_audit(plan, results, progress, options.workers)
            if options.dask:
                work = run_on_cluster(options.dask, plan, results, progress)
            with closing(work):
                for result in work:
                    done, read = done + 1, read + result.read
                    worst.add(status_of(result.state, options.strict))
                    if options.json or options.holds:
                        _write(options, (result,))
        except KeyboardInterrupt:
            _report_interruption(options, results)
            raise
    report_skipped(skipped)
    return summary(results, Run(Amount(done, read), time.monotonic() - began, todo.earlier))


def _write(options: argparse.Namespace, results: Iterator[Result] | tuple[Result]) -> None:
    for result in results:
        found = result.as_object()
        if result.state != NO_ARCHIVE and (options.holds is None or options.holds(found)):
            emit(f"{json_text(found) if options.json else f'{visible(result.location)}: {result.state}'}\n")
    flush()


def _report_interruption(options: argparse.Namespace, results: Results) -> None:
    done, left = results.amount(done=True), results.amount(done=False)
    if options.results:
        stored = f"{count(done.files, 'result')} {'is' if done.files == 1 else 'are'} stored in {options.results}"
        complain(f"Interrupted: {stored}, and {count(left.files, 'file')} left; the same command continues from there.")
    else:
        complain("Interrupted, and no results are stored: with --results FILE an audit can be resumed.")
