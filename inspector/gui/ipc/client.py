"""The window's end of a worker: requests with answers by callback, and jobs with progress and cancelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.progress import Progress
from inspector.gui.ipc import worker
from inspector.gui.ipc.link import Link, Work
from inspector.operations.protocol.requests import (
    ArchiveRequests,
    AuditRequests,
    BrowseRequests,
    CheckRequests,
    CreateRequests,
    traits_of,
)
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.connection import Connection

POLL = 100
"""Milliseconds between two looks at the progress of running jobs."""
PATIENCE = 1_000
"""Milliseconds a worker has to stop a job in that is cancelled, before it is ended."""
GRACE = 10.0
"""The same in seconds for a job that writes files: it removes those that are half made, where nobody waits for it."""

Requests = TypeVar("Requests", covariant=True)
"""The class of requests that a worker serves."""
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Request = Callable[..., Any]
"""A method of a class of requests: what is asked is named by it."""


def _ignore(_: object) -> None:
    pass


class Pending(Generic[Answer]):
    """The answer to a request, which will come unless the worker goes first."""

    def __init__(self) -> None:
        self._done: Callable[[Answer], object] = _ignore
        self._failed: Callable[[str], object] = _ignore

    def then(self, done: Callable[[Answer], object], failed: Callable[[str], object] | None = None) -> Self:
        """Call ``done`` with the answer or ``failed`` with a sentence, later, from the event loop."""
        self._done = done
        return self if failed is None else self.otherwise(failed)

    def otherwise(self, failed: Callable[[str], object]) -> Self:
        """Call ``failed`` with a sentence where there is no answer."""
        self._failed = failed
        return self

    def forget(self) -> None:
        """Drop the answer."""
        self._done = self._failed = _ignore

    def arrive(self, ok: bool, value: Any) -> None:
        """Give what has come: the answer or a sentence."""
        (self._done if ok else self._failed)(value)


class Job(Pending[Answer], QObject):
    """Long work in the worker. Where it is ``binding``, its answer counts even if it was cancelled.

    Signals:
        progressed(object): how far it has come, a JobState.
        finished(): it is over, however it ended.
    """

    progressed = Signal(object)
    finished = Signal()

    def __init__(self, client: Client[Any], number: int, request: Request) -> None:
        QObject.__init__(self, client)
        Pending.__init__(self)
        self._client = client
        self.number = number
        self.request = request
        self.state: JobState | None = None
        self.asked = False
        self.running = True
        self.cancelled = False
        self._urgent = False
        self.paused = False
        self.binding = False

    @property
    def writes_files(self) -> bool:
        """Whether it has files half made while it runs."""
        return traits_of(self.request).writes_files

    @property
    def changes_archive(self) -> bool:
        """Whether it writes into the archive that is open."""
        return traits_of(self.request).changes_archive

    @property
    def only_shows(self) -> bool:
        """Whether it only fills what is shown, so that nothing is lost when it is ended."""
        return traits_of(self.request).only_shows

    def pause(self, paused: bool = True) -> None:
        """Let it wait, or (False) go on."""
        if self.running and paused is not self.paused:
            self.paused = paused
            self._client.order("pause" if paused else "resume", self)

    def cancel(self) -> None:
        """Stop it. The answer is dropped unless it is binding, and a worker that does not stop is ended."""
        self.supersede()
        if self.running and not self._urgent:
            self._urgent = True
            self._client.wait_for(self)

    def supersede(self) -> None:
        """Stop it as soon as that can be, since its answer is of no use any more; it may wait for a server yet."""
        if self.running and not self.cancelled:
            self.cancelled = True
            if not self.binding:
                self.forget()
            self._client.order("cancel", self)


class Client(QObject, Generic[Requests]):
    """One worker and what was asked of it. No method waits.

    ``target`` is what the worker runs with the arguments, ``purpose`` what it is for, in words.

    Signals:
        lost(str): the worker has gone; a sentence that says why. Nothing is answered after it.
        died(object, object): it has gone by itself; its exit status, and the names of the jobs that were running.
        settled(): the last outstanding request has been answered.
        jobsChanged(): a job was started or is over.
    """

    lost = Signal(str)
    died = Signal(object, object)
    settled = Signal()
    jobsChanged = Signal()

    def __init__(self, target: Work, *arguments: Any, purpose: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._purpose = purpose
        self._pending: dict[int, Pending[Any]] = {}
        self._number = 0
        self._open = True
        self._link = Link(target, *arguments)
        self._link.arrived.connect(self._arrived)
        self._link.ended.connect(self._ended)
        self._link.buried.connect(self._buried)
        self._link.failed.connect(self._not_started)
        self._link.start()
        self._doing: tuple[str, ...] = ()
        self._timer = QTimer(self)
        self._timer.setInterval(POLL)
        self._timer.timeout.connect(self._poll)

    @property
    def link(self) -> Link:
        """What carries the messages."""
        return self._link

    @property
    def is_open(self) -> bool:
        """Whether what is asked may be answered."""
        return self._open

    @property
    def outstanding(self) -> int:
        """How many requests have no answer yet."""
        return len(self._pending)

    @property
    def asked(self) -> int:
        """How many requests there have been."""
        return self._number

    @property
    def jobs(self) -> list[Job[Any]]:
        """The jobs that are running, oldest first."""
        return [pending for pending in self._pending.values() if isinstance(pending, Job)]

    def ask(
        self,
        request: Callable[Concatenate[Requests, Arguments], Answer],
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Pending[Answer]:
        """Ask something that is answered at once."""
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
        """Start long work."""
        job = Job[Answer](self, self._number + 1, request)
        self._send(request, job, args, kwargs)
        if self._open:
            self._timer.start()
            self.jobsChanged.emit()
        return job

    def order(self, order: str, job: Job[Any]) -> None:
        """Have the worker ``pause``, ``resume`` or ``cancel`` a job. Nothing answers."""
        self._link.send((order, job.number))

    def wait_for(self, job: Job[Any]) -> None:
        """End the worker where the job does not stop soon."""
        patience = int(GRACE * 1000) if job.writes_files else PATIENCE
        QTimer.singleShot(patience, job, lambda: self._lose_patience(job))

    def close(self) -> None:
        """End the worker, as soon as it has taken away files that are half made; answer nothing any more."""
        self._open = False
        self._timer.stop()
        grace = GRACE if any(job.writes_files for job in self.jobs) else 0.0
        self._pending.clear()
        self._link.close(grace)

    def _send(self, request: Request, pending: Pending[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._number += 1
        if self._open:
            self._pending[self._number] = pending
            self._link.send((self._number, request.__name__, args, kwargs))

    def _arrived(self, message: tuple[int, Any, Any]) -> None:
        number, ok, value = message
        if ok == "progress":
            self._progressed(number, value)
            return
        pending = self._pending.pop(number, None)
        if pending is None:
            return
        if isinstance(pending, Job):
            self._over(pending)
        pending.arrive(ok, value)
        if not self._pending:
            self.settled.emit()

    def _progressed(self, number: int, state: JobState | None) -> None:
        job = self._pending.get(number)
        if isinstance(job, Job):
            job.asked = False
            if state is not None:
                job.state = state
                job.progressed.emit(state)

    def _over(self, job: Job[Any]) -> None:
        job.running = False
        if not self.jobs:
            self._timer.stop()
        job.finished.emit()
        job.deleteLater()
        self.jobsChanged.emit()

    def _poll(self) -> None:
        for job in self.jobs:
            if not job.asked:
                job.asked = True
                self._link.send(("progress", job.number))

    def _lose_patience(self, job: Job[Any]) -> None:
        if job.running and self._open:
            self._give_up(
                "The job did not stop when cancelled, so its process was ended. It may have been waiting for a "
                "server or a disk."
            )

    def _ended(self) -> None:
        self._doing = tuple(job.request.__name__ for job in self.jobs)
        self._give_up(f"The process started to {self._purpose} ended unexpectedly.")

    def _not_started(self, reason: str) -> None:
        self._give_up(f"No process could be started to {self._purpose}: {reason}. Close other programs and try again.")

    def _buried(self, status: int | None) -> None:
        self.died.emit(status, self._doing)

    def _give_up(self, sentence: str) -> None:
        if not self._open:
            return
        jobs = self.jobs
        self.close()
        for job in jobs:
            self._over(job)
        self.lost.emit(sentence)
        self.settled.emit()


# ---- the five kinds of workers: what each runs and what it answers -------------------------------------------------


def archive_client(location: str, connection: Connection, parent: QObject) -> Client[ArchiveRequests]:
    """A worker that reads one location."""
    return Client(worker.archive, location, connection, purpose="read this location", parent=parent)


def create_client(parent: QObject) -> Client[CreateRequests]:
    """A worker that looks at what archives would hold, makes them, and searches catalogues."""
    return Client(worker.create, purpose="look at files and make archives of them", parent=parent)


def browse_client(parent: QObject) -> Client[BrowseRequests]:
    """A worker that lists what lies on S3 and downloads it."""
    return Client(worker.browse, purpose="look at what lies on S3", parent=parent)


def audit_client(parent: QObject) -> Client[AuditRequests]:
    """A worker that audits archives in processes of its own."""
    return Client(worker.audit, purpose="audit these archives", parent=parent)


def check_client(parent: QObject) -> Client[CheckRequests]:
    """A worker that checks one archive after another."""
    return Client(worker.check, purpose="check these archives", parent=parent)
