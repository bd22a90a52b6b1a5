"""What an experiment and a replay ask for: the changes of selected bytes, what is appended, and new files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.gui.document.document import Document
from inspector.gui.document.trials import Experimenting, Replaying
from inspector.gui.flows.hex_overlays import ONLY_FILE
from inspector.gui.flows.save import PATCHES, Flow
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
    Operation,
    Replace,
)
from inspector.operations.protocol.views import LayerKind

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.operations.protocol.create_views import Draft

UNASKED: dict[str, Callable[[Span, int], Operation]] = {
    "zero": lambda span, _: Replace(*span, Fill(b"\0", span.size)),
    "randomize": lambda span, seed: Replace(*span, Noise(seed, span.size)),
    "delete": lambda span, _: Delete(*span),
    "duplicate": lambda span, _: Duplicate(*span),
    "cut": lambda span, _: Cut(span.start),
}
"""The changes of bytes without a question; the number of steps is the seed, so that each is another."""


class TrialFlow(Flow):
    """Asks what an experiment and a replay need."""

    def __init__(
        self,
        document: Document,
        experiment: Experimenting,
        replaying: Replaying,
        pane: HexPane,
        banner: Banner,
        parent: QWidget,
    ) -> None:
        super().__init__(document, banner, parent)
        self._experiment = experiment
        self._replaying = replaying
        self._pane = pane

    # ---- changes ---------------------------------------------------------------------------------------------------

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

    def change(self, name: str) -> None:
        """Make a change of the selected bytes that asks for nothing."""
        if (span := self.selected()) is not None:
            self._experiment.add(UNASKED[name](span, len(self._experiment.steps)))

    def ask_flip(self) -> None:
        """Ask which bit of the byte at the caret to flip."""
        if (span := self.selected()) is not None:
            label = f"Bit of the byte at {hexadecimal(span.start)}, from 0, the lowest, to 7:"
            bits = [str(bit) for bit in range(8)]
            self.ask_text("Flip Bit", label, lambda text: self._experiment.add(Flip(span.start, int(text))), bits)

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

        self.ask_text("Insert Bytes", f"Bytes in hex to insert at {hexadecimal(span.start)}:", take)

    def ask_file(self, *, instead: bool) -> None:
        """Ask for a file to insert before the selected bytes, or to put in their place (``instead``)."""
        if (span := self.selected()) is not None:
            title = f"Replace {in_bytes(span.size)} with File" if instead else "Insert File"
            stop = span.stop if instead else span.start
            take = partial(self._experiment.put_file, start=span.start, stop=stop)
            ask_for_file(self._parent, title, take, self._document.location, (ALL_FILES,))

    def ask_swap(self) -> None:
        """Ask which bytes the selected ones change places with, in the words of Go To."""
        if (span := self.selected()) is not None:
            label = f"Let {in_bytes(span.size)} at {hexadecimal(span.start)} change places with those at, as in Go To:"
            self.ask_text("Swap Bytes", label, lambda text: self._experiment.swap(span, text))

    def ask_damage(self) -> None:
        """Ask for a damage by name."""
        self.ask_text(
            "Damage",
            "Damage it as a disk or a transfer does, at a place chosen at random:",
            lambda text: self._experiment.damage(text.partition(":")[0]),
            [f"{name}: {what}" for name, what in DAMAGES.items()],
        )

    def ask_append(self) -> None:
        """Ask what is appended, and replay that."""
        from inspector.gui.dialogs.inputs import AppendDialog
        from inspector.operations.protocol.replay_views import AppendWrites

        def replay(draft: Draft) -> None:
            self._replaying.begin(AppendWrites(draft.locations, draft.level, draft.convention))

        document = self._document
        AppendDialog(self._parent, document.name, document.location, replay, only_replayed=True).open()

    # ---- files -----------------------------------------------------------------------------------------------------

    def ask_save(self) -> None:
        """Ask for the new file that the archive is written to as it is shown."""
        path, replays = Path(self._document.name), self._replaying.is_on
        save = self._replaying.save if replays else self._experiment.save
        title = f"Save {'State' if replays else 'Experiment'} as New File"
        name = f"{path.stem}-{f'after-{self._replaying.point}' if replays else 'experiment'}{path.suffix}"

        def write(target: str) -> None:
            # The dialog has asked before it replaces a file.
            save(target, partial(self.offer_to_open, target))

        ask_for_new_file(self._parent, title, name, write, self._document.location, (ALL_FILES,))

    def ask_patch(self) -> None:
        """Ask for the file that what differs is written to as a patch."""
        name, write = f"{self._document.name}.patch.json", self._experiment.save_patch
        ask_for_new_file(self._parent, "Save Patch", name, write, self._document.location, (PATCHES,))
