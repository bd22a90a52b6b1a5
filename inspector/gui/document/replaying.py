"""The replay of writes on one document: what is replayed, and the point of it that is shown; nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.ipc.client import Job
from inspector.operations.protocol.replay_views import Matrix, Point, ReplayState, ReplayView, Writes
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage

MAX_UNASKED_MATRIX_BYTES = 4 << 20
"""Archives up to this size are read at each crash point unasked."""


class Replaying(QObject):
    """The replay on a document. While it is on, what the panels show is the archive at its point.

    Signals:
        changed(): the replay was begun or left, or another point is wanted, or the matrix is known.
        shown(): the archive is shown at the wanted point.
    """

    changed = Signal()
    shown = Signal()

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__(document)
        self._document = document
        self._editing = editing
        self.writes: Writes | None = None
        self.state: ReplayState | None = None
        self.point = Point(0)
        self.matrix: Matrix | None = None
        self._matrix_job: Job[Matrix] | None = None
        self._job: Job[ReplayState | None] | None = None
        self._asked = 0
        """Counts what was asked: answers to earlier questions are dropped."""

    @property
    def is_on(self) -> bool:
        """Whether writes are replayed."""
        return self.writes is not None

    @property
    def view(self) -> ReplayView | None:
        """The writes; None until they are known."""
        return self.state.view if self.state is not None else None

    @property
    def settled(self) -> bool:
        """Whether the archive is shown at the wanted point."""
        return self._job is None

    @property
    def reading(self) -> bool:
        """Whether the matrix is being made."""
        return self._matrix_job is not None

    @property
    def why_not(self) -> str:
        """Why there can be no replay now; empty if there can be one."""
        status = self._document.status
        if status.collection:
            return "Writes are replayed on one archive. Open one of these files."
        if status.stage is not Stage.READY:
            return "The archive is still being read. Replay its writes after that."
        if self._document.in_experiment and not self.is_on:
            return "This is an experiment: leave it before writes are replayed."
        return ""

    def begin(self, writes: Writes) -> None:
        """Replay these writes, from before the first of them."""
        if why := self.why_not:
            self._document.reported.emit(why)
            return
        self._stop_reading()
        self._editing.hold_preview()
        self.writes, self.state, self.matrix = writes, None, None
        self._set_on(True)
        self.go(Point(0))

    def leave(self) -> None:
        """Show the archive as it is, with its pending changes."""
        if self.is_on:
            self._stop_reading()
            self.writes = self.state = self.matrix = None
            self._set_on(False)
            self._show()

    def _set_on(self, on: bool) -> None:
        self._document.in_experiment = self._document.in_replay = on
        self.changed.emit()

    # ---- points ----------------------------------------------------------------------------------------------------

    def go(self, point: Point) -> None:
        """Show the archive at a point."""
        if self.is_on:
            self.point = point
            self.changed.emit()
            self._show()

    def step(self, by: int) -> None:
        """Go to the point after the next write, or before the one before."""
        view = self.view
        if view is None:
            return
        done, part = self.point
        wanted = done if by < 0 and part else done + by
        self.go(Point(max(0, min(wanted, len(view.steps)))))

    def _show(self) -> None:
        self._asked += 1
        self._job = self._document.start(ArchiveRequests.show_replay, self.writes, self.point)
        self._job.then(partial(self._take, self._asked), partial(self._refused, self._asked))
        self._job.finished.connect(self._over)

    def _over(self, job: Job[ReplayState | None]) -> None:
        """Go back to what is shown where the user cancelled it; otherwise the answer follows."""
        if job is self._job and job.cancelled:
            self._give_up()

    def _take(self, asked: int, state: ReplayState | None) -> None:
        if asked != self._asked:
            return
        self._job = None
        self.state = state
        self._document.refresh_all()
        self.changed.emit()
        self.shown.emit()
        if state is None:
            self._editing.preview_again()
        elif self.matrix is None and not self.reading and state.view.base_size <= MAX_UNASKED_MATRIX_BYTES:
            self.read_crashes()

    def _refused(self, asked: int, sentence: str) -> None:
        self._document.reported.emit(sentence)
        if asked == self._asked:
            self._give_up()

    def _give_up(self) -> None:
        self._job = None
        if self.state is None:
            self.leave()
        else:
            self.point = self.state.point
            self.changed.emit()

    # ---- crashes and files -----------------------------------------------------------------------------------------

    def read_crashes(self) -> None:
        """Ask what each reader makes of a crash at each write."""
        writes, view = self.writes, self.view
        if writes is None or view is None or self.reading or not view.has_crashes:
            return

        def take(matrix: Matrix) -> None:
            if self.writes == writes:
                self.matrix = matrix
                self.changed.emit()

        self._matrix_job = self._document.start(ArchiveRequests.crash_matrix, writes)
        self._matrix_job.then(take, self._document.reported.emit)
        self._matrix_job.finished.connect(self._reading_over)
        self.changed.emit()

    def _reading_over(self, job: Job[Matrix]) -> None:
        if job is self._matrix_job:
            self._matrix_job = None
            self.changed.emit()

    def _stop_reading(self) -> None:
        if self._matrix_job is not None:
            self._matrix_job.supersede()
            self._matrix_job = None

    def save(self, path: str, then: Callable[[str], object]) -> None:
        """Write the archive at the point shown to a new file, and call ``then`` with a sentence."""
        if self.writes is not None and self.state is not None:
            job = self._document.start(ArchiveRequests.save_replay, self.writes, self.state.point, path, True)
            job.then(then)
