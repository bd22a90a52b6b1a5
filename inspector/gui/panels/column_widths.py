"""How the columns of a tree or a table share its width."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTableView, QTreeView

NARROWEST = 105
"""Pixels that a first column has at least."""
COMFORTABLE = 190
"""Pixels that a first column has before further columns of a tree are shown."""
LEAST_SHARE = 0.6
"""The least part of its width that a column beside the first may shrink to before it is left out."""


class FirstColumnFits(QObject):
    """Keeps the first column as wide as leaves room for the next ones, until the user sets a width by hand.

    Where there is little room the next ones shrink before one of them goes. A tree shows the columns behind them only
    where there is room for them: it need not scroll.
    """

    def __init__(self, view: QTreeView | QTableView, neighbours: int) -> None:
        super().__init__(view)
        self._hides = isinstance(view, QTreeView)
        self._header = view.header() if isinstance(view, QTreeView) else view.horizontalHeader()
        self._viewport = view.viewport()
        self._neighbours = neighbours
        self._widths = [self._header.sectionSize(column) for column in range(self._header.count())]
        self._fitting = False
        self._viewport.installEventFilter(self)
        self._header.sectionResized.connect(self._resized)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See QObject."""
        if event.type() is QEvent.Type.Resize and watched is self._viewport:
            self.fit()
        return False

    def fit(self) -> None:
        """Fit it now."""
        room = self._viewport.width()
        self._fitting = True
        beside = self._fit_neighbours(room - NARROWEST)
        if self._hides:
            beside = self._show_others(room - COMFORTABLE, beside)
        self._header.resizeSection(0, max(NARROWEST, room - beside))
        self._fitting = False

    def _fit_neighbours(self, room: int) -> int:
        """Give the columns next to the first what there is room for; the result are the pixels that they take."""
        near = [column for column in range(1, self._neighbours + 1) if not self._is_unwanted(column)]
        wanted = sum(self._widths[column] for column in near)
        while self._hides and len(near) > 1 and room < wanted * LEAST_SHARE:
            last = near.pop()
            wanted -= self._widths[last]
            self._header.setSectionHidden(last, True)
        share = max(LEAST_SHARE, min(1, room / wanted)) if wanted else 1
        for column in near:
            self._header.setSectionHidden(column, False)
            self._header.resizeSection(column, int(self._widths[column] * share))
        return sum(int(self._widths[column] * share) for column in near)

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
        if not self._fitting and QGuiApplication.mouseButtons() is not Qt.MouseButton.NoButton:
            self._viewport.removeEventFilter(self)
