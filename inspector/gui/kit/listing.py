"""Lists: columns are declared as data, and every list can be copied and saved as a file.

The rows are held in memory (``Rows``), or are those of a request (``Listed`` in a ``PagedTable``).
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QModelIndex, QObject, QSaveFile, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QHeaderView, QMenu, QTableView

from inspector.core.names import visible
from inspector.gui.kit.building import ask, context_menu, dressed
from inspector.gui.kit.files import ask_for_new_file
from inspector.gui.kit.style import Sentences
from inspector.gui.kit.table_models import (
    NOWHERE,
    Column,
    ColumnTable,
    Deliver,
    Index,
    PagedTable,
    cell,
    widths,
)
from inspector.gui.kit.widgets import dress_table
from inspector.operations.protocol.views import Page

BATCH_ROWS = 1_000
"""Rows per request."""
MAX_COPIED_ROWS = 100_000
"""The most rows that are copied or saved."""
SAVED_AS = ("Rows (*.csv)",)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def _as_text(cell: str) -> str:
    """A cell that a spreadsheet shows and never computes: text like a formula gets an apostrophe in front."""
    return f"'{cell}" if cell.lstrip().startswith(_FORMULAS) else cell


def read_pages(
    ask: Callable[[int, Deliver], object], done: Callable[[list[Any]], object], most: int = sys.maxsize
) -> None:
    """Call ``done`` with all rows of which ``ask(first, deliver)`` gives a page, or with at least ``most``."""
    found: list[Any] = []

    def take(page: Page[Any]) -> None:
        found.extend(page.rows)
        if page.rows and len(found) < min(page.total, most):
            ask(len(found), take)
        else:
            done(found)

    ask(0, take)


class QueryTable(PagedTable):
    """The rows of a query, which ``ask(query, first, count)`` gives; a click on a column's title sorts them.

    ``sorts`` is the field of the query that says by what, and what the first click turns round.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        query: Any,
        ask: Callable[[Any, int, int], Any],
        sorts: tuple[str, int] = ("sort", -1),
        parent: QObject | None = None,
    ) -> None:
        super().__init__(columns, lambda first, count, deliver: ask(self.query, first, count).then(deliver), parent)
        self.query = query
        self._sorts = sorts

    def choose(self, **changes: Any) -> None:
        """Change these fields of the query and reload."""
        query = replace(self.query, **changes)
        if query != self.query:
            self.query = query
            self.refetch()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        if 0 <= column < len(self.columns):
            down, (name, turned) = order is Qt.SortOrder.DescendingOrder, self._sorts
            self.choose(**{name: self.columns[column].sort}, descending=down is not (column == turned))


class Rows(ColumnTable):
    """Rows that are held in memory."""

    @property
    def rows(self) -> Sequence[Any]:
        """The rows."""
        return self._rows

    def show(self, rows: Iterable[Any], text: str = "", columns: Sequence[Column] | None = None) -> None:
        """Replace the rows by those that contain a text, and the columns if those are others."""
        self.beginResetModel()
        if columns is not None:
            self.columns = columns
        wanted = text.casefold()
        self._rows = tuple(row for row in rows if not text or wanted in " ".join(self.texts_of(row)).casefold())
        self.endResetModel()

    def renew(self, rows: Sequence[Any]) -> None:
        """Show these rows, and keep those that are shown: only older ones in front and those at the end are others."""
        first = rows[0] if rows else None
        gone = next((at for at, row in enumerate(self._rows) if row == first), len(self._rows))
        kept = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(self._rows[gone:], rows, strict=False)))
        for start, stop in ((gone + kept, len(self._rows)), (0, gone)):
            if start < stop:
                self.beginRemoveRows(NOWHERE, start, stop - 1)
                self._rows = (*self._rows[:start], *self._rows[stop:])
                self.endRemoveRows()
        if kept < len(rows):
            self.beginInsertRows(NOWHERE, kept, len(rows) - 1)
            self._rows = tuple(rows)
            self.endInsertRows()

    def texts(self, at: int) -> tuple[str, ...]:
        """The texts of the row with this number."""
        return self.texts_of(self._rows[at])

    def row(self, index: Index) -> Any | None:
        """The row at an index, None where there is none."""
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return cell(self.columns[index.column()], self._rows[index.row()], role) if index.isValid() else None


