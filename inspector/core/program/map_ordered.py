"""``map_ordered``: run tasks that wait for a network or a disk on several threads, and yield results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Generic, TypeVar

from inspector.core.program.progress import Progress

Task = TypeVar("Task")
Result = TypeVar("Result")

_MAX_QUEUED_PER_THREAD = 3
"""Tasks started or queued, for each thread, ahead of the result that is yielded next."""
_POLL_SECONDS = 0.1
_SHUTDOWN_SECONDS = 2.0
"""How long to wait for cancelled work before its daemon thread is left to end by itself."""


class _Job(Generic[Task, Result]):
    """One task with its progress, and its result or error once ``done`` is set."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.progress = Progress()
        self.done = Event()
        self._result: Result
        self._error: BaseException | None = None

    def run(self, work: Callable[[Task, Progress], Result]) -> None:
        try:
            self.progress.advance(0)
            self._result = work(self.task, self.progress)
        except BaseException as error:  # noqa: BLE001 - raised again by ``result``
            self._error = error
        finally:
            self.done.set()

    def result(self) -> Result:
        if self._error is not None:
            raise self._error
        return self._result


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
    queue: SimpleQueue[_Job[Task, Result] | None] = SimpleQueue()
    pending: deque[_Job[Task, Result]] = deque()
    threads: list[Thread] = []
    jobs = (_Job[Task, Result](task) for task in tasks)
    try:
        while True:
            for job in islice(jobs, _MAX_QUEUED_PER_THREAD * max_threads - len(pending)):
                pending.append(job)
                queue.put(job)
                if len(threads) < max_threads:
                    threads.append(_start_thread(queue, work))
            if not pending:
                return
            while not pending[0].done.wait(_POLL_SECONDS):
                on_wait([each.progress for each in pending])
            yield pending.popleft().result()
    finally:
        _shut_down(pending, queue, threads)


def _start_thread(queue: SimpleQueue[_Job[Task, Result] | None], work: Callable[[Task, Progress], Result]) -> Thread:
    def run() -> None:
        while (job := queue.get()) is not None:
            job.run(work)

    # A daemon thread: the program must be able to exit while a server is silent.
    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread


def _shut_down(
    pending: Iterable[_Job[Task, Result]], queue: SimpleQueue[_Job[Task, Result] | None], threads: list[Thread]
) -> None:
    for job in pending:
        job.progress.cancel()
    for _ in threads:
        queue.put(None)
    until = monotonic() + _SHUTDOWN_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - monotonic()))
