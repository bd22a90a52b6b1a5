"""Worker processes that are given one task after another, each of which may die of its task alone."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from inspector.core.progress import Progress
from inspector.operations.jobs.subprogress import Meter

Task = TypeVar("Task")
Answer = TypeVar("Answer")

DIED = "The process that was checking this ended unexpectedly, so nothing is known of it."
_LOOK = 0.1
"""Seconds between two looks at how far the processes are."""


@dataclass(frozen=True, slots=True)
class Lost:
    """There is no answer to a task, for the reason that ``sentence`` gives; ``begun``: it had to do with the task."""

    sentence: str
    begun: bool = True


@dataclass(slots=True)
class _Worker(Generic[Task]):
    """A process, its end of the pipe, and what it is at.

    ``since`` is when it last gave a sign of life (``beat``), infinity while it has not begun: starting is no hanging.
    """

    place: int
    process: SpawnProcess
    pipe: Connection
    task: Task | None = None
    beat: int = 0
    since: float = math.inf


class Pool(Generic[Task, Answer]):
    """Up to ``workers`` processes that call ``work(task, progress)``; they end when the block does, whatever they do.

    They end with this process too, however that ends. What they have done is added to ``progress``. ``patience`` is
    how many seconds a task may go on without advancing its progress before its process is ended (0: for ever),
    ``memory`` how many bytes of address space a process may have (0: any).
    """

    def __init__(
        self,
        workers: int,
        work: Callable[[Task, Progress], Answer],
        progress: Progress,
        *,
        patience: float = 0.0,
        memory: int = 0,
    ) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._theirs, self._lifeline = self._context.Pipe(duplex=False)
        self._work = work
        self._progress = progress
        self._before = progress.done
        self._patience = patience
        self._memory = memory
        self._counts = self._context.RawArray("Q", workers)
        self._beats = self._context.RawArray("Q", workers)
        self._free = list(range(workers))
        self._workers: list[_Worker[Task]] = []
        self._waiting: deque[Task] = deque()

    def ask(self, task: Task) -> None:
        """Do this as soon as a process is free."""
        self._waiting.append(task)
        self._deal()

    def answer(self) -> tuple[Task, Answer | Lost]:
        """The next task that is done, of those that were asked for, and what came of it; raises Cancelled."""
        while True:
            busy = {worker.pipe: worker for worker in self._workers if worker.task is not None}
            assert busy, "an answer was wanted and nothing was asked for"
            ready = wait(list(busy), _LOOK)
            self._look()
            for pipe in ready:
                assert isinstance(pipe, Connection)
                return self._came(busy[pipe])
            for worker in busy.values():
                if self._hangs(worker):
                    sentence = f"Checking this was given up: for {self._patience:,.0f} seconds it had come no further."
                    return self._replaced(worker, sentence)

    def _deal(self) -> None:
        for worker in self._workers:
            if self._waiting and worker.task is None:
                self._give(worker)
        while self._waiting and self._free:
            self._give(self._begun(self._free.pop()))

    def _give(self, worker: _Worker[Task]) -> None:
        worker.task = self._waiting.popleft()
        worker.beat, worker.since = self._beats[worker.place], math.inf
        with suppress(OSError):  # it has died meanwhile, which its end of the pipe says too
            worker.pipe.send(worker.task)

    def _begun(self, place: int) -> _Worker[Task]:
        ours, theirs = self._context.Pipe()
        meter = (self._counts, self._beats, place)
        process = self._context.Process(
            target=_serve, args=(self._work, theirs, self._theirs, meter, self._memory), daemon=True
        )
        with _uninterrupted():
            process.start()
        theirs.close()
        self._workers.append(_Worker(place, process, ours))
        return self._workers[-1]

    def _came(self, worker: _Worker[Task]) -> tuple[Task, Answer | Lost]:
        try:
            answer: Answer | Lost = worker.pipe.recv()
        except (EOFError, OSError):
            return self._replaced(worker, "")
        task, worker.task = worker.task, None
        assert task is not None
        self._deal()
        return task, answer

    def _replaced(self, worker: _Worker[Task], sentence: str) -> tuple[Task, Lost]:
        """End a process, and let another do what is left; without a sentence it has ended by itself."""
        task = worker.task
        assert task is not None
        begun = self._beats[worker.place] != worker.beat or worker.since < math.inf
        code = self._end(worker, kill=bool(sentence))
        self._deal()
        return task, Lost(sentence or _died(code), begun)

    def _end(self, worker: _Worker[Task], *, kill: bool) -> int | None:
        self._workers.remove(worker)
        self._free.append(worker.place)
        if kill:
            worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        code = worker.process.exitcode
        worker.process.close()
        return code

    def _hangs(self, worker: _Worker[Task]) -> bool:
        beat, now = self._beats[worker.place], time.monotonic()
        if beat != worker.beat:
            worker.beat, worker.since = beat, now
        return 0 < self._patience < now - worker.since

    def _look(self) -> None:
        progress = self._progress
        progress.done = max(progress.done, min(progress.total, self._before + sum(self._counts)))
        progress.advance(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with _uninterrupted():
            for worker in tuple(self._workers):
                self._end(worker, kill=True)
            self._lifeline.close()
            self._theirs.close()


def _died(code: int | None) -> str:
    if code is None or code >= 0:
        return DIED
    with suppress(ValueError):
        return f"{DIED} It was ended by {signal.Signals(-code).name}, as happens where memory runs out."
    return DIED


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


class _Pulse(Meter):
    """A progress of one process: how far it is, and that it is alive, stand where others read them."""

    def __init__(self, counts: MutableSequence[int], beats: MutableSequence[int], place: int) -> None:
        super().__init__(counts, place)
        self._beats = beats

    def advance(self, count: int) -> None:
        self._beats[self._place] += 1
        super().advance(count)


def _serve(
    work: Callable[[Any, Progress], Any],
    pipe: Connection,
    lifeline: Connection,
    meter: tuple[MutableSequence[int], MutableSequence[int], int],
    memory: int,
) -> None:
    """What a worker does: one task after another, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    if memory:
        _limit(memory)
    progress = _Pulse(*meter)
    while True:
        try:
            pipe.send(attempt(work, pipe.recv(), progress))
        except (EOFError, OSError):
            return


def attempt(work: Callable[[Task, Progress], Answer], task: Task, progress: Progress) -> Answer | Lost:
    """What comes of a task, at the border of a process: a mistake in one task must not end the others."""
    try:
        progress.advance(0)
        return work(task, progress)
    except MemoryError:
        return Lost("Checking this needed more memory than a process may have here, so nothing is known of it.")
    except Exception as error:  # noqa: BLE001 - see above
        traceback.print_exc()
        return Lost(f"This could not be checked because of a mistake in the program: {error!r}.")


def _limit(memory: int) -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource  # there is none on Windows

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _end_with(lifeline: Connection) -> None:
    """End this process when the other end of the pipe is closed."""
    try:
        lifeline.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)
