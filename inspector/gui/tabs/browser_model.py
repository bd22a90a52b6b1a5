"""Buckets, prefixes and objects as a tree; each page is listed only on request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from msgspec import Struct, field
from PySide6.QtCore import QObject, Qt, QTimer, Signal

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, plural, rounded
from inspector.gui.kit.icons import icon, severity_icon
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.tree_model import NOWHERE, Index, NumberedTree
from inspector.operations.protocol.browse_views import EntryKind, RemoteEntry, RemotePage

TITLES = ("Name", "Size", "Last changed (UTC)")
NAME, SIZE, CHANGED = range(len(TITLES))
BUCKETS = ""
"""The location that means all buckets."""
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_ICONS = {EntryKind.BUCKET: "folder", EntryKind.PREFIX: "folder", EntryKind.OBJECT: "file"}

RequestPage = Callable[[str, str, Callable[[RemotePage], None], Callable[[str], None]], object]
"""Requests a page: location, page token, callback for the page, callback for an error sentence."""


class NoteKind(StrEnum):
    """The kind of a last row that is not an entry: why the listing is empty or incomplete."""

    LOADING = "loading"
    NOTHING = "nothing"
    MORE = "more"
    FAILED = "failed"


class _Node(Struct):
    parent: int
    position: int
    entry: RemoteEntry | None = None
    note: NoteKind | None = None
    text: str = ""
    children: list[int] = field(default_factory=list)
    is_listed: bool = False
    is_loading: bool = False
    next_page: str = ""


class BrowserModel(NumberedTree[_Node]):
    """The tree. ``begin`` sets its root; a prefix is listed when it is expanded.

    Signals:
        listed(object): a RemotePage has arrived.
        refused(str): a page could not be listed; the reason.
    """

    listed = Signal(object)
    refused = Signal(str)

    def __init__(self, ask: RequestPage, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._request_page = ask
        self._generation = 0
        self._start = BUCKETS
        self._nodes = [_Node(-1, 0)]

    def begin(self, location: str) -> None:
        """List a bucket, a prefix or BUCKETS from scratch."""
        self.beginResetModel()
        self._generation += 1
        self._start = location
        self._nodes = [_Node(-1, 0)]
        self.endResetModel()
        self._ask(0)

    def entry(self, index: Index) -> RemoteEntry | None:
        """The entry of a row, None for notes and the root."""
        return self._at(index).entry

    def can_list_more(self, index: Index) -> bool:
        """Whether activating a row lists more, or tries again."""
        return self._at(index).note in (NoteKind.MORE, NoteKind.FAILED)

    def list_more(self, index: Index) -> None:
        """List the next page, or retry the failed one, if the row stands for it."""
        if self.can_list_more(index):
            self._ask(self._at(index).parent)

    # ---- listing -----------------------------------------------------------------------------------------------

    def _ask(self, number: int) -> None:
        node, generation = self._nodes[number], self._generation
        node.is_listed = node.is_loading = True
        if self._note_kind(node) is None:
            # Views call this while they insert other rows; no rows may be added at that moment.
            QTimer.singleShot(0, self, lambda: self._show_loading(number, generation))
        else:
            self._show_loading(number, generation)

        def take(page: RemotePage) -> None:
            if generation == self._generation:
                node.is_loading = False
                self._take(number, page)

        def fail(sentence: str) -> None:
            if generation == self._generation:
                node.is_loading = False
                self._set_note(number, NoteKind.FAILED, f"{sentence} (Activate this row to retry.)")
                self.refused.emit(sentence)

        self._request_page(node.entry.location if node.entry is not None else self._start, node.next_page, take, fail)

    def _show_loading(self, number: int, generation: int) -> None:
        if generation == self._generation and self._nodes[number].is_loading:
            self._set_note(number, NoteKind.LOADING, "Listing…")

    def _note_kind(self, node: _Node) -> NoteKind | None:
        """The note in the last row below a node, None if that is an entry."""
        return self._nodes[node.children[-1]].note if node.children else None

    def _take(self, number: int, page: RemotePage) -> None:
        node = self._nodes[number]
        self._set_note(number, None)
        first = len(node.children)
        if page.entries:
            self.beginInsertRows(self._index(number), first, first + len(page.entries) - 1)
            start = len(self._nodes)
            self._nodes += [_Node(number, first + i, entry) for i, entry in enumerate(page.entries)]
            node.children += range(start, len(self._nodes))
            self.endInsertRows()
        node.next_page = page.following
        if page.following:
            text = plural(
                "{number} entry listed. Activate this row to list more.",
                "{number} entries listed. Activate this row to list more.",
                len(node.children),
            )
            self._set_note(number, NoteKind.MORE, text)
        elif not node.children:
            self._set_note(number, NoteKind.NOTHING, "Nothing here.")
        self.listed.emit(page)

    def _set_note(self, number: int, note: NoteKind | None, text: str = "") -> None:
        """Set or remove the note below a node."""
        node, index = self._nodes[number], self._index(number)
        if self._note_kind(node) is not None:
            last = len(node.children) - 1
            self.beginRemoveRows(index, last, last)
            node.children.pop()
            self.endRemoveRows()
        if note is not None:
            at = len(node.children)
            self.beginInsertRows(index, at, at)
            self._nodes.append(_Node(number, at, note=note, text=text))
            node.children.append(len(self._nodes) - 1)
            self.endInsertRows()

    # ---- overrides ---------------------------------------------------------------------------------------------

    def columnCount(self, parent: Index = NOWHERE) -> int:  # noqa: ARG002 - the same everywhere
        return len(TITLES)

    def hasChildren(self, parent: Index = NOWHERE) -> bool:
        return parent.column() <= 0 and (bool(self._at(parent).children) or self._is_folder(parent))

    def canFetchMore(self, parent: Index) -> bool:
        """Only the first page is fetched automatically; each further page costs a request and has a row of its own."""
        return not self._at(parent).is_listed and self._is_folder(parent)

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._ask(parent.internalId())

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node, column = self._at(index), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _text(node, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(_tip(node, column)))
        if role == Qt.ItemDataRole.DecorationRole and column == NAME:
            return _icon(node)
        return _RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and column == SIZE else None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return TITLES[section]
        return None

    def _is_folder(self, index: Index) -> bool:
        entry = self._at(index).entry
        return entry is not None and entry.kind is not EntryKind.OBJECT


def _text(node: _Node, column: int) -> str:
    entry = node.entry
    if entry is None:
        return short(node.text) if column == NAME else ""
    if column == NAME:
        return short(entry.name)
    if column == SIZE:
        return rounded(entry.size) if entry.kind is EntryKind.OBJECT else ""
    return f"{datetime.fromtimestamp(entry.modified, UTC):%Y-%m-%d %H:%M:%S}" if entry.modified else ""


def _tip(node: _Node, column: int) -> str:
    if node.entry is None:
        return node.text
    if column == NAME:
        return visible(node.entry.location)
    is_object = node.entry.kind is EntryKind.OBJECT
    return in_bytes(node.entry.size) if column == SIZE and is_object else _text(node, column)


def _icon(node: _Node) -> Any:
    if node.entry is not None:
        return icon(_ICONS[node.entry.kind])
    return severity_icon(Severity.ERROR) if node.note is NoteKind.FAILED else None