class ListView(QTableView):
    """A table of rows. ``line`` gives a row as text; ``extend_menu`` adds to its menu.

    The column ``stretched`` takes the room that is left, or else the last one; its texts are cut at their end.
    """

    def __init__(
        self,
        model: Rows | PagedTable,
        name: str,
        line: Callable[[Any], str] | None = None,
        stretched: int | None = None,
    ) -> None:
        super().__init__()
        dress_table(self, model, widths(model.columns), name)
        self._model = model
        self._line = line or (lambda row: "\t".join(model.texts_of(row)))
        self.extend_menu: Callable[[QMenu], object] = bool
        dressed(self, textElideMode=Qt.TextElideMode.ElideRight, selectionMode=self.SelectionMode.ExtendedSelection)
        if stretched is not None:
            dressed(self.horizontalHeader(), stretchLastSection=False)
            self.horizontalHeader().setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
            self.setItemDelegateForColumn(stretched, Sentences(self))

    def row(self) -> Any | None:
        """The row at the cursor, None where there is none."""
        return self._model.row(self.currentIndex())

    def each_row(self, act: Callable[[Any], object]) -> Callable[[QModelIndex], None]:
        """``act`` for the row at an index, as a slot; for no row nothing is done."""

        def acted(index: QModelIndex, *_: object) -> None:
            if (row := self._model.row(index)) is not None:
                act(row)

        return acted

    # ---- copying and saving ------------------------------------------------------------------------------------

    def copy(self) -> None:
        """Copy the selected rows."""
        selected = sorted(self.selectionModel().selectedRows(), key=QModelIndex.row)
        rows = [row for index in selected if (row := self._model.row(index)) is not None]
        QGuiApplication.clipboard().setText("\n".join(map(self._line, rows)))

    def copy_all(self) -> None:
        """Copy all rows as soon as they have been fetched."""
        self.with_rows(lambda rows: QGuiApplication.clipboard().setText("\n".join(map(self._line, rows))))

    def save_all(self) -> None:
        """Ask for a new file, and write all rows to it as CSV; nothing is ever replaced, an archive least of all."""
        name = f"{self.accessibleName().lower()}.csv"

        def take(path: str) -> None:
            self.with_rows(partial(self._write, path))

        ask_for_new_file(self, "Save Rows", name, take, filters=SAVED_AS, suffix="csv", confirms=False)

    def _write(self, path: str, rows: Sequence[Any]) -> None:
        text, file = io.StringIO(), QSaveFile(path)  # the file appears whole or not at all
        csv.writer(text).writerow([each.title for each in self._model.columns])
        csv.writer(text).writerows([_as_text(each) for each in self._model.texts_of(row)] for row in rows)
        data = text.getvalue().encode("utf-8", "backslashreplace")
        is_new = not Path(path).exists()
        if not (is_new and file.open(QSaveFile.OpenModeFlag.WriteOnly) and file.write(data) >= 0 and file.commit()):
            why = f"{visible(path)} exists already. Choose another name." if not is_new else file.errorString()
            ask(self, "Save Rows", why, warns=True)

    def with_rows(self, done: Callable[[Sequence[Any]], object]) -> None:
        """Call ``done`` with all rows, at most MAX_COPIED_ROWS, as soon as they have been fetched."""
        if isinstance(self._model, Rows):
            done(self._model.rows)
        else:
            fetch = self._model.fetch
            read_pages(lambda first, take: fetch(first, BATCH_ROWS, take), done, MAX_COPIED_ROWS)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = context_menu(self)
        self.extend_menu(menu)
        for text, does in (("Copy", self.copy), ("Copy All", self.copy_all), ("Save as CSV…", self.save_all)):
            menu.addAction(text).triggered.connect(does)
        menu.popup(event.globalPos())
