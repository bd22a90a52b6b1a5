"""A worker process with a sender and a receiver thread, so that the event loop never blocks on a pipe."""

from __future__ import annotations

import errno
import os
import queue
import threading
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from inspector.core.program.crash_report import CrashReport
from inspector.core.program.log import Log
from inspector.gui.ipc import fork_server
from inspector.gui.ipc.crash_reports import REPORTS
from inspector.gui.ipc.worker import run
from inspector.sources.web.address import known_after

_LOG = Log(__name__)


class Link(QObject):
    """A worker for requests of a kind, and messages to and from it. Connect the signals, then ``start``.

    Signals:
        arrived(object): a message from the worker.
        ended(): the worker ended unexpectedly.
        reaped(object): such a worker was joined: its exit status, negative for a signal.
        failed(str): no worker could be started, with the reason.
    """

    _over = Signal()
    arrived = Signal(object)
    ended = Signal()
    reaped = Signal(object)
    failed = Signal(str)

    def __init__(self, kind: str, *arguments: Any) -> None:
        super().__init__()
        self._outgoing: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self.started = False
        self._crashed = False
        self._grace = 0.0
        self._told = 0  # addresses that the worker knows
        self.process: BaseProcess | None = None
        self._sender = threading.Thread(target=self._work, args=(kind, arguments), name="to worker")
        self._over.connect(self._let_go, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Start the worker in the background; call once."""
        _RUNNING.add(self)
        try:
            _start(self._sender)
        except OSError as error:
            _RUNNING.discard(self)
            QTimer.singleShot(0, self, partial(self.failed.emit, _reason(error)))  # asynchronous, as any other failure

    def send(self, message: Any) -> None:
        """Queue a message."""
        self._outgoing.put(message)

    def close(self, grace: float = 0.0) -> None:
        """End the worker, killing it after ``grace`` seconds; no signal is emitted afterwards."""
        with self._lock:
            self._closed = True
            self._grace = grace
            if self.process is not None and not grace:
                self.process.kill()
        self._outgoing.put(None)

    def _work(self, kind: str, arguments: tuple[Any, ...]) -> None:
        try:
            self._send_all(kind, arguments)
        finally:
            self._over.emit()

    def _let_go(self) -> None:
        self._sender.join()  # it has nothing left to do but to let go of this link
        _RUNNING.discard(self)

    def _send_all(self, kind: str, arguments: tuple[Any, ...]) -> None:
        try:
            started = self._start_process(kind, arguments)
        except (OSError, EOFError) as error:  # out of memory or processes, or the fork server has ended
            if not self._closed:
                self.failed.emit(_reason(error))
            return
        if started is None:
            return
        process, ours, receiver = started
        try:
            self._send_messages(ours)
            if self._grace:
                ours.send(None)
                process.join(self._grace)
        except OSError:
            pass  # the worker has ended, which the receiver reports
        with self._lock:
            self.process = None
        process.kill()
        process.join()
        _LOG.debug("worker %s ended: exit status %s", process.pid, process.exitcode)
        receiver.join()
        ours.close()
        if self._crashed:
            self.reaped.emit(process.exitcode)

    def _send_messages(self, ours: Connection) -> None:
        """Send each message, after the addresses that the worker does not know yet. Raises OSError."""
        while (message := self._outgoing.get()) is not None:
            if new := known_after(self._told):
                self._told += len(new)
                ours.send(("addresses", new))
            ours.send(message)

    def _start_process(
        self, kind: str, arguments: tuple[Any, ...]
    ) -> tuple[BaseProcess, Connection, threading.Thread] | None:
        """The worker, our end of its pipe and its receiver thread; None if the link is closed already.

        Raises OSError and EOFError if it cannot be started.
        """
        context = fork_server.context()
        ours, theirs = context.Pipe()
        known = known_after(0)
        self._told = len(known)
        process_args = (dict(os.environ), known, theirs, kind, *arguments)
        process = context.Process(target=run, args=process_args, name="worker", daemon=True)
        receiver = threading.Thread(target=self._receive_all, args=(ours,), name="from worker")
        try:
            with self._lock:
                if self._closed:
                    return None
                process.start()
                self.process, self.started = process, True
            _start(receiver)
        except (OSError, EOFError):
            with self._lock:
                started, self.process, self.started = self.process, None, False
            if started is not None:
                started.kill()
                started.join()
            ours.close()
            raise
        finally:
            theirs.close()
        _LOG.debug("worker %s started: %s", process.pid, kind)
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
                REPORTS.received.emit(message.text)
            else:
                self.arrived.emit(message)
        if not self._closed:
            self._crashed = True
            self.ended.emit()


_RUNNING: set[Link] = set()
"""Links whose threads run. A thread must not be the last that holds its link: it would destroy a Qt object that the
event loop is using."""


def _start(thread: threading.Thread) -> None:
    """Start a thread. Raises OSError if the system is out of threads."""
    try:
        thread.start()
    except RuntimeError as error:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error


def _reason(error: OSError | EOFError) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or "the process that starts workers has ended"
