"""What goes on outside of the window: changes of a file on disk and requests to S3, with the bars that say so."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QSizePolicy

from inspector.core.names import visible
from inspector.core.span import Spans
from inspector.gui.document.document import Document
from inspector.gui.document.editing import Editing
from inspector.gui.kit.building import dressed, in_row
from inspector.gui.kit.style import GRID
from inspector.gui.kit.text import escaped
from inspector.gui.kit.widgets import MessageBar, debounce, push_button, sentence_label
from inspector.operations.protocol.browse_views import ErrorAction, S3Problem
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import DiskChange, Stage
from inspector.sources.web.address import is_remote

if TYPE_CHECKING:  # what opens an archive does not wait for them
    from inspector.operations.protocol.browse_views import RemoteState

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
        self._watcher = QFileSystemWatcher(self)
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
        self._watcher.fileChanged.connect(self._changed)
        self._watcher.directoryChanged.connect(self._changed)
        editing.written.connect(self._written)
        editing.changed.connect(self._show_message)

    # ---- watching ----------------------------------------------------------------------------------------------

    @property
    def _is_watching(self) -> bool:
        return bool(self._watcher.directories())

    def _start(self) -> None:
        """Start watching once the file is read; the first check sees changes made before."""
        status = self._document.status
        is_file = "://" not in self._document.location and not status.collection
        if not self._is_watching and is_file and status.stage in (Stage.READY, Stage.CANCELLED):
            self._check()

    def _changed(self, _: str) -> None:
        # Do not restart the timer: a file that is written to all the time would never be checked.
        if not self._timer.isActive():
            self._timer.start()

    def _recheck(self) -> None:
        """Check again: the rows shown may be of the new file already."""
        if self.change is not None:
            self._check()

    def _check(self) -> None:
        if self._is_writing():
            self._timer.start()
            return
        # Watch the file anew if it was replaced, and its folder, where it may reappear: the document keeps a replaced
        # or deleted file open, so the system would go on watching that one.
        path = Path(self._document.location)
        self._watcher.removePath(str(path))
        self._watcher.addPaths([str(path), str(path.parent)])
        self._document.client.ask(ArchiveRequests.disk_change).then(self._take)

    def _is_writing(self) -> bool:
        """Whether a job of this window is changing the file."""
        return any(job.traits.changes_archive for job in self._document.client.jobs)

    def _written(self, _: object) -> None:
        self._dismissed = None
        if self._is_watching:
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
        if self.change is not None and self._shows_growth(self.change):
            self._show_growth(self.change)
        else:
            self.reopen.emit()

    def _show_growth(self, change: DiskChange) -> None:
        document, after = self._document, change.now or 0

        def select_new_data() -> None:
            document.go_to(0, change.size, min(after, document.size), "growth")

        def read(_: object) -> None:
            document.layersChanged.connect(select_new_data, Qt.ConnectionType.SingleShotConnection)
            self._editing.reset()
            document.refresh_all()
            self._check()

        self._keep()
        document.start(ArchiveRequests.reload).then(read)


# ---- requests to S3 -----------------------------------------------------------------------------------------------

POLL_MS = 500
"""The refresh interval while jobs run or requests are in flight."""


class RequestWatch(QObject):
    """The state of the S3 requests of one document; None while it is unknown, and for local files.

    Signals:
        changed(): the state changed.
        kept(object): the spans of the layer shown that can be read without a request.
    """

    changed = Signal()
    kept = Signal(object)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.state: RemoteState | None = None
        self._asked_before = -1
        self.is_remote = is_remote(document.location)
        if not self.is_remote:
            return
        self._timer = QTimer(self, interval=POLL_MS)
        self._timer.timeout.connect(self.refresh)
        document.client.settled.connect(self._settled)
        document.client.jobsChanged.connect(self._follow_jobs)
        document.layersChanged.connect(self._refresh_cached)
        self._follow_jobs()

    def refresh(self) -> None:
        """Request the state."""
        client = self.document.client
        client.ask(ArchiveRequests.remote).then(self._take)
        self._asked_before = client.asked

    def _settled(self) -> None:
        """All requests are answered; refresh if any of them was not our own, for it may have read from S3."""
        if self.document.client.asked != self._asked_before:
            self.refresh()

    def _follow_jobs(self) -> None:
        if not self.document.client.jobs and (self.state is None or not self.state.in_flight):
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def _take(self, state: RemoteState | None) -> None:
        if state == self.state:
            return
        self.state = state
        self._follow_jobs()
        self.changed.emit()
        self._refresh_cached()

    def _refresh_cached(self) -> None:
        document = self.document
        layer = document.layer

        def take(spans: Spans) -> None:
            if layer == document.layer:
                self.kept.emit(spans)

        if document.layer_info(layer) is not None:
            only_ours = document.client.asked == self._asked_before
            document.client.ask(ArchiveRequests.cached, layer).then(take)
            self._asked_before = document.client.asked if only_ours else self._asked_before


LABELS = {
    ErrorAction.UNSIGNED: (
        "Retry Without &Signing",
        "Retry without credentials; works for public data",
    ),
    ErrorAction.CONNECTION: (
        "Choose &Profile…",
        "Choose a profile, region or endpoint and reopen",
    ),
    ErrorAction.REGION: ("Use Its &Region", "Retry in the region that the server named"),
    ErrorAction.RELOAD: ("&Reload", "Read the new object (F5)"),
    ErrorAction.RETRY: ("Re&try", "Retry (F5)"),
    ErrorAction.BROWSE: ("&Browse", "List the contents"),
}
INDENT_PX = 10 * GRID


class ErrorActions(QFrame):
    """A bar below the banner of a document; hidden while there is no error.

    Signals:
        chosen(object): the user chose this ErrorAction.
        shown(): the bar shows an error.
    """

    chosen = Signal(object)
    shown = Signal()

    def __init__(self, watch: RequestWatch) -> None:
        super().__init__()
        self._watch = watch
        self._problem: S3Problem | None = None
        self.sentence = dressed(sentence_label(), "Why reading from S3 failed")
        self.sentence.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.buttons = {action: push_button(*words, partial(self._choose, action)) for action, words in LABELS.items()}
        in_row((self.sentence, 1), *self.buttons.values(), on=self, edge=(INDENT_PX, GRID, 2 * GRID, GRID))
        self.hide()
        watch.changed.connect(self._refresh)
        watch.document.statusChanged.connect(self._refresh)

    def _choose(self, action: ErrorAction, _: bool = False) -> None:
        self.chosen.emit(action)

    @property
    def region(self) -> str:
        """The region that the server named; empty for none."""
        return self._problem.region if self._problem is not None else ""

    def _refresh(self) -> None:
        state = self._watch.state
        problem = self._problem = state.trouble if state is not None else None
        self.setVisible(problem is not None)
        if problem is None:
            return
        # The banner above shows the error already if the archive could not be opened.
        failed = self._watch.document.status.stage is Stage.FAILED
        self.sentence.setText("This may help:" if failed else problem.sentence)
        for action, button in self.buttons.items():
            button.setVisible(action in problem.actions)
        if problem.region:
            region = escaped(visible(problem.region))
            self.buttons[ErrorAction.REGION].setText(f"Use &Region {region}")
        self.shown.emit()
