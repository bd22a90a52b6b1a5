"""Trees whose rows are fetched when they are needed, and what trees and tables share.

A parent with more than ``MAX_GROUP_ROWS`` rows shows ranges of them as an extra level, so that any row can be shown or
revealed without fetching the rows before it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct, field
from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
    SignalInstance,
)
from PySide6.QtWidgets import QAbstractItemView, QTableView, QTreeView

from inspector.gui.kit.table_models import Column, Deliver, DraggableRows, cell, title_cell
from inspector.gui.kit.widgets import debounce
from inspector.operations.protocol.views import Chosen, Page, TreeRow

MIN_FIRST_WIDTH = 96
"""The least width of the first column, in pixels."""
GOOD_FIRST_WIDTH = 190
"""The width the first column gets before its neighbours get more than they need or a tree shows further columns."""
MIN_SHARE = 0.6
"""The least share of its width that a neighbour may shrink to before it is hidden."""
LEAST_REST = 640
"""The least width of the column that takes the rest, while others are widened."""
BUTTONS = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease)


class ColumnFitter(QObject):
    """Fits the columns of a view to its width and its texts, until the user resizes one."""

    def __init__(self, view: QTreeView | QTableView, *texts_changed: SignalInstance) -> None:
        super().__init__(view)
        self._header = view.header() if isinstance(view, QTreeView) else view.horizontalHeader()
        self._view = view
        self._viewport = view.viewport()
        self._header.setResizeContentsPrecision(0)  # only what is in view: more rows would take 0.1 s
        self._widths = [self._header.sectionSize(column) for column in range(self._header.count())]
        self._fitting = self._pressed = self._by_hand = False
        self._timer = debounce(self, 0, self._fit_unless_by_hand)
        self._viewport.installEventFilter(self)
        self._header.viewport().installEventFilter(self)
        self._header.sectionResized.connect(self._resized)
        for changed in texts_changed:
            changed.connect(self._schedule)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind in (QEvent.Type.Resize, QEvent.Type.Show) and watched is self._viewport:
            self._fit_unless_by_hand()
        elif kind in BUTTONS and watched is not self._viewport:
            self._pressed = kind is not QEvent.Type.MouseButtonRelease
        return False

    def _resized(self, *_: object) -> None:
        self._by_hand = self._by_hand or (self._pressed and not self._fitting)

    def _schedule(self, *_: object) -> None:
        if not self._timer.isActive() and self._may_grow():
            self._timer.start()

    def _fit_unless_by_hand(self) -> None:
        # A table that is not visible takes all its rows for those in view: all their names would be fetched.
        if not self._by_hand and self._view.isVisible():
            self.fit()

    def fit(self) -> None:
        """Fit the columns now."""
        self._fitting = True
        self._fit(self._viewport.width())
        self._fitting = False

    @abstractmethod
    def _may_grow(self) -> bool:
        """Whether new texts may need other widths."""

    @abstractmethod
    def _fit(self, room: int) -> None: ...


class FirstColumnFitter(ColumnFitter):
    """Resizes the first column to leave room for its neighbours.

    In a narrow view the neighbours get what their texts need, then shrink, then are hidden one by one. A tree shows
    further columns only if they fit without scrolling.
    """

    def __init__(self, view: QTreeView | QTableView, neighbours: int) -> None:
        super().__init__(view, view.model().dataChanged, view.model().rowsInserted)
        self._hides = isinstance(view, QTreeView)
        self._neighbours = neighbours
        self._needed = [0] * len(self._widths)

    def _may_grow(self) -> bool:
        """Columns grow with new texts and do not shrink while scrolling."""
        return any(self._needed[1 : self._neighbours + 1])

    def _fit(self, room: int) -> None:
        used = self._fit_neighbours(room - MIN_FIRST_WIDTH)
        if self._hides:
            for column in range(self._neighbours + 1, len(self._widths)):
                width = self._widths[column]
                is_hidden = used + width > room - GOOD_FIRST_WIDTH
                self._header.setSectionHidden(column, is_hidden)
                used += 0 if is_hidden else width
        first = max(MIN_FIRST_WIDTH, room - used)
        if self._hides and first > GOOD_FIRST_WIDTH and not self._header.isSectionHidden(len(self._widths) - 1):
            # The last column stretches. Names are indented as they are.
            self._needed[0] = max(self._needed[0], text_width(self._view, 0))
            first = min(first, max(GOOD_FIRST_WIDTH, self._needed[0]))
        self._header.resizeSection(0, first)

    def _fit_neighbours(self, room: int) -> int:
        """Fit the neighbours of the first column into ``room`` pixels; returns their total width."""
        near = [column for column in range(1, self._neighbours + 1) if not self._is_unwanted(column)]
        widths = {column: self._widths[column] for column in near}
        if room + MIN_FIRST_WIDTH - sum(widths.values()) < GOOD_FIRST_WIDTH:
            widths = {column: self._need(column) for column in near}
        total = sum(widths.values())
        while self._hides and len(near) > 1 and room < total:  # words that are cut say nothing
            last = near.pop()
            total -= widths[last]
            self._header.setSectionHidden(last, True)
        # The last one that a tree shows is not hidden: it shrinks further, for the tree is not to scroll sideways.
        least = 0 if self._hides and len(near) == 1 else MIN_SHARE
        share = max(least, min(1, room / total)) if total else 1
        for column in near:
            self._header.setSectionHidden(column, False)
            self._header.resizeSection(column, int(widths[column] * share))
        return sum(int(widths[column] * share) for column in near)

    def _need(self, column: int) -> int:
        """The width that the texts needed so far in a column need, at most its usual width."""
        needed = max(self._header.sectionSizeHint(column), text_width(self._view, column))
        self._needed[column] = max(self._needed[column], min(needed, self._widths[column]))
        return self._needed[column]

    def _is_unwanted(self, column: int) -> bool:
        """Whether other code has hidden a column; this class itself hides tree columns after the second."""
        return self._header.isSectionHidden(column) and (column == 1 or not self._hides)


def text_width(view: QTreeView | QTableView, column: int) -> int:
    """The width of the widest visible text of a column, indented."""
    return max(0, view.sizeHintForColumn(column))


class ColumnWidener(ColumnFitter):
    """Widens columns to their visible texts in a view that has room to spare.

    The column ``rest`` takes what remains, and is not made narrower than ``least`` pixels for the others.
    """

    def __init__(self, view: QTreeView | QTableView, rest: int, least: int = LEAST_REST) -> None:
        # Not with dataChanged: columns that grow while one scrolls move what is read.
        super().__init__(view, view.model().rowsInserted, view.model().modelReset)
        self._rest, self._least = rest, least

    def _columns(self) -> list[int]:
        return [at for at in range(len(self._widths)) if at != self._rest and not self._header.isSectionHidden(at)]

    def _room(self) -> int:
        """The pixels that are left for texts which their columns cut."""
        return self._viewport.width() - sum(self._widths[at] for at in self._columns()) - self._least

    def _may_grow(self) -> bool:
        return self._room() > 0

    def _fit(self, _: int) -> None:
        room = max(0, self._room())
        for column in self._columns() if room else ():
            more = min(room, max(0, text_width(self._view, column) - self._widths[column]))
            room -= more
            self._header.resizeSection(column, self._widths[column] + more)


RowKey = Callable[[QModelIndex], Any]


def by_names(index: QModelIndex) -> tuple[Any, ...]:
    """A key of the names of a row and its parents, for rows whose order may change."""
    return (index.data(), *by_names(index.parent())) if index.isValid() else ()


def by_positions(index: QModelIndex) -> tuple[int, ...]:
    """A key of the positions of a row and its parents, for rows whose names are not unique."""
    return (index.row(), *by_positions(index.parent())) if index.isValid() else ()


class ExpandedRows(QObject):
    """Expands inserted rows whose key, given by ``key_of``, was expanded before."""

    def __init__(self, view: QTreeView, key_of: RowKey) -> None:
        super().__init__(view)
        self._view = view
        self._key_of = key_of
        self._open: set[Any] = set()
        view.expanded.connect(lambda index: self._open.add(key_of(index)))
        view.collapsed.connect(lambda index: self._open.discard(key_of(index)))
        view.model().rowsInserted.connect(self._expand)

    def forget(self) -> None:
        """Forget all expanded rows, since the model shows something else."""
        self._open.clear()

    def _expand(self, parent: QModelIndex, first: int, last: int) -> None:
        model = self._view.model()
        for row in range(first, last + 1) if self._open else ():
            index = model.index(row, 0, parent)
            if self._key_of(index) in self._open:
                self._view.expand(index)
                model.fetchMore(index)


def selected_members(view: QAbstractItemView) -> Chosen:
    """The selected members of a table or tree, whether their rows have been fetched or not."""
    model, selection = view.model(), view.selectionModel().selection()
    ranges = [selection.at(at) for at in range(selection.count())]
    if not isinstance(model, PagedTree):
        return Chosen(rows=tuple((each.top(), each.height()) for each in ranges))
    indexes = [model.index(row, 0, each.parent()) for each in ranges for row in range(each.top(), each.bottom() + 1)]
    rows = [row for index in indexes if isinstance(row := model.row(index), TreeRow)]
    return Chosen(
        tuple(row.member.index for row in rows if row.node < 0 and row.member is not None),
        (),
        tuple(row.node for row in rows if row.node >= 0),
        tuple(found for index in indexes if (found := model.row_range(index)) is not None),
    )


# ---- trees of any number of rows -------------------------------------------------------------------------------------


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

    columns: Sequence[Column] = ()
    _nodes: list[Node]

    def index(self, row: int, column: int, parent: Index = NOWHERE) -> QModelIndex:
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._at(parent).children[row])

    def parent(self, index: Index = NOWHERE) -> Any:
        return self._index(self._at(index).parent) if index.isValid() else QModelIndex()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.column() > 0 else len(self._at(parent).children)

    def columnCount(self, parent: Index = NOWHERE) -> int:  # noqa: ARG002 - the same everywhere
        return len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        is_title = orientation is Qt.Orientation.Horizontal and role != Qt.ItemDataRole.TextAlignmentRole
        return title_cell(self.columns[section], role, self.objectName()) if is_title else None

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
