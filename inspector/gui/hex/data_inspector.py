"""The data inspector: the bytes at the caret as numbers of every width and order, times and text."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QSizePolicy, QTableView, QWidget

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.gui.kit.table_models import Index, TitledTable
from inspector.gui.kit.theme import fixed_font

_HEADINGS = ("Read as", "Value")
_Role = Qt.ItemDataRole


class ReadingsModel(TitledTable):
    """The readings of some bytes, one a row."""

    def __init__(self) -> None:
        super().__init__(_HEADINGS)
        self._rows: list[Value] = readings(b"")

    def setBytes(self, data: bytes) -> None:
        """Read these bytes."""
        self._rows = readings(data)
        self.dataChanged.emit(self.index(0, 1), self.index(len(self._rows) - 1, 1))

    def text(self, row: int, column: int) -> str:
        """What a cell says."""
        return self._rows[row][column]

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        """Qt override."""
        if not index.isValid():
            return None
        text = self.text(index.row(), index.column())
        answers = {
            _Role.DisplayRole: text or "–",
            _Role.ToolTipRole: text,
            _Role.AccessibleTextRole: text or "not a valid value",
            _Role.FontRole: fixed_font() if index.column() else None,
        }
        return answers.get(_Role(role))


class DataInspector(QTableView):
    """Shows the readings of the bytes at the caret, all at once; a value can be copied with the usual key."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._readings = ReadingsModel()
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

    def setBytes(self, data: bytes) -> None:
        """Show what these bytes are; ``inspector_values.LOOKED_AT`` of them are enough."""
        self._readings.setBytes(data)

    def restyle(self) -> None:
        """Take over another font for bytes."""
        self.verticalHeader().setDefaultSectionSize(
            max(self.fontMetrics().height(), QFontMetrics(fixed_font()).height()) + 5
        )
        self._readings.layoutChanged.emit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Qt override: high enough for all rows, so that it needs no scrolling of its own."""
        rows = self._readings.rowCount() * self.verticalHeader().defaultSectionSize()
        return QSize(
            super().sizeHint().width(), rows + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt override: copies the chosen value."""
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy) and index.isValid():
            QGuiApplication.clipboard().setText(self._readings.text(index.row(), index.column()))
        else:
            super().keyPressEvent(event)


LOOKED_AT = 16
"""Bytes from the caret on that are looked at."""
_VARINT = 10
"""The most bytes of a varint of 64 bits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Order = Literal["little", "big"]
_ORDERS: tuple[tuple[str, _Order], ...] = (("LE", "little"), ("BE", "big"))


class Value(NamedTuple):
    """One reading: its name and the value; an empty text for too few bytes or for bytes that are no such value."""

    name: str
    text: str


def readings(data: bytes) -> list[Value]:
    """All readings of the bytes that begin ``data``, in a fixed order; of no bytes they are empty."""
    return [
        Value("binary", f"{data[0]:08b}" if data else ""),
        Value("u8", _integer(data, 1, "little", signed=False)),
        Value("i8", _integer(data, 1, "little", signed=True)),
        *(each for size in (2, 3, 4, 8) for each in _integers(data, size)),
        *(each for size in (2, 4, 8) for each in _both(f"f{8 * size}", _float_reader(size), data)),
        *(each for size in (4, 8) for each in _both(f"Unix time {8 * size}", _unix_reader(size), data)),
        Value("DOS time, date", _dos(data)),
        Value("varint (LEB128)", varint(data)),
        Value("UTF-8", _character(data)),
    ]


def _both(name: str, read: Callable[[bytes, _Order], str], data: bytes) -> tuple[Value, Value]:
    return Value(f"{name} LE", read(data, "little")), Value(f"{name} BE", read(data, "big"))


def _integers(data: bytes, size: int) -> list[Value]:
    return [
        Value(f"{sign}{8 * size} {name}", _integer(data, size, order, signed=sign == "i"))
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
        # Python's own form is the shortest for 64 bits only; fewer bits have fewer digits.
        return repr(value) if size == 8 else f"{value:.{digits}g}"

    return read


def varint(data: bytes) -> str:
    """A varint: seven bits a byte, the lowest first, the highest bit says that more follow; and how long it is."""
    value = 0
    for index, byte in enumerate(data[:_VARINT]):
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
    """A DOS time and date as in ZIP: two little-endian numbers of 16 bits, the time first."""
    if len(data) < 4:
        return ""
    time, date = struct.unpack("<HH", data[:4])
    try:
        moment = datetime(  # noqa: DTZ001 - DOS knows no time zones
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
