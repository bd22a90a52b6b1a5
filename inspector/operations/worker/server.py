"""The loop of a worker process: it receives requests from a pipe and sends each answer when it is ready.

A request is ``(number, name, arguments, keywords)``; ``name`` is a method of the session that is served.
Its answer is ``(number, True, value)`` or ``(number, False, sentence)``.
``("progress", number)`` asks for the progress of a job; the answer is ``(number, "progress", JobState or None)``.
``("cancel", number)`` cancels a job and has no answer of its own: the job's answer says that it was cancelled.
``("pause", number)`` and ``("resume", number)`` have no answer either; a paused job can be cancelled.
An unexpected exception is sent as a ``CrashReport`` before the answer of its request.
``("addresses", mapping)`` says what locations stand for that are not shown, see ``sources.web.address``.
``None`` ends the loop: jobs are cancelled and have GRACE_SECONDS to remove unfinished files.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing.connection import Connection
from queue import SimpleQueue
from time import monotonic
from typing import Any

from inspector.core.edit import EditError
from inspector.core.format import MemberError
from inspector.core.program.crash_report import CrashReport, report
from inspector.core.program.log import Log
from inspector.core.program.progress import CANCELLED, Cancelled, Progress
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.views import JobState, Traits
from inspector.sources.web.address import learn

GRACE_SECONDS = 5.0
"""Seconds for jobs to stop when the loop ends."""
_SWITCH_SECONDS = 0.001
"""Seconds a job may hold the interpreter while a request waits."""
_LOG = Log(__name__)
_CONTROLS = {"cancel": Progress.cancel, "pause": Progress.pause, "resume": Progress.resume}


class Server:
    """Answers requests with the methods of a session until the pipe closes.

    ``far``: the archive is on a network. Requests that wait for it are answered in order on a thread of their own.
    Keyboard interrupts are left to the parent process.
    """

    def __init__(
        self, connection: Connection, session: object, requests: Mapping[str, Traits], *, far: bool = False
    ) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.setswitchinterval(_SWITCH_SECONDS)
        self._connection = connection
        self._requests = {name: (getattr(session, name), traits) for name, traits in requests.items()}
        self._far = far
        self._queue: SimpleQueue[tuple[int, Callable[[], Any]]] = SimpleQueue()
        self._jobs: dict[int, Progress] = {}
        self._threads: set[threading.Thread] = set()
        self._sending = threading.Lock()
        if far:
            threading.Thread(target=self._answer_far, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                break
            if message is None:
                break
            self._take(message)
        end = monotonic() + GRACE_SECONDS
        for progress in tuple(self._jobs.values()):
            progress.cancel()
        for thread in tuple(self._threads):
            thread.join(max(0.0, end - monotonic()))

    def _take(self, message: tuple[Any, ...]) -> None:
        if message[0] == "addresses":
            learn(message[1])
        elif message[0] == "progress":
            self._send((message[1], "progress", self._state(message[1])))
        elif message[0] in _CONTROLS:
            if (progress := self._jobs.get(message[1])) is not None:
                _CONTROLS[message[0]](progress)
        else:
            self._request(*message)

    def _state(self, number: int) -> JobState | None:
        progress = self._jobs.get(number)
        if progress is None:
            return None
        return JobState(progress.label, progress.done, progress.total, progress.unit, progress.paused)

    def _request(self, number: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if name not in self._requests:
            self._send((number, False, f"There is no request {name!r}."))
            return
        method, traits = self._requests[name]
        _LOG.debug("request %d: %s", number, name)
        if traits.is_job:
            progress = self._jobs[number] = Progress()
            ask = partial(method, progress, *args, **kwargs)
            # A daemon, so that a job that does not stop cannot keep the process alive.
            thread = threading.Thread(target=self._job, args=(number, ask), daemon=True)
            self._threads.add(thread)
            thread.start()
        elif self._far and traits.waits_for_network:
            self._queue.put((number, partial(method, *args, **kwargs)))
        else:
            self._answer(number, partial(method, *args, **kwargs))

    def _answer_far(self) -> None:
        while True:
            self._answer(*self._queue.get())

    def _job(self, number: int, ask: Callable[[], Any]) -> None:
        try:
            self._answer(number, ask)
        finally:
            self._jobs.pop(number, None)
            self._threads.discard(threading.current_thread())

    def _answer(self, number: int, ask: Callable[[], Any]) -> None:
        began = monotonic()
        try:
            answer = (number, True, ask())
        except Cancelled:
            answer = (number, False, CANCELLED)
        except (OperationError, SourceError, EditError, MemberError) as error:
            answer = (number, False, str(error))
        except Exception as error:  # noqa: BLE001 - the process boundary: one failing request must not end all others
            traceback.print_exc()
            _LOG.debug("request %d failed", number, exc_info=True)
            self._send(CrashReport(report(error, "worker")))
            answer = (number, False, f"The request failed because of an error in the program: {error!r}.")
        _LOG.debug("answer %d after %.3f s: %s", number, monotonic() - began, "done" if answer[1] else answer[2])
        self._send(answer)

    def _send(self, message: tuple[Any, ...] | CrashReport) -> None:
        # If the pipe is closed, the loop ends at its next read.
        with self._sending, contextlib.suppress(OSError):
            self._connection.send(message)
