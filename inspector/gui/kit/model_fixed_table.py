"""A table of a few thousand rows of text that are all there at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt

from inspector.core.finding import Severity
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.model_titled_table import Index, TitledTable
from inspector.gui.kit.text import plain, short


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
