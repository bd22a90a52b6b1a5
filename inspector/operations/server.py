"""The loop of a worker process: requests come in through a pipe, answers go out as they are ready.

A request is ``(number, method, arguments)``; its answer is ``(number, True, value)`` or ``(number, False, sentence)``.
``("progress", number)`` asks how far a job is and is answered with ``(number, "progress", JobState or None)``;
``("cancel", number)`` stops one and has no answer of its own: the job's answer says that it was cancelled.
``("pause", number)`` and ``("resume", number)`` have no answer either; a paused job can be cancelled.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from inspector.core.edit import EditError
from inspector.core.format import MemberError
from inspector.core.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.refused import Refused
from inspector.operations.views import JobState
from inspector.operations.workbench import JOBS, QUICK, Workbench

CANCELLED = "Cancelled."
"""The answer of a job that was cancelled."""
_SWITCH = 0.001
"""Seconds a job may keep the interpreter while a question waits."""
_ORDERS = {"cancel": Progress.cancel, "pause": Progress.pause, "resume": Progress.resume}


def serve(connection: Connection, location: str) -> None:
    """Answer until the pipe closes. Interrupts from the keyboard are for the process that asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.setswitchinterval(_SWITCH)
    _Server(connection, Workbench(location)).run()


class _Server:
    def __init__(self, connection: Connection, session: Workbench) -> None:
        self._connection = connection
        self._session = session
        self._jobs: dict[int, Progress] = {}
        self._sending = threading.Lock()

    def run(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                break
            self._take(message)
        for progress in tuple(self._jobs.values()):
            progress.cancel()

    def _take(self, message: tuple[Any, ...]) -> None:
        if message[0] == "progress":
            self._send((message[1], "progress", self._state(message[1])))
        elif message[0] in _ORDERS:
            if (progress := self._jobs.get(message[1])) is not None:
                _ORDERS[message[0]](progress)
        else:
            self._request(*message)

    def _state(self, number: int) -> JobState | None:
        progress = self._jobs.get(number)
        if progress is None:
            return None
        return JobState(progress.label, progress.done, progress.total, progress.unit, progress.paused)

    def _request(self, number: int, method: str, arguments: tuple[Any, ...]) -> None:
        if method in QUICK:
            self._answer(number, lambda: getattr(self._session, method)(*arguments))
        elif method in JOBS:
            progress = self._jobs[number] = Progress()
            # A daemon: when the pipe has closed nobody waits for what the job would have found.
            threading.Thread(target=self._job, args=(number, method, progress, arguments), daemon=True).start()
        else:
            self._send((number, False, f"There is no method {method!r}."))

    def _job(self, number: int, method: str, progress: Progress, arguments: tuple[Any, ...]) -> None:
        try:
            self._answer(number, lambda: getattr(self._session, method)(progress, *arguments))
        finally:
            self._jobs.pop(number, None)

    def _answer(self, number: int, ask: Callable[[], Any]) -> None:
        try:
            answer = (number, True, ask())
        except Cancelled:
            answer = (number, False, CANCELLED)
        except (Refused, SourceError, EditError, MemberError) as error:
            answer = (number, False, str(error))
        except Exception as error:  # noqa: BLE001 - the border of the process: a mistake in one answer must not end all others
            traceback.print_exc()
            answer = (number, False, f"This could not be answered because of a mistake in the program: {error!r}.")
        self._send(answer)

    def _send(self, message: tuple[Any, ...]) -> None:
        # Where nobody listens any more the loop ends when it next looks.
        with self._sending, contextlib.suppress(OSError):
            self._connection.send(message)
