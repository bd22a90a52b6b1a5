"""How the columns of a tree or a table share its width."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from PySide6.QtCore import QEvent, QItemSelectionRange, QModelIndex, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView, QTreeView

from inspector.gui.kit.table_models import PagedTable
from inspector.gui.kit.tree_model import PagedTree
from inspector.gui.kit.widgets import dress_table
from inspector.operations.protocol.views import Chosen, Page, TreeRow

MIN_FIRST_WIDTH = 105
"""Pixels that a first column has at least."""
GOOD_FIRST_WIDTH = 190
"""Pixels that a first column has before further columns of a tree are shown, and those beside it have room to spare."""
MIN_SHARE = 0.6
"""The least part of its width that a column beside the first may shrink to before it is left out."""
BUTTONS = (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick, QEvent.Type.MouseButtonRelease)


class FirstColumnFits(QObject):
    """Keeps the first column as wide as leaves room for the next ones, until the user sets a width by hand.

    Where there is little room the next ones have what their texts need, then shrink before one of them goes. A tree
    shows the columns behind them only where there is room for them: it need not scroll.
    """

    def __init__(self, view: QTreeView | QTableView, neighbours: int) -> None:
        super().__init__(view)
        self._hides = isinstance(view, QTreeView)
        self._header = view.header() if isinstance(view, QTreeView) else view.horizontalHeader()
        self._view: QAbstractItemView = view
        self._viewport = view.viewport()
        self._neighbours = neighbours
        self._widths = [self._header.sectionSize(column) for column in range(self._header.count())]
        self._needed = [0] * len(self._widths)
        self._fitting = self._held = self._by_hand = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._fit_again)
        self._viewport.installEventFilter(self)
        self._header.viewport().installEventFilter(self)
        self._header.sectionResized.connect(self._resized)
        for changed in (view.model().dataChanged, view.model().rowsInserted):
            changed.connect(self._look_again)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind is QEvent.Type.Resize and watched is self._viewport:
            self._fit_again()
        elif kind in BUTTONS and watched is not self._viewport:
            self._held = kind is not QEvent.Type.MouseButtonRelease
        return False

    def _fit_again(self) -> None:
        if not self._by_hand:
            self.fit()

    def _look_again(self, *_: object) -> None:
        """Texts that have come may need more room; columns grow with them, and do not shrink while one scrolls."""
        if not self._soon.isActive() and any(self._needed[1 : self._neighbours + 1]):
            self._soon.start()

    def fit(self) -> None:
        """Fit it now."""
        room = self._viewport.width()
        self._fitting = True
        beside = self._fit_neighbours(room - MIN_FIRST_WIDTH)
        if self._hides:
            beside = self._show_others(room - GOOD_FIRST_WIDTH, beside)
        self._header.resizeSection(0, max(MIN_FIRST_WIDTH, room - beside))
        self._fitting = False

    def _fit_neighbours(self, room: int) -> int:
        """Give the columns next to the first what there is room for; the result are the pixels that they take."""
        near = [column for column in range(1, self._neighbours + 1) if not self._is_unwanted(column)]
        widths = {column: self._widths[column] for column in near}
        if room + MIN_FIRST_WIDTH - sum(widths.values()) < GOOD_FIRST_WIDTH:
            widths = {column: self._need(column) for column in near}
        wanted = sum(widths.values())
        while self._hides and len(near) > 1 and room < wanted * MIN_SHARE:
            last = near.pop()
            wanted -= widths[last]
            self._header.setSectionHidden(last, True)
        share = max(MIN_SHARE, min(1, room / wanted)) if wanted else 1
        for column in near:
            self._header.setSectionHidden(column, False)
            self._header.resizeSection(column, int(widths[column] * share))
        return sum(int(widths[column] * share) for column in near)

    def _need(self, column: int) -> int:
        """The pixels that what was seen in a column until now needs, at most its usual width."""
        seen = max([self._header.sectionSizeHint(column), *self._texts_in_view(column)])
        self._needed[column] = max(self._needed[column], min(seen, self._widths[column]))
        return self._needed[column]

    def _texts_in_view(self, column: int) -> Iterator[int]:
        """The widths of the texts in view. Qt's own sizeHintForColumn looks at 1,000 rows, for a tenth of a second."""
        top = 0
        while top < self._viewport.height() and (index := self._view.indexAt(QPoint(0, top))).isValid():
            yield self._view.sizeHintForIndex(index.siblingAtColumn(column)).width()
            top += max(1, self._view.visualRect(index).height())

    def _is_unwanted(self, column: int) -> bool:
        """Whether others have hidden it; of a tree those behind the second are hidden here."""
        return self._header.isSectionHidden(column) and (column == 1 or not self._hides)

    def _show_others(self, room: int, beside: int) -> int:
        for column in range(self._neighbours + 1, len(self._widths)):
            width = self._widths[column]
            self._header.setSectionHidden(column, beside + width > room)
            if not self._header.isSectionHidden(column):
                beside += width
        return beside

    def _resized(self, *_: object) -> None:
        self._by_hand = self._by_hand or (self._held and not self._fitting)


