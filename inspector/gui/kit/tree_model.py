"""Tree model of any number of rows, fetched when the view asks for them.

A parent with more than ``MAX_GROUP_ROWS`` rows shows ranges of them as an extra level, so that any row can be shown or
revealed without fetching the rows before it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct, field
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from inspector.gui.kit.table_models import Column, Deliver, DraggableRows, cell, title_cell
from inspector.operations.protocol.views import Page

MAX_GROUP_ROWS = 500
"""The most rows per request, and the most under one parent without ranges."""

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class TreeNode(Protocol):
    """A row or the root: the number of the node above it, its place below that, and the numbers of those below it."""

    parent: int
    position: int
    children: list[int]


Node = TypeVar("Node", bound=TreeNode)


class NumberedTree(QAbstractItemModel, Generic[Node]):
    """A tree that owns its nodes in ``_nodes``, the root first; indexes hold only their numbers."""

    _nodes: list[Node]

    def index(self, row: int, column: int, parent: Index = NOWHERE) -> QModelIndex:
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._at(parent).children[row])

    def parent(self, index: Index = NOWHERE) -> Any:
        return self._index(self._at(index).parent) if index.isValid() else QModelIndex()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.column() > 0 else len(self._at(parent).children)

    def _at(self, index: Index) -> Node:
        return self._nodes[index.internalId() if index.isValid() else 0]

    def _index(self, number: int) -> QModelIndex:
        return self.createIndex(self._nodes[number].position, 0, number) if number > 0 else QModelIndex()


class _Node(Struct):
    """A row, the root, or a range of ``total`` rows of its parent from ``first``."""

    parent: int
    position: int
    key: Any
    row: Any = None
    is_range: bool = False
    first: int = 0
    total: int = MAX_GROUP_ROWS
    step: int = 1
    children: list[int] = field(default_factory=list)
    requested: bool = False
    loaded: bool = False


class PagedTree(DraggableRows, NumberedTree[_Node]):
    """A tree model whose rows are fetched when they are needed; subclasses say how. A ``key`` is that of a parent.

    Signals:
        revealed(object): the index of the row requested with ``reveal``.
    """

    revealed = Signal(object)

    def __init__(self, columns: Sequence[Column], root: Any, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns
        self._root = root
        self._generation = 0
        self._target: tuple[int, ...] | None = None
        self._nodes: list[_Node] = [_Node(-1, 0, root)]
        self._stale: set[int] = set()

    @abstractmethod
    def fetch(self, key: Any, first: int, count: int, deliver: Deliver) -> None:
        """Request rows ``[first, first + count)`` under the row with this key."""

    @abstractmethod
    def key(self, row: Any) -> Any | None:
        """The key of a row, None if it has no children."""

    def cell(self, row: Any, column: int, role: int) -> Any:
        """What the model says of a cell."""
        return cell(self.columns[column], row, role)

    def refetch(self) -> None:
        """Drop all rows."""
        self.beginResetModel()
        self._generation += 1
        self._target = None
        self._nodes = [_Node(-1, 0, self._root)]
        self._stale.clear()
        self.endResetModel()

    def renew(self) -> None:
        """Refetch each row when it is next shown; the tree keeps its shape."""
        self._stale = {
            number for number, node in enumerate(self._nodes) if node.children and node.total <= MAX_GROUP_ROWS
        }

    def change(self, make: Callable[[Any], Any]) -> None:
        """Replace fetched rows by ``make(row)``, which returns the same object for an unchanged row."""
        for number, node in enumerate(self._nodes):
            if node.row is not None and (made := make(node.row)) is not node.row:
                node.row = made
                index = self._index(number)
                self.dataChanged.emit(index, index.siblingAtColumn(len(self.columns) - 1))

    def row(self, index: Index) -> Any | None:
        """The row at an index, None for the root and for ranges."""
        return self._nodes[index.internalId()].row if index.isValid() else None

    def row_range(self, index: Index) -> tuple[Any, int, int] | None:
        """The rows ``(key of the parent, first, count)`` of a range, None for other indexes."""
        node = self._at(index)
        return (node.key, node.first, node.total) if node.is_range else None

    def reveal(self, rows: tuple[int, ...]) -> None:
        """Fetch the ancestors of a row, given by its position at each level, then emit ``revealed``."""
        self._target = rows or None
        self._descend()

    # ---- fetching ----------------------------------------------------------------------------------------------

    def _request(self, number: int) -> None:
        node = self._nodes[number]
        if node.requested:
            return
        node.requested = True
        if node.is_range and node.total > MAX_GROUP_ROWS:
            self._append_ranges(number)
            return
        self._fetch(number, self._receive)

    def _fetch(self, number: int, take: Callable[[int, Page[Any]], object]) -> None:
        node, generation = self._nodes[number], self._generation

        def deliver(page: Page[Any]) -> None:
            if generation == self._generation:
                take(number, page)

        self.fetch(node.key, node.first, min(node.total, MAX_GROUP_ROWS), deliver)

    def _receive(self, number: int, page: Page[Any]) -> None:
        node = self._nodes[number]
        if not node.is_range:
            node.total = page.total
        if node.total > MAX_GROUP_ROWS:
            self._append_ranges(number)
        else:
            self._append(number, [_Node(number, i, self.key(row), row) for i, row in enumerate(page.rows)])
        self._descend()

    def _replace(self, number: int, page: Page[Any]) -> None:
        """Take rows that were fetched anew, each for the one of the same name."""
        children, name = self._nodes[number].children, Qt.ItemDataRole.DisplayRole
        for child, row in zip((self._nodes[child] for child in children), page.rows, strict=False):
            if self.cell(row, 0, name) == self.cell(child.row, 0, name):
                child.row = row
        last = self._index(children[-1]).siblingAtColumn(len(self.columns) - 1)
        self.dataChanged.emit(self._index(children[0]), last)

    def _append_ranges(self, number: int) -> None:
        node = self._nodes[number]
        node.step = MAX_GROUP_ROWS
        while node.step * MAX_GROUP_ROWS < node.total:
            node.step *= MAX_GROUP_ROWS
        stop = node.first + node.total
        self._append(
            number,
            [
                _Node(number, i, node.key, None, True, start, min(node.step, stop - start))
                for i, start in enumerate(range(node.first, stop, node.step))
            ],
        )

    def _append(self, number: int, nodes: list[_Node]) -> None:
        node = self._nodes[number]
        node.loaded = True
        if not nodes:
            return
        self.beginInsertRows(self._index(number), 0, len(nodes) - 1)
        first = len(self._nodes)
        self._nodes += nodes
        node.children = list(range(first, first + len(nodes)))
        self.endInsertRows()

    def _descend(self) -> None:
        """Descend towards the target through fetched rows, and request the next level."""
        if self._target is None:
            return
        number, left = 0, list(self._target)
        while left:
            node = self._nodes[number]
            if node.key is None:
                break
            if not node.loaded:
                self._request(number)
                if not self._nodes[number].loaded:
                    return
            position = (left[0] - node.first) // node.step
            if not 0 <= position < len(node.children):
                break
            number = node.children[position]
            if not self._nodes[number].is_range:
                left.pop(0)
        self._target = None
        self.revealed.emit(self._index(number))

    # ---- overrides ---------------------------------------------------------------------------------------------

    def columnCount(self, parent: Index = NOWHERE) -> int:  # noqa: ARG002 - the same everywhere
        return len(self.columns)

    def hasChildren(self, parent: Index = NOWHERE) -> bool:
        node = self._at(parent)
        if parent.column() > 0:
            return False
        return bool(node.children) if node.loaded else not parent.isValid() or node.is_range or node.key is not None

    def canFetchMore(self, parent: Index) -> bool:
        return not self._at(parent).requested and self.hasChildren(parent)

    def fetchMore(self, parent: Index) -> None:
        if self.canFetchMore(parent):
            self._request(parent.internalId() if parent.isValid() else 0)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        node = self._at(index)
        if not node.is_range:
            if node.parent in self._stale:
                self._stale.discard(node.parent)
                self._fetch(node.parent, self._replace)
            return self.cell(node.row, index.column(), role)
        if role == Qt.ItemDataRole.DisplayRole and index.column() == 0:
            return f"{node.first + 1:,} – {node.first + node.total:,}"
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        is_title = orientation is Qt.Orientation.Horizontal and role != Qt.ItemDataRole.TextAlignmentRole
        return title_cell(self.columns[section], role, self.objectName()) if is_title else None
