"""What a replay asks for: what is appended, and the new file that a state is saved as."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from inspector.gui.document.document import Document
from inspector.gui.document.replaying import Replaying
from inspector.gui.flows.flow import Flow
from inspector.gui.kit.files import ALL_FILES, ask_for_new_file
from inspector.gui.panels.banner import Banner

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.gui.panels.changing.replay import ReplayPanel
    from inspector.operations.protocol.create_views import Draft


class ReplayFlow(Flow):
    """Asks what a replay needs."""

    def __init__(self, document: Document, replaying: Replaying, banner: Banner, parent: QWidget) -> None:
        super().__init__(document, banner, parent)
        self._replaying = replaying

    def serve(self, panel: ReplayPanel) -> None:
        """Do what the panel asks for."""
        panel.appendRequested.connect(self.ask_append)
        panel.saveRequested.connect(self.ask_save)

    def ask_append(self) -> None:
        """Ask what is appended, and replay that."""
        from inspector.gui.dialogs.append import AppendDialog

        dialog = AppendDialog(
            self._parent, self._document.name, self._document.location, self._append, only_replayed=True
        )
        dialog.open()

    def _append(self, draft: Draft) -> None:
        from inspector.operations.protocol.replay_views import AppendWrites

        self._replaying.begin(AppendWrites(draft.locations, draft.level, draft.convention))

    def ask_save(self) -> None:
        """Ask for the new file that the state shown is written to."""
        path = Path(self._document.name)
        name = f"{path.stem}-after-{self._replaying.point}{path.suffix}"

        def write(target: str) -> None:
            # The dialog has asked before it replaces a file.
            self._replaying.save(target, partial(self.offer_to_open, target))

        ask_for_new_file(self._parent, "Save State as New File", name, write, self._document.location, (ALL_FILES,))
