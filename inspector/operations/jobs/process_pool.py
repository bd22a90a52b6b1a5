"""A pool of worker processes in which a task that crashes takes only its own process with it."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableSequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct

from inspector.core.program.log import log_in_worker
from inspector.core.program.progress import Progress
from inspector.sources.web.address import known_after, learn

Task = TypeVar("Task")
Answer = TypeVar("Answer")

DIED = "The process that was checking this ended unexpectedly, so nothing is known about it."
_ENDING_S = 5.0
"""Seconds a process has to end by itself after its pipe was closed; then it is killed."""
_POLL_S = 0.1
"""Seconds between two looks at the processes' progress."""


class TaskFailure(Struct, frozen=True):
    """A task without an answer; ``sentence`` says why.

    ``begun``: the process had started on it, so it may be the cause.
    """

    sentence: str
    begun: bool = True


class _Worker(Struct, Generic[Task]):
    """A process, our end of its pipe, and its current task.

    ``since`` is when its heartbeat last changed (``beat``), infinity until it starts on the task: starting is not
    hanging.
    """

    place: int
    process: SpawnProcess
    pipe: Connection
    task: Task | None = None
    beat: int = 0
    since: float = math.inf


class ProcessPool(Generic[Task, Answer]):
    """Up to ``workers`` processes that call ``work(task, progress)``; a context manager that ends them with its block.

    They also end with this process, however that ends. Their progress is added to ``progress``. ``stall_timeout_s``: a
    process whose task does not advance for so many seconds is killed (0: never). ``memory_limit``: bytes of address
    space per process (0: no limit).
    """

    def __init__(
        self,
        workers: int,
        work: Callable[[Task, Progress], Answer],
        progress: Progress,
        *,
        stall_timeout_s: float = 0.0,
        memory_limit: int = 0,
    ) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._theirs, self._lifeline = self._context.Pipe(duplex=False)
        self._work = work
        self._progress = progress
        self._before = progress.done
        self._stall_timeout_s = stall_timeout_s
        self._memory_limit = memory_limit
        self._counts = self._context.RawArray("Q", workers)
        self._beats = self._context.RawArray("Q", workers)
        self._free = list(range(workers))
        self._workers: list[_Worker[Task]] = []
        self._waiting: deque[Task] = deque()

    def submit(self, task: Task) -> None:
        """Queue a task."""
        self._waiting.append(task)
        self._assign_tasks()

    def next_result(self) -> tuple[Task, Answer | TaskFailure]:
        """Wait for any submitted task to end, and return it with its answer; raises Cancelled."""
        while True:
            busy = {worker.pipe: worker for worker in self._workers if worker.task is not None}
            assert busy, "no task was submitted"
            ready = wait(list(busy), _POLL_S)
            self._update_progress()
            for pipe in ready:
                assert isinstance(pipe, Connection)
                return self._receive(busy[pipe])
            for worker in busy.values():
                if self._is_stalled(worker):
                    sentence = (
                        f"Checking this was given up after {self._stall_timeout_s:,.0f} seconds without progress."
                    )
                    return self._drop_worker(worker, sentence)

    def _assign_tasks(self) -> None:
        for worker in self._workers:
            if self._waiting and worker.task is None:
                self._send_task(worker)
        while self._waiting and self._free:
            self._send_task(self._start_worker(self._free.pop()))

    def _send_task(self, worker: _Worker[Task]) -> None:
        worker.task = self._waiting.popleft()
        worker.beat, worker.since = self._beats[worker.place], math.inf
        with suppress(OSError):  # it has died meanwhile, which closes its end of the pipe too
            worker.pipe.send(worker.task)

    def _start_worker(self, place: int) -> _Worker[Task]:
        ours, theirs = self._context.Pipe()
        meter = (self._counts, self._beats, place)
        process = self._context.Process(
            target=_serve,
            args=(self._work, theirs, self._theirs, meter, self._memory_limit, known_after(0)),
            daemon=True,
        )
        # Processes ignore Ctrl+C from their first moment: it is for the process that started them.
        with _blocked("SIGINT"):
            process.start()
        theirs.close()
        self._workers.append(_Worker(place, process, ours))
        return self._workers[-1]

    def _receive(self, worker: _Worker[Task]) -> tuple[Task, Answer | TaskFailure]:
        try:
            answer: Answer | TaskFailure = worker.pipe.recv()
        except (EOFError, OSError):
            return self._drop_worker(worker, "")
        task, worker.task = worker.task, None
        assert task is not None
        self._assign_tasks()
        return task, answer

    def _drop_worker(self, worker: _Worker[Task], sentence: str) -> tuple[Task, TaskFailure]:
        """End a worker and continue with others. ``sentence`` says why it is killed; empty if it died by itself."""
        task = worker.task
        assert task is not None
        begun = self._beats[worker.place] != worker.beat or worker.since < math.inf
        code = self._end(worker, kill=bool(sentence))
        self._assign_tasks()
        return task, TaskFailure(sentence or _death_message(code), begun)

    def _end(self, worker: _Worker[Task], *, kill: bool) -> int | None:
        self._workers.remove(worker)
        self._free.append(worker.place)
        if not kill:
            worker.process.join(_ENDING_S)  # its pipe is closed: it is ending by itself, or hangs doing so
        if kill or worker.process.exitcode is None:
            worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        code = worker.process.exitcode
        worker.process.close()
        return code

    def _is_stalled(self, worker: _Worker[Task]) -> bool:
        beat, now = self._beats[worker.place], time.monotonic()
        if beat != worker.beat:
            worker.beat, worker.since = beat, now
        return 0 < self._stall_timeout_s < now - worker.since

    def _update_progress(self) -> None:
        progress = self._progress
        progress.done = max(progress.done, min(progress.total, self._before + sum(self._counts)))
        progress.advance(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with _blocked("SIGINT", "SIGTERM"):
            for worker in tuple(self._workers):
                self._end(worker, kill=True)
            self._lifeline.close()
            self._theirs.close()


def _death_message(code: int | None) -> str:
    with suppress(ValueError):  # it was ended by no signal
        return f"{DIED} It was ended by {signal.Signals(-(code or 0)).name}, as happens when memory runs out."
    return DIED


@contextmanager
def _blocked(*names: str) -> Iterator[None]:
    """Signals wait until the block has ended; processes started in it have them blocked from their first moment."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {getattr(signal, name) for name in names})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Heartbeat(Progress):
    """The progress of one worker: bytes done over all archives, and heartbeats, in memory that its parent reads."""

    def __init__(self, counts: MutableSequence[int], beats: MutableSequence[int], place: int) -> None:
        self._counts, self._beats, self._place = counts, beats, place
        super().__init__()

    @property
    def done(self) -> int:
        return self._counts[self._place]

    @done.setter
    def done(self, done: int) -> None:
        self._counts[self._place] = done

    def advance(self, count: int) -> None:
        self._beats[self._place] += 1
        super().advance(count)


def _serve(
    work: Callable[[Any, Progress], Any],
    pipe: Connection,
    lifeline: Connection,
    meter: tuple[MutableSequence[int], MutableSequence[int], int],
    memory: int,
    addresses: Mapping[str, str],
) -> None:
    """The loop of a worker: one task after another, until the pipe closes; ``addresses`` are to be learned."""
    learn(addresses)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(lifeline,), daemon=True).start()
    if memory:
        _limit_memory(memory)
    log_in_worker("pool")
    progress = _Heartbeat(*meter)
    while True:
        try:
            pipe.send(attempt(work, pipe.recv(), progress))
        except (EOFError, OSError):
            return


def attempt(work: Callable[[Task, Progress], Answer], task: Task, progress: Progress) -> Answer | TaskFailure:
    """The answer to a task, or a TaskFailure: a bug in one task must not end the others."""
    try:
        progress.advance(0)
        return work(task, progress)
    except MemoryError:
        return TaskFailure(
            "Checking this needed more memory than a process may use here, so nothing is known about it."
        )
    except Exception as error:  # noqa: BLE001 - see above
        traceback.print_exc()
        return TaskFailure(f"This could not be checked because of a bug in the program: {error!r}.")


def _limit_memory(memory: int) -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource  # there is none on Windows

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _exit_with_parent(lifeline: Connection) -> None:
    """Exit when the other end of the pipe is closed."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
