"""What is pending of one document: history, preview, writing. Panels that edit know this, never each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, QTimer, Signal

from inspector.core.edit import Edit, Kept, Patch
from inspector.core.numbers import count, hexadecimal, in_bytes, plural
from inspector.gui.document.document import Document
from inspector.gui.document.edit_history import EditHistory
from inspector.gui.ipc.client import Job
from inspector.operations.protocol.edit_views import OnlyWhole, Repaired, WriteResult
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import Connection

PAUSE = 200
"""Milliseconds without a change after which the archive is decoded with the changes."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Something that will be sent once the user agrees: an edit, and files ``beside`` the archive by their names.

    ``start`` begins it and is told whether all of the object is sent; ``whole`` says that this is what is asked for,
    and ``why``.
    """

    edit: Edit | None
    beside: tuple[str, ...]
    start: Callable[[bool], None]
    whole: bool = False
    why: str = ""


class Editing(QObject):
    """What is pending in a document. Nothing is written until ``write``.

    Signals:
        agreementWanted(object): the user is to be asked about a Dispatch.
        changed(): other bytes are pending than before, or none.
        previewed(): the archive was decoded with what is pending.
        modeChanged(bool): bytes can be overwritten in the hex view, or not any more.
        written(object): changes were written: the WriteResult.
    """

    changed = Signal()
    previewed = Signal()
    modeChanged = Signal(bool)
    written = Signal(object)
    agreementWanted = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self.history = EditHistory()
        self.revert: Edit | None = None
        self.kept: Kept | None = None
        self.overwriting = False
        self.broken: tuple[str, ...] | None = None
        """The checksums that what is pending makes wrong, None while that is not known."""
        self._shown: Edit | None = None
        self._unsure = False
        self._previewer: Job[tuple[str, ...] | None] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self._preview)

    @property
    def pending(self) -> Edit | None:
        """All changes that are not written."""
        return self.history.pending

    @property
    def can_take_back(self) -> bool:
        """Whether the last writing can be taken back: by an edit, or from the store of old bytes."""
        return self.revert is not None or self.kept is not None

    @property
    def size(self) -> int:
        """The size of the file with the pending changes, in bytes."""
        if self.pending is not None:
            return self.pending.new_size
        return self._shown.old_size if self._shown is not None else self._document.status.size

    @property
    def previewing(self) -> bool:
        """Whether the archive is still to be decoded with what is pending."""
        return self._unsure or self.pending is not self._shown

    def possible(self) -> dict[str, bool]:
        """Of what can be done with changes, by the name of the action, whether it can be done now."""
        pending = self.pending is not None
        return {
            "undo": self.history.can_undo,
            "redo": self.history.can_redo,
            "take_back": self.can_take_back and not pending,
            **dict.fromkeys(("discard", "write", "repair_checksums", "ask_copy", "ask_export"), pending),
        }

    def edit_bytes(self) -> None:
        """Let bytes be overwritten in the hex view, or not any more."""
        self.overwriting = not self.overwriting
        self.modeChanged.emit(self.overwriting)

    # ---- changing ----------------------------------------------------------------------------------------------

    def overwrite(self, offset: int, old: bytes, new: bytes, again: bool = False) -> None:
        """Put ``new`` over the bytes ``old`` that are shown at ``offset``; ``again``: it is still being typed."""
        if old != new:
            label = f"Overwrite {in_bytes(len(new))} at {hexadecimal(offset)}"
            same_step = again and self.history.undo_label == label
            self.add(Edit(label, (Patch(offset, old, new),), self.size, self.size), same_step)

    def add(self, edit: Edit, again: bool = False) -> None:
        """Add a change of what is shown; ``again``: as part of the last step."""
        if edit.old_size != self.size:
            self._document.said.emit("The archive is still being decoded with the last change. Try again.")
            return
        try:
            self.history.add(edit, again)
        except ValueError:
            self._document.said.emit("Write or discard the pending changes first: this one would change the size.")
            return
        self._change()

    def put(self, edit: Edit) -> None:
        """Let a change of the file on disk take the place of all that is pending; it can be undone."""
        self.history.put(edit)
        self._change()

    def undo(self) -> None:
        """Take back one step."""
        if self.history.can_undo:
            self.history.undo()
            self._change()

    def redo(self) -> None:
        """Redo the last undone change."""
        if self.history.can_redo:
            self.history.redo()
            self._change()

    def discard(self) -> None:
        """Show the file as it is on disk; undoing brings back what was pending."""
        if self.pending is not None:
            self.history.put(None)
            self._change()

    def _change(self) -> None:
        self.broken = None
        self.changed.emit()
        self._timer.start()

    def _preview(self) -> None:
        edit = self.pending
        if self.previewing:
            self._previewer = self._document.start(ArchiveRequests.preview, edit).then(
                lambda broken: self._previewed(edit, broken)
            )

    def _previewed(self, edit: Edit | None, broken: tuple[str, ...] | None) -> None:
        self._shown = edit
        self._unsure = False
        self.broken = broken if self.pending is edit else None
        self._document.decoded_anew()
        self.previewed.emit()

    # ---- what long work does -----------------------------------------------------------------------------------

    def repair_checksums(self) -> None:
        """Make the checksums that depend on what is pending part of it."""
        edit = self.pending
        if edit is None:
            return

        def take(repaired: Repaired) -> None:
            if self.pending is not edit:
                return
            if repaired.checksums:
                self.put(repaired.edit)
                done, names = count(len(repaired.checksums), "checksum"), named(repaired.checksums)
                self._document.said.emit(f"{done} fixed, not written yet: {names}.")
            else:
                self._document.said.emit("No recorded checksum covers the changed bytes, or all of them match.")

        self._document.start(ArchiveRequests.repair_checksums, edit).then(take)

    def write(self) -> None:
        """Write what is pending: into a file at once, to S3 when the user has agreed to what will be sent."""
        edit, steps = self.pending, self.history.steps
        if edit is not None:
            label = edit.label if steps == 1 else plural("Make {number} change", "Make {number} changes", steps)
            every = replace(edit, label=label)
            self.carry_out(lambda whole: self._document.start(ArchiveRequests.write, every, whole), edit=every)

    def take_back(self) -> None:
        """Write the bytes that the last writing has replaced or cut off."""
        edit = self.revert
        if edit is not None:
            self.carry_out(lambda whole: self._document.start(ArchiveRequests.write, edit, whole), edit=edit)
        elif self.kept is not None:
            self.carry_out(lambda whole: self._document.start(ArchiveRequests.take_back, whole), edit=None)

    def carry_out(
        self, work: Callable[[bool], Job[WriteResult | OnlyWhole]], edit: Edit | None, beside: tuple[str, ...] = ()
    ) -> None:
        """Have ``work`` started, which changes the archive by ``edit`` and writes files ``beside`` it, once agreed to.

        It is told whether all of the object is to be sent.
        """

        def start(whole: bool) -> None:
            # What was written in spite of being cancelled has to be known.
            work(whole).then(take).binding = True

        def take(result: WriteResult | OnlyWhole) -> None:
            if isinstance(result, OnlyWhole):
                self.agreementWanted.emit(replace(dispatch, whole=True, why=result.sentence))
            else:
                self.settle(result)

        dispatch = Dispatch(edit, beside, start)
        if is_s3(self._document.location):
            self.agreementWanted.emit(dispatch)
        else:
            start(False)

    def read_again(self) -> None:
        """Read the archive as it is now, and keep what is pending where that is a change of it too."""
        edit = self.pending
        if edit is not None:
            self._document.start(ArchiveRequests.reload, edit).then(lambda _: self._take_over(edit))

    def _take_over(self, edit: Edit) -> None:
        pending = self.pending
        self.history.clear()
        self.revert = self.kept = None
        self._shown = edit
        if pending is not None:
            self.history.put(pending)
        self._document.decoded_anew()
        self._change()
        self._document.said.emit("Reloaded. The pending changes still fit and are not written yet.")

    def settle(self, result: WriteResult) -> None:
        """The archive was changed, by writing or by a repair: nothing is pending any more."""
        self._timer.stop()
        self._overtake()
        self.history.clear()
        self._shown = self.broken = None
        self.revert, self.kept = result.revert, result.kept
        self.changed.emit()
        self._document.said.emit(" ".join((result.sentence, *result.warnings)))
        self.written.emit(result)
        self._document.decoded_anew()

    def start_anew(self) -> None:
        """Another program has changed the file on disk: nothing is pending, and nothing can be taken back."""
        self.history.clear()
        self._shown = self.broken = self.revert = self.kept = None
        self.changed.emit()

    def _overtake(self) -> None:
        """A preview that was asked for before the file changed may come after that: show the file once more then."""
        if self._previewer is not None and self._previewer.running:
            self._previewer.cancel()
            self._unsure = True
            self._timer.start()

    def save_copy(self, path: str, replace: bool, connection: Connection) -> None:
        """Write the archive with the pending changes to another file, or to an object that is reached so."""
        if self.pending is not None:
            copied = self._document.start(ArchiveRequests.save_copy, self.pending, path, replace, connection)
            copied.then(self._document.said.emit)


def named(checksums: tuple[str, ...]) -> str:
    """Some checksums by their names."""
    names, more = ", ".join(checksums[:3]), len(checksums) - 3
    return "{names} and {number} more".format(names=names, number=f"{more:,}") if more > 0 else names
