"""Pending edits of one document: undo history, preview, writing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from inspector.core.edit import CutBytes, Edit, History, Patch, combined
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Job
from inspector.gui.kit.widgets import debounce
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import Connection, Consent

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.operations.protocol.edit_views import NeedsConsent, PastWrite, WriteResult

PREVIEW_DELAY_MS = 200
"""The archive is decoded with the pending changes after this time without a change."""

IN_A_TRIAL = "This is {}: leave it before you change the archive itself."


class PendingUpload(Struct, frozen=True):
    """An upload that waits for the user: an edit, and ``siblings``, the names of files stored next to the archive.

    ``start`` starts it with what the user agrees to. It goes only with ``consents``, for the reason ``why``.
    """

    edit: Edit | None
    siblings: tuple[str, ...]
    start: Callable[[Consent], None]
    consents: Consent = Consent.NONE
    why: str = ""


class Editing(QObject):
    """The pending changes of a document. Nothing is written until ``write``.

    Signals:
        confirmationNeeded(object): the user has to confirm a PendingUpload.
        changed(): the pending changes changed.
        pastChanged(): it became known what was written earlier.
        previewed(): the archive was decoded with the pending changes.
        modeChanged(bool): overwriting bytes in the hex view was switched on or off.
        written(object): changes were written, with this WriteResult.
    """

    changed = Signal()
    pastChanged = Signal()
    previewed = Signal()
    modeChanged = Signal(bool)
    written = Signal(object)
    confirmationNeeded = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.history = EditHistory()
        self.revert: Edit | None = None
        self.kept: CutBytes | None = None
        self.past: tuple[PastWrite, ...] = ()
        self.overwriting = False
        self.broken: tuple[str, ...] | None = None
        """The checksums that the pending changes break; None while that is unknown."""
        self.may_write: Callable[[Edit], bool] = lambda _: True
        """Whether to write an edit now; if not, what it does is shown first."""
        self._shown: Edit | None = None
        self._preview_outdated = False
        self._preview_job: Job[tuple[str, ...] | None] | None = None
        self._timer = debounce(self, PREVIEW_DELAY_MS, self._preview)
        document.when_ready(self._ask_past)

    @property
    def pending(self) -> Edit | None:
        """All unwritten changes, as one edit of the file on disk."""
        return self.history.now

    @property
    def can_take_back(self) -> bool:
        """Whether the last write can be taken back: by an edit, or from the stored old bytes."""
        return self.revert is not None or self.kept is not None or any(each.can_take_back for each in self.past)

    @property
    def last_write(self) -> str:
        """What would be taken back, with how many bytes."""
        if self.past and self.past[0].can_take_back:
            return self.past[0].what
        written = sum(len(patch.new) for patch in self.revert.patches) if self.revert is not None else 0
        return f"{self.revert.label} ({in_bytes(written)})" if self.revert is not None else "the last write"

    @property
    def size(self) -> int:
        """The size of the file with the pending changes, in bytes."""
        if self.pending is not None:
            return self.pending.new_size
        return self._shown.old_size if self._shown is not None else self._document.status.size

    @property
    def previewing(self) -> bool:
        """Whether the archive is yet to be decoded with the pending changes."""
        return self._preview_outdated or self.pending is not self._shown

    # ---- earlier writes ----------------------------------------------------------------------------------------

    def _ask_past(self) -> None:
        """Ask what was written to the file earlier, also by another run of the program."""

        def take(past: tuple[PastWrite, ...]) -> None:
            if past != self.past:
                self.past = past
                self.pastChanged.emit()

        self._document.client.start(ArchiveRequests.past_writes).then(take)

    def forget_past(self) -> None:
        """Remove the old bytes of all earlier writes, so that none can be taken back."""

        def done(sentence: str) -> None:
            self.revert = self.kept = None
            self.past = ()
            self.changed.emit()
            self._document.reported.emit(sentence)

        self._document.start(ArchiveRequests.forget_past_writes).then(done)

    # ---- the mode ----------------------------------------------------------------------------------------------

    def edit_bytes(self) -> None:
        """Switch overwriting in the hex view on or off."""
        self.overwriting = not self.overwriting
        self.modeChanged.emit(self.overwriting)

    # ---- changing ----------------------------------------------------------------------------------------------

    def overwrite(self, offset: int, old: bytes, new: bytes, again: bool = False) -> None:
        """Overwrite the bytes ``old`` at ``offset`` with ``new``; ``again``: typing continues the last step."""
        if old != new:
            label = f"Overwrite {in_bytes(len(new))} at {hexadecimal(offset)}"
            same_step = again and self.pending is not None and self.pending.label == label
            self.add(Edit(label, (Patch(offset, old, new),), self.size, self.size), same_step)

    def add(self, edit: Edit, again: bool = False) -> None:
        """Add an edit of the file with the pending changes; ``again``: as part of the last step."""
        if self._refused():
            return
        if edit.old_size != self.size:
            self._document.reported.emit("The archive is still being decoded with the last change. Try again.")
            return
        try:
            self.history.add(edit, again)
        except ValueError:
            self._document.reported.emit("Write or discard the pending changes first: this change resizes the file.")
            return
        self._change()

    def _refused(self) -> bool:
        """Say that nothing can be changed while something else than the archive is shown; returns whether it is."""
        if self._document.in_experiment:
            self._document.reported.emit(IN_A_TRIAL.format("a replay" if self._document.in_replay else "an experiment"))
        return self._document.in_experiment

    def undo(self) -> None:
        """Undo the last step."""
        self._step(self.history.can_undo, self.history.undo)

    def redo(self) -> None:
        """Redo the step undone last."""
        self._step(self.history.can_redo, self.history.redo)

    def put(self, edit: Edit | None) -> None:
        """Replace all pending changes by an edit of the file on disk; this can be undone."""
        self._step(True, partial(self.history.put, edit))

    def discard(self) -> None:
        """Drop all pending changes; this can be undone."""
        self._step(self.pending is not None, partial(self.history.put, None))

    def _step(self, possible: bool, step: Callable[[], object]) -> None:
        if possible and not self._refused():
            step()
            self._change()

    def _change(self) -> None:
        self.broken = None
        self.changed.emit()
        self._timer.start()

    def hold_preview(self) -> None:
        """Show no pending changes until ``preview_again``: something else is shown."""
        self._timer.stop()
        if self._preview_job is not None and self._preview_job.running:
            self._preview_job.supersede()
        self._preview_outdated = self.pending is not None

    def preview_again(self) -> None:
        """Show the archive with the pending changes again after something else was shown."""
        self._preview_outdated = True
        self._preview()

    def _preview(self) -> None:
        edit = self.pending

        def shown(broken: tuple[str, ...] | None) -> None:
            self._shown = edit
            self._preview_outdated = False
            self.broken = broken if self.pending is edit else None
            self._document.refresh_all()
            self.previewed.emit()

        if self.previewing:
            self._preview_job = self._document.start(ArchiveRequests.preview, edit).then(shown)

    # ---- jobs --------------------------------------------------------------------------------------------------

    def repair_checksums(self) -> None:
        """Add the checksums that cover changed bytes to the pending changes."""
        edit = self.pending
        if edit is None:
            return

        def take(repaired: tuple[Edit, tuple[str, ...]]) -> None:
            whole, names = repaired
            if self.pending is not edit:
                return
            if names:
                self.put(whole)
                done = f"{count(len(names), 'checksum')} fixed, not written yet: {checksum_names(names)}."
                self._document.reported.emit(done)
            else:
                self._document.reported.emit("No recorded checksum covers the changed bytes, or all of them match.")

        self._document.start(ArchiveRequests.repair_checksums, edit).then(take)

    def write(self) -> None:
        """Write the pending changes: to a file at once, to S3 after the user confirms the upload."""
        edit, steps = self.pending, self.history.steps
        if edit is not None and self.may_write(edit):
            label = edit.label if steps == 1 else f"Make {count(steps, 'change')}"
            self._write(dataclasses.replace(edit, label=label))

    def _write(self, edit: Edit) -> None:
        self.carry_out(lambda consents: self._document.start(ArchiveRequests.write, edit, consents), edit=edit)

    def take_back(self) -> None:
        """Restore the bytes that the last write replaced or cut off."""
        edit = self.revert
        if edit is not None:
            self._write(edit)
        elif self.can_take_back and is_s3(self._document.location):
            self.start_before(0, lambda edits: self._write(*edits))
        elif self.can_take_back:
            self.carry_out(lambda consents: self._document.start(ArchiveRequests.take_back, consents), edit=None)

    def start_before(self, number: int, done: Callable[[tuple[Edit, ...]], object]) -> None:
        """Call ``done`` with the edits that lead to the state before write ``number`` of ``past``."""
        self._document.start(ArchiveRequests.edits_before, number).then(done)

    def carry_out(
        self,
        work: Callable[[Consent], Job[WriteResult | NeedsConsent]],
        edit: Edit | None,
        siblings: tuple[str, ...] = (),
    ) -> None:
        """Start ``work``, which applies ``edit`` and writes files ``siblings`` the archive; on S3 after confirming.

        The argument of ``work`` is what the user agrees to. In an experiment nothing is started.
        """
        if self._refused():
            return

        def start(consents: Consent) -> None:
            # A write that finishes although it was cancelled must still be settled.
            work(consents).then(partial(take, consents)).binding = True

        def take(agreed: Consent, result: WriteResult | NeedsConsent) -> None:
            from inspector.operations.protocol.edit_views import NeedsConsent

            if isinstance(result, NeedsConsent):
                again = agreed | result.consent
                self.confirmationNeeded.emit(replace(upload, consents=again, why=result.sentence))
            else:
                self.settle(result)

        upload = PendingUpload(edit, siblings, start)
        if is_s3(self._document.location):
            self.confirmationNeeded.emit(upload)
        else:
            start(Consent.NONE)

    def read_again(self) -> None:
        """Reload the archive, and keep the pending changes if they apply to it."""
        edit = self.pending

        def reloaded(_: object) -> None:
            pending = self.pending
            self._forget(shown=edit)
            if pending is not None:
                self.history.put(pending)
            self._document.refresh_all()
            self._change()
            self._document.reported.emit("Reloaded. The pending changes still apply and are not written yet.")

        if edit is not None:
            self._document.start(ArchiveRequests.reload, edit).then(reloaded)

    def _forget(self, shown: Edit | None = None) -> None:
        """Nothing is pending, nor known that takes back a write; ``shown`` is what the archive is shown with."""
        self.history.clear()
        self._shown, self.broken, self.revert, self.kept = shown, None, None, None

    def settle(self, result: WriteResult) -> None:
        """Take the result of a write or repair: nothing is pending any more."""
        self._timer.stop()
        if self._preview_job is not None and self._preview_job.running:
            # Its result may still arrive after the write: show the file again then.
            self._preview_job.cancel()
            self._preview_outdated = True
            self._timer.start()
        self._forget()
        self.revert, self.kept = result.revert, result.kept
        self.changed.emit()
        self._document.reported.emit(" ".join((result.sentence, *result.warnings)))
        self.written.emit(result)
        self._document.refresh_all()
        self._ask_past()

    def reset(self) -> None:
        """Forget all changes: another program changed the file, so nothing can be written or taken back."""
        self._forget()
        self.past = ()
        self.changed.emit()
        self._ask_past()

    def save_copy(self, path: str, replace: bool, connection: Connection) -> None:
        """Write the archive with the pending changes to another file, or to an object through ``connection``."""
        if self.pending is not None:
            copied = self._document.start(ArchiveRequests.save_copy, self.pending, path, replace, connection)
            copied.then(self._document.reported.emit)


def checksum_names(checksums: tuple[str, ...]) -> str:
    """The names of the first checksums, and how many more there are."""
    names, more = ", ".join(checksums[:3]), len(checksums) - 3
    return f"{names} and {more:,} more" if more > 0 else names


class EditHistory(History[Edit | None]):
    """An undo history. Each state is one edit with all changes pending at that time; None where there were none."""

    def __init__(self) -> None:
        super().__init__(None)
        self._original: dict[int, bytes] = {}
        """The bytes on disk under the patches of all steps, by their offsets; of those that begin there, the most."""

    def add(self, edit: Edit, again: bool = False) -> None:
        """Add an edit of the file as it is with the pending changes; ``again``: as part of the last step.

        Raises ValueError if the edit changes the size while another edit is pending.
        """
        pending = self.now
        whole = edit if pending is None else combined(pending, edit, edit.label)
        self.put(whole, again=again and pending is not None)

    def put(self, state: Edit | None, *, again: bool = False) -> None:
        """Replace everything pending by this edit, as a new step, or as part of the last one (``again``)."""
        super().put(state, again=again)
        for patch in state.patches if state is not None else ():
            self._original[patch.offset] = max(patch.old, self._original.get(patch.offset, b""), key=len)

    def clear(self, first: Edit | None = None) -> None:
        """Forget everything: the file on disk changed."""
        super().clear(first)
        self._original = {}

    def overlay(self) -> list[tuple[int, bytes]]:
        """Runs of bytes with their offsets, to lay over the bytes of a view, in this order.

        They include every byte that any step changed, so it does not matter which step the view's bytes are from.
        """
        pending = self.now
        patches = pending.patches if pending is not None else ()
        return [*self._original.items(), *((patch.offset, patch.new) for patch in patches)]
