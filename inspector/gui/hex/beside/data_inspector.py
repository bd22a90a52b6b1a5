"""The data inspector: the bytes at the caret as integers, floats, times and text in both byte orders."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QMenu, QSizePolicy, QTableView

from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.gui.kit.table_models import Column, ColumnTable, Index
from inspector.gui.kit.theme import fixed_font
from inspector.gui.kit.widgets import dress_table

READ_BYTES = 16
"""Bytes from the caret on that are read."""
_MAX_VARINT_BYTES = 10
"""The longest varint of 64 bits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORMAT = "%Y-%m-%d %H:%M:%S"
Order = Literal["little", "big"]
_ORDERS: tuple[tuple[str, Order, str], ...] = (("LE", "little", "<"), ("BE", "big", ">"))

# ---- ways to read bytes, and to write a value --------------------------------------------------------------------


class ValueRefusedError(ValueError):
    """A typed value does not fit the bytes; the message is for the user."""


class _Way(NamedTuple):
    """One way to read ``size`` bytes, and to make them of a typed text; both raise ValueError or OverflowError.

    What has no size of its own gives with ``stands`` how many bytes there are, from 1 on; 0 where they are no such
    value.
    """

    name: str
    size: int
    read: Callable[[bytes], str]
    write: Callable[[str], bytes]
    stands: Callable[[bytes], int] | None = None


def readings(data: bytes) -> list[tuple[str, str]]:
    """The names and texts of all readings of the bytes at the start of ``data``, in a fixed order.

    A text is empty for too few bytes, and for bytes that encode no such value.
    """
    return [(way.name, _text(way, data)) for way in _WAYS]


def _text(way: _Way, data: bytes) -> str:
    size = way.size if way.stands is None else way.stands(data)
    try:
        return way.read(data[:size]) if 0 < size <= len(data) else ""
    except (ValueError, OverflowError):
        return ""


def encoded(name: str, text: str, data: bytes) -> bytes:
    """The bytes that a typed value stands for, as many as the reading ``name`` of ``data`` takes.

    Raises ValueRefusedError for a value that is none of that kind, or needs another number of bytes.
    """
    way, text = next(way for way in _WAYS if way.name == name), text.strip()
    try:
        new = way.write(text)
    except (ValueError, OverflowError):
        raise ValueRefusedError(f"{text or 'Nothing'} is no value for {name}. Type one as it is shown.") from None
    stands = len(new) if way.stands is None else way.stands(data)
    if len(new) != stands:
        raise ValueRefusedError(f"That takes {in_bytes(len(new))}, and here are {stands}. Bytes are never moved.")
    if stands > len(data):
        raise ValueRefusedError(f"{in_bytes(stands)} do not fit before the end of the file.")
    return new


def _whole(text: str) -> int:
    return int(text.replace(",", "").replace(" ", ""), 0)


def _integer(
    name: str,
    size: int,
    order: Order,
    signed: bool,
    show: Callable[[int], str] = "{:,}".format,
    parse: Callable[[str], int] = _whole,
) -> _Way:
    return _Way(
        name,
        size,
        lambda data: show(int.from_bytes(data, order, signed=signed)),
        lambda text: parse(text).to_bytes(size, order, signed=signed),
    )


def _float(name: str, form: struct.Struct, digits: int) -> _Way:
    # repr() gives the shortest exact text for 64 bits only; smaller floats have fewer significant digits.
    show = "{!r}" if form.size == 8 else f"{{:.{digits}g}}"
    return _Way(
        name,
        form.size,
        lambda data: show.format(*form.unpack(data)),
        lambda text: form.pack(float(text.replace(",", ""))),
    )


def _time(text: str) -> datetime:
    return datetime.strptime(text.removesuffix("UTC").strip(), _FORMAT).replace(tzinfo=UTC)


def _unix_time(seconds: int) -> str:
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment:{_FORMAT}} UTC" if moment.year >= 1000 else ""


def _seconds(text: str) -> int:
    return int(_time(text).timestamp())


def _dos_time(data: bytes) -> str:
    """A DOS time and date as in ZIP: two little-endian 16-bit numbers, the time first."""
    time, date = struct.unpack("<HH", data)
    moment = datetime(  # noqa: DTZ001 - DOS times have no time zone
        1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, (time & 31) * 2
    )
    return f"{moment:{_FORMAT}}"


def _dos(text: str) -> bytes:
    moment = _time(text)
    if not 1980 <= moment.year < 2108 or moment.second % 2:
        raise ValueError("DOS times are from 1980 to 2107, in steps of two seconds.")
    time = moment.hour << 11 | moment.minute << 5 | moment.second // 2
    return struct.pack("<HH", time, (moment.year - 1980) << 9 | moment.month << 5 | moment.day)


def varint(data: bytes) -> str:
    """An unsigned LEB128 number (seven bits per byte, lowest first, the high bit set if more follow) and its length."""
    value = sum((byte & 0x7F) << 7 * at for at, byte in enumerate(data))
    return f"{value:,} ({in_bytes(len(data))})" if value < 1 << 64 else ""


def _varint_size(data: bytes) -> int:
    return next((at + 1 for at, byte in enumerate(data[:_MAX_VARINT_BYTES]) if byte < 0x80), 0)


def _varint(text: str) -> bytes:
    value = _whole(text.partition("(")[0].strip())
    value.to_bytes(8, "little")  # which raises OverflowError
    parts = [value >> at & 0x7F for at in range(0, max(1, value.bit_length()), 7)]
    return bytes([*(part | 0x80 for part in parts[:-1]), parts[-1]])


