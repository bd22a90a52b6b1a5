"""Report when an open file changes on disk; it is reloaded only when the user asks."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Qt, Signal

from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.kit.widgets import MessageBar, debounce, push_button
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import DiskChange, Stage

DEBOUNCE_MS = 300
"""Changes within this time are handled as one."""
PENDING_NOTE = "The pending changes were made for the old file; Reload keeps them if they apply to the new one."


class DiskWatch(QObject):
    """Watches the file of a document. ``message`` is the bar to show above the document.

    Signals:
        reopen(): the user chose Reload.
        compareWanted(object): compare what was opened with what is on disk now, which this DiskChange describes.
    """

    reopen = Signal()
    compareWanted = Signal(object)

    def __init__(self, document: Document, editing: Editing) -> None:
        super().__init__(document)
        self._document = document
        self._editing = editing
        self.change: DiskChange | None = None
        self._dismissed: DiskChange | None = None
        self._watcher: QFileSystemWatcher | None = None
        self._timer = debounce(self, DEBOUNCE_MS, self._check)
        self.message = MessageBar()
        show = "Compare what was opened with what is on disk now"
        self.compare = push_button("Compare", show, lambda: self.compareWanted.emit(self.change))
        self.keep = push_button("Keep", "Keep what is shown", self._keep)
        self.message.dismiss.clicked.connect(self._keep)
        self.message.acted.connect(self._run_action)
        layout = self.message.layout()
        assert layout is not None
        for button in (self.compare, self.keep, self.message.dismiss):
            layout.addWidget(button)  # which moves the last one behind the others
        document.statusChanged.connect(self._start)
        document.rowsChanged.connect(self._recheck)
        document.lost.connect(self._stop)
        editing.written.connect(self._written)
        editing.changed.connect(self._show_message)

    # ---- watching ----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Start watching once the file is read; the first check sees changes made before."""
        status = self._document.status
        is_file = "://" not in self._document.location and not status.collection
        if self._watcher is None and is_file and status.stage in (Stage.READY, Stage.CANCELLED):
            self._watcher = QFileSystemWatcher(self)
            self._watcher.fileChanged.connect(self._changed)
            self._watcher.directoryChanged.connect(self._changed)
            self._watch()
            self._check()

    def _watch(self) -> None:
        """Watch the file, anew if it was replaced, and its folder, where it may reappear."""
        assert self._watcher is not None
        path = Path(self._document.location)
        # The document keeps a replaced or deleted file open, so the system would go on watching that one.
        self._watcher.removePath(str(path))
        self._watcher.addPaths([str(path), str(path.parent)])

    def _stop(self) -> None:
        self._timer.stop()
        if self._watcher is not None:
            self._watcher.deleteLater()
            self._watcher = None
            self._document.statusChanged.disconnect(self._start)

    def _changed(self, _: str) -> None:
        # Do not restart the timer: a file that is written to all the time would never be checked.
        if not self._timer.isActive():
            self._timer.start()

    def _recheck(self) -> None:
        """Check again: the rows shown may be of the new file already."""
        if self._watcher is not None and self.change is not None:
            self._check()

    def _check(self) -> None:
        if self._watcher is None:
            return
        if self._is_writing():
            self._timer.start()
            return
        self._watch()
        self._document.client.ask(ArchiveRequests.disk_change).then(self._take)

    def _is_writing(self) -> bool:
        """Whether a job of this window is changing the file."""
        return any(job.traits.changes_archive for job in self._document.client.jobs)

    def _written(self, _: object) -> None:
        self._dismissed = None
        self._check()

    # ---- the message ------------------------------------------------------------------------------------------------

    def _take(self, change: DiskChange | None) -> None:
        if self._is_writing():
            self._timer.start()  # the change may be a half-finished write of our own
            return
        self.change = change if change != self._dismissed else None
        self._show_message()

    def _show_message(self) -> None:
        change = self.change
        if change is None:
            self.message.hide()
            return
        pending = f" {PENDING_NOTE}" if self._editing.pending is not None else ""
        action = "Show New Data" if self._shows_growth(change) else "Reload" if change.now is not None else ""
        # Of a file that was written over in place, nobody has the old bytes.
        self.compare.setVisible(change.now is not None and (change.grown or change.replaced))
        self.message.say(f"Changed on disk: {change.sentence}" + pending, action)

    def _shows_growth(self, change: DiskChange) -> bool:
        """Whether data was appended to an archive that grows at its end, so that the new data can be selected."""
        is_plain = self._editing.pending is None and not self._document.in_experiment
        return change.grown and self._document.status.appendable and is_plain

    def _keep(self) -> None:
        self._dismissed, self.change = self.change, None
        self.message.hide()

    def _run_action(self) -> None:
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

        def select_new_data() -> None:
            document.go_to(0, before, min(after, document.size), "growth")

        def read(_: object) -> None:
            document.layersChanged.connect(select_new_data, Qt.ConnectionType.SingleShotConnection)
            self._editing.reset()
            document.refresh_all()
            self._check()

        self._keep()
        document.start(ArchiveRequests.reload).then(read)
