"""The changes of an experiment: what each applies to, and the dialogs that ask for more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QWidget

from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.document.experimenting import Experimenting
from inspector.gui.flows.flow import Flow
from inspector.gui.flows.hex_overlays import ONLY_FILE
from inspector.gui.flows.save import PATCHES
from inspector.gui.hex.hex_pane import HexPane
from inspector.gui.kit.files import ALL_FILES, ask_for_file, ask_for_new_file
from inspector.gui.panels.banner import Banner
from inspector.operations.protocol.experiment_views import (
    DAMAGES,
    Cut,
    Delete,
    Duplicate,
    Fill,
    Flip,
    Inline,
    Insert,
    Noise,
    Replace,
)
from inspector.operations.protocol.views import LayerKind

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.gui.panels.changing.experiment import ExperimentPanel


class ExperimentFlow(Flow):
    """Applies changes to the selected bytes."""

    def __init__(
        self, document: Document, experiment: Experimenting, pane: HexPane, banner: Banner, parent: QWidget
    ) -> None:
        super().__init__(document, banner, parent)
        self._experiment = experiment
        self._pane = pane

    def serve(self, panel: ExperimentPanel) -> None:
        """Do what the panel asks for."""
        panel.damageRequested.connect(self.ask_damage)
        panel.saveRequested.connect(self.ask_save)

    def selected(self) -> Span | None:
        """The bytes a change applies to: those selected, of the field or member chosen elsewhere, or at the caret.

        None where they are no bytes of the file, which is then said.
        """
        document, view = self._document, self._pane.hex
        info = document.layer_info(document.layer)
        if info is None or info.kind is not LayerKind.FILE or document.status.collection:
            document.reported.emit(self._experiment.why_not or ONLY_FILE)
            return None
        if view.selection().size:
            return view.selection()
        if document.chosen_spans and document.chosen_spans[0].size:
            return document.chosen_spans[0]
        return Span(view.caret(), min(view.caret() + 1, info.size))

    # ---- changes without a question --------------------------------------------------------------------------------

    def _with(self, act: Callable[[Span], object]) -> None:
        """Do something with the selected bytes, if there are any."""
        if (span := self.selected()) is not None:
            act(span)

    def zero(self) -> None:
        """Put zeros over the selected bytes."""
        self._with(lambda span: self._experiment.add(Replace(*span, Fill(b"\0", span.size))))

    def randomize(self) -> None:
        """Put random bytes over the selected ones, others each time."""
        seed = len(self._experiment.steps)
        self._with(lambda span: self._experiment.add(Replace(*span, Noise(seed, span.size))))

    def delete(self) -> None:
        """Take the selected bytes out."""
        self._with(lambda span: self._experiment.add(Delete(*span)))

    def duplicate(self) -> None:
        """Insert a copy of the selected bytes behind them."""
        self._with(lambda span: self._experiment.add(Duplicate(*span)))

    def cut(self) -> None:
        """End the file before the selected bytes."""
        self._with(lambda span: self._experiment.add(Cut(span.start)))

    # ---- changes that ask ------------------------------------------------------------------------------------------

    def ask_flip(self) -> None:
        """Ask which bit of the byte at the caret to flip."""
        if (span := self.selected()) is None:
            return
        dialog = self._dialog("Flip Bit", f"Bit of the byte at {hexadecimal(span.start)}, from 0, the lowest, to 7:")
        dialog.setInputMode(QInputDialog.InputMode.IntInput)
        dialog.setIntRange(0, 7)
        dialog.intValueSelected.connect(lambda bit: self._experiment.add(Flip(span.start, bit)))
        dialog.open()

    def ask_insert(self) -> None:
        """Ask for bytes to insert before the selected ones."""
        if (span := self.selected()) is None:
            return

        def take(text: str) -> None:
            try:
                data = bytes.fromhex(text.replace("0x", " ").replace(",", " "))
            except ValueError:
                data = b""
            if data:
                self._experiment.add(Insert(span.start, Inline(data)))
            else:
                self._document.reported.emit("Type bytes as pairs of hex digits, such as 50 4B 03 04.")

        dialog = self._dialog("Insert Bytes", f"Bytes in hex to insert at {hexadecimal(span.start)}:")
        dialog.textValueSelected.connect(take)
        dialog.open()

    def ask_insert_file(self) -> None:
        """Ask for a file to insert before the selected bytes."""
        self._with(lambda span: self._ask_file("Insert File", span.start, span.start))

    def ask_replace(self) -> None:
        """Ask for a file to put in the place of the selected bytes."""
        self._with(lambda span: self._ask_file(f"Replace {in_bytes(span.size)} with File", *span))

    def ask_swap(self) -> None:
        """Ask which bytes the selected ones change places with, in the words of Go To."""
        if (span := self.selected()) is None:
            return

        label = f"Let {in_bytes(span.size)} at {hexadecimal(span.start)} change places with those at, as in Go To:"
        dialog = self._dialog("Swap Bytes", label)
        dialog.textValueSelected.connect(lambda text: self._experiment.swap(span, text))
        dialog.open()

    def ask_damage(self) -> None:
        """Ask for a damage by name."""
        dialog = self._dialog("Damage", "Damage it as a disk or a transfer does, at a place chosen at random:")
        dialog.setComboBoxItems([f"{name}: {what}" for name, what in DAMAGES.items()])
        dialog.setComboBoxEditable(False)
        dialog.textValueSelected.connect(lambda text: self._experiment.damage(text.partition(":")[0]))
        dialog.open()

    # ---- files -----------------------------------------------------------------------------------------------------

    def ask_save(self) -> None:
        """Ask for the new file that what the steps leave is written to."""
        path, title = Path(self._document.name), "Save Experiment as New File"

        def write(target: str) -> None:
            # The dialog has asked before it replaces a file.
            self._experiment.save(target, True, partial(self.offer_to_open, target))

        name = f"{path.stem}-experiment{path.suffix}"
        ask_for_new_file(self._parent, title, name, write, self._document.location, (ALL_FILES,))

    def ask_patch(self) -> None:
        """Ask for the file that what differs is written to as a patch."""
        name, write = f"{self._document.name}.patch.json", self._experiment.save_patch
        ask_for_new_file(self._parent, "Save Patch", name, write, self._document.location, (PATCHES,))

    def _dialog(self, title: str, label: str) -> QInputDialog:
        dialog = QInputDialog(self._parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        return dialog

    def _ask_file(self, title: str, start: int, stop: int) -> None:
        ask_for_file(
            self._parent,
            title,
            lambda path: self._experiment.put_file(path, start, stop),
            self._document.location,
            (ALL_FILES,),
        )
