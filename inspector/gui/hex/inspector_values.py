"""Bytes as numbers, times and text: what the data inspector shows."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from inspector.core.names import visible
from inspector.core.numbers import in_bytes

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