def _character_size(data: bytes) -> int:
    """The bytes of the first character of UTF-8, which are read with it."""
    return len(data[:4].decode("utf-8", "surrogateescape")[:1].encode("utf-8", "surrogateescape"))


def _character(data: bytes) -> str:
    character = data.decode()
    return f"{visible(character)}  U+{ord(character):04X} ({in_bytes(len(data))})"


def _ways() -> Iterator[_Way]:
    yield _Way(
        "binary", 1, lambda data: f"{data[0]:08b}", lambda text: int(text.replace(" ", ""), 2).to_bytes(1, "big")
    )
    for size, sign, (suffix, order, _) in product((1, 2, 3, 4, 8), "ui", _ORDERS):
        if size > 1 or order == "little":
            yield _integer(f"{sign}{8 * size} {suffix if size > 1 else ''}".rstrip(), size, order, sign == "i")
    for (letter, digits), (suffix, _, sign) in product((("e", 5), ("f", 9), ("d", 17)), _ORDERS):
        form = struct.Struct(sign + letter)
        yield _float(f"f{8 * form.size} {suffix}", form, digits)
    for size, (suffix, order, _) in product((4, 8), _ORDERS):
        yield _integer(f"Unix time {8 * size} {suffix}", size, order, True, _unix_time, _seconds)
    yield _Way("DOS time, date", 4, _dos_time, _dos)
    yield _Way("varint (LEB128)", 1, varint, _varint, _varint_size)
    yield _Way("UTF-8", 1, _character, lambda text: text[:1].encode(), _character_size)


_WAYS = tuple(_ways())
ALL_ROWS = tuple(way.name for way in _WAYS)
"""The names of all readings in their order."""
DEFAULT_ROWS = frozenset(
    (
        *("u8", "u16 LE", "u32 LE", "u64 LE", "u32 BE", "i32 LE", "f64 LE"),
        *("Unix time 32 LE", "DOS time, date", "varint (LEB128)", "UTF-8"),
    )
)
"""The readings shown until the user chooses others."""

# ---- the table ---------------------------------------------------------------------------------------------------

_Role = Qt.ItemDataRole
_SAID_OF_NOTHING: dict[int, str] = {
    _Role.DisplayRole: "–",
    _Role.EditRole: "",
    _Role.ToolTipRole: "",
    _Role.AccessibleTextRole: "not a valid value",
}
"""What each role says of bytes that cannot be read in this way."""


class ReadingsModel(ColumnTable):
    """One reading per row. While ``editable``, values can be typed.

    Signals:
        typed(object, object): the user typed a value: the bytes that stand there, and those of the value.
        refused(str): why a typed value cannot stand there.
    """

    typed = Signal(object, object)
    refused = Signal(str)

    def __init__(self) -> None:
        super().__init__([Column("Read as", itemgetter(0)), Column("Value", itemgetter(1))])
        self.editable = False
        self.setBytes(b"")

    def setBytes(self, data: bytes) -> None:
        """Read these bytes."""
        self._data, self._rows = data, readings(data)
        self.dataChanged.emit(self.index(0, 1), self.index(len(self._rows) - 1, 1))

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        can = self.editable and index.isValid() and index.column() == 1 and bool(self._data)
        return flags | Qt.ItemFlag.ItemIsEditable if can else flags

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:
        """Qt override: a typed value goes out as a change; the view shows it when it is pending."""
        if role != _Role.EditRole or not self.flags(index) & Qt.ItemFlag.ItemIsEditable:
            return False
        name, shown = self._rows[index.row()]
        if str(value) == shown:
            return False
        try:
            new = encoded(name, str(value), self._data)
        except ValueRefusedError as error:
            self.refused.emit(str(error))
            return False
        self.typed.emit(self._data[: len(new)], new)
        return True

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if role == _Role.FontRole and index.column():
            return fixed_font()
        if role in _SAID_OF_NOTHING:
            return self._rows[index.row()][index.column()] or _SAID_OF_NOTHING[role]
        return None


class DataInspector(QTableView):
    """Readings of the bytes at the caret, without scrolling; the context menu chooses the rows."""

    def __init__(self) -> None:
        super().__init__()
        self.readings = ReadingsModel()
        dress_table(self, self.readings, {}, "Bytes at the caret as values")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectItems)
        self.horizontalHeader().setMinimumSectionSize(40)
        self.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed | triggers.AnyKeyPressed)
        self.restyle()
        self.show_rows(DEFAULT_ROWS)

    def show_rows(self, names: Collection[str], _: bool = False) -> None:
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
            entry.triggered.connect(partial(self.show_rows, shown ^ {name}))
        menu.addSeparator()
        menu.addAction("Show &All").triggered.connect(partial(self.show_rows, frozenset(ALL_ROWS)))
        menu.addAction("Show the &Usual Ones").triggered.connect(partial(self.show_rows, DEFAULT_ROWS))
        return menu

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Choose the rows."""
        self.rows_menu().popup(event.globalPos())

    def restyle(self) -> None:
        """Apply the current fixed font."""
        height = max(self.fontMetrics().height(), QFontMetrics(fixed_font()).height()) + 5
        self.verticalHeader().setDefaultSectionSize(height)
        self.readings.layoutChanged.emit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """High enough for the rows shown, so that the view never scrolls."""
        rows = len(self.shown_rows()) * self.verticalHeader().defaultSectionSize()
        height = rows + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth()
        return QSize(super().sizeHint().width(), height)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy the current cell."""
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy) and index.isValid():
            QGuiApplication.clipboard().setText(str(index.data(_Role.EditRole)))
        else:
            super().keyPressEvent(event)
