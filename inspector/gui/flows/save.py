"""Asking where changed, repaired and saved archives and patches are to be written, and starting the work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from inspector.core.edit import Edit
from inspector.gui.document.connections import Connections
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.kit.file_dialogs import begin_beside
from inspector.gui.panels.banner import Banner
from inspector.gui.panels.s3_connection import S3Target
from inspector.operations.protocol.edit_views import WriteResult
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import Connection

PATCHES = "Patch (*.patch.json)"
ALL_FILES = "All files (*)"


class SaveFlow(QObject):
    """Writes what was made of a document to other files. ``parent`` is what the dialogs belong to.

    Signals:
        chosen(str): an archive that was written is to be opened.
    """

    chosen = Signal(str)

    def __init__(
        self, document: Document, editing: Editing, banner: Banner, connections: Connections, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._connections = connections
        self._banner = banner
        self._document = document
        self._editing = editing
        self._parent = parent

    def ask_copy(self) -> None:
        """Ask where the changed archive is to be saved."""
        self._ask_place("Save a Changed Copy", self._beside("changed"), self._editing.save_copy)

    def ask_repaired(self, accepted: tuple[str, ...]) -> None:
        """Ask where a repaired copy is to be written."""

        def start(path: str, over: bool, connection: Connection) -> None:
            job = self._document.start(ArchiveRequests.make_repairs, accepted, path, False, over, connection)
            job.then(partial(self._written, path))

        self._ask_place("Repair a Copy", self._beside("repaired"), start)

    def ask_salvage(self, accepted: tuple[str, ...]) -> None:
        """Ask where what is whole is to be saved."""

        def start(path: str, over: bool, connection: Connection) -> None:
            job = self._document.start(ArchiveRequests.salvage, accepted, path, over, connection)
            job.then(partial(self._written, path))

        self._ask_place("Salvage", self._beside("salvaged"), start)

    def ask_export(self) -> None:
        """Ask where the pending changes are to be written as a patch."""
        edit = self._editing.pending
        if edit is not None:
            name = f"{self._document.name}.patch.json"
            self._ask("Export Patch", name, partial(self._export, edit), PATCHES)

    def _export(self, edit: Edit, path: str) -> None:
        self._document.start(ArchiveRequests.export_patch, edit, path).then(self._document.said.emit)

    def ask_import(self) -> None:
        """Ask for a patch, and make its changes pending."""
        dialog = QFileDialog(self._parent, "Import Patch")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setNameFilters([PATCHES, ALL_FILES])
        begin_beside(dialog, self._document.location)
        dialog.fileSelected.connect(self.import_patch)
        dialog.open()

    def import_patch(self, path: str) -> None:
        """Make the changes of a patch file pending, in the place of what is."""

        def take(edit: Edit) -> None:
            self._editing.put(edit)

        self._document.start(ArchiveRequests.import_patch, path).then(take)

    def _beside(self, word: str) -> str:
        """A name for a file beside the archive that says what it is."""
        path = Path(self._document.name)
        return f"{path.stem}-{word}{path.suffix}"

    def _ask_place(self, title: str, name: str, then: Callable[[str, bool, Connection], object]) -> None:
        """Ask for a file or an object, and whether what is there is replaced."""
        from inspector.gui.dialogs.save_to import SaveToDialog

        document = self._document
        is_far = is_s3(document.location)
        folder = Path.home() if is_far else Path(document.location).parent
        reach = S3Target(document.client, self._connections, document.connection if is_far else None)
        dialog = SaveToDialog(self._parent, title, str(folder / name), reach)
        dialog.chosen.connect(then)
        dialog.open()

    def _ask(self, title: str, name: str, then: Callable[[str], object], filters: str = ALL_FILES) -> None:
        dialog = QFileDialog(self._parent, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(filters)
        begin_beside(dialog, self._document.location)
        dialog.selectFile(name)
        dialog.fileSelected.connect(then)
        dialog.open()

    def _written(self, path: str, result: WriteResult) -> None:
        """Say what became of an archive that was written to a path, with a button that opens it."""
        said = " ".join((result.sentence, *result.warnings))
        self._banner.ask(said, "Open It", lambda: self.chosen.emit(path))
