"""An audit on a Dask cluster: several archives per task, one process that stores the results."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from importlib import import_module
from itertools import islice
from typing import Any

from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Job, Plan, examine, jobs_of, lost
from inspector.operations.audit.results import Results
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.process_pool import DIED, TaskFailure, attempt
from inspector.operations.jobs.subprogress import CHECKING
from inspector.operations.protocol.audit_views import Result

MAX_CHUNK_FILES = 32
"""The largest number of archives in a task."""
MIN_CHUNK_BYTES = 256 << 20
"""The size from which on a task gets no further archives."""
_TASKS_PER_THREAD = 3
"""Tasks queued for each thread of a worker."""
_CONNECT_SECONDS = 10
"""Seconds to wait for the scheduler."""

Chunk = tuple[Job, ...]
Answer = tuple[Chunk, list[Result]]


def run_on_cluster(address: str, plan: Plan, results: Results, progress: Progress) -> Generator[Result]:
    """Check what is left as ``audit.run`` does. Every worker needs this program and the same locations.

    A task that kills its worker is repeated one archive at a time, to find the archive that does it. Also raises
    OperationError if the cluster cannot be reached.
    """
    progress.begin(CHECKING, results.amount(done=False).size)
    with _client(address) as client:
        try:
            for chunk, results_of_chunk in _finished_chunks(client, _chunks(jobs_of(plan, results))):
                for result in results_of_chunk:
                    results.keep(result)
                    yield result
                progress.advance(sum(job.size for job in chunk))
        except CancelledError as error:
            raise OperationError("The connection to the Dask scheduler was lost; the rest is not audited.") from error


def _dask() -> Any:
    """The library, an optional extra without types."""
    try:
        return import_module("distributed")
    except ImportError as error:
        raise OperationError("--dask needs Dask: install archive-inspector[dask].") from error


def _client(address: str) -> Any:
    dask = _dask()
    try:
        return dask.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OperationError(f"No Dask scheduler answers at {visible(address)}: {error}.") from error


def _chunks(jobs: Iterable[Job]) -> Iterator[Chunk]:
    """Group jobs into tasks of many small archives or a few large ones."""
    chunk: Chunk = ()
    for job in jobs:
        chunk += (job,)
        if len(chunk) == MAX_CHUNK_FILES or sum(each.size for each in chunk) >= MIN_CHUNK_BYTES:
            yield chunk
            chunk = ()
    if chunk:
        yield chunk


def _finished_chunks(client: Any, chunks: Iterator[Chunk]) -> Iterator[Answer]:
    """Yield the results of chunks as they finish; only a limited number is submitted at a time."""
    asked: dict[Any, Chunk] = {}
    suspects: list[Job] = []
    ready = _dask().as_completed(loop=client.loop)

    def ask(number: int) -> None:
        for chunk in islice(chunks, number):
            future = _ask(client, chunk)
            asked[future] = chunk
            ready.add(future)

    ask(_TASKS_PER_THREAD * max(1, sum(client.nthreads().values())))
    for future in ready:
        ask(1)
        chunk = asked.pop(future)
        results_of_chunk = _outcome(future)
        if results_of_chunk is None:
            suspects += chunk
        else:
            yield chunk, results_of_chunk
    # A dying worker loses its other tasks too, so suspects run alone, one after another.
    for job in suspects:
        yield (job,), _outcome(_ask(client, (job,))) or [lost(job, DIED).result]


def _ask(client: Any, chunk: Chunk) -> Any:
    return client.submit(examine_chunk, chunk, pure=False)


def _outcome(future: Any) -> list[Result] | None:
    """The results of a finished chunk, or None if it killed several workers."""
    error = future.exception()
    if error is None:
        results_of_chunk: list[Result] = future.result()
        return results_of_chunk
    if isinstance(error, _dask().KilledWorker):
        return None
    raise OperationError(
        f"The Dask cluster could not do this: {error!r}. This program has to be installed on all of its workers."
    ) from error


def examine_chunk(chunk: Chunk) -> list[Result]:
    """The task of a cluster worker: check these archives one after another."""
    results = []
    for job in chunk:
        answer = attempt(examine, job, Progress())
        results.append((lost(job, answer.sentence) if isinstance(answer, TaskFailure) else answer).result)
    return results