RowKey = Callable[[QModelIndex], Any]


def by_names(index: QModelIndex) -> tuple[Any, ...]:
    """A row by its name and those of its parents, for rows that may be sorted in another way."""
    names = []
    while index.isValid():
        names.append(index.data())
        index = index.parent()
    return tuple(names)


def by_positions(index: QModelIndex) -> tuple[int, ...]:
    """A row by its position and those of its parents, for rows that have names in common."""
    rows = []
    while index.isValid():
        rows.append(index.row())
        index = index.parent()
    return tuple(rows)


class StaysOpen(QObject):
    """Unfolds rows that come, at a ``place`` that was unfolded before."""

    def __init__(self, view: QTreeView, place: RowKey) -> None:
        super().__init__(view)
        self._view = view
        self._place = place
        self._open: set[Any] = set()
        view.expanded.connect(lambda index: self._open.add(place(index)))
        view.collapsed.connect(lambda index: self._open.discard(place(index)))
        view.model().rowsInserted.connect(self._unfold)

    def forget(self) -> None:
        """These will be rows of something else."""
        self._open.clear()

    def _unfold(self, parent: QModelIndex, first: int, last: int) -> None:
        model = self._view.model()
        for row in range(first, last + 1) if self._open else ():
            index = model.index(row, 0, parent)
            if self._place(index) in self._open:
                self._view.expand(index)
                model.fetchMore(index)


def chosen_in(view: QAbstractItemView) -> Chosen:
    """What is selected in a table or tree of members, whether its rows have been fetched or not."""
    model, selection = view.model(), view.selectionModel().selection()
    ranges = [selection.at(at) for at in range(selection.count())]
    if not isinstance(model, PagedTree):
        return Chosen(rows=tuple((each.top(), each.height()) for each in ranges))
    members: list[int] = []
    nodes: list[int] = []
    stretches: list[tuple[int, int, int]] = []
    for index in _first_cells(model, ranges):
        row, stretch = model.row(index), model.stretch(index)
        if stretch is not None:
            stretches.append(stretch)
        elif isinstance(row, TreeRow) and row.node >= 0:
            nodes.append(row.node)
        elif isinstance(row, TreeRow) and row.member is not None:
            members.append(row.member.index)
    return Chosen(tuple(members), (), tuple(nodes), tuple(stretches))


def _first_cells(model: PagedTree, ranges: list[QItemSelectionRange]) -> Iterator[QModelIndex]:
    for each in ranges:
        for row in range(each.top(), each.bottom() + 1):
            yield model.index(row, 0, each.parent())


BATCH_ROWS = 1_000
"""Rows asked for at a time."""
MAX_COPIED_ROWS = 100_000
"""The most rows copied."""


class RowTable(QTableView):
    """A table of a paged model; ``line`` says what a row is as text, ``wanted`` adds what else its menu offers."""

    def __init__(self, model: PagedTable, widths: dict[int, int], name: str, line: Callable[[Any], str]) -> None:
        super().__init__()
        dress_table(self, model, widths, name)
        self._rows = model
        self._line = line
        self.wanted: Callable[[QMenu], object] | None = None
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def copy(self) -> None:
        """Copy the rows that are selected."""
        chosen = [self._rows.row(index) for index in self.selectionModel().selectedRows()]
        self._put([row for row in chosen if row is not None])

    def copy_all(self) -> None:
        """Copy all rows, as soon as they have arrived."""
        read_rows(self._rows, self._put)

    def _put(self, rows: list[Any]) -> None:
        QGuiApplication.clipboard().setText("\n".join(map(self._line, rows)))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self.wanted is not None:
            self.wanted(menu)
        menu.addAction("Copy").triggered.connect(self.copy)
        menu.addAction("Copy All").triggered.connect(self.copy_all)
        menu.popup(event.globalPos())


def read_rows(model: PagedTable, done: Callable[[list[Any]], None]) -> None:
    """Give ``done`` all rows of a model, at most MAX_COPIED_ROWS."""
    found: list[Any] = []

    def take(page: Page[Any]) -> None:
        found.extend(page.rows)
        if page.rows and len(found) < min(page.total, MAX_COPIED_ROWS):
            ask()
        else:
            done(found)

    def ask() -> None:
        model.columns.fetch(len(found), BATCH_ROWS, take)

    ask()
