"""What the user has unfolded in a tree stays unfolded when its rows are fetched anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QModelIndex, QObject
from PySide6.QtWidgets import QTreeView

Place = Callable[[QModelIndex], Any]


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

    def __init__(self, view: QTreeView, place: Place) -> None:
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
