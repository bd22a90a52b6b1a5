"""Extract members: to a folder, by dragging, or into another program."""

from __future__ import annotations

from array import array
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QEventLoop, QMetaType, QMimeData, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from inspector.core.names import visible
from inspector.gui.document.document import Document
from inspector.gui.flows.save import Flow
from inspector.gui.ipc.client import Job
from inspector.gui.kit.files import TempDir
from inspector.gui.kit.table_models import FILES
from inspector.gui.panels.banner import Banner
from inspector.gui.panels.members import MembersPanel
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Chosen, Stage

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.gui.dialogs.extract import ExtractionChoices
    from inspector.operations.protocol.extraction_views import ExportedFiles, ExtractionPlan, ExtractionResult

STILL_READ = "The archive is still being read. Try again when it is done."


class ExtractFlow(Flow):
    """Extracts members to a folder. ``members`` is the panel they are selected in."""

    def __init__(self, document: Document, banner: Banner, members: MembersPanel, parent: QWidget) -> None:
        super().__init__(document, banner, parent)
        self._members = members
        self._folder = ""

    def extract(self) -> None:
        """Ask where to extract the selected members, or all."""
        status = self._document.status
        if status.stage is not Stage.READY or not status.members:
            is_loading = status.stage in (Stage.OPENING, Stage.DECODING)
            self._document.reported.emit(STILL_READ if is_loading else "There is nothing to extract.")
            return
        asked = self._document.client.ask(ArchiveRequests.chosen, self._members.chosen())
        asked.then(self._ask, self._document.reported.emit)

    def _ask(self, selected: array[int]) -> None:
        folder = self._folder or self._default_folder()
        members = tuple(dict.fromkeys(selected))
        total = self._document.status.members
        # A single member may be selected only because the caret is in it.
        is_deliberate = len(members) > 1 or self._members.view.hasFocus()
        from inspector.gui.dialogs.extract import ExtractDialog

        ExtractDialog(self._parent, total, members, is_deliberate, folder, self._plan, self.start).open()

    def _default_folder(self) -> str:
        """The default target: a folder next to the archive with its name."""
        location = self._document.location
        if "://" in location:
            return str(Path.home() / (PurePath(location).stem or "extracted"))
        path = PurePath(location)
        return str(path.with_name(f"{path.name}-extracted" if path.stem == path.name else path.stem))

    def _plan(self, choices: ExtractionChoices) -> Job[ExtractionPlan]:
        return self._document.client.start(ArchiveRequests.plan_extraction, *choices[:4])

    def start(self, choices: ExtractionChoices) -> None:
        """Extract with the options of the dialog."""
        self._folder = choices.folder
        job = self._document.start(ArchiveRequests.extract, *choices).then(self._show_result)
        job.finished.connect(partial(self._report_cancelled, choices.folder))

    def _report_cancelled(self, folder: str, job: Job[ExtractionResult]) -> None:
        if job.cancelled:
            text = f"Extraction was cancelled. Only complete files were written to {visible(folder)}."
            self._document.reported.emit(text)

    def _show_result(self, result: ExtractionResult) -> None:
        from inspector.gui.dialogs.extract import ExtractedDialog, result_message

        if result.whole and not result.warnings:
            self._banner.ask(result.sentence, "Open Folder", lambda: open_folder(result.folder))
        else:
            self._banner.ask(result_message(result), "Details…", lambda: ExtractedDialog(self._parent, result).open())


def open_folder(folder: str) -> None:
    """Show a folder in the file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(folder))


EAGER_MAX_BYTES = 16 << 20
"""The max_bytes bytes extracted when a drag starts; larger members only when the drop target asks for them."""
_POLL_MS = 20
"""The interval of checks whether the files are ready."""


class MemberFiles(QMimeData):
    """Members as files for drag and drop. Small ones are extracted at once, others when the drop target asks."""

    def __init__(self, document: Document, chosen: Chosen, folder: str) -> None:
        super().__init__()
        self._document = document
        self._chosen = chosen
        self._folder = folder
        self._paths: tuple[str, ...] = ()
        self._failed = False
        self._job: Job[ExportedFiles] | None = None
        self._start(EAGER_MAX_BYTES)

    def formats(self) -> list[str]:
        return [FILES]

    def hasFormat(self, mime: str) -> bool:
        return mime == FILES

    def retrieveData(self, mime: str, kind: QMetaType | QMetaType.Type) -> object:  # noqa: ARG002 - Qt converts it
        """Qt override. Waits for the files in a nested event loop, so the window stays responsive."""
        if mime != FILES:
            return None
        self._wait()
        if not self._paths and not self._failed:
            self._start(None)
            self._wait()
        return [QUrl.fromLocalFile(path) for path in self._paths]

    def _start(self, max_bytes: int | None) -> None:
        client = self._document.client
        self._job = client.start(ArchiveRequests.export_members, self._chosen, self._folder, max_bytes).then(
            self._take, self._fail
        )
        self._job.finished.connect(self._job_over)

    def _job_over(self) -> None:
        job, self._job = self._job, None
        self._failed = self._failed or (job is not None and job.cancelled)

    def _take(self, exported: ExportedFiles) -> None:
        self._paths = exported.paths
        if exported.paths and exported.sentence:
            self._document.reported.emit(exported.sentence)

    def _fail(self, sentence: str) -> None:
        self._failed = True
        self._document.reported.emit(sentence)

    def _wait(self) -> None:
        """Run a nested event loop until the job is over or the worker is gone."""
        client = self._document.client
        loop, timer = QEventLoop(), QTimer()

        def look() -> None:
            if self._job is None or not client.outstanding:
                loop.quit()

        timer.timeout.connect(look)
        timer.start(_POLL_MS)
        if self._job is not None:
            loop.exec()


def dragged(document: Document, temp_dir: TempDir, chosen: Chosen) -> QMimeData | None:
    """The chosen members as drag data; None if there are none or no directory could be created."""
    if not chosen:
        return None
    try:
        return MemberFiles(document, chosen, temp_dir.new_path())
    except OSError as error:
        document.reported.emit(f"Temporary files for members cannot be created: {error.strerror}.")
        return None
