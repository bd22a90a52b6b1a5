"""Write files from a document: copies, patches, reports, manifests, uploads; and recover interrupted writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from inspector.core.names import visible
from inspector.gui.document.connections import Connections
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing, PendingUpload
from inspector.gui.ipc.client import Job
from inspector.gui.kit.building import Answer, ask, ask_for_text
from inspector.gui.kit.files import ALL_FILES, ask_for_file, ask_for_new_file
from inspector.gui.panels.banner import Banner
from inspector.operations.protocol.check_views import REPORT_SUFFIXES, ReportKind
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Stage
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.connection import Connection, Consent
from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.operations.protocol.edit_views import Interrupted, NeedsConsent, WayOut, WriteResult

PATCHES = "Patch (*.patch.json)"
LEAVE_NOTE = "Leave It: do nothing. You can inspect the archive but not change it until you decide."
FILTERS = {
    "HTML page (*.html)": (ReportKind.HTML, False),
    "PDF (*.pdf)": (ReportKind.PDF, False),
    "HTML page without names and content (*.html)": (ReportKind.HTML, True),
    "PDF without names and content (*.pdf)": (ReportKind.PDF, True),
    "Text of the findings (*.txt)": (ReportKind.TEXT, False),
    "JSON of the findings (*.json)": (ReportKind.JSON, False),
}
"""The kinds of reports to choose from, and whether each leaves out names and content."""
_SUFFIXES = REPORT_SUFFIXES | {".txt": ReportKind.TEXT, ".json": ReportKind.JSON}


class Flow(QObject):
    """An interaction with one document. ``parent`` owns the dialogs.

    Signals:
        chosen(str): the user chose to open this file, which was written.
    """

    chosen = Signal(str)

    def __init__(self, document: Document, banner: Banner, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._banner = banner
        self._parent = parent
        self.ask_text = partial(ask_for_text, parent)

    def offer_to_open(self, path: str, sentence: str) -> None:
        """Say what was written, with a button that opens it."""
        self._banner.ask(sentence, "Open It", lambda: self.chosen.emit(path))


class SaveFlow(Flow):
    """Writes copies, repaired copies, patches and reports of a document to other files.

    It asks before changes are uploaded to S3, and once what to do about a write that was interrupted.
    """

    notes: Sequence[str] = ()
    """The user's notes, which stand in reports."""

    def __init__(
        self, document: Document, editing: Editing, banner: Banner, connections: Connections, parent: QWidget
    ) -> None:
        super().__init__(document, banner, parent)
        self._connections = connections
        self._editing = editing
        self._looked = False
        editing.confirmationNeeded.connect(self._confirm)
        document.statusChanged.connect(self._look_once)

    def ask_copy(self) -> None:
        """Ask where to save a changed copy."""
        self._ask_target("Save a Changed Copy", self._file_name("changed"), self._editing.save_copy)

    def ask_repaired(self, accepted: tuple[str, ...]) -> None:
        """Ask where to save a repaired copy."""

        def start(path: str, over: bool, s3: Connection) -> Job[WriteResult | NeedsConsent]:
            return self._document.start(ArchiveRequests.make_repairs, accepted, path, Consent.NONE, over, s3)

        self._ask_new_archive("Repair a Copy", "repaired", start)

    def ask_salvage(self, accepted: tuple[str, ...]) -> None:
        """Ask where to save a copy with the intact members."""

        def start(path: str, over: bool, s3: Connection) -> Job[WriteResult]:
            return self._document.start(ArchiveRequests.salvage, accepted, path, over, s3)

        self._ask_new_archive("Salvage", "salvaged", start)

    def _ask_new_archive(self, title: str, suffix: str, start: Callable[[str, bool, Connection], Job[Any]]) -> None:
        def begin(path: str, over: bool, s3: Connection) -> None:
            def written(result: WriteResult) -> None:
                self.offer_to_open(path, " ".join((result.sentence, *result.warnings)))

            start(path, over, s3).then(written)

        self._ask_target(title, self._file_name(suffix), begin)

    def ask_export(self) -> None:
        """Ask where to write the pending changes as a patch."""
        edit = self._editing.pending
        if edit is not None:
            name = f"{self._document.name}.patch.json"
            document = self._document

            def export(path: str) -> None:
                document.start(ArchiveRequests.export_patch, edit, path).then(document.reported.emit)

            ask_for_new_file(self._parent, "Export Patch", name, export, self._document.location, (PATCHES,))

    def ask_import(self) -> None:
        """Ask for a patch, and load its changes as pending."""
        filters = (PATCHES, ALL_FILES)
        ask_for_file(self._parent, "Import Patch", self.import_patch, self._document.location, filters)

    def import_patch(self, path: str) -> None:
        """Replace the pending changes by those of a patch file."""
        self._document.start(ArchiveRequests.import_patch, path).then(self._editing.put)

    def _file_name(self, suffix: str) -> str:
        """The name of the archive with a suffix before its extension, such as ``-repaired``."""
        path = Path(self._document.name)
        return f"{path.stem}-{suffix}{path.suffix}"

    def _ask_target(self, title: str, name: str, then: Callable[[str, bool, Connection], object]) -> None:
        """Ask for a file or an object, and whether to replace an existing one."""
        from inspector.gui.dialogs.save import SaveToDialog

        document = self._document
        is_on_s3 = is_s3(document.location)
        folder = Path.home() if is_remote(document.location) else Path(document.location).parent
        from inspector.gui.panels.s3_connection import S3Target

        s3_target = S3Target(document.client, self._connections, document.connection if is_on_s3 else None)
        dialog = SaveToDialog(self._parent, title, str(folder / name), s3_target)
        dialog.chosen.connect(then)
        dialog.open()

    # ---- reports -----------------------------------------------------------------------------------------------

    def ask_report(self) -> None:
        """Ask where to write a report, and in which format."""

        def take(path: str) -> None:
            self.write_report(path, *_chosen(path, dialog.selectedNameFilter()))

        name, filters = f"{self._document.name}.report.html", tuple(FILTERS)
        dialog = ask_for_new_file(self._parent, "Report", name, take, self._document.location, filters, "html")
        dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(_suffix(name)))

    def write_report(self, path: str, kind: ReportKind, redact: bool = False) -> None:
        """Write a report in the background; ``redact``: without names and content."""

        def done(_: object) -> None:
            self._document.reported.emit(f"The report was written to {visible(path)}.")

        self._document.start(ArchiveRequests.export, path, kind, redact, tuple(self.notes)).then(done)

    # ---- uploads -----------------------------------------------------------------------------------------------

    def _confirm(self, upload: PendingUpload) -> None:
        def show(lines: tuple[str, ...]) -> None:
            from inspector.gui.dialogs.save import SendDialog

            dialog = SendDialog(self._parent, self._document.location, upload, lines)
            dialog.accepted.connect(lambda: upload.start(upload.consents))
            dialog.open()

        if upload.edit is None:
            show(())
        else:
            asked = self._document.client.ask(ArchiveRequests.upload_preview, upload.edit, upload.consents)
            asked.then(show, self._document.reported.emit)

    # ---- a write that was interrupted --------------------------------------------------------------------------

    def _look_once(self) -> None:
        if not self._looked and self._document.status.stage is Stage.READY:
            self._looked = True
            self._document.client.ask(ArchiveRequests.interrupted).then(self._take, self._document.reported.emit)

    def _take(self, found: Interrupted | None) -> None:
        if found is not None:
            self._banner.ask(found.story, "Decide…", lambda: self.ask_recovery(found))

    def ask_recovery(self, found: Interrupted) -> None:
        """Show the choices and what each would do."""
        from inspector.operations.protocol.edit_views import WayOut

        ways = (
            (WayOut.FINISH, "Finish It", found.finish),
            (WayOut.ROLL_BACK, "Roll It Back", found.roll_back),
            (WayOut.FORGET, "Forget It", found.forget),
        )
        offered = [way for way in ways if way[2]]
        more = "\n\n".join((*(f"{label}: {effect}" for _, label, effect in offered), LEAVE_NOTE))
        answers = (Answer(label, partial(self.recover, choice)) for choice, label, _ in offered)
        leave = Answer("Leave It", is_default=True)
        ask(self._parent, "Interrupted Write", found.story, *answers, leave, more=more)

    def recover(self, choice: WayOut) -> None:
        """Finish, roll back or forget the interrupted write."""
        self._document.start(ArchiveRequests.recover, choice).then(self._editing.settle)


def _chosen(path: str, name_filter: str) -> tuple[ReportKind, bool]:
    """The format of a report, by the suffix of its path or else by the filter, which says whether it is redacted."""
    kind, redact = FILTERS.get(name_filter, (ReportKind.HTML, False))
    kind = _SUFFIXES.get(Path(path).suffix.lower(), kind)
    if redact and kind not in REPORT_SUFFIXES.values():
        kind = ReportKind.HTML  # the findings alone are full of names
    return kind, redact


def _suffix(name_filter: str) -> str:
    """The suffix of a filter, without its dot."""
    return name_filter.rpartition("*.")[2].rstrip(")")
