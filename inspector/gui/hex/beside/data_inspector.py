"""The data inspector: the bytes at the caret as integers, floats, times and text in both byte orders."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QMenu, QSizePolicy, QTableView, QWidget

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.gui.hex.beside.typed_values import ValueRefusedError, encoded
from inspector.gui.kit.table_models import Index, TitledTable
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


class ReadingsModel(TitledTable):
    """One reading per row, of the bytes in each column of values; those that differ between columns are bold.

    Signals:
        typed(object, object): the user typed a value: the bytes that stand there, and those of the value.
        refused(str): why a typed value cannot stand there.
    """

    typed = Signal(object, object)
    refused = Signal(str)

    def __init__(self, columns: Sequence[str] = (_VALUE,)) -> None:
        super().__init__((_READ_AS, *columns))
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
        if role == _Role.FontRole:
            return self._font(index.row()) if index.column() else None
        if role in _SAID_OF_NOTHING:
            return self.text(index.row(), index.column()) or _SAID_OF_NOTHING[role]
        return None

    def _font(self, row: int) -> QFont:
        font = fixed_font()
        font.setBold(self.differs(row))
        return font


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
        self._name_widths: dict[str, int] = {}
        self.setModel(self._readings)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 5)
        head = self.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setHighlightSections(False)
        head.setMinimumSectionSize(40)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        head.setStretchLastSection(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Bytes at the caret as values")
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        self._readings.typed.connect(self.typed)
        self._readings.refused.connect(self.refused)
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

    def sizeHintForColumn(self, column: int) -> int:
        """Qt override: the first column never changes, and Qt asks each time the view gets a new parent."""
        if column:
            return super().sizeHintForColumn(column)
        font = self.font().key()
        if font not in self._name_widths:
            self._name_widths[font] = super().sizeHintForColumn(column)
        return self._name_widths[font]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the current cell."""
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy) and index.isValid():
            QGuiApplication.clipboard().setText(self._readings.text(index.row(), index.column()))
        else:
            super().keyPressEvent(event)


READ_BYTES = 16
"""Bytes from the caret on that are read."""
_MAX_VARINT_BYTES = 10
"""The longest varint of 64 bits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Order = Literal["little", "big"]
_ORDERS: tuple[tuple[str, _Order], ...] = (("LE", "little"), ("BE", "big"))


class Reading(NamedTuple):
    """A name and a value; the value is empty for too few bytes and for bytes that encode no such value."""

    name: str
    text: str


def readings(data: bytes) -> list[Reading]:
    """All readings of the bytes at the start of ``data``, in a fixed order; all are empty without bytes."""
    return [
        Reading("binary", f"{data[0]:08b}" if data else ""),
        Reading("u8", _integer(data, 1, "little", signed=False)),
        Reading("i8", _integer(data, 1, "little", signed=True)),
        *(each for size in (2, 3, 4, 8) for each in _integers(data, size)),
        *(each for size in (2, 4, 8) for each in _both_orders(f"f{8 * size}", _float_reader(size), data)),
        *(each for size in (4, 8) for each in _both_orders(f"Unix time {8 * size}", _unix_reader(size), data)),
        Reading("DOS time, date", _dos(data)),
        Reading("varint (LEB128)", varint(data)),
        Reading("UTF-8", _character(data)),
    ]


def _both_orders(name: str, read: Callable[[bytes, _Order], str], data: bytes) -> tuple[Reading, Reading]:
    return Reading(f"{name} LE", read(data, "little")), Reading(f"{name} BE", read(data, "big"))


def _integers(data: bytes, size: int) -> list[Reading]:
    return [
        Reading(f"{sign}{8 * size} {name}", _integer(data, size, order, signed=sign == "i"))
        for sign in "ui"
        for name, order in _ORDERS
    ]


# ---- numbers -------------------------------------------------------------------------------------------------------


def _integer(data: bytes, size: int, order: _Order, signed: bool) -> str:
    return f"{int.from_bytes(data[:size], order, signed=signed):,}" if len(data) >= size else ""


def _float_reader(size: int) -> Callable[[bytes, _Order], str]:
    letter, digits = {2: ("e", 5), 4: ("f", 9), 8: ("d", 17)}[size]

    def read(data: bytes, order: _Order) -> str:
        if len(data) < size:
            return ""
        (value,) = struct.unpack(("<" if order == "little" else ">") + letter, data[:size])
        # repr() gives the shortest exact text for 64 bits only; smaller floats have fewer significant digits.
        return repr(value) if size == 8 else f"{value:.{digits}g}"

    return read


def varint(data: bytes) -> str:
    """An unsigned LEB128 number (seven bits per byte, lowest first, the high bit set if more follow) and its length."""
    value = 0
    for index, byte in enumerate(data[:_MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return f"{value:,} ({in_bytes(index + 1)})" if value < 1 << 64 else ""
    return ""


# ---- times ---------------------------------------------------------------------------------------------------------


def _unix_reader(size: int) -> Callable[[bytes, _Order], str]:
    def read(data: bytes, order: _Order) -> str:
        if len(data) < size:
            return ""
        try:
            moment = _EPOCH + timedelta(seconds=int.from_bytes(data[:size], order, signed=True))
        except OverflowError:
            return ""
        return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if moment.year >= 1000 else ""

    return read


def _dos(data: bytes) -> str:
    """A DOS time and date as in ZIP: two little-endian 16-bit numbers, the time first."""
    if len(data) < 4:
        return ""
    time, date = struct.unpack("<HH", data[:4])
    try:
        moment = datetime(  # noqa: DTZ001 - DOS times have no time zone
            1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, (time & 31) * 2
        )
    except ValueError:
        return ""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


# ---- text ----------------------------------------------------------------------------------------------------------


def _character(data: bytes) -> str:
    for size in range(1, min(4, len(data)) + 1):
        try:
            character = data[:size].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return f"{visible(character)}  U+{ord(character):04X} ({in_bytes(size)})"
    return ""


ALL_ROWS = tuple(each.name for each in readings(b""))
"""The names of all readings in their order."""
DEFAULT_ROWS = frozenset(
    (
        *("u8", "u16 LE", "u32 LE", "u64 LE", "u32 BE", "i32 LE", "f64 LE"),
        *("Unix time 32 LE", "DOS time, date", "varint (LEB128)", "UTF-8"),
    )
)
"""The readings shown until the user chooses others."""
