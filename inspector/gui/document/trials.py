"""What is tried on one document and never written: the steps of an experiment, or a replay of writes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from inspector.core.edit import History
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.span import Span, Spans
from inspector.gui.document.document import Document
from inspector.gui.document.editing import PREVIEW_DELAY_MS, Editing
from inspector.gui.ipc.client import Job
from inspector.gui.kit.widgets import debounce
from inspector.operations.protocol.experiment_views import (
    Content,
    ExperimentView,
    Inline,
    Insert,
    Operation,
    Replace,
    Step,
    Steps,
    Swap,
)
from inspector.operations.protocol.replay_views import Matrix, Point, ReplayState, ReplayView, Writes
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage, Target

MAX_UNASKED_MATRIX_BYTES = 4 << 20
"""Archives up to this size are read at each crash point unasked."""
Answer = TypeVar("Answer")


class Trial(QObject):
    """Something tried on a document. While it is on, what the panels show is the archive as it would be.

    Signals:
        changed(): it was begun or left, or another state of it is wanted.
        shown(): the archive is shown in the wanted state.
    """

    changed = Signal()
    shown = Signal()
    several = unread = other = ""
    """Why there can be none: several files, not read yet, the other kind of trial is on."""

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__(document)
        self._document = document
        self._editing = editing
        self.is_on = False
        self._job: Job[Any] | None = None

    @property
    def why_not(self) -> str:
        """Why there can be none now; empty if there can be one."""
        status = self._document.status
        if status.collection:
            return self.several
        if status.stage is not Stage.READY:
            return self.unread
        return self.other if self._document.in_experiment and not self.is_on else ""

    @property
    def sign(self) -> str:
        """What is on, in a sentence: that nothing is written, and what is shown."""
        return f"Nothing is written to {visible(self._document.name)}."

    @property
    @abstractmethod
    def marked(self) -> Spans:
        """The bytes to mark as changed."""

    def overlay(self) -> list[tuple[int, bytes]]:
        """Bytes to lay over those of a view, which may not have them yet."""
        return []

    @property
    def settled(self) -> bool:
        """Whether the archive is shown in the wanted state."""
        return self._job is None

    def leave(self) -> None:
        """Show the archive as it is, with its pending changes."""
        if self.is_on:
            if self._job is not None:
                self._job.supersede()
            self._job = None
            self._set_on(False)
            self._editing.preview_again()

    def _may_begin(self) -> bool:
        """Whether it can begin, so that pending changes are shown no more; why not, is said."""
        if why := self.why_not:
            self._document.reported.emit(why)
        else:
            self._editing.hold_preview()
        return not why

    def _set_on(self, on: bool) -> None:
        self.is_on = self._document.in_experiment = on
        self.changed.emit()

    def _ask(self, job: Job[Answer], take: Callable[[Answer], object]) -> None:
        """Show what a job answers. A later question supersedes an earlier one, whose answer then never comes."""

        def taken(answer: Answer) -> None:
            self._job = None
            take(answer)
            self._document.refresh_all()
            self.changed.emit()
            self.shown.emit()

        def failed(sentence: str) -> None:
            self._document.reported.emit(sentence)
            self._job = None
            self._go_back()

        self._job = job.then(taken, failed)
        job.finished.connect(self._over)

    def _over(self, job: Job[Any]) -> None:
        """Go back to what is shown where the user cancelled it; otherwise the answer follows."""
        if job is self._job and job.cancelled:
            self._job = None
            self._go_back()

    @abstractmethod
    def _go_back(self) -> None:
        """Want again what is shown."""


class Experimenting(Trial):
    """The experiment on a document: its steps and their history."""

    several = "An experiment is made on one archive. Open one of these files."
    unread = "The archive is still being read. Begin the experiment after that."
    other = "This is a replay of writes: leave it before you experiment."

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__(document, editing)
        self.history: History[Steps] = History(())
        self.view: ExperimentView | None = None
        self._saved: Steps = ()
        self._is_typing = False
        self._timer = debounce(self, PREVIEW_DELAY_MS, self._show)

    @property
    def steps(self) -> Steps:
        """The steps, in the order in which they apply."""
        return self.history.now

    @property
    def settled(self) -> bool:
        return super().settled and not self._timer.isActive()

    @property
    def unsaved(self) -> bool:
        """Whether there are steps that are not saved."""
        return self.is_on and bool(self.steps) and self.steps != self._saved

    @property
    def why_not(self) -> str:
        """Why there can be no experiment now; empty if there can be one."""
        if (why := super().why_not) or self._editing.pending is None:
            return why
        return "Write or discard the pending changes first: an experiment begins with the archive as it is."

    @property
    def sign(self) -> str:
        if not self.steps or self.view is None:
            return super().sign
        sizes = f"{in_bytes(self.view.base_size)} become {self.view.size:,}"
        return f"{super().sign} {count(len(self.steps), 'step')}: {sizes}."

    @property
    def marked(self) -> Spans:
        """The bytes that the last step left."""
        return self.view.places[-1] if self.settled and self.view is not None and self.view.places else ()

    def begin(self) -> bool:
        """Begin the experiment, unless it is on; returns whether it is on then."""
        if not self.is_on and self._may_begin():
            self._set_on(True)
        return self.is_on

    def _set_on(self, on: bool) -> None:
        self.view = None
        self.history.clear(())
        super()._set_on(on)
        self._changed()

    # ---- steps -----------------------------------------------------------------------------------------------------

    def add(self, operation: Operation) -> None:
        """Begin the experiment if it is not on, and add a step."""
        self.add_step(Step(operation))

    def add_step(self, step: Step) -> None:
        """As ``add``."""
        if self.begin():
            self.put((*self.steps, step))

    def put(self, steps: Steps, *, again: bool = False) -> None:
        """Make these the steps; ``again``: the last change of them goes on."""
        self.history.put(steps, again=again)
        self._changed()

    def remove(self, row: int) -> None:
        """Take a step out; those behind it apply to what is left."""
        if 0 <= row < len(self.steps):
            self.put((*self.steps[:row], *self.steps[row + 1 :]))

    def undo(self) -> None:
        """Undo the last change of the steps."""
        self.history.undo()
        self._changed()

    def redo(self) -> None:
        """Redo the change undone last."""
        self.history.redo()
        self._changed()

    def overwrite(self, offset: int, new: bytes) -> None:
        """Add a step for bytes that were typed; typing goes on in the step before where that ends here."""
        before = self.overlay() if self._is_typing else []
        if before and 0 <= offset - before[0][0] <= len(before[0][1]):
            start, data = before[0]
            data = data[: offset - start] + new + data[offset - start + len(new) :]
            whole = Step(Replace(start, start + len(data), Inline(data)))
            self.put((*self.steps[:-1], whole), again=True)
        else:
            self.add(Replace(offset, offset + len(new), Inline(new)))
        self._is_typing = True

    def overlay(self) -> list[tuple[int, bytes]]:
        """The bytes of a last step that was typed, for a view whose bytes may not have it yet."""
        match self.steps[-1].operation if self.steps else None:
            case Replace(start, stop, Inline(data)) if len(data) == stop - start:
                return [(start, data)]
        return []

    def damage(self, name: str) -> None:
        """Add the step that makes a damage by name. The number of steps is its seed, so each hits another place."""
        if self.begin():
            job = self._document.start(ArchiveRequests.damage_step, self.steps, name, len(self.steps))
            job.then(self._meant_for_these(self.add_step))

    def put_file(self, path: str, start: int, stop: int) -> None:
        """Put all bytes of a file in the place of ``[start, stop)``, or insert them where that is empty."""

        def take(content: Content) -> None:
            self.add(Insert(start, content) if start == stop else Replace(start, stop, content))

        if self.begin():
            self._document.start(ArchiveRequests.content_of_file, path).then(self._meant_for_these(take))

    def swap(self, span: Span, expression: str) -> None:
        """Let a span change places with the bytes of a Go To expression: as many, where that names a mere position."""

        def take(target: Target) -> None:
            if target.layer:
                self._document.reported.emit("An experiment changes bytes of the file only; these are decoded from it.")
                return
            stop = target.stop if target.stop - target.start > 1 else target.start + span.size
            self.add(Swap(span, Span(target.start, stop)))

        if self.begin():
            asked = self._document.client.ask(ArchiveRequests.goto, expression, 0, span.start)
            asked.then(self._meant_for_these(take), self._document.reported.emit)

    def _meant_for_these(self, take: Callable[[Answer], object]) -> Callable[[Answer], None]:
        """``take`` for an answer about the steps as they are now; the places it names are others after a change."""
        steps = self.steps

        def taken(answer: Answer) -> None:
            if self.is_on and self.steps == steps:
                take(answer)
            else:
                self._document.reported.emit("The steps have changed meanwhile, so nothing was added.")

        return taken

    # ---- showing ---------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        self._is_typing = False
        self.changed.emit()
        (self._timer.start if self.is_on else self._timer.stop)()

    def _show(self) -> None:
        self._timer.stop()
        self._ask(self._document.start(ArchiveRequests.show_experiment, self.steps), partial(setattr, self, "view"))

    def _go_back(self) -> None:
        """Take back the change of the steps that cannot be done, unless the user has changed them since."""
        if self.settled:
            (self.undo if self.history.can_undo else self.leave)()

    # ---- files -----------------------------------------------------------------------------------------------------

    def save(self, path: str, then: Callable[[str], object]) -> None:
        """Write the archive as the steps leave it to a new file, and call ``then`` with a sentence."""
        self._saving(self._document.start(ArchiveRequests.save_experiment, self.steps, path, True), then)

    def save_patch(self, path: str) -> None:
        """Write what differs from the archive as a patch, which can be imported once the experiment is left."""
        job = self._document.start(ArchiveRequests.save_experiment_patch, self.steps, path)
        self._saving(job, self._document.reported.emit)

    def _saving(self, job: Job[str], then: Callable[[str], object]) -> None:
        steps = self.steps

        def done(sentence: str) -> None:
            self._saved = steps
            then(sentence)

        job.then(done)


class Replaying(Trial):
    """The replay on a document: the writes, and the point of them that is wanted. ``changed`` also tells the matrix."""

    several = "Writes are replayed on one archive. Open one of these files."
    unread = "The archive is still being read. Replay its writes after that."
    other = "This is an experiment: leave it before writes are replayed."

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__(document, editing)
        self.writes: Writes | None = None
        self.state: ReplayState | None = None
        self.point = Point(0)
        self.matrix: Matrix | None = None
        self._matrix_job: Job[Matrix] | None = None

    @property
    def sign(self) -> str:
        if (state := self.state) is None:
            return super().sign
        words = state.view.words(state.point)
        return f"{super().sign} {words[0].upper()}{words[1:]}: {in_bytes(state.size)}."

    @property
    def marked(self) -> Spans:
        """The bytes written so far."""
        return self.state.written if self.state is not None else ()

    @property
    def view(self) -> ReplayView | None:
        """The writes; None until they are known."""
        return self.state.view if self.state is not None else None

    @property
    def reading(self) -> bool:
        """Whether the matrix is being made."""
        return self._matrix_job is not None and self._matrix_job.running

    def begin(self, writes: Writes) -> None:
        """Replay these writes, from before the first of them."""
        if self._may_begin():
            self.writes = writes
            self._set_on(True)
            self.go(Point(0))

    def _set_on(self, on: bool) -> None:
        if self._matrix_job is not None:
            self._matrix_job.supersede()
        self.state = self.matrix = self._matrix_job = None
        self._document.in_replay = on
        super()._set_on(on)

    # ---- points ----------------------------------------------------------------------------------------------------

    def go(self, point: Point) -> None:
        """Show the archive at a point."""
        if self.is_on:
            self.point = point
            self.changed.emit()
            self._show()

    def step(self, by: int) -> None:
        """Go to the point after the next write, or before the one before."""
        if (view := self.view) is not None:
            done, part = self.point
            wanted = done if by < 0 and part else done + by
            self.go(Point(max(0, min(wanted, len(view.steps)))))

    def _show(self) -> None:
        assert self.writes is not None
        self._ask(self._document.start(ArchiveRequests.show_replay, self.writes, self.point), self._take)

    def _take(self, state: ReplayState) -> None:
        self.state = state
        if self.matrix is None and not self.reading and state.view.base_size <= MAX_UNASKED_MATRIX_BYTES:
            self.read_crashes()

    def _go_back(self) -> None:
        if self.state is None:
            self.leave()
        else:
            self.point = self.state.point
            self.changed.emit()

    # ---- crashes and files -----------------------------------------------------------------------------------------

    def read_crashes(self) -> None:
        """Ask what each reader makes of a crash at each write."""

        def take(matrix: Matrix) -> None:
            self.matrix = matrix
            self.changed.emit()

        if self.writes is not None and self.view is not None and self.view.has_crashes and not self.reading:
            self._matrix_job = self._document.start(ArchiveRequests.crash_matrix, self.writes).then(take)
            self._matrix_job.finished.connect(self.changed)
            self.changed.emit()

    def save(self, path: str, then: Callable[[str], object]) -> None:
        """Write the archive at the point shown to a new file, and call ``then`` with a sentence."""
        if self.writes is not None and self.state is not None:
            job = self._document.start(ArchiveRequests.save_replay, self.writes, self.state.point, path, True)
            job.then(then)
