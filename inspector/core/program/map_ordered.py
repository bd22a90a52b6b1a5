"""``map_ordered``: run tasks that wait for a network or a disk on several threads, and yield results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, wait
from itertools import islice
from queue import SimpleQueue
from threading import Thread
from time import monotonic
from typing import TypeVar

from inspector.core.program.progress import Progress

Task = TypeVar("Task")
Result = TypeVar("Result")

_MAX_QUEUED_PER_THREAD = 3
"""Tasks started or queued, for each thread, ahead of the result that is yielded next."""
_POLL_SECONDS = 0.1
_SHUTDOWN_SECONDS = 2.0
"""How long to wait for cancelled work before its daemon thread is left to end by itself."""


def map_ordered(
    tasks: Iterable[Task],
    work: Callable[[Task, Progress], Result],
    max_threads: int,
    on_wait: Callable[[list[Progress]], None],
) -> Generator[Result]:
    """Yield ``work(task, progress)`` for each task, in the order of the tasks.

    While a result is waited for, ``on_wait`` is called every ``_POLL_SECONDS`` with the progress of each job in
    flight, the awaited one first. If ``on_wait`` or ``work`` raises, or the generator is closed, all jobs are
    cancelled.
    """
    queue: SimpleQueue[tuple[Task, Progress, Future[Result]] | None] = SimpleQueue()
    pending: deque[tuple[Progress, Future[Result]]] = deque()
    threads: list[Thread] = []

    def run() -> None:
        while (job := queue.get()) is not None:
            task, progress, result = job
            try:
                progress.advance(0)
                result.set_result(work(task, progress))
            except BaseException as error:  # noqa: BLE001 - raised where the result is waited for
                result.set_exception(error)

    left = iter(tasks)
    try:
        while True:
            for task in islice(left, _MAX_QUEUED_PER_THREAD * max_threads - len(pending)):
                pending.append((Progress(), Future()))
                queue.put((task, *pending[-1]))
                if len(threads) < max_threads:
                    # A daemon thread: the program must be able to exit while a server is silent.
                    threads.append(Thread(target=run, daemon=True))
                    threads[-1].start()
            if not pending:
                return
            while not wait([pending[0][1]], _POLL_SECONDS).done:
                on_wait([progress for progress, _ in pending])
            yield pending.popleft()[1].result()
    finally:
        for progress, _ in pending:
            progress.cancel()
        for _ in threads:
            queue.put(None)
        until = monotonic() + _SHUTDOWN_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))
