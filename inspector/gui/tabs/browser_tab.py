"""The tab that browses S3: lists buckets and prefixes; opens, checks and extracts from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, plural, rounded
from inspector.core.program.redaction import strip_credentials
from inspector.core.source import SourceError
from inspector.gui.document.connections import Connections
from inspector.gui.ipc.client import Client, Job, browse_client
from inspector.gui.kit.building import LINE, dressed, in_column, in_row
from inspector.gui.kit.files import PathField
from inspector.gui.kit.icons import icon, icon_of
from inspector.gui.kit.style import GRID
from inspector.gui.kit.table_models import RIGHT
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.widgets import Emptiable, push_button, tree_view
from inspector.gui.panels.s3_connection import ConnectDialog, connection_text
from inspector.gui.tabs.job_tab import JobTab
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage
from inspector.operations.protocol.requests import BrowseRequests
from inspector.sources.s3.address import Address, parse
from inspector.sources.s3.connection import Connection

TITLES = ("Name", "Size", "Last changed (UTC)")
NAME, SIZE, CHANGED = range(len(TITLES))
BUCKETS = ""
"""The location that means all buckets."""
_ENTRY = Qt.ItemDataRole.UserRole
"""The RemoteEntry of a row. A last row may have none: it says why the listing is empty or incomplete."""
_AFTER = _ENTRY + 1
"""The token of the page that such a row stands for, empty for the first one; None if it stands for none."""


RequestPage = Callable[[str, str, Callable[[RemotePage], None], Callable[[str], None]], object]
"""Requests a page: location, page token, callback for the page, callback for an error sentence."""
WIDTHS = {NAME: 520, SIZE: 110, CHANGED: 170}
CANCELLED = "The listing was cancelled."
WORKER_STOPPED = "The listing failed: the worker has stopped."
HINT = (
    "Type a bucket or a prefix above and press List. Buckets are listed only on request, since many "
    "credentials may not list them."
)


class BrowserModel(QStandardItemModel):
    """The tree. ``begin`` sets its root; below a prefix stands a row for its first page until that is listed.

    Each page costs a request, so each further one has a row too.

    Signals:
        listed(object): a RemotePage has arrived.
        refused(str): a page could not be listed; the reason.
    """

    listed = Signal(object)
    refused = Signal(str)

    def __init__(self, ask: RequestPage, parent: QObject | None = None) -> None:
        super().__init__(0, len(TITLES), parent)
        self.setHorizontalHeaderLabels(TITLES)
        self._request_page = ask
        self._generation = 0
        self._start = BUCKETS

    def begin(self, location: str) -> None:
        """List a bucket, a prefix or BUCKETS from scratch."""
        self._generation += 1
        self._start = location
        self.removeRows(0, self.rowCount())
        self._ask(self.invisibleRootItem(), "")

    def entry(self, index: QModelIndex) -> RemoteEntry | None:
        """The entry of a row, None for notes and the root."""
        found: RemoteEntry | None = index.siblingAtColumn(NAME).data(_ENTRY)
        return found

    def list_more(self, index: QModelIndex) -> None:
        """List the page that the row stands for, if it does."""
        after = index.siblingAtColumn(NAME).data(_AFTER)
        if after is not None:
            self._ask(self.itemFromIndex(index.parent()) or self.invisibleRootItem(), after)

    def list_first(self, index: QModelIndex) -> None:
        """List the first page below a prefix, unless it is there."""
        self.list_more(self.index(0, NAME, index))

    def _ask(self, above: QStandardItem, after: str) -> None:
        generation, entry = self._generation, above.data(_ENTRY)
        _set_note(above, "Listing…")

        def take(page: RemotePage) -> None:
            if generation == self._generation:
                self._take(above, page)

        def fail(sentence: str) -> None:
            if generation == self._generation:
                _set_note(above, f"{sentence} (Activate this row to retry.)", after).setIcon(icon_of(Severity.ERROR))
                self.refused.emit(sentence)

        self._request_page(self._start if entry is None else entry.location, after, take, fail)

    def _take(self, above: QStandardItem, page: RemotePage) -> None:
        above.removeRow(above.rowCount() - 1)
        for entry in page.entries:
            above.appendRow(_row(entry))
        if page.following:
            text = plural(
                "{number} entry listed. Activate this row to list more.",
                "{number} entries listed. Activate this row to list more.",
                above.rowCount(),
            )
            _set_note(above, text, page.following)
        elif not above.rowCount():
            _set_note(above, "Nothing here.")
        self.listed.emit(page)


def _set_note(above: QStandardItem, text: str, after: str | None = None) -> QStandardItem:
    """Set the last row below an item to a note; see ``_AFTER``."""
    last = above.child(above.rowCount() - 1)
    if last is not None and last.data(_ENTRY) is None:
        above.removeRow(last.row())
    note = _item(short(text), text)
    note.setData(after, _AFTER)
    above.appendRow(note)
    return note


def _row(entry: RemoteEntry) -> list[QStandardItem]:
    is_object = entry.kind is EntryKind.OBJECT
    changed = f"{datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M:%S}" if entry.modified else ""
    name = _item(short(entry.name), visible(entry.location))
    name.setIcon(icon("file" if is_object else "folder"))
    name.setData(entry, _ENTRY)
    if not is_object:
        _set_note(name, "Listing…", "")
    size = _item(rounded(entry.size), in_bytes(entry.size)) if is_object else _item("", "")
    size.setTextAlignment(RIGHT)
    return [name, size, _item(changed, changed)]


def _item(text: str, tip: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setToolTip(plain(short(tip)))
    return item


# ---- the tab ---------------------------------------------------------------------------------------------------------


class BrowserTab(JobTab[BrowseRequests]):
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
        super().__init__("Browse S3", browse_client, "Stop listing")
        self._connections = connections
        self.connection = connection
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
        self.stack = Emptiable(self.tree)
        self.stack.show_sentence(HINT)
        head = in_row((self.address, 1), self.list_, self.buckets, self.connect_)
        actions = in_row(self.open_, self.check, self.extract, 1)
        foot = in_row((self.sentence, 1), self.stop)
        in_column(head, actions, self.message, (self.stack, 1), foot, on=self, edge=LINE, gap=2 * GRID)
        self.address.returnPressed.connect(self.list_location)
        self.model.listed.connect(self._listed)
        self.model.refused.connect(self.message.say)
        self.model.rowsInserted.connect(self._span_notes)
        self.tree.activated.connect(self._activate)
        self.tree.expanded.connect(self.model.list_first)
        self.tree.selectionModel().selectionChanged.connect(self._enable)
        self._refresh()
        self._enable()
        self.address.setText(location)
        self.address.selectAll()  # typing another address replaces it
        self.setFocusProxy(self.address)
        if location:
            self.list_location()

    def _new_client(self) -> Client[BrowseRequests]:
        client = super()._new_client()
        client.jobsChanged.connect(self._refresh)
        return client

    def cancel(self) -> None:
        for job in self.client.jobs:
            job.cancel()

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
        client = self.open_client()
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
        self._refresh()
        if not self.tree.currentIndex().isValid():
            self.tree.setCurrentIndex(self.model.index(0, 0))

    def _span_notes(self, parent: QModelIndex, first: int, last: int) -> None:
        """Let notes span all columns."""
        for row in range(first, last + 1):
            if self.model.entry(self.model.index(row, 0, parent)) is None:
                self.tree.setFirstColumnSpanned(row, parent, True)

    def _ask_connection(self) -> None:
        client, location = self.open_client(), self.address.text().strip()
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

    def _refresh(self, *_: object) -> None:
        self.stop.setVisible(bool(self.client.jobs))
        words = f"S3 is accessed {connection_text(self.connection)}. {self._request_count}"
        self.sentence.setText(words.strip())
