"""A table whose rows can be copied as lines of text, one by one or all of them, whether they were fetched or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView

from inspector.gui.kit.model_paged_table import PagedTable
from inspector.gui.kit.widgets import dress_table
from inspector.operations.protocol.views import Page

AT_ONCE = 1_000
"""Rows asked for at a time."""
MOST = 100_000
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
    """Give ``done`` all rows of a model, at most MOST."""
    found: list[Any] = []

    def take(page: Page[Any]) -> None:
        found.extend(page.rows)
        if page.rows and len(found) < min(page.total, MOST):
            ask()
        else:
            done(found)

    def ask() -> None:
        model.columns.fetch(len(found), AT_ONCE, take)

    ask()
