"""A flat table of any number of rows, fetched by the page when they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer

from inspector.core.finding import Severity
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.text import plain, short
from inspector.operations.protocol.views import Page

FILES = "text/uri-list"
Give = Callable[[], QMimeData | None]


class Drags:
    """Goes before a model in the bases of a class. ``give`` makes what is dragged, from what the view has selected."""

    give: Give | None = None

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """See QAbstractItemModel."""
        flags: Qt.ItemFlag = super().flags(index)  # type: ignore[misc]
        return flags | Qt.ItemFlag.ItemIsDragEnabled if self.give is not None and index.isValid() else flags

    def mimeTypes(self) -> list[str]:
        """See QAbstractItemModel."""
        return [FILES]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> Any:  # noqa: ARG002 - the view has many, the selection knows
        """See QAbstractItemModel."""
        # Kept, because the one who drags keeps nothing that Python has made.
        self._given = self.give() if self.give is not None else None
        return self._given

    def supportedDragActions(self) -> Qt.DropAction:
        """See QAbstractItemModel."""
        return Qt.DropAction.CopyAction


Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class TitledTable(QAbstractTableModel):
    """A row for each of ``_rows`` under ``titles``, which are marked texts; what cells say is for those that derive."""

    def __init__(self, titles: Sequence[str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._titles = tuple(titles)
        self._rows: Sequence[Any] = ()

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    # ---- overrides ---------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self.count

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._titles[section]
        return None


@dataclass(frozen=True, slots=True)
class FixedRow:
    """The texts of a row; a ``mark`` stands before the first of them."""

    texts: tuple[str, ...]
    mark: Severity | None = None


class FixedTable(TitledTable):
    """Rows of text under ``titles``; the columns in ``numbers`` are set to the right."""

    def __init__(self, titles: Sequence[str], numbers: Sequence[int] = (), parent: QObject | None = None) -> None:
        super().__init__(titles, parent)
        self._numbers = frozenset(numbers)
        self._rows: tuple[FixedRow, ...] = ()

    def show(self, rows: Sequence[FixedRow]) -> None:
        """Show other rows."""
        self.beginResetModel()
        self._rows = tuple(rows)
        self.endResetModel()

    def texts(self, row: int) -> tuple[str, ...]:
        """What a row says."""
        return self._rows[row].texts

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return short(row.texts[column])
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(short(row.texts[column]))
        if role == Qt.ItemDataRole.DecorationRole and column == 0 and row.mark is not None:
            return severity_icon(row.mark)
        if role == Qt.ItemDataRole.TextAlignmentRole and column in self._numbers:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


PAGE_ROWS = 200
"""Rows fetched at a time."""
MAX_CACHED_PAGES = 64
"""Pages kept; the longest ago fetched goes first."""
MAX_PENDING_PAGES = 4
"""Pages asked for at a time: a fast scroll passes over the rest."""
MAX_ROWS = 2**31 - 1
"""The most rows Qt can count."""


class Columns(Protocol):
    """What a table is made of."""

    titles: tuple[str, ...]

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        """Ask for rows ``[first, first + count)``."""

    def data(self, row: Any, column: int, role: int) -> Any:
        """What the model says of a row; ``row`` is None while it is fetched."""

    def header(self, column: int, role: int) -> Any:
        """What the model says of a column beside its title."""


class PagedTable(Drags, QAbstractTableModel):
    """The model of a table whose rows arrive later; until then they show an ellipsis."""

    def __init__(self, columns: Columns, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = columns
        self._generation = 0
        self._total = 0
        self._pages: dict[int, tuple[Any, ...]] = {}
        self._stale: set[int] = set()
        self._wanted: dict[int, None] = {}
        self._asked: set[int] = set()
        self._flush = QTimer(self)
        self._flush.setSingleShot(True)
        self._flush.setInterval(0)
        self._flush.timeout.connect(self._ask)

    def refetch(self) -> None:
        """All rows are stale: they stay until others take their place, so that nothing flickers."""
        self._generation += 1
        self._stale = set(self._pages)
        self._wanted.clear()
        self._asked.clear()
        self._want(0)
        if self._total:
            self.dataChanged.emit(self.index(0, 0), self.index(self._total - 1, len(self.columns.titles) - 1))

    def row(self, index: Index) -> Any | None:
        """The row at an index, None while it is fetched."""
        return self._row(index.row()) if index.isValid() else None

    def _row(self, number: int) -> Any | None:
        page = self._pages.get(number // PAGE_ROWS)
        if page is None or number // PAGE_ROWS in self._stale:
            self._want(number // PAGE_ROWS)
        return page[number % PAGE_ROWS] if page is not None and number % PAGE_ROWS < len(page) else None

    def change(self, make: Callable[[Any], Any]) -> None:
        """Put others in the place of rows that are there; ``make`` gives the same row for one that stays."""
        for page, rows in self._pages.items():
            made = tuple(map(make, rows))
            if any(new is not old for new, old in zip(made, rows, strict=True)):
                self._pages[page] = made
                last = min(page * PAGE_ROWS + len(rows), self._total) - 1
                self.dataChanged.emit(self.index(page * PAGE_ROWS, 0), self.index(last, len(self.columns.titles) - 1))

    def _want(self, page: int) -> None:
        if page not in self._asked:
            self._wanted.pop(page, None)
            self._wanted[page] = None
            self._flush.start()

    def _ask(self) -> None:
        """Ask for the pages wanted last; older wishes are dropped, painting repeats them if they are still in view."""
        generation = self._generation
        while self._wanted and len(self._asked) < MAX_PENDING_PAGES:
            page, _ = self._wanted.popitem()
            self._asked.add(page)

            def deliver(rows: Page[Any], page: int = page) -> None:
                if generation == self._generation:
                    self._take(page, rows)

            self.columns.fetch(page * PAGE_ROWS, PAGE_ROWS, deliver)

    def _take(self, page: int, rows: Page[Any]) -> None:
        self._asked.discard(page)
        self._stale.discard(page)
        self._pages.pop(page, None)
        self._pages[page] = rows.rows
        while len(self._pages) > MAX_CACHED_PAGES:
            del self._pages[next(iter(self._pages))]
        self._resize(min(rows.total, MAX_ROWS))
        first, last = page * PAGE_ROWS, min(page * PAGE_ROWS + len(rows.rows), self._total) - 1
        if last >= first:
            self.dataChanged.emit(self.index(first, 0), self.index(last, len(self.columns.titles) - 1))
        if self._wanted:
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

    def rowCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else self._total

    def columnCount(self, parent: Index = NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.columns.titles)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._row(index.row())
        if row is None:
            return "…" if role == Qt.ItemDataRole.DisplayRole else None
        return self.columns.data(row, index.column(), role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.columns.titles[section]
        return self.columns.header(section, role)
