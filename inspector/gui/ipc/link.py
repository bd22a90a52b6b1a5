"""A worker process with a sender and a receiver thread, so that the event loop never blocks on a pipe."""

from __future__ import annotations

import errno
import os
import queue
import threading
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from inspector.core.program.crash_report import CrashReport
from inspector.core.program.log import Log
from inspector.gui.ipc.worker import context, run
from inspector.sources.web.address import known_after

if TYPE_CHECKING:  # not for the first paint to wait for
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

_LOG = Log(__name__)


class WorkerReports(QObject):
    """Crash reports of all workers.

    Signals:
        received(str): the text of a report; emitted from any thread.
    """

    received = Signal(str)


REPORTS = WorkerReports()


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
        self._crashed = False
        self._grace = 0.0
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

    def _let_go(self) -> None:
        self._sender.join()  # it has nothing left to do but to let go of this link
        _RUNNING.discard(self)

    # ---- in the thread of the sender ---------------------------------------------------------------------------

    def _work(self, kind: str, arguments: tuple[Any, ...]) -> None:
        try:
            self._serve(kind, arguments)
        except (OSError, EOFError) as error:  # out of memory or processes, or the fork server has ended
            if not self._closed:
                self.failed.emit(_reason(error))
        finally:
            self._over.emit()

    def _serve(self, kind: str, arguments: tuple[Any, ...]) -> None:
        """Start the worker, and send to it until it is closed. Raises OSError and EOFError if it cannot be started."""
        ours, theirs = context().Pipe()
        with closing(ours):
            known = known_after(0)
            process_args = (dict(os.environ), known, theirs, kind, *arguments)
            process = context().Process(target=run, args=process_args, name="worker", daemon=True)
            receiver = threading.Thread(target=self._receive_all, args=(ours,), name="from worker")
            with closing(theirs), self._lock:
                if self._closed:
                    return
                process.start()
                self.process = process
            _LOG.debug("worker %s started: %s", process.pid, kind)
            try:
                _start(receiver)
                with suppress(OSError):  # the worker has ended, which the receiver reports
                    self._send_messages(ours, len(known))
                    if self._grace:
                        ours.send(None)
                        process.join(self._grace)
            finally:
                with self._lock:
                    self.process = None
                process.kill()
                process.join()
            _LOG.debug("worker %s ended: exit status %s", process.pid, process.exitcode)
            receiver.join()
        if self._crashed:
            self.reaped.emit(process.exitcode)

    def _send_messages(self, ours: Connection, told: int) -> None:
        """Send each message, after the addresses that the worker does not know yet: it knows ``told``."""
        while (message := self._outgoing.get()) is not None:
            if new := known_after(told):
                told += len(new)
                ours.send(("addresses", new))
            ours.send(message)

    # ---- in the thread of the receiver -------------------------------------------------------------------------

    def _receive_all(self, connection: Connection) -> None:
        with suppress(EOFError, OSError):
            while True:
                message = connection.recv()
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
