"""A pool of processes without any, for tests of what is done in them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.jobs.process_pool import attempt


class InThisProcess:
    """Does the tasks one after another where they are waited for: a process takes half a second to start."""

    def __init__(self, _: int, work: Callable[[Any, Progress], Any], progress: Progress, **__: object) -> None:
        self._work = work
        self._progress = progress
        self._tasks: deque[Any] = deque()

    def __enter__(self) -> InThisProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing has to end."""

    def submit(self, task: Any) -> None:
        self._tasks.append(task)

    def next_result(self) -> tuple[Any, Any]:
        task, own = self._tasks.popleft(), Progress()
        answer = attempt(self._work, task, own)
        progress = self._progress
        progress.done = max(progress.done, min(progress.total, progress.done + own.done))
        progress.advance(0)
        return task, answer


def run_without_processes(*arguments: Any) -> None:
    """A worker of the window that audits by itself, without processes of its own."""
    from inspector.gui.ipc.worker import run

    pytest.MonkeyPatch().setattr("inspector.operations.audit.audit.ProcessPool", InThisProcess)
    run(*arguments)
