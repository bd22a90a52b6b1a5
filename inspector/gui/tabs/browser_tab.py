"""The tab that browses S3: lists buckets and prefixes; opens, checks, extracts and downloads from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import monotonic

from PySide6.QtCore import QModelIndex, Signal, SignalInstance
from PySide6.QtWidgets import QAbstractItemView

from inspector.core.numbers import plural
from inspector.core.program.progress import Eta
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.gui.document.connections import Connections
from inspector.gui.ipc.client import Client, Job, browse_client
from inspector.gui.kit.building import LINE, dressed, in_column, in_row, progress_bar
from inspector.gui.kit.dropping import PathField
from inspector.gui.kit.files import ask_for_folder
from inspector.gui.kit.style import GRID
from inspector.gui.kit.widgets import Emptiable, MessageBar, SelectableLabel, push_button, tree_view
from inspector.gui.panels.s3_connection import ConnectDialog, connection_text
from inspector.gui.panels.status_line import show_progress
from inspector.gui.tabs.browser_model import BUCKETS, CHANGED, NAME, SIZE, BrowserModel
from inspector.gui.tabs.side_tab import SideTab
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage
from inspector.operations.protocol.requests import BrowseRequests
from inspector.operations.protocol.views import JobState
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.connection import Connection

WIDTHS = {NAME: 520, SIZE: 110, CHANGED: 170}
CANCELLED = "The listing was cancelled."
WORKER_STOPPED = "The listing failed: the worker has stopped."
HINT = (
    "Type a bucket or a prefix above and press List. Buckets are listed only on request, since many "
    "credentials may not list them."
)


class BrowserTab(SideTab):
    """Browses S3; a non-empty ``location`` is listed at once.

    Signals:
        openRequested(str, object): open this location with this Connection.
        extractRequested(str, object): extract the members of the archive at this location.
        checkRequested(list, object): check the archives at these locations.
    """

    openRequested = Signal(str, object)
    extractRequested = Signal(str, object)
    checkRequested = Signal(list, object)

    def __init__(self, connections: Connections, location: str, connection: Connection) -> None:
        super().__init__("Browse S3")
        self._connections = connections
        self.connection = connection
        self.message = MessageBar()
        self._client = self._new_client()
        self._job: Job[str] | None = None
        self._eta = Eta(0.0)
        self._request_count = ""
        self.model = BrowserModel(self._list, self)
        self.tree = tree_view(self.model, WIDTHS, "Buckets, prefixes and objects")
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.tree.setExpandsOnDoubleClick(False)  # activating a row does it, also by keyboard
        self.address = dressed(PathField(), "Bucket or prefix", placeholderText="s3://bucket/prefix/")
        self.list_ = push_button("&List", "List this address", self.list_location)
        self.buckets = push_button("List &Buckets", "List all buckets of these credentials", self.list_buckets)
        self.connect_ = push_button("Connectio&n…", "Choose profile, region and endpoint", self._ask_connection)
        tip = "Open the object, or the dataset below the prefix (Return)"
        self.open_ = push_button("&Open", tip, partial(self._request, self.openRequested))
        self.check = push_button("Chec&k", "Check the selection and everything below it", self._check)
        tip = "Extract the members of this archive to a folder"
        self.extract = push_button("E&xtract…", tip, partial(self._request, self.extractRequested))
        tip = "Copy the selection and everything below it to a folder"
        self.download = push_button("&Download…", tip, lambda: ask_for_folder(self, "Download To", self._download_to))
        self.sentence = dressed(SelectableLabel(), "Progress")
        self.bar = progress_bar("Bytes downloaded")
        self.stop = push_button("Cancel", "Stop; complete files stay (Esc)", self.cancel)
        self.stack = Emptiable(self.tree)
        self.stack.show_sentence(HINT)
        head = in_row((self.address, 1), self.list_, self.buckets, self.connect_)
        actions = in_row(self.open_, self.check, self.extract, self.download, 1)
        foot = in_row((self.sentence, 1), self.bar, self.stop)
        in_column(head, actions, self.message, (self.stack, 1), foot, on=self, edge=LINE, gap=2 * GRID)
        self.address.returnPressed.connect(self.list_location)
        self.model.listed.connect(self._listed)
        self.model.refused.connect(self.message.say)
        self.model.rowsInserted.connect(self._span_notes)
        self.tree.activated.connect(self._activate)
        self.tree.selectionModel().selectionChanged.connect(self._enable)
        self._update_progress()
        self._enable()
        self.address.setText(location)
        self.address.selectAll()  # typing another address replaces it
        self.setFocusProxy(self.address)
        if location:
            self.list_location()

    def _new_client(self) -> Client[BrowseRequests]:
        client = browse_client(self)
        client.lost.connect(self.message.say)
        client.jobsChanged.connect(self._update_progress)
        return client

    def _open_client(self) -> Client[BrowseRequests]:
        """The client, or a new one if the process of the last has ended."""
        if not self._client.is_open:
            self._client = self._new_client()
        return self._client

    @property
    def settled(self) -> bool:
        return not self._client.outstanding

    def cancel(self) -> None:
        for job in self._client.jobs:
            job.cancel()

    def end(self) -> None:
        self._client.close()

    # ---- listing -----------------------------------------------------------------------------------------------

    def list_location(self) -> None:
        """List the entered bucket or prefix."""
        text = strip_credentials(self.address.text().strip())
        if text and "://" not in text:
            text = f"s3://{text}"
        try:
            bucket, key = parse(text)
        except SourceError as error:
            self.message.say(str(error))
            return
        location = Address(bucket, Address(bucket, key).prefix).location
        self.address.setText(location)
        self._start_listing(location)

    def list_buckets(self) -> None:
        """List all buckets."""
        self._start_listing(BUCKETS)

    def _start_listing(self, location: str) -> None:
        self.message.hide()
        self.stack.show_view(self.tree)
        self.model.begin(location)
        self._enable()

    def _list(
        self, location: str, after: str, done: Callable[[RemotePage], None], failed: Callable[[str], None]
    ) -> None:
        client = self._open_client()
        if location == BUCKETS:
            job = client.start(BrowseRequests.buckets, self.connection)
        else:
            job = client.start(BrowseRequests.page, self.connection, location, after)
        job.then(done, failed)

        def job_finished(job: Job[RemotePage]) -> None:
            if job.cancelled or not client.is_open:
                failed(CANCELLED if job.cancelled else WORKER_STOPPED)

        job.finished.connect(job_finished)

    def _listed(self, page: RemotePage) -> None:
        self._request_count = plural(
            "{number} request for listings.", "{number} requests for listings.", page.totals.requests
        )
        self._update_progress()
        if not self.tree.currentIndex().isValid():
            self.tree.setCurrentIndex(self.model.index(0, 0))

    def _span_notes(self, parent: QModelIndex, first: int, last: int) -> None:
        """Let notes span all columns."""
        for row in range(first, last + 1):
            if self.model.entry(self.model.index(row, 0, parent)) is None:
                self.tree.setFirstColumnSpanned(row, parent, True)

    def _ask_connection(self) -> None:
        client, location = self._open_client(), self.address.text().strip()
        dialog = ConnectDialog(self, client, self._connections, self.connection, location)
        dialog.chosen.connect(self.use)
        dialog.open()

    def use(self, connection: Connection) -> None:
        """Use another connection from now on, and list the location again."""
        self.connection = connection
        self._connections.remember(self.address.text(), connection)
        if self.address.text().strip() not in ("", "s3://"):
            self.list_location()

    # ---- selection ---------------------------------------------------------------------------------------------

    def selected(self) -> list[RemoteEntry]:
        """The selected entries."""
        rows = self.tree.selectionModel().selectedRows()
        return [entry for index in rows if (entry := self.model.entry(index)) is not None]

    def _enable(self, *_: object) -> None:
        chosen = self.selected()
        kinds = {entry.kind for entry in chosen}
        for button in (self.open_, self.extract):
            button.setEnabled(len(chosen) == 1 and EntryKind.BUCKET not in kinds)
        self.check.setEnabled(bool(chosen))
        self.download.setEnabled(bool(chosen) and EntryKind.BUCKET not in kinds and self._job is None)

    def _activate(self, index: QModelIndex) -> None:
        entry = self.model.entry(index)
        if entry is None:
            self.model.list_more(index)
        elif entry.kind is EntryKind.OBJECT:
            self.openRequested.emit(entry.location, self.connection)
        else:
            first = index.siblingAtColumn(0)
            self.tree.setExpanded(first, not self.tree.isExpanded(first))

    def _request(self, what: SignalInstance, _: bool = False) -> None:
        for entry in self.selected():
            what.emit(entry.location, self.connection)

    def _check(self) -> None:
        self.checkRequested.emit([entry.location for entry in self.selected()], self.connection)

    # ---- download ----------------------------------------------------------------------------------------------

    def _download_to(self, folders: list[str]) -> None:
        locations = tuple(entry.location for entry in self.selected())
        self._eta = Eta(monotonic())
        job = self._open_client().start(BrowseRequests.download, self.connection, locations, folders[0])
        self._job = job.then(lambda sentence: self.message.say(f"Downloaded: {sentence}"), self.message.say)
        self._job.progressed.connect(self._progressed)
        self._job.finished.connect(self._job_finished)
        self.message.hide()
        self._update_progress()
        self._enable()

    def _progressed(self, state: JobState) -> None:
        self.sentence.setText(self._eta.text(state, monotonic()))
        show_progress(self.bar, state)

    def _job_finished(self) -> None:
        if self._job is not None and self._job.cancelled:
            self.message.say("The download was cancelled; complete files stay.")
        self._job = None
        self._update_progress()
        self._enable()

    def _update_progress(self) -> None:
        busy = self._job is not None
        self.bar.setVisible(busy)
        self.stop.setVisible(bool(self._client.jobs))
        idle = f"S3 is accessed {connection_text(self.connection)}. {self._request_count}".strip()
        self.sentence.setText("Downloading…" if busy else idle)
