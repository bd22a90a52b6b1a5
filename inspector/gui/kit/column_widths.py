"""How the columns of a tree or a table share its width."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QObject, QPoint, QTimer
from PySide6.QtWidgets import QAbstractItemView, QTableView, QTreeView

NARROWEST = 105
"""Pixels that a first column has at least."""
COMFORTABLE = 190
"""Pixels that a first column has before further columns of a tree are shown, and those beside it have room to spare."""
LEAST_SHARE = 0.6
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
        beside = self._fit_neighbours(room - NARROWEST)
        if self._hides:
            beside = self._show_others(room - COMFORTABLE, beside)
        self._header.resizeSection(0, max(NARROWEST, room - beside))
        self._fitting = False

    def _fit_neighbours(self, room: int) -> int:
        """Give the columns next to the first what there is room for; the result are the pixels that they take."""
        near = [column for column in range(1, self._neighbours + 1) if not self._is_unwanted(column)]
        widths = {column: self._widths[column] for column in near}
        if room + NARROWEST - sum(widths.values()) < COMFORTABLE:
            widths = {column: self._need(column) for column in near}
        wanted = sum(widths.values())
        while self._hides and len(near) > 1 and room < wanted * LEAST_SHARE:
            last = near.pop()
            wanted -= widths[last]
            self._header.setSectionHidden(last, True)
        share = max(LEAST_SHARE, min(1, room / wanted)) if wanted else 1
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
