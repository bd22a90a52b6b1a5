"""What the hex view shows on top of the bytes, reference arrows, pending edits, messages; and ways from the caret."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QMenu, QWidget

from inspector.core.edit import differing
from inspector.core.kinds import Kind
from inspector.gui.document.document import Document, Latest, Selection
from inspector.gui.document.editing import Editing
from inspector.gui.document.trials import Experimenting, Replaying
from inspector.gui.hex.hex_pane import EDIT_SENTENCE, EXPERIMENT_EDIT_SENTENCE, HexPane
from inspector.gui.hex.view import HexView
from inspector.gui.ipc.client import Pending
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import escaped, short
from inspector.gui.kit.widgets import MessageBar
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Arrow, FieldRow, LayerKind, Reference, Target

NO_REFERENCE = "This field refers to nothing else in the archive."


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

        asked = document.client.ask(ArchiveRequests.references, selected.layer, selected.caret, selected.field)
        asked.then(found, document.reported.emit)

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
        self._step("unexplained bytes", backwards)

    def step_kind(self, *, backwards: bool) -> None:
        """Show the next field of the selected kind, or the one before."""
        if (field := self._field()) is None:
            self._document.reported.emit("No field is selected.")
        else:
            self._step(f"other {field.kind} “{short(field.name)}”", backwards, field.kind, field.name)

    def _field(self) -> FieldRow | None:
        """The selected field, or else the innermost one at the caret; None while that is not known."""
        explanation, selection = self._document.explanation, self._document.selection
        rows = explanation.fields if explanation is not None else ()
        return next((row for row in rows if row.path == selection.field), rows[-1] if rows else None)

    def _step(self, wanted: str, backwards: bool, kind: Kind | None = None, name: str = "") -> None:
        document, here = self._document, self._document.selection

        def found(target: Target | None) -> None:
            if target is None:
                document.reported.emit(f"No {wanted} {'before' if backwards else 'after'} this one.")
            else:
                document.go_to(target.layer, target.start, target.stop, "step")

        job = document.start(ArchiveRequests.next_field, here.layer, here.caret, backwards, kind, name)
        job.then(found)


class Arrows(QObject):
    """Requests the reference arrows of the visible bytes, one request at a time however fast the view scrolls."""

    def __init__(self, document: Document, view: HexView, navigation: Navigation) -> None:
        super().__init__(view)
        self._document = document
        self._view = view
        self._navigation = navigation
        self._latest = Latest(self._ask, view.gutter.show_arrows)
        self._layer = 0
        for changed in (view.scrolled, view.gutter.shown, document.layersChanged, document.rowsChanged):
            changed.connect(self._request)
        view.gutter.arrowClicked.connect(self.go)

    def _request(self, *_: object) -> None:
        if self._document.layer != self._layer:
            self._layer = self._document.layer
            self._view.gutter.show_arrows(())
        if self._view.gutter.isVisible():
            self._latest.ask(self._layer, *self._view.shown())
        else:
            self._latest.forget()

    def _ask(self, layer: int, start: int, stop: int) -> Pending[tuple[Arrow, ...]]:
        return self._document.client.ask(ArchiveRequests.arrows, layer, start, stop)

    def go(self, arrow: Arrow, forwards: bool) -> None:
        """Go to the target of an arrow, or to its source."""
        layer = self._document.layer
        end = arrow.target if forwards or arrow.source is None else arrow.source
        reference = Reference("", layer, (end,), None)
        if end is arrow.source or arrow.source is None:
            self._navigation.go(reference)
            return

        def found(references: tuple[Reference, ...]) -> None:
            # For a hash, this marks all the bytes it covers and omits.
            known = (each for each in references if each.covers[0].start == end.start)
            self._navigation.go(next(known, reference))

        self._document.client.ask(ArchiveRequests.references, layer, arrow.source.start, None).then(
            found, self._document.reported.emit
        )


ONLY_FILE = "Bytes can only be edited in the File layer; this layer is derived from it."


class HexEditing(QObject):
    """Shows pending edits in the hex view at once, and makes typed bytes pending."""

    def __init__(
        self, document: Document, editing: Editing, experiment: Experimenting, replaying: Replaying, pane: HexPane
    ) -> None:
        super().__init__(pane)
        self._document = document
        self._editing = editing
        self._experiment = experiment
        self._pane = pane
        self._view = pane.hex
        self._trials = (experiment, pane.experiment), (replaying, pane.replay)
        for trial, strip in self._trials:
            trial.changed.connect(self._show)
            strip.stopRequested.connect(trial.leave)
        for changed in (editing.changed, document.layersChanged, document.rowsChanged):
            changed.connect(self._show)
        editing.modeChanged.connect(pane.hex.setOverwriting)
        editing.modeChanged.connect(pane.strip.setVisible)
        pane.strip.stopRequested.connect(editing.edit_bytes)
        pane.hex.overwritten.connect(self._take)
        editing.modeChanged.connect(partial(setattr, pane.inspector.readings, "editable"))
        pane.inspector.readings.typed.connect(self._take_value)
        pane.inspector.readings.refused.connect(document.reported)

    def _in_file(self) -> bool:
        info = self._document.layer_info(self._document.layer)
        return info is not None and info.kind is LayerKind.FILE and not self._document.status.collection

    def _show(self) -> None:
        """Overlay the pending bytes, whichever version the worker sent, and say which trial is on."""
        pane, pending = self._pane, self._editing.pending
        overlay, marked = self._editing.history.overlay(), differing(pending) if pending is not None else ()
        for trial, strip in self._trials:
            strip.setVisible(trial.is_on)
            if trial.is_on:
                strip.sentence.setText(trial.sign)
                overlay, marked = trial.overlay(), trial.marked
        pane.strip.sentence.setText(EXPERIMENT_EDIT_SENTENCE if self._experiment.is_on else EDIT_SENTENCE)
        if (model := self._view.model) is not None:
            model.set_overlay(overlay if self._in_file() else [])
            pane.set_edited(marked if self._in_file() else ())

    def _take_value(self, old: bytes, new: bytes) -> None:
        """Make a value pending that was typed where the inspector reads, if the caret is still there."""
        if self._pane.inspected == (self._document.layer, self._view.caret()):
            self._take(self._view.caret(), old, new)

    def _take(self, offset: int, old: bytes, new: bytes, again: bool = False) -> None:
        if self._in_file() and self._experiment.is_on:
            self._experiment.overwrite(offset, new)
        elif self._in_file():
            self._editing.overwrite(offset, old, new, again)
        else:
            self._document.reported.emit(ONLY_FILE)


MARGIN_PX = 2 * GRID
"""Pixels between the label and the edges of the widget below."""


class OverlayLabel(MessageBar):
    """Shows messages of a document at the bottom of a widget, until it is dismissed or the caret moves.

    It lies over the widget, so nothing moves when it appears.
    """

    def __init__(self, document: Document, below: QWidget) -> None:
        super().__init__()
        self._document = document
        self._message_selection = document.selection
        self._below = below
        self.setParent(below)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.ToolTipBase)
        self.text.setForegroundRole(QPalette.ColorRole.ToolTipText)
        self.text.setContentsMargins(0, MARGIN_PX // 2, 0, MARGIN_PX // 2)
        self.hide()
        below.installEventFilter(self)
        document.reported.connect(self.show_message)
        document.selected.connect(self._caret_moved)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize and watched is self._below:
            self._move()
        return False

    def _move(self) -> None:
        width = max(0, self._below.width() - 2 * MARGIN_PX)
        height = self.heightForWidth(width)
        self.setGeometry(MARGIN_PX, self._below.height() - height - MARGIN_PX, width, height)

    def show_message(self, sentence: str, action: str = "") -> None:
        """Show a message about the caret as it is, and a button if ``action`` is its label."""
        self._message_selection = self._document.selection
        self.say(sentence, action)
        self._move()
        self.raise_()

    def _caret_moved(self, selection: Selection) -> None:
        """Hide the message, which was about the previous caret, when the caret moves."""
        if (selection.layer, selection.caret) != (self._message_selection.layer, self._message_selection.caret):
            self.hide()
