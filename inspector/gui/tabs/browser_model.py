"""Buckets, prefixes and objects as a tree; each page is listed only on request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QStandardItem, QStandardItemModel

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, plural, rounded
from inspector.gui.kit.icons import icon, severity_icon
from inspector.gui.kit.table_models import NOWHERE, RIGHT
from inspector.gui.kit.text import plain, short
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage

TITLES = ("Name", "Size", "Last changed (UTC)")
NAME, SIZE, CHANGED = range(len(TITLES))
BUCKETS = ""
"""The location that means all buckets."""
_ENTRY = Qt.ItemDataRole.UserRole
"""The RemoteEntry of a row. A last row may have none: it says why the listing is empty or incomplete."""
_LISTS_MORE, _IS_LISTED, _FOLLOWING = (_ENTRY + at for at in range(1, 4))

Index = QModelIndex | QPersistentModelIndex
RequestPage = Callable[[str, str, Callable[[RemotePage], None], Callable[[str], None]], object]
"""Requests a page: location, page token, callback for the page, callback for an error sentence."""


class BrowserModel(QStandardItemModel):
    """The tree. ``begin`` sets its root; a prefix is listed when it is expanded.

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
        self.invisibleRootItem().setData("", _FOLLOWING)
        self._ask(self.invisibleRootItem(), self._generation)

    def entry(self, index: Index) -> RemoteEntry | None:
        """The entry of a row, None for notes and the root."""
        found: RemoteEntry | None = self._first(index).data(_ENTRY)
        return found

    def _first(self, index: Index) -> QModelIndex:
        return self.index(index.row(), NAME, index.parent())

    def list_more(self, index: Index) -> None:
        """List the next page, or retry the failed one, if the row stands for it."""
        if self._first(index).data(_LISTS_MORE):
            above = self.itemFromIndex(self._first(index)).parent()
            self._ask(above or self.invisibleRootItem(), self._generation)

    # ---- listing -----------------------------------------------------------------------------------------------

    def _ask(self, above: QStandardItem, generation: int) -> None:
        if generation != self._generation:
            return
        self._set_note(above, "Listing…")

        def take(page: RemotePage) -> None:
            if generation == self._generation:
                self._take(above, page)

        def fail(sentence: str) -> None:
            if generation == self._generation:
                text = f"{sentence} (Activate this row to retry.)"
                self._set_note(above, text, severity_icon(Severity.ERROR), lists_more=True)
                self.refused.emit(sentence)

        entry: RemoteEntry | None = above.data(_ENTRY)
        self._request_page(
            entry.location if entry is not None else self._start, above.data(_FOLLOWING) or "", take, fail
        )

    def _take(self, above: QStandardItem, page: RemotePage) -> None:
        self._set_note(above, "")
        for entry in page.entries:
            above.appendRow(_row(entry))
        above.setData(page.following, _FOLLOWING)
        if page.following:
            text = plural(
                "{number} entry listed. Activate this row to list more.",
                "{number} entries listed. Activate this row to list more.",
                above.rowCount(),
            )
            self._set_note(above, text, lists_more=True)
        elif not above.rowCount():
            self._set_note(above, "Nothing here.")
        self.listed.emit(page)

    def _set_note(
        self, above: QStandardItem, text: str, mark: QIcon | None = None, *, lists_more: bool = False
    ) -> None:
        """Set the last row below an item to a note, or remove it for an empty one."""
        last = above.child(above.rowCount() - 1)
        if last is not None and last.data(_ENTRY) is None:
            above.removeRow(last.row())
        if text:
            note = _item(short(text), text)
            note.setData(lists_more, _LISTS_MORE)
            note.setIcon(mark or QIcon())
            above.appendRow(note)

    # ---- overrides ---------------------------------------------------------------------------------------------

    def hasChildren(self, parent: Index = NOWHERE) -> bool:
        return super().hasChildren(parent) or self._is_folder(parent)

    def canFetchMore(self, parent: Index) -> bool:
        """Only the first page is fetched automatically; each further page costs a request and has a row of its own."""
        return self._is_folder(parent) and not parent.data(_IS_LISTED)

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            item, generation = self.itemFromIndex(parent), self._generation
            item.setData(True, _IS_LISTED)
            # Views call this while they insert other rows; no rows may be added at that moment.
            QTimer.singleShot(0, self, lambda: self._ask(item, generation))

    def _is_folder(self, index: Index) -> bool:
        entry = self.entry(index) if index.column() == NAME else None
        return entry is not None and entry.kind is not EntryKind.OBJECT


def _row(entry: RemoteEntry) -> list[QStandardItem]:
    is_object = entry.kind is EntryKind.OBJECT
    changed = f"{datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M:%S}" if entry.modified else ""
    name = _item(short(entry.name), visible(entry.location))
    name.setIcon(icon("file" if is_object else "folder"))
    name.setData(entry, _ENTRY)
    size = _item(rounded(entry.size), in_bytes(entry.size)) if is_object else _item("", "")
    size.setTextAlignment(RIGHT)
    return [name, size, _item(changed, changed)]


def _item(text: str, tip: str) -> QStandardItem:
    item = QStandardItem(text)
    item.setToolTip(plain(short(tip)))
    return item
