"""Table models: fixed rows held in memory, and any number of rows fetched in pages on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector.gui.kit.help_texts import COLUMNS
from inspector.gui.kit.text import plain, short
from inspector.gui.kit.widgets import debounce
from inspector.operations.protocol.views import Page

FILES = "text/uri-list"
MakeDrag = Callable[[], QMimeData | None]


class DraggableRows:
    """A mixin, placed before the model class. ``make_drag`` returns the data for the selection of the view."""

    make_drag: MakeDrag | None = None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """QAbstractItemModel override: rows can be dragged."""
        flags: Qt.ItemFlag = super().flags(index)  # type: ignore[misc]
        return flags | Qt.ItemFlag.ItemIsDragEnabled if self.make_drag is not None and index.isValid() else flags

    def mimeData(self, indexes: Sequence[QModelIndex]) -> Any:  # noqa: ARG002 - uses the selection instead
        """QAbstractItemModel override: the data from ``make_drag``."""
        # Keep a reference: QDrag does not keep Python objects alive.
        self._drag = self.make_drag() if self.make_drag is not None else None
        return self._drag


Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


Deliver = Callable[[Page[Any]], None]
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Column(NamedTuple):
    """A column: its title, the text of a row in it, and its width in pixels.

    ``tip`` tells more of a row than ``text``, ``icon`` is shown before it. ``is_number``: it stands to the right.
    ``sort`` is what a click on the title sorts by. ``roles`` is what else a model is asked for.
    """

    title: str
    text: Callable[[Any], str]
    width: int = 0
    tip: Callable[[Any], str | None] | None = None
    icon: Callable[[Any], Any] | None = None
    is_number: bool = False
    sort: Any = None
    roles: Mapping[int, Callable[[Any], Any]] = {}


def cell(column: Column, row: Any, role: int) -> Any:
    """What a model says of a cell."""
    if role == Qt.ItemDataRole.DisplayRole:
        return short(column.text(row))
    if role == Qt.ItemDataRole.ToolTipRole:
        tip = (column.tip or column.text)(row)
        return tip if tip is None else plain(short(tip))
    if role == Qt.ItemDataRole.DecorationRole and column.icon is not None:
        return column.icon(row)
    if role == Qt.ItemDataRole.TextAlignmentRole and column.is_number:
        return RIGHT
    return column.roles[role](row) if role in column.roles else None


def title_cell(column: Column, role: int, view: str) -> Any:
    """What a model says of a title; ``view`` is the accessible name of what shows it."""
    if role == Qt.ItemDataRole.DisplayRole:
        return column.title
    if role == Qt.ItemDataRole.TextAlignmentRole and column.is_number:
        return RIGHT
    if role == Qt.ItemDataRole.ToolTipRole:
        sorts = f"Sort by {column.title.lower()}" if column.sort is not None else None
        return COLUMNS.get(view, {}).get(column.title, sorts)
    return None


def widths(columns: Sequence[Column]) -> dict[int, int]:
    """The width of each column that has one."""
    return {at: each.width for at, each in enumerate(columns) if each.width}


class ColumnTable(QAbstractTableModel):
    """Rows under columns; subclasses provide the rows."""

    def __init__(self, columns: Sequence[Column], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns
        self._rows: Sequence[Any] = ()

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def texts_of(self, row: Any) -> tuple[str, ...]:
        """The texts of a row."""
        return tuple(each.text(row) for each in self.columns)

    # ---- overrides ---------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self.count

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        is_title = orientation is Qt.Orientation.Horizontal
        return title_cell(self.columns[section], role, self.objectName()) if is_title else None


PAGE_ROWS = 200
"""Rows per page."""
MAX_CACHED_PAGES = 64
"""Pages cached; the one fetched first is dropped first."""
MAX_PENDING_PAGES = 4
"""Pages requested at a time; fast scrolling skips the others."""
MAX_ROWS = 2**31 - 1
"""The most rows Qt can count."""


class PagedTable(DraggableRows, ColumnTable):
    """Rows that ``fetch(first, count, deliver)`` asks for; until they arrive they show an ellipsis.

    ``seen`` is told of each row that is looked at.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        fetch: Callable[[int, int, Deliver], object],
        parent: QObject | None = None,
        seen: Callable[[Any], object] = bool,
    ) -> None:
        super().__init__(columns, parent)
        self.fetch = fetch
        self._seen = seen
        self._generation = 0
        self._total = 0
        self._pages: dict[int, tuple[Any, ...]] = {}
        self._stale: set[int] = set()
        self._needed: dict[int, None] = {}
        self._requested: set[int] = set()
        self._flush = debounce(self, 0, self._request)

    @property
    def count(self) -> int:
        return self._total

    def refetch(self) -> None:
        """Refetch all rows; the old ones stay until then, so that nothing flickers."""
        self._generation += 1
        self._stale = set(self._pages)
        self._needed.clear()
        self._requested.clear()
        self._need(0)
        if self._total:
            self.dataChanged.emit(self.index(0, 0), self.index(self._total - 1, len(self.columns) - 1))

    def row(self, index: Index) -> Any | None:
        """The row at an index, None until it has been fetched."""
        return self._row(index.row()) if index.isValid() else None

    def _row(self, number: int) -> Any | None:
        page = self._pages.get(number // PAGE_ROWS)
        if page is None or number // PAGE_ROWS in self._stale:
            self._need(number // PAGE_ROWS)
        return page[number % PAGE_ROWS] if page is not None and number % PAGE_ROWS < len(page) else None

    def change(self, make: Callable[[Any], Any]) -> None:
        """Replace fetched rows by ``make(row)``, which returns the same object for an unchanged row."""
        for page, rows in self._pages.items():
            made = tuple(map(make, rows))
            if any(new is not old for new, old in zip(made, rows, strict=True)):
                self._pages[page] = made
                last = min(page * PAGE_ROWS + len(rows), self._total) - 1
                self.dataChanged.emit(self.index(page * PAGE_ROWS, 0), self.index(last, len(self.columns) - 1))

    def _need(self, page: int) -> None:
        if page not in self._requested:
            self._needed.pop(page, None)
            self._needed[page] = None
            self._flush.start()

    def _request(self) -> None:
        """Request the pages needed last; older ones are dropped, and painting asks again for those in view."""
        generation = self._generation
        while self._needed and len(self._requested) < MAX_PENDING_PAGES:
            page, _ = self._needed.popitem()
            self._requested.add(page)

            def deliver(rows: Page[Any], page: int = page) -> None:
                if generation == self._generation:
                    self._take(page, rows)

            self.fetch(page * PAGE_ROWS, PAGE_ROWS, deliver)

    def _take(self, page: int, rows: Page[Any]) -> None:
        self._requested.discard(page)
        self._stale.discard(page)
        self._pages.pop(page, None)
        self._pages[page] = rows.rows
        while len(self._pages) > MAX_CACHED_PAGES:
            del self._pages[next(iter(self._pages))]
        self._resize(min(rows.total, MAX_ROWS))
        first, last = page * PAGE_ROWS, min(page * PAGE_ROWS + len(rows.rows), self._total) - 1
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.columns) - 1))
        if self._needed:
            self._flush.start()

    def _resize(self, total: int) -> None:
        if total > self._total:
            self.beginInsertRows(QModelIndex(), self._total, total - 1)
            self._total = total
            self.endInsertRows()
        elif total < self._total:
            self.beginRemoveRows(QModelIndex(), total, self._total - 1)
            self._total = total
            self.endRemoveRows()

    # ---- overrides ---------------------------------------------------------------------------------------------

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._row(index.row())
        if row is None:
            return "…" if role == Qt.ItemDataRole.DisplayRole else None
        self._seen(row)
        return cell(self.columns[index.column()], row, role)
