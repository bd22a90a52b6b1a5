"""Members handed to other programs: dragged out of the window, or opened with another program."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QMetaType, QMimeData, QObject, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox, QWidget

from inspector.gui.document.document import Document
from inspector.gui.ipc.client import Job
from inspector.gui.ipc.temp_dir import TempDir
from inspector.gui.kit.table_models import FILES
from inspector.operations.protocol.extraction_views import ExportedFiles
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import Chosen

AT_ONCE = 16 << 20
"""Bytes of members that are extracted when a drag begins; more only when the target asks for them."""
_LOOK = 20
"""Milliseconds between two looks at whether the files are there."""


class MemberFiles(QMimeData):
    """Members as files, as another program is offered them. Small ones are extracted at once, others when asked for."""

    def __init__(self, document: Document, chosen: Chosen, folder: str) -> None:
        super().__init__()
        self._document = document
        self._chosen = chosen
        self._folder = folder
        self._paths: tuple[str, ...] = ()
        self._failed = False
        self._job: Job[ExportedFiles] | None = None
        self._start(AT_ONCE)

    def formats(self) -> list[str]:
        return [FILES]

    def hasFormat(self, mime: str) -> bool:
        return mime == FILES

    def retrieveData(self, mime: str, kind: QMetaType | QMetaType.Type) -> object:  # noqa: ARG002 - Qt converts it
        """See QMimeData. Waits until the files are there; the window goes on meanwhile."""
        if mime != FILES:
            return None
        self._wait()
        if not self._paths and not self._failed:
            self._start(None)
            self._wait()
        return [QUrl.fromLocalFile(path) for path in self._paths]

    def _start(self, most: int | None) -> None:
        client = self._document.client
        self._job = client.start(ArchiveRequests.export_members, self._chosen, self._folder, most).then(
            self._take, self._fail
        )
        self._job.finished.connect(self._over)

    def _over(self) -> None:
        job, self._job = self._job, None
        self._failed = self._failed or (job is not None and job.cancelled)

    def _take(self, lent: ExportedFiles) -> None:
        self._paths = lent.paths
        if lent.paths and lent.sentence:
            self._document.said.emit(lent.sentence)

    def _fail(self, sentence: str) -> None:
        self._failed = True
        self._document.said.emit(sentence)

    def _wait(self) -> None:
        """Let the window go on until the job is over, or nobody answers any more."""
        client = self._document.client
        loop, timer = QEventLoop(), QTimer()

        def look() -> None:
            if self._job is None or not client.outstanding:
                loop.quit()

        timer.timeout.connect(look)
        timer.start(_LOOK)
        if self._job is not None:
            loop.exec()


class TempFiles(QObject):
    """Hands members of one document out, in files in a ``shelter``. ``parent`` is what its box belongs to."""

    def __init__(self, document: Document, shelter: TempDir, parent: QWidget) -> None:
        super().__init__(parent)
        self._document = document
        self._shelter = shelter
        self._parent = parent
        self.open_file: Callable[[QUrl], object] = QDesktopServices.openUrl

    def files(self, chosen: Chosen) -> QMimeData | None:
        """What is chosen, to be dragged elsewhere; None where there is nothing, or no room for it."""
        if not chosen:
            return None
        room = self._room()
        return MemberFiles(self._document, chosen, room) if room else None

    def _room(self) -> str:
        try:
            return self._shelter.room()
        except OSError as error:
            self._document.said.emit(f"Temporary files for members cannot be created: {error.strerror}.")
            return ""

    def open_elsewhere(self) -> None:
        """Open the selected member with another program, once the user agrees."""
        member = self._document.selection.member
        if member is not None:
            self._document.client.ask(ArchiveRequests.member, member).then(lambda row: self._ask(member, row.name))

    def _ask(self, member: int, name: str) -> None:
        box = QMessageBox(self._parent)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Open With Another Program")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"Open a copy of {name} with the system's program for it?")
        box.setInformativeText(
            "That program will read content that may be malicious. Changes to the copy are not kept."
        )
        agree = box.addButton("Open a Copy", QMessageBox.ButtonRole.AcceptRole)
        here = box.addButton("Show It Here", QMessageBox.ButtonRole.ActionRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(here)
        agree.clicked.connect(lambda: self._lend_one(member))
        here.clicked.connect(lambda: self._document.open_content(member))
        box.open()

    def _lend_one(self, member: int) -> None:
        if room := self._room():
            self._document.start(ArchiveRequests.export_member, member, room).then(self._open)

    def _open(self, lent: ExportedFiles) -> None:
        if not self.open_file(QUrl.fromLocalFile(lent.paths[0])):
            self._document.said.emit("The system has no program for this file type.")
