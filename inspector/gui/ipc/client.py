"""Client of a worker process: requests answered by callback, and jobs with progress, pause and cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.program.progress import Progress
from inspector.gui.ipc.link import Link
from inspector.operations.protocol.requests import (
    ArchiveRequests,
    AuditRequests,
    BrowseRequests,
    CompareRequests,
    CreateRequests,
    traits_of,
)
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.connection import Connection

POLL_MS = 100
"""Interval at which the progress of running jobs is polled."""
CANCEL_TIMEOUT_MS = 1_000
"""How long a cancelled job may take to stop before its worker is killed."""
WRITE_CANCEL_TIMEOUT_S = 10.0
"""The same for a job that writes files, which first removes incomplete ones."""

Requests = TypeVar("Requests", covariant=True)
"""The protocol class of the requests that a worker serves."""
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Request = Callable[..., Any]
"""A method of a protocol class, which names the request."""


def _ignore(_: object) -> None:
    pass


class Pending(Generic[Answer]):
    """The answer to a request, which arrives later unless the worker ends first."""

    def __init__(self) -> None:
        self._done: Callable[[Answer], object] = _ignore
        self._failed: Callable[[str], object] = _ignore

    def then(self, done: Callable[[Answer], object], failed: Callable[[str], object] | None = None) -> Self:
        """Call ``done`` with the answer or ``failed`` with an error sentence, later, from the event loop."""
        self._done = done
        return self if failed is None else self.otherwise(failed)

    def otherwise(self, failed: Callable[[str], object]) -> Self:
        """Call ``failed`` with an error sentence if the request fails."""
        self._failed = failed
        return self

    def forget(self) -> None:
        """Ignore the answer."""
        self._done = self._failed = _ignore

    def arrive(self, ok: bool, value: Any) -> None:
        """Deliver the answer (``ok``) or an error sentence."""
        deliver = self._done if ok else self._failed
        # A job must not be the last that holds its document: that would be destroyed, and with it the job once more, in
        # the destructor of the job.
        self.forget()
        deliver(value)


class Job(Pending[Answer], QObject):
    """Long work in the worker. The answer of a ``binding`` job is delivered even after cancelling.

    Signals:
        progressed(object): the progress, a JobState.
        finished(object): the job has ended, successfully or not; it is given along, and no slot of it may hold it:
            such a slot would be freed in the destructor of the job and PySide6 crashes where it is the last that does.
    """

    progressed = Signal(object)
    finished = Signal(object)

    def __init__(self, client: Client[Any], number: int, request: Request) -> None:
        QObject.__init__(self, client)
        Pending.__init__(self)
        self._client = client
        self.number = number
        self.request = request
        self.traits = traits_of(request)
        self.state: JobState | None = None
        self.polled = False
        self.running = True
        self.cancelled = False
        self._overdue: QTimer | None = None
        self.paused = False
        self.binding = False

    def pause(self, paused: bool = True) -> None:
        """Pause the job, or (False) resume it."""
        if self.running and paused is not self.paused:
            self.paused = paused
            self._client.send_order("pause" if paused else "resume", self)

    def cancel(self) -> None:
        """Cancel the job. The answer is ignored unless it is binding; a worker that does not stop is killed."""
        self.supersede()
        if self.running and self._overdue is None:
            self._overdue = QTimer(self, singleShot=True)
            self._overdue.timeout.connect(self._end_worker)
            self._overdue.start(int(WRITE_CANCEL_TIMEOUT_S * 1000) if self.traits.writes_files else CANCEL_TIMEOUT_MS)

    def _end_worker(self) -> None:
        self._client.kill_stuck(self)

    def supersede(self) -> None:
        """Cancel the job because its answer is no longer needed; its worker is not killed, however long that takes."""
        if self.running and not self.cancelled:
            self.cancelled = True
            if not self.binding:
                self.forget()
            self._client.send_order("cancel", self)


class Client(QObject, Generic[Requests]):
    """One worker and its outstanding requests. No method blocks.

    The worker serves the requests of ``kind``, its session gets the arguments; ``purpose`` completes "The process
    started to …" in messages.

    Signals:
        lost(str): the worker has ended, with the reason as a sentence. Nothing is answered afterwards.
        died(object, object): the worker crashed: its exit status and the names of the jobs that were running.
        settled(): the last outstanding request has been answered.
        jobsChanged(): a job has started or ended.
    """

    lost = Signal(str)
    died = Signal(object, object)
    settled = Signal()
    jobsChanged = Signal()

    def __init__(self, kind: str, *arguments: Any, purpose: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._purpose = purpose
        self._pending: dict[int, Pending[Any]] = {}
        self.asked = 0
        self.is_open = True
        self.link = Link(kind, *arguments)
        self.link.arrived.connect(self._arrived)
        self.link.ended.connect(self._ended)
        self.link.reaped.connect(self._reaped)
        self.link.failed.connect(self._not_started)
        self.link.start()
        self._crashed_jobs: tuple[str, ...] = ()
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self._poll)

    @property
    def outstanding(self) -> int:
        """The number of unanswered requests."""
        return len(self._pending)

    @property
    def jobs(self) -> list[Job[Any]]:
        """The running jobs, oldest first."""
        return [pending for pending in self._pending.values() if isinstance(pending, Job)]

    def ask(
        self,
        request: Callable[Concatenate[Requests, Arguments], Answer],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Pending[Answer]:
        """Send a request that is answered at once."""
        pending = Pending[Answer]()
        self._send(request, pending, args, kwargs)
        return pending

    def start(
        self,
        request: Callable[Concatenate[Requests, Progress, Arguments], Answer],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Job[Answer]:
        """Start a job."""
        job = Job[Answer](self, self.asked + 1, request)
        self._send(request, job, args, kwargs)
        if self.is_open:
            self._timer.start()
            self.jobsChanged.emit()
        return job

    def send_order(self, order: str, job: Job[Any]) -> None:
        """Tell the worker to ``pause``, ``resume`` or ``cancel`` a job. There is no answer."""
        self.link.send((order, job.number))

    def kill_stuck(self, job: Job[Any]) -> None:
        """Kill the worker because a job did not stop in time."""
        if job.running and self.is_open:
            self._lose(
                "The job did not stop when cancelled, so its process was ended. It may have been waiting for a "
                "server or a disk."
            )

    def close(self) -> None:
        """End the worker once it has removed incomplete files; outstanding requests are not answered."""
        self.is_open = False
        self._timer.stop()
        grace = WRITE_CANCEL_TIMEOUT_S if any(job.traits.writes_files for job in self.jobs) else 0.0
        self._pending.clear()
        self.link.close(grace)

    def _send(self, request: Request, pending: Pending[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.asked += 1
        if self.is_open:
            self._pending[self.asked] = pending
            self.link.send((self.asked, request.__name__, args, kwargs))

    def _arrived(self, message: tuple[int, Any, Any]) -> None:
        number, ok, value = message
        if ok == "progress":
            self._progressed(number, value)
            return
        pending = self._pending.pop(number, None)
        if pending is None:
            return
        if isinstance(pending, Job):
            self._finish(pending)
        pending.arrive(ok, value)
        if not self._pending:
            self.settled.emit()

    def _progressed(self, number: int, state: JobState | None) -> None:
        job = self._pending.get(number)
        if isinstance(job, Job):
            job.polled = False
            if state is not None:
                job.state = state
                job.progressed.emit(state)

    def _finish(self, job: Job[Any]) -> None:
        job.running = False
        if not self.jobs:
            self._timer.stop()
        job.finished.emit(job)
        job.deleteLater()
        self.jobsChanged.emit()

    def _poll(self) -> None:
        for job in self.jobs:
            if not job.polled:
                job.polled = True
                self.link.send(("progress", job.number))

    def _ended(self) -> None:
        self._crashed_jobs = tuple(job.request.__name__ for job in self.jobs)
        self._lose(f"The process started to {self._purpose} ended unexpectedly.")

    def _not_started(self, reason: str) -> None:
        self._lose(f"No process could be started to {self._purpose}: {reason}. Close other programs and try again.")

    def _reaped(self, status: int | None) -> None:
        self.died.emit(status, self._crashed_jobs)

    def _lose(self, sentence: str) -> None:
        if not self.is_open:
            return
        jobs = self.jobs
        self.close()
        for job in jobs:
            self._finish(job)
        self.lost.emit(sentence)
        self.settled.emit()


# ---- the six kinds of workers --------------------------------------------------------------------------------------


def archive_client(location: str, connection: Connection, parent: QObject) -> Client[ArchiveRequests]:
    """A worker that reads one location."""
    return Client("ArchiveRequests", location, connection, purpose="read this location", parent=parent)


def create_client(parent: QObject) -> Client[CreateRequests]:
    """A worker that inspects input files and creates archives."""
    return Client("CreateRequests", purpose="inspect files and create archives", parent=parent)


def browse_client(parent: QObject) -> Client[BrowseRequests]:
    """A worker that lists S3 objects."""
    return Client("BrowseRequests", purpose="browse S3", parent=parent)


def audit_client(parent: QObject) -> Client[AuditRequests]:
    """A worker that audits archives in processes of its own."""
    return Client("AuditRequests", purpose="check these archives", parent=parent)


def compare_client(parent: QObject) -> Client[CompareRequests]:
    """A worker that compares two locations."""
    return Client("CompareRequests", purpose="compare these locations", parent=parent)
