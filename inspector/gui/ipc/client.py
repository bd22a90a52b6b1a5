"""The window's end of a worker: questions with answers by callback, and jobs with progress and cancelling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.gui.ipc.link import Link, Work
from inspector.gui.ipc.worker import work
from inspector.operations.protocol.views import JobState

POLL = 100
"""Milliseconds between two looks at the progress of running jobs."""
PATIENCE = 1_000
"""Milliseconds a worker has to answer a cancelling before it is ended."""

MAKING = frozenset(
    (
        *("extract", "lend", "lend_one", "append", "create", "write", "save_copy", "make_repairs", "salvage"),
        *("write_manifest", "download", "audit"),
    )
)
"""Work that has files half made while it runs."""
GRACE = 10.0
"""Seconds that such work has to take them away in, where nobody waits for it."""

Done = Callable[[Any], None]
Failed = Callable[[str], None]


def _ignore(_: object) -> None:
    pass


@dataclass(slots=True)
class _Question:
    done: Done
    failed: Failed
    job: Job | None = None


class Job(QObject):
    """Long work in the worker. Where it is ``binding``, its answer counts even if it was cancelled.

    Signals:
        progressed(object): how far it has come, a JobState.
        finished(): it is over, however it ended.
    """

    progressed = Signal(object)
    finished = Signal()

    def __init__(self, client: Client, number: int, method: str) -> None:
        super().__init__(client)
        self._client = client
        self.number = number
        self.method = method
        self.state: JobState | None = None
        self.asked = False
        self.running = True
        self.cancelled = False
        self._urgent = False
        self.paused = False
        self.binding = False

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
            self._client.stop(self)


class Client(QObject):
    """One worker and what was asked of it; ``purpose`` says what for where there is none. No method waits.

    Signals:
        lost(str): the worker has gone; a sentence that says why. Nothing is answered after it.
        died(object, object): it has gone by itself; its exit status, and the methods that it was running.
        settled(): the last outstanding question has been answered.
        jobsChanged(): a job was started or is over.
    """

    lost = Signal(str)
    died = Signal(object, object)
    settled = Signal()
    jobsChanged = Signal()

    def __init__(
        self,
        *arguments: Any,
        parent: QObject | None = None,
        target: Work = work,
        purpose: str = "read this location",
    ) -> None:
        super().__init__(parent)
        self._purpose = purpose
        self._questions: dict[int, _Question] = {}
        self._number = 0
        self._open = True
        self._link = Link(*arguments, target=target)
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
        """How many questions and jobs have no answer yet."""
        return len(self._questions)

    @property
    def asked(self) -> int:
        """How many questions and jobs there have been."""
        return self._number

    @property
    def jobs(self) -> list[Job]:
        """The jobs that are running, oldest first."""
        return [question.job for question in self._questions.values() if question.job is not None]

    def call(self, method: str, *args: Any, done: Done, failed: Failed | None = None) -> int:
        """Ask something quick; ``done`` gets the value or ``failed`` a sentence. Gives the question's number."""
        return self._ask(method, args, _Question(done, failed or _ignore))

    def job(self, method: str, *args: Any, done: Done | None = None, failed: Failed | None = None) -> Job:
        """Start long work."""
        job = Job(self, self._number + 1, method)
        self._ask(method, args, _Question(done or _ignore, failed or _ignore, job))
        if self._open:
            self._timer.start()
            self.jobsChanged.emit()
        return job

    def forget(self, number: int) -> None:
        """Drop the answer to a question."""
        if (question := self._questions.get(number)) is not None:
            question.done = question.failed = _ignore

    def order(self, order: str, job: Job) -> None:
        """Have the worker ``pause``, ``resume`` or ``cancel`` a job. Nothing answers."""
        self._link.send((order, job.number))

    def stop(self, job: Job) -> None:
        """See Job.supersede."""
        if not job.binding:
            self.forget(job.number)
        self.order("cancel", job)

    def wait_for(self, job: Job) -> None:
        """End the worker where the job does not stop soon."""
        patience = int(GRACE * 1000) if job.method in MAKING else PATIENCE
        QTimer.singleShot(patience, job, lambda: self._lose_patience(job))

    def close(self) -> None:
        """End the worker, as soon as it has taken away files that are half made; answer nothing any more."""
        self._open = False
        self._timer.stop()
        grace = GRACE if any(job.method in MAKING for job in self.jobs) else 0.0
        self._questions.clear()
        self._link.close(grace)

    def _ask(self, method: str, args: tuple[Any, ...], question: _Question) -> int:
        self._number += 1
        if self._open:
            self._questions[self._number] = question
            self._link.send((self._number, method, args))
        return self._number

    def _arrived(self, message: tuple[int, Any, Any]) -> None:
        number, ok, value = message
        if ok == "progress":
            self._progressed(number, value)
            return
        question = self._questions.pop(number, None)
        if question is None:
            return
        if question.job is not None:
            self._over(question.job)
        (question.done if ok else question.failed)(value)
        if not self._questions:
            self.settled.emit()

    def _progressed(self, number: int, state: JobState | None) -> None:
        question = self._questions.get(number)
        if question is not None and question.job is not None:
            question.job.asked = False
            if state is not None:
                question.job.state = state
                question.job.progressed.emit(state)

    def _over(self, job: Job) -> None:
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

    def _lose_patience(self, job: Job) -> None:
        if job.running and self._open:
            self._give_up(
                "The work did not stop when it was asked to, so its process was ended: it may have waited for a "
                "server or a disk."
            )

    def _ended(self) -> None:
        self._doing = tuple(job.method for job in self.jobs)
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
