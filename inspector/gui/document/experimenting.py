"""The experiment on one document: its steps, their history, and what they leave, which is shown and never written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal

from inspector.core.edit import History
from inspector.core.span import Span
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
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage, Target

Answer = TypeVar("Answer")


class Experimenting(QObject):
    """The experiment on a document. While it is on, what the panels show is the archive as the steps leave it.

    Signals:
        changed(): the experiment was begun or left, or its steps changed.
        shown(): the archive is shown as the steps leave it.
    """

    changed = Signal()
    shown = Signal()

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__(document)
        self._document = document
        self._editing = editing
        self.history: History[Steps] = History(())
        self.is_on = False
        self.view: ExperimentView | None = None
        self._shown: Steps | None = None
        self._saved: Steps = ()
        self._is_typing = False
        self._job: Job[ExperimentView | None] | None = None
        self._timer = debounce(self, PREVIEW_DELAY_MS, self._show)

    @property
    def steps(self) -> Steps:
        """The steps, in the order in which they apply."""
        return self.history.now

    @property
    def _wanted(self) -> Steps | None:
        """The steps to show; None for the archive as it is."""
        return self.steps if self.is_on else None

    @property
    def settled(self) -> bool:
        """Whether the archive is shown as the steps leave it."""
        return self._wanted == self._shown

    @property
    def unsaved(self) -> bool:
        """Whether there are steps that are not saved."""
        return self.is_on and bool(self.steps) and self.steps != self._saved

    @property
    def why_not(self) -> str:
        """Why there can be no experiment now; empty if there can be one."""
        status = self._document.status
        if status.collection:
            return "An experiment is made on one archive. Open one of these files."
        if status.stage is not Stage.READY:
            return "The archive is still being read. Begin the experiment after that."
        if self._document.in_replay:
            return "This is a replay of writes: leave it before you experiment."
        if self._editing.pending is not None:
            return "Write or discard the pending changes first: an experiment begins with the archive as it is."
        return ""

    def begin(self) -> bool:
        """Begin the experiment, unless it is on; returns whether it is on then."""
        if not self.is_on:
            if why := self.why_not:
                self._document.reported.emit(why)
                return False
            self.history.clear(())
            self.is_on = self._document.in_experiment = True
            self._changed()
        return True

    def leave(self) -> None:
        """Drop all steps and show the archive as it is."""
        if self.is_on:
            self.history.clear(())
            self.is_on = self._document.in_experiment = False
            self.view = None
            self._changed()
            self._show()

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
        last = self.steps[-1].operation if self.steps else None
        if not isinstance(last, Replace) or not isinstance(last.content, Inline):
            return []
        return [(last.start, last.content.data)] if last.content.size == last.stop - last.start else []

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
        self._timer.start()

    def _show(self) -> None:
        wanted = self._wanted
        if wanted == self._shown and self._job is None:
            return
        self._job = self._document.start(ArchiveRequests.show_experiment, wanted)
        self._job.then(partial(self._take, wanted), partial(self._refused, wanted))

    def _take(self, steps: Steps | None, view: ExperimentView | None) -> None:
        self._job = None
        self._shown, self.view = steps, view
        self._document.refresh_all()
        self.shown.emit()

    def _refused(self, steps: Steps | None, sentence: str) -> None:
        """Take back the change of the steps that cannot be done, unless the user has changed them since."""
        self._job = None
        self._document.reported.emit(sentence)
        if steps != self._wanted:
            return
        if self.history.can_undo:
            self.undo()
        else:
            self.leave()

    # ---- files -----------------------------------------------------------------------------------------------------

    def save(self, path: str, over: bool, then: Callable[[str], object]) -> None:
        """Write the archive as the steps leave it to a new file, and call ``then`` with a sentence."""
        self._saving(self._document.start(ArchiveRequests.save_experiment, self.steps, path, over), then)

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
