"""Navigation from the caret: along references, to unexplained bytes, to fields of the same kind."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from inspector.gui.document.document import Document
from inspector.gui.kit.text import escaped, short
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import FieldRow, Reference, Target

NO_REFERENCE = "This field refers to nothing else in the archive."
ALL_EXPLAINED_BEFORE = "No unexplained bytes before this one."
ALL_EXPLAINED_AFTER = "No unexplained bytes after this one."
NONE_OF_KIND_BEFORE = "No other {kind} “{name}” before this one."
NONE_OF_KIND_AFTER = "No other {kind} “{name}” after this one."


class Navigation(QObject):
    """The navigation actions. A menu over ``view`` lists the references when a field has several."""

    def __init__(self, document: Document, view: QWidget) -> None:
        super().__init__(view)
        self._document = document
        self._view = view
        self.menu = QMenu(view)
        self.menu.setAccessibleName("Where this points")

    # ---- references --------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Go to the bytes that the selected field refers to; show a menu if there are several."""
        document = self._document
        selected = document.selection

        def found(references: tuple[Reference, ...]) -> None:
            now = document.selection
            if (now.layer, now.caret) != (selected.layer, selected.caret):
                return
            if not references:
                document.reported.emit(NO_REFERENCE)
            elif len(references) == 1:
                self.go(references[0])
            else:
                self._show_menu(references)

        document.client.ask(ArchiveRequests.references, selected.layer, selected.caret, selected.field).then(
            found, document.reported.emit
        )

    def go(self, reference: Reference) -> None:
        """Select the target of a reference."""
        self._document.select_checksum(reference, "reference")

    def _show_menu(self, references: tuple[Reference, ...]) -> None:
        self.menu.clear()
        for reference in references:
            action = self.menu.addAction(escaped(short(reference.words)))
            action.triggered.connect(lambda _=False, reference=reference: self.go(reference))
        self.menu.setActiveAction(self.menu.actions()[0])
        self.menu.popup(self._view.mapToGlobal(QPoint(self._view.width() // 4, self._view.height() // 4)))
        self.menu.setFocus(Qt.FocusReason.PopupFocusReason)

    # ---- steps -------------------------------------------------------------------------------------------------

    def step_unexplained(self, *, backwards: bool) -> None:
        """Show the next bytes that no field explains, or those before."""
        here = self._document.selection
        message = ALL_EXPLAINED_BEFORE if backwards else ALL_EXPLAINED_AFTER
        job = self._document.start(ArchiveRequests.next_unexplained, here.layer, here.caret, backwards)
        job.then(partial(self._go_to_target, message))

    def step_kind(self, *, backwards: bool) -> None:
        """Show the next field of the selected kind, or the one before."""
        here, field = self._document.selection, self._field()
        if field is None:
            self._document.reported.emit("No field is selected.")
            return
        template = NONE_OF_KIND_BEFORE if backwards else NONE_OF_KIND_AFTER
        message = template.format(kind=field.kind, name=short(field.name))
        place = (here.layer, here.caret)
        job = self._document.start(ArchiveRequests.next_similar, *place, field.kind, field.name, backwards)
        job.then(partial(self._go_to_target, message))

    def _field(self) -> FieldRow | None:
        """The selected field, or else the innermost one at the caret; None while that is not known."""
        explanation, selection = self._document.explanation, self._document.selection
        rows = explanation.fields if explanation is not None else ()
        return next((row for row in rows if row.path == selection.field), rows[-1] if rows else None)

    def _go_to_target(self, message: str, target: Target | None) -> None:
        if target is None:
            self._document.reported.emit(message)
        else:
            self._document.go_to(target.layer, target.start, target.stop, "step")
