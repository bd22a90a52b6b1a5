"""Auditing: every archive of a place is checked once, by several processes, and what is finished stays finished.

``prepare`` lists what there is and leaves out what is done; ``run`` does the rest. A killed audit is taken up by
preparing it again with the same results file.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice

from inspector.core.progress import Progress
from inspector.operations.audit.audit_check import Job, examine, lost
from inspector.operations.audit.audit_places import Choice, Found, archives_in
from inspector.operations.audit.audit_results import Results
from inspector.operations.jobs.process_pool import Lost, Pool
from inspector.operations.jobs.subprogress import CHECKING
from inspector.operations.protocol.audit_views import Amount, Result
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
