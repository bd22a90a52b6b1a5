"""A worker process and the two threads that carry messages, so that the event loop never waits for a pipe."""

from __future__ import annotations

import errno
import multiprocessing
import os
import queue
import sys
import threading
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.crash_report import CrashReport
from inspector.gui.ipc.crash_reports import REPORTS
from inspector.gui.ipc.worker import begin

if TYPE_CHECKING:  # Windows has only one of them
    from multiprocessing.context import ForkServerContext, SpawnContext

_PRELOADED = ["inspector.operations.session.archive_session", "inspector.operations.worker.server"]
"""What every worker of a tab needs, loaded once in the process that workers are forked from."""


def _context() -> ForkServerContext | SpawnContext:
    """How workers are started: forked from a process that has loaded all they need, where the system can do that."""
    if getattr(sys, "frozen", False) or "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return context


class Work(Protocol):
    """What a worker runs: a function of a module, so that the new process can find it."""

    def __call__(self, connection: Connection, *arguments: Any) -> None:
        """Answer until the pipe closes."""


class Link(QObject):
    """A worker, which runs ``target`` with these arguments, and messages both ways. Connect, and then ``start``.

    Signals:
        arrived(object): a message of the worker.
        ended(): the worker has gone without being asked to.
        buried(object): such a worker has been buried; its exit status, a negative number for a signal.
        failed(str): no worker could be started; why.
    """

    arrived = Signal(object)
    ended = Signal()
    buried = Signal(object)
    failed = Signal(str)

    def __init__(self, target: Work, *arguments: Any) -> None:
        super().__init__()
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._started = False
        self._died = False
        self._grace = 0.0
        self._process: BaseProcess | None = None
        self._sender = threading.Thread(target=self._send_all, args=(target, arguments), name="to worker")

    def start(self) -> None:
        """Start the worker soon; once."""
        try:
            _start(self._sender)
        except OSError as error:
            QTimer.singleShot(0, self, partial(self.failed.emit, _reason(error)))  # as late as any other signal

    def send(self, message: Any) -> None:
        """Send soon."""
        self._outgoing.put(message)

    @property
    def started(self) -> bool:
        """Whether there is, or was, a worker."""
        return self._started

    @property
    def process(self) -> BaseProcess | None:
        """The worker, None before it is started and after it has been buried."""
        return self._process

    def close(self, grace: float = 0.0) -> None:
        """End the worker, which has ``grace`` seconds to stop what it does; nothing is signalled any more."""
        with self._lock:
            self._closed = True
            self._grace = grace
            if self._process is not None and not grace:
                self._process.kill()
        self._outgoing.put(None)

    def _send_all(self, target: Work, arguments: tuple[Any, ...]) -> None:
        try:
            started = self._begin(target, arguments)
        except (OSError, EOFError) as error:  # no memory, no process to be had, or the one that forks them has gone
            if not self._closed:
                self.failed.emit(_reason(error))
            return
        if started is None:
            return
        process, ours, receiver = started
        try:
            while (message := self._outgoing.get()) is not None:
                ours.send(message)
            if self._grace:
                ours.send(None)
                process.join(self._grace)
        except OSError:
            pass  # the worker is gone: the receiver says so
        with self._lock:
            self._process = None
        process.kill()
        process.join()
        receiver.join()
        ours.close()
        if self._died:
            self.buried.emit(process.exitcode)

    def _begin(
        self, target: Work, arguments: tuple[Any, ...]
    ) -> tuple[BaseProcess, Connection, threading.Thread] | None:
        """The worker, our end of its pipe and the thread that listens to it; None if it is not wanted any more.

        Raises OSError and EOFError where it cannot be started.
        """
        context = _context()
        ours, theirs = context.Pipe()
        given = (dict(os.environ), target, theirs, *arguments)
        process = context.Process(target=begin, args=given, name="worker", daemon=True)
        receiver = threading.Thread(target=self._receive_all, args=(ours,), name="from worker")
        try:
            with self._lock:
                if self._closed:
                    return None
                process.start()
                self._process, self._started = process, True
            _start(receiver)
        except (OSError, EOFError):
            with self._lock:
                started, self._process, self._started = self._process, None, False
            if started is not None:
                started.kill()
                started.join()
            ours.close()
            raise
        finally:
            theirs.close()
        return process, ours, receiver

    def _receive_all(self, connection: Connection) -> None:
        while True:
            try:
                message = connection.recv()
            except (EOFError, OSError):
                break
            if self._closed:
                return
            if isinstance(message, CrashReport):
                REPORTS.came.emit(message.text)
            else:
                self.arrived.emit(message)
        if not self._closed:
            self._died = True
            self.ended.emit()


def _start(thread: threading.Thread) -> None:
    """Start a thread; raises OSError where the system has no more of them."""
    try:
        thread.start()
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error


def _reason(error: OSError | EOFError) -> str:
    words = error.strerror if isinstance(error, OSError) else None
    return words or "the process that starts others has ended"
