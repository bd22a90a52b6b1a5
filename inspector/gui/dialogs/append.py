"""The dialog that adds members to an RCA archive."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from inspector.gui.ipc.client import create_client
from inspector.gui.kit.building import Dialog
from inspector.gui.panels.archive_options import RcaOptionsPage
from inspector.gui.panels.inputs import InputsPanel
from inspector.operations.protocol.create_views import ArchiveKind, Draft

SIZE = (720, 460)


class AppendDialog(Dialog):
    """Lists what will be added to the archive at ``location``; ``then`` gets the accepted Draft.

    ``only_replayed``: the append is not made, but replayed.
    """

    def __init__(
        self,
        parent: QWidget,
        name: str,
        location: str,
        then: Callable[[Draft], object],
        *,
        only_replayed: bool = False,
    ) -> None:
        title = f"Replay an Append to {name}" if only_replayed else f"Add to {name}"
        super().__init__(parent, title, "&Replay" if only_replayed else "&Add")
        self.add = self.answer
        self._location = location
        self._on_accept = then
        self.client = create_client(self)
        self.inputs = InputsPanel(self.client, self.draft)
        self.options = RcaOptionsPage(own=True)
        self.lay_out((self.inputs, 1), self.options)
        self.resize(*SIZE)
        self.inputs.contentsChanged.connect(self._enable)
        self.finished.connect(self._stop_worker)
        self._enable()

    def draft(self) -> Draft:
        """The Draft of the current fields."""
        draft = Draft(ArchiveKind.RCA, self._location, tuple(self.inputs.locations), grows=True)
        return self.options.apply(draft)

    def accept(self) -> None:
        """Accept only contents that have been read."""
        if self.add.isEnabled():
            self._on_accept(self.draft())
            super().accept()

    def _enable(self) -> None:
        contents = self.inputs.contents
        self.add.setEnabled(contents is not None and not contents.obstacle and contents.count > 0)

    def _stop_worker(self) -> None:
        self.inputs.stop()
        self.client.close()
