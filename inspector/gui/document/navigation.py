"""From the byte at the caret to where it leads, to the next bytes that nothing explains, to the next field alike."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from inspector.gui.document.document import Document
from inspector.gui.kit.text import escaped, short
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FieldRow, Reference, Target

NOWHERE = "This field refers to nothing else in the archive."
NONE_BEFORE = "No unexplained bytes before this one."
NONE_AFTER = "No unexplained bytes after this one."
ALIKE_BEFORE = "No other {kind} “{name}” before this one."
ALIKE_AFTER = "No other {kind} “{name}” after this one."


class Navigation(QObject):
    """What the actions call; ``over`` is the view beside whose corner several references are offered."""

    def __init__(self, document: Document, over: QWidget) -> None:
        super().__init__(over)
        self._document = document
        self._over = over
        self.menu = QMenu(over)
        self.menu.setAccessibleName("Where this points")

    # ---- references --------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Go to the bytes that the selected field refers to, or ask where it leads to several places."""
        document = self._document
        asked = document.selection

        def found(references: tuple[Reference, ...]) -> None:
            here = document.selection
            if (here.layer, here.caret) != (asked.layer, asked.caret):
                return
            if not references:
                document.said.emit(NOWHERE)
            elif len(references) == 1:
                self.go(references[0])
            else:
                self._offer(references)

        document.client.ask(ArchiveRequests.references, asked.layer, asked.caret, asked.field).then(
            found, document.said.emit
        )

    def go(self, reference: Reference) -> None:
        """Select the bytes that something leads to."""
        self._document.select_checksum(reference, "reference")

    def _offer(self, references: tuple[Reference, ...]) -> None:
        self.menu.clear()
        for reference in references:
            action = self.menu.addAction(escaped(short(reference.words)))
            action.triggered.connect(partial(self._chosen, reference))
        self.menu.setActiveAction(self.menu.actions()[0])
        self.menu.popup(self._over.mapToGlobal(QPoint(self._over.width() // 4, self._over.height() // 4)))
        self.menu.setFocus(Qt.FocusReason.PopupFocusReason)

    def _chosen(self, reference: Reference, _: bool = False) -> None:
        self.go(reference)

    # ---- steps -------------------------------------------------------------------------------------------------

    def next_unexplained(self) -> None:
        """Show the next bytes that no field explains."""
        self._step_unexplained(False)

    def previous_unexplained(self) -> None:
        """Show those before."""
        self._step_unexplained(True)

    def _step_unexplained(self, backwards: bool) -> None:
        here = self._document.selection
        nothing = NONE_BEFORE if backwards else NONE_AFTER
        job = self._document.start(ArchiveRequests.next_unexplained, here.layer, here.caret, backwards)
        job.then(partial(self._arrive, nothing))

    def next_alike(self) -> None:
        """Show the next field of the selected kind."""
        self._step_alike(False)

    def previous_alike(self) -> None:
        """Show the one before."""
        self._step_alike(True)

    def _step_alike(self, backwards: bool) -> None:
        here, field = self._document.selection, self._field()
        if field is None:
            self._document.said.emit("No field is selected.")
            return
        none = ALIKE_BEFORE if backwards else ALIKE_AFTER
        nothing = none.format(kind=field.kind, name=short(field.name))
        place = (here.layer, here.caret)
        job = self._document.start(ArchiveRequests.next_similar, *place, field.kind, field.name, backwards)
        job.then(partial(self._arrive, nothing))

    def _field(self) -> FieldRow | None:
        """The selected field, as far as it is known by now."""
        explanation, selection = self._document.explanation, self._document.selection
        rows = explanation.fields if explanation is not None else ()
        return next((row for row in rows if row.path == selection.field), rows[-1] if rows else None)

    def _arrive(self, nothing: str, target: Target | None) -> None:
        if target is None:
            self._document.said.emit(nothing)
        else:
            self._document.go_to(target.layer, target.start, target.stop, "step")
