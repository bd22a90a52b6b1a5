"""Several pieces of work at a time, for work that waits for a network or a disk: what each gives comes in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from queue import SimpleQueue
from threading import Event, Thread
from time import monotonic
from typing import Generic, TypeVar

from inspector.core.progress import Progress

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_AHEAD = 3
"""Pieces a thread may be ahead of the one whose turn it is."""
_LOOK = 0.1
"""Seconds between two looks at whether to go on."""
_GRACE = 2.0
"""Seconds that work which is not wanted any more has to stop in, before it is left to end by itself."""


class _Piece(Generic[Task, Answer]):
    """One task, and what came of it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.progress = Progress()
        self.over = Event()
        self.answer: Answer
        self.error: BaseException | None = None

    def do(self, work: Callable[[Task, Progress], Answer]) -> None:
        try:
            self.progress.advance(0)
            self.answer = work(self.task, self.progress)
        except BaseException as error:  # noqa: BLE001 - it is raised where the answer is wanted
            self.error = error
        finally:
            self.over.set()

    def take(self) -> Answer:
        if self.error is not None:
            raise self.error
        return self.answer


def side_by_side(
    tasks: Iterable[Task],
    work: Callable[[Task, Progress], Answer],
    most: int,
    look: Callable[[list[Progress]], None],
) -> Generator[Answer]:
    """What ``work`` gives for each of the tasks, in their order; it is done by up to ``most`` threads.

    Each piece of work has a progress of its own. While an answer is waited for, ``look`` is called every moment with
    those of the pieces begun, the first of which is waited for. What it raises, what ``work`` raises, and closing the
    iterator cancel all of them.
    """
    queue: SimpleQueue[_Piece[Task, Answer] | None] = SimpleQueue()
    waiting: deque[_Piece[Task, Answer]] = deque()
    threads: list[Thread] = []
    pieces = (_Piece[Task, Answer](task) for task in tasks)
    try:
        while True:
            for piece in islice(pieces, _AHEAD * most - len(waiting)):
                waiting.append(piece)
                queue.put(piece)
                if len(threads) < most:
                    threads.append(_begun(queue, work))
            if not waiting:
                return
            while not waiting[0].over.wait(_LOOK):
                look([each.progress for each in waiting])
            yield waiting.popleft().take()
    finally:
        _end(waiting, queue, threads)


def _begun(queue: SimpleQueue[_Piece[Task, Answer] | None], work: Callable[[Task, Progress], Answer]) -> Thread:
    def run() -> None:
        while (piece := queue.get()) is not None:
            piece.do(work)

    # A daemon: where a server is silent, the program must be able to end all the same.
    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread


def _end(
    waiting: Iterable[_Piece[Task, Answer]], queue: SimpleQueue[_Piece[Task, Answer] | None], threads: list[Thread]
) -> None:
    for piece in waiting:
        piece.progress.cancel()
    for _ in threads:
        queue.put(None)
    until = monotonic() + _GRACE
    for thread in threads:
        thread.join(max(0.0, until - monotonic()))
