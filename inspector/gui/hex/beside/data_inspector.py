"""The data inspector: the bytes at the caret as integers, floats, times and text in both byte orders."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QMenu, QSizePolicy, QTableView, QWidget

from inspector.gui.hex.beside.readings import ALL_ROWS, DEFAULT_ROWS, ValueRefusedError, encoded, readings
from inspector.gui.kit.building import dressed
from inspector.gui.kit.table_models import Column, ColumnTable, Index
from inspector.gui.kit.theme import fixed_font

_READ_AS, _VALUE = "Read as", "Value"
_Role = Qt.ItemDataRole
_SAID_OF_NOTHING: dict[int, str] = {
    _Role.DisplayRole: "–",
    _Role.EditRole: "",
    _Role.ToolTipRole: "",
    _Role.AccessibleTextRole: "not a valid value",
}
"""What each role says of bytes that cannot be read in this way."""


class ReadingsModel(ColumnTable):
    """One reading per row, of the bytes in each column of values; those that differ between columns are bold.

    Signals:
        typed(object, object): the user typed a value: the bytes that stand there, and those of the value.
        refused(str): why a typed value cannot stand there.
    """

    typed = Signal(object, object)
    refused = Signal(str)

    def __init__(self, columns: Sequence[str] = (_VALUE,)) -> None:
        super().__init__([Column(title, itemgetter(at)) for at, title in enumerate((_READ_AS, *columns))])
        self._rows: list[tuple[str, ...]] = []
        self._data: tuple[bytes, ...] = ()
        self.editable = False
        self._read(tuple(b"" for _ in columns))

    def setBytes(self, *data: bytes) -> None:
        """Read these bytes, in each column its own."""
        self._read(data)
        self.dataChanged.emit(self.index(0, 1), self.index(len(self._rows) - 1, len(data)))

    def _read(self, data: tuple[bytes, ...]) -> None:
        self._data = data
        found = [[each.text for each in readings(one)] for one in data]
        self._rows = [(name, *texts) for name, *texts in zip(ALL_ROWS, *found, strict=True)]

    def text(self, row: int, column: int) -> str:
        """The text of a cell."""
        return self._rows[row][column]

    def differs(self, row: int) -> bool:
        """Whether the columns have different values in a row."""
        return len(set(self._rows[row][1:])) > 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        can = self.editable and index.isValid() and index.column() == 1 and bool(self._data[0])
        return flags | Qt.ItemFlag.ItemIsEditable if can else flags

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:
        """Qt override: a typed value goes out as a change; the view shows it when it is pending."""
        if role != _Role.EditRole or not self.flags(index) & Qt.ItemFlag.ItemIsEditable:
            return False
        name, shown, data = self.text(index.row(), 0), self.text(index.row(), 1), self._data[0]
        if str(value) == shown:
            return False
        try:
            new = encoded(name, str(value), data)
        except ValueRefusedError as error:
            self.refused.emit(str(error))
            return False
        self.typed.emit(data[: len(new)], new)
        return True

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == _Role.FontRole and index.column():
            font = fixed_font()
            font.setBold(self.differs(index.row()))
            return font
        if role in _SAID_OF_NOTHING:
            return self.text(index.row(), index.column()) or _SAID_OF_NOTHING[role]
        return None


class DataInspector(QTableView):
    """Shows readings of the bytes at the caret without scrolling; Copy copies the current cell.

    The context menu chooses the rows. While ``set_editable``, a value can be typed.

    Signals:
        typed(object, object), refused(str): see ReadingsModel.
        rowsChosen(object): the user chose the rows to show: a frozenset of names.
    """

    typed = Signal(object, object)
    refused = Signal(str)
    rowsChosen = Signal(object)

    def __init__(self, parent: QWidget | None = None, columns: Sequence[str] = (_VALUE,)) -> None:
        super().__init__(parent)
        self._readings = ReadingsModel(columns)
        self.setModel(self._readings)
        self.setFrameShape(QFrame.Shape.NoFrame)
        looks = {"showGrid": False, "alternatingRowColors": True, "wordWrap": False, "tabKeyNavigation": False}
        dressed(self, "Bytes at the caret as values", **looks)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head = self.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setHighlightSections(False)
        head.setMinimumSectionSize(40)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        head.setStretchLastSection(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self._readings.typed.connect(self.typed)
        self._readings.refused.connect(self.refused)
        self.restyle()
        self.show_rows(DEFAULT_ROWS)

    # ---- rows --------------------------------------------------------------------------------------------------

    def show_rows(self, names: Collection[str]) -> None:
        """Show the readings of these names; all of them if none is known."""
        known = [name in names for name in ALL_ROWS]
        for row, wanted in enumerate(known):
            self.setRowHidden(row, not wanted and any(known))
        self.updateGeometry()

    def shown_rows(self) -> frozenset[str]:
        """The names of the readings shown."""
        return frozenset(name for row, name in enumerate(ALL_ROWS) if not self.isRowHidden(row))

    def rows_menu(self) -> QMenu:
        """A menu to choose the rows, which deletes itself."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        shown = self.shown_rows()
        for name in ALL_ROWS:
            entry = menu.addAction(name)
            entry.setCheckable(True)
            entry.setChecked(name in shown)
            entry.setEnabled(shown != {name})
            entry.triggered.connect(partial(self._choose, shown ^ {name}))
        menu.addSeparator()
        menu.addAction("Show &All").triggered.connect(partial(self._choose, frozenset(ALL_ROWS)))
        menu.addAction("Show the &Usual Ones").triggered.connect(partial(self._choose, DEFAULT_ROWS))
        return menu

    def _choose(self, names: frozenset[str], _: bool = False) -> None:
        self.show_rows(names)
        self.rowsChosen.emit(names)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Choose the rows."""
        self.rows_menu().popup(event.globalPos())

    # ---- values ------------------------------------------------------------------------------------------------

    def set_editable(self, editable: bool) -> None:
        """Allow typing values, or not."""
        self._readings.editable = editable

    def setBytes(self, *data: bytes) -> None:
        """Show the readings of ``data`` for each column of values, of which at most ``READ_BYTES`` are used."""
        self._readings.setBytes(*data)

    def restyle(self) -> None:
        """Apply the current fixed font."""
        self.verticalHeader().setDefaultSectionSize(
            max(self.fontMetrics().height(), QFontMetrics(fixed_font()).height()) + 5
        )
        self._readings.layoutChanged.emit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """High enough for the rows shown, so that the view never scrolls."""
        rows = len(self.shown_rows()) * self.verticalHeader().defaultSectionSize()
        return QSize(
            super().sizeHint().width(), rows + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the current cell."""
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy) and index.isValid():
            QGuiApplication.clipboard().setText(self._readings.text(index.row(), index.column()))
        else:
            super().keyPressEvent(event)
