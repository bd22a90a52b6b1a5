"""A pool of processes: every task is answered, and what ends a process is one task's answer."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import stat
import threading
from collections.abc import Callable
from typing import Any

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.operations.jobs import process_pool
from inspector.operations.jobs.process_pool import ProcessPool, TaskFailure


def _double(task: int, progress: Progress) -> int:
    if task == 3:
        raise ValueError("three is too much")
    if task == 5:
        os._exit(7)
    if task == 6:
        return len(bytearray(6 << 30))
    progress.done += task
    return 2 * task


def answers(pool: ProcessPool[int, int], tasks: list[int]) -> dict[int, int | TaskFailure]:
    for task in tasks:
        pool.submit(task)
    return dict(pool.next_result() for _ in tasks)


def test_every_task_is_answered_whoever_does_it() -> None:
    progress = Progress(total=100)
    with ProcessPool(2, _double, progress) as pool:
        assert answers(pool, [0, 1, 2, 10, 20, 30]) == {task: 2 * task for task in (0, 1, 2, 10, 20, 30)}
        assert progress.done == 63
    assert not multiprocessing.active_children()


def test_what_ends_a_process_or_is_a_mistake_is_the_answer_of_one_task(capfd: pytest.CaptureFixture[str]) -> None:
    with ProcessPool(1, _double, Progress(), memory_limit=2 << 30) as pool:
        came = answers(pool, [1, 3, 5, 6, 7])
    assert (came.pop(1), came.pop(7)) == (2, 14)
    sentences = {task: answer.sentence for task, answer in came.items() if isinstance(answer, TaskFailure)}
    assert "three is too much" in sentences[3]
    assert "ended unexpectedly" in sentences[5]
    assert "more memory" in sentences[6]
    assert all(isinstance(answer, TaskFailure) and answer.begun for answer in came.values())
    assert "three is too much" in capfd.readouterr().err, "a mistake can be looked for"


class _Unloadable:
    """Work whose process ends before it has begun."""

    def __call__(self, task: int, progress: Progress) -> int:
        return task + progress.done

    def __reduce__(self) -> tuple[Callable[[int], Any], tuple[int]]:
        return os._exit, (3,)


def test_a_process_that_never_began_says_nothing_of_the_task() -> None:
    with ProcessPool(1, _Unloadable(), Progress()) as pool:
        pool.submit(1)
        task, answer = pool.next_result()
    assert task == 1
    assert isinstance(answer, TaskFailure)
    assert not answer.begun


def test_cancelling_ends_the_processes() -> None:
    progress = Progress()
    with ProcessPool(1, _double, progress) as pool:
        pool.submit(1)
        progress.cancel()
        with pytest.raises(Cancelled):
            pool.next_result()
    assert not multiprocessing.active_children()


def _hang_without_a_pipe(_task: int, _progress: Progress) -> None:
    """Close the pipe to the pool, and never end."""
    for descriptor in range(3, 256):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.close(descriptor)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Event().wait()


def test_a_process_that_closed_its_pipe_and_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_ENDING_S", 0.1)
    with ProcessPool(1, _hang_without_a_pipe, Progress()) as pool:
        pool.submit(1)
        _, answer = pool.next_result()
    assert isinstance(answer, TaskFailure)
    assert "SIGKILL" in answer.sentence
    assert not multiprocessing.active_children()
