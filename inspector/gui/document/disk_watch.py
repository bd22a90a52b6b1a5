"""A file that changes on disk while it is open: it is said, and read again only when the user wants it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QPushButton

from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.kit.widgets import MessageBar
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import DiskChange, Stage

PAUSE = 300
"""Milliseconds in which several changes are one."""
UNWRITTEN = "The pending changes were made for the old file; Reload keeps them if they fit the new one."


class DiskWatch(QObject):
    """Watches the file of a document. ``message`` is what it says, to be put above the document.

    Signals:
        reopen(): the user wants the file read again.
    """

    reopen = Signal()

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__(document)
        self._document = document
        self._editing = editing
        self.change: DiskChange | None = None
        self._kept: DiskChange | None = None
        self._watcher: QFileSystemWatcher | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PAUSE)
        self._timer.timeout.connect(self._look)
        self.message = MessageBar()
        self.keep = QPushButton("Keep")
        self.keep.setToolTip("Keep what is shown")
        self.keep.clicked.connect(self._keep)
        self.message.dismiss.clicked.connect(self._keep)
        self.message.acted.connect(self._act)
        layout = self.message.layout()
        assert layout is not None
        layout.removeWidget(self.message.dismiss)
        layout.addWidget(self.keep)
        layout.addWidget(self.message.dismiss)
        document.statusChanged.connect(self._begin)
        document.rowsChanged.connect(self._look_again)
        document.lost.connect(self._end)
        editing.written.connect(self._written)
        editing.changed.connect(self._say)

    # ---- watching ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Watch once the file is read: what changes before is seen by the first look."""
        status = self._document.status
        is_file = "://" not in self._document.location and not status.collection
        if self._watcher is None and is_file and status.stage in (Stage.READY, Stage.CANCELLED):
            self._watcher = QFileSystemWatcher(self)
            self._watcher.fileChanged.connect(self._changed)
            self._watcher.directoryChanged.connect(self._changed)
            self._watch()
            self._look()

    def _watch(self) -> None:
        """Watch the file, again where it was replaced, and the folder, where it may come back."""
        assert self._watcher is not None
        path = Path(self._document.location)
        # A file that was replaced, or has gone, is still held open here, so that the system goes on watching that one.
        self._watcher.removePath(str(path))
        self._watcher.addPaths([str(path), str(path.parent)])

    def _end(self) -> None:
        self._timer.stop()
        if self._watcher is not None:
            self._watcher.deleteLater()
            self._watcher = None
            self._document.statusChanged.disconnect(self._begin)

    def _changed(self, _: str) -> None:
        # Not started anew: a file that is always being written to would never be looked at.
        if not self._timer.isActive():
            self._timer.start()

    def _look_again(self) -> None:
        """What is shown may be what is there now."""
        if self._watcher is not None and self.change is not None:
            self._look()

    def _look(self) -> None:
        if self._watcher is None:
            return
        if self._is_writing():
            self._timer.start()
            return
        self._watch()
        self._document.client.ask(ArchiveRequests.disk_change).then(self._take)

    def _is_writing(self) -> bool:
        """Whether this window changes the file itself."""
        return any(job.changes_archive for job in self._document.client.jobs)

    def _written(self, _: object) -> None:
        self._kept = None
        self._look()

    # ---- saying ------------------------------------------------------------------------------------------------

    def _take(self, change: DiskChange | None) -> None:
        if self._is_writing():
            self._timer.start()  # what was seen may be half of what this window writes
            return
        self.change = change if change != self._kept else None
        self._say()

    def _say(self) -> None:
        change = self.change
        if change is None:
            self.message.hide()
            return
        pending = f" {UNWRITTEN}" if self._editing.pending is not None else ""
        action = "Show New Data" if self._shows_growth(change) else "Reload" if change.now is not None else ""
        self.message.say(f"Changed on disk: {change.sentence}" + pending, action)

    def _shows_growth(self, change: DiskChange) -> bool:
        """An RCA archive only ever grows at its end, so what is new can be shown beside what was there."""
        return change.grown and self._document.status.format == "rca" and self._editing.pending is None

    def _keep(self) -> None:
        self._kept, self.change = self.change, None
        self.message.hide()

    def _act(self) -> None:
        change = self.change
        if change is None:
            return
        if self._shows_growth(change):
            self._show_growth(change)
        else:
            self.reopen.emit()

    def _show_growth(self, change: DiskChange) -> None:
        document = self._document
        assert change.now is not None
        before, after = change.size, change.now

        def there() -> None:
            document.go_to(0, before, min(after, document.size), "growth")

        def read(_: object) -> None:
            document.layersChanged.connect(there, Qt.ConnectionType.SingleShotConnection)
            self._editing.start_anew()
            document.decoded_anew()
            self._look()

        self._keep()
        document.start(ArchiveRequests.reload).then(read)
