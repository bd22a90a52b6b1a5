"""Extracting members of one document: asking, starting the work, saying what it came to."""

from __future__ import annotations

from array import array
from pathlib import Path, PurePath

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.gui.dialogs.extract import ExtractDialog, ExtractedDialog, ExtractionChoices
from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Job
from inspector.gui.panels.banner import Banner
from inspector.gui.panels.members import MembersPanel
from inspector.operations.protocol.extraction_views import ExtractionPlan, ExtractionResult
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage


class ExtractFlow(QObject):
    """Extracts on the user's word. ``members`` are where they are selected; ``parent`` has the dialogs."""

    def __init__(self, document: Document, banner: Banner, members: MembersPanel, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._banner = banner
        self._members = members
        self._parent = parent
        self._folder = ""

    def extract(self) -> None:
        """Ask where the selected members, or all of them, are to be extracted."""
        status = self._document.status
        if status.stage is not Stage.READY or not status.members:
            self._document.said.emit(_why_not(status.stage))
            return
        asked = self._document.client.ask(ArchiveRequests.chosen, self._members.chosen())
        asked.then(self._ask, self._document.said.emit)

    def _ask(self, selected: array[int]) -> None:
        folder = self._folder or self._beside()
        members = tuple(dict.fromkeys(selected))
        total = self._document.status.members
        # A single one may be selected only because the caret stands in it.
        are_meant = len(members) > 1 or self._members.has_keyboard
        ExtractDialog(self._parent, total, members, are_meant, folder, self._plan, self.start).open()

    def _beside(self) -> str:
        """A folder beside the archive that has its name."""
        location = self._document.location
        if "://" in location:
            return str(Path.home() / (PurePath(location).stem or "extracted"))
        path = PurePath(location)
        return str(path.with_name(f"{path.name}-extracted" if path.stem == path.name else path.stem))

    def _plan(self, choices: ExtractionChoices) -> Job[ExtractionPlan]:
        arguments = (choices.members, choices.folder, choices.on_conflict, choices.doubtful)
        return self._document.client.start(ArchiveRequests.plan_extraction, *arguments)

    def start(self, choices: ExtractionChoices) -> None:
        """Extract."""
        self._folder = choices.folder
        how = (choices.on_conflict, choices.doubtful, choices.keep_damaged, choices.remove_unfinished)
        job = self._document.start(ArchiveRequests.extract, choices.members, choices.folder, *how).then(self._tell)
        job.finished.connect(lambda: self._say_cancelled(job, choices.folder))

    def _say_cancelled(self, job: Job[ExtractionResult], folder: str) -> None:
        if job.cancelled:
            text = f"Extracting was cancelled. Only files that were complete are in {visible(folder)}, and no others."
            self._document.said.emit(text)

    def _tell(self, result: ExtractionResult) -> None:
        if result.whole and not result.warnings:
            self._banner.ask(result.sentence, "Open Folder", lambda: open_folder(result.folder))
            return
        self._banner.ask(told(result), "Details…", lambda: ExtractedDialog(self._parent, result, told(result)).open())


def told(result: ExtractionResult) -> str:
    """What an extraction came to, in sentences."""
    groups = (
        ("{members} refused", result.refused.count),
        ("{members} damaged", result.damaged.count),
        ("{members} that nothing proves", result.unproved.count),
        ("{members} left out, that need confirmation", result.doubtful.count),
        ("{members} whose name was taken", result.conflicts.count),
    )
    parts = [words.format(members=count(number, "member")) for words, number in groups if number]
    return (
        " ".join((result.sentence, f"{', '.join(parts)}." if parts else "", result.stopped)).replace("  ", " ").strip()
    )


def open_folder(folder: str) -> None:
    """Show a folder in the file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(folder))


def _why_not(stage: Stage) -> str:
    early = stage in (Stage.OPENING, Stage.DECODING)
    return "The archive is still being read. Extract when it is done." if early else "Nothing to extract."
