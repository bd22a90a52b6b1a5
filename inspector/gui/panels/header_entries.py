"""The seven entries of a TACO header as an editable table."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFont

from inspector.core.finding import Severity
from inspector.core.numbers import grouped, hexadecimal
from inspector.gui.kit.icons import severity_icon
from inspector.gui.kit.table_models import Index, TitledTable
from inspector.gui.kit.text import plain, short
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.header_draft import EntryView, HeaderView, parse_number

TITLES = ("Entry", "Offset", "Length", "Points to")
ENTRY, OFFSET, LENGTH, TARGET = range(len(TITLES))
EDITABLE = (OFFSET, LENGTH)


class HeaderEntries(TitledTable):
    """Shows a HeaderView. It changes nothing itself.

    Signals:
        typed(int entry, int column, object number): a number was typed into OFFSET or LENGTH of an entry.
        refused(str): what was typed is no such number.
    """

    typed = Signal(int, int, object)
    refused = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, parent)
        self.view: HeaderView | None = None
        self._hexadecimal = False

    def show(self, view: HeaderView | None) -> None:
        """Show another header, or none."""
        if view is not None and self.view is not None:
            self.view, self._rows = view, view.entries
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, TARGET))
            return
        self.beginResetModel()
        self.view = view
        self._rows = view.entries if view is not None else ()
        self.endResetModel()

    def set_hexadecimal(self, on: bool) -> None:
        """Show numbers in hexadecimal, or in decimal."""
        self._hexadecimal = on
        if self.view is not None:
            self.dataChanged.emit(self.index(0, OFFSET), self.index(self.rowCount() - 1, LENGTH))

    def entry(self, row: int) -> EntryView | None:
        """The entry in a row."""
        return self.view.entries[row] if self.view is not None and 0 <= row < len(self.view.entries) else None

    # ---- Qt overrides ------------------------------------------------------------------------------------------

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Qt override."""
        flags = super().flags(index)
        if index.column() in EDITABLE and self.view is not None and not self.view.why_not:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt override."""
        entry = self.entry(index.row())
        if entry is None:
            return None
        column = index.column()
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self._text(entry, column, role == Qt.ItemDataRole.EditRole)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(self._tip(entry))
        if role == Qt.ItemDataRole.DecorationRole and column == TARGET and entry.doubtful:
            return severity_icon(Severity.WARNING)
        if role == Qt.ItemDataRole.FontRole:
            return self._font(entry, column)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Qt override: says what was typed."""
        if role != Qt.ItemDataRole.EditRole or index.column() not in EDITABLE:
            return False
        try:
            number = parse_number(str(value))
        except OperationError as error:
            self.refused.emit(str(error))
            return False
        self.typed.emit(index.row(), index.column(), number)
        return True

    # ---- what cells say ----------------------------------------------------------------------------------------

    def _text(self, entry: EntryView, column: int, editing: bool) -> str:
        if column == ENTRY:
            return f"{entry.index}" if entry.used else f"{entry.index} (unused)"
        if column == TARGET:
            return short(entry.words)
        number = entry.offset if column == OFFSET else entry.length
        if self._hexadecimal:
            return f"0x{number:X}"
        return f"{number}" if editing else f"{number:,}"

    def _tip(self, entry: EntryView) -> str:
        offset, length = (f"{grouped(number)} ({hexadecimal(number)})" for number in (entry.offset, entry.length))
        where = f"Offset {offset}, length {length}: {short(entry.words)}."
        use = "" if entry.used else "Not in use: readers ignore it."
        doubt = "Readers cannot follow it." if entry.doubtful else ""
        return " ".join(filter(None, (where, use, doubt)))

    def _is_changed(self, entry: EntryView, column: int) -> bool:
        """Whether a cell holds another number than the file."""
        if self.view is None or not self.view.stood:
            return False
        offset, length = self.view.stood[entry.index]
        return (column == OFFSET and entry.offset != offset) or (column == LENGTH and entry.length != length)

    def _font(self, entry: EntryView, column: int) -> QFont | None:
        changed = self._is_changed(entry, column)
        if entry.used and not changed:
            return None
        font = QFont()
        font.setItalic(not entry.used)
        font.setUnderline(changed)
        return font
