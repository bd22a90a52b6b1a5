"""Behaviour shared by trees and tables: column widths, expanded rows, selected members, copying rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, SignalInstance
from PySide6.QtWidgets import QAbstractItemView, QTableView, QTreeView

from inspector.gui.kit.tree_model import PagedTree
from inspector.gui.kit.widgets import debounce
from inspector.operations.protocol.views import Chosen, TreeRow

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
