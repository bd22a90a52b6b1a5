"""Ways to read the bytes at the caret as a value, and to write a value that the user types: one table of both."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from inspector.core.names import visible
from inspector.core.numbers import in_bytes

READ_BYTES = 16
"""Bytes from the caret on that are read."""
_MAX_VARINT_BYTES = 10
"""The longest varint of 64 bits."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FORMAT = "%Y-%m-%d %H:%M:%S"
_ORDERS: tuple[tuple[str, Literal["little", "big"], str], ...] = (("LE", "little", "<"), ("BE", "big", ">"))


class ValueRefusedError(ValueError):
    """A typed value does not fit the bytes; the message is for the user."""


class Reading(NamedTuple):
    """A name and a value; the value is empty for too few bytes and for bytes that encode no such value."""

    name: str
    text: str


class _Way(NamedTuple):
    """One way to read bytes.

    ``read`` gives the text of at least ``size`` bytes, empty where they encode no such value. ``write`` gives the bytes
    of a typed text, for the place of those given; it raises ValueRefusedError.
    """

    name: str
    size: int
    read: Callable[[bytes], str]
    write: Callable[[str, bytes], bytes]


def readings(data: bytes) -> list[Reading]:
    """All readings of the bytes at the start of ``data``, in a fixed order; all are empty without bytes."""
    return [Reading(way.name, way.read(data) if len(data) >= way.size else "") for way in _WAYS]


def encoded(name: str, text: str, data: bytes) -> bytes:
    """The bytes that a typed value stands for, as many as the reading ``name`` of ``data`` takes.

    Raises ValueRefusedError for a value that is none of that kind, or needs another number of bytes.
    """
    new = next(way for way in _WAYS if way.name == name).write(text.strip(), data)
    if len(new) > len(data):
        raise ValueRefusedError(f"{in_bytes(len(new))} do not fit before the end of the file.")
    return new


# ---- numbers -------------------------------------------------------------------------------------------------------


def _binary(text: str, _: bytes) -> bytes:
    digits = text.replace(" ", "")
    if not re.fullmatch("[01]{1,8}", digits):
        raise ValueRefusedError(f"{text or 'Nothing'} is no byte in binary. Type up to eight digits 0 and 1.")
    return bytes((int(digits, 2),))


def _whole(text: str) -> int:
    try:
        return int(text.replace(",", "").replace(" ", ""), 0)
    except ValueError:
        raise ValueRefusedError(f"{text or 'Nothing'} is no whole number. Type 1234 or 0x4D2.") from None


def _integer(name: str, size: int, order: Literal["little", "big"], signed: bool) -> _Way:
    def write(text: str, _: bytes) -> bytes:
        value = _whole(text)
        try:
            return value.to_bytes(size, order, signed=signed)
        except OverflowError:
            raise ValueRefusedError(f"{value:,} does not fit into {name}.") from None

    return _Way(name, size, lambda data: f"{int.from_bytes(data[:size], order, signed=signed):,}", write)


def _integers(size: int) -> Iterator[_Way]:
    for sign in "ui":
        for suffix, order, _ in _ORDERS if size > 1 else (("", "little", ""),):
            yield _integer(f"{sign}{8 * size} {suffix}".rstrip(), size, order, sign == "i")


def _floats(size: int, letter: str, digits: int) -> Iterator[_Way]:
    for suffix, _, order in _ORDERS:
        name, form = f"f{8 * size} {suffix}", struct.Struct(order + letter)

        def read(data: bytes, form: struct.Struct = form) -> str:
            (value,) = form.unpack(data[:size])
            # repr() gives the shortest exact text for 64 bits only; smaller floats have fewer significant digits.
            return repr(value) if size == 8 else f"{value:.{digits}g}"

        def write(text: str, _: bytes, name: str = name, form: struct.Struct = form) -> bytes:
            try:
                return form.pack(float(text.replace(",", "")))
            except (ValueError, OverflowError):
                raise ValueRefusedError(f"{text or 'Nothing'} is no number that fits into {name}.") from None

        yield _Way(name, size, read, write)


def varint(data: bytes) -> str:
    """An unsigned LEB128 number (seven bits per byte, lowest first, the high bit set if more follow) and its length."""
    value = 0
    for index, byte in enumerate(data[:_MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return f"{value:,} ({in_bytes(index + 1)})" if value < 1 << 64 else ""
    return ""


def _varint(text: str, data: bytes) -> bytes:
    value = _whole(text.partition("(")[0].strip())
    stands = next((at + 1 for at, byte in enumerate(data) if byte < 0x80), 0)
    if value < 0 or value >= 1 << 64:
        raise ValueRefusedError(f"{value:,} does not fit into a varint of 64 bits.")
    parts = [value >> shift & 0x7F for shift in range(0, max(1, value.bit_length()), 7)]
    return _same_length(bytes([*(part | 0x80 for part in parts[:-1]), parts[-1]]), stands, "varint")


def _same_length(new: bytes, stands: int, what: str) -> bytes:
    if len(new) != stands:
        here = f"the {what} here has {in_bytes(stands)}" if stands else f"here is no {what}"
        raise ValueRefusedError(f"That takes {in_bytes(len(new))}, and {here}. Bytes are never moved.")
    return new


# ---- times ---------------------------------------------------------------------------------------------------------


def _time(text: str) -> datetime:
    try:
        return datetime.strptime(text.removesuffix("UTC").strip(), _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        raise ValueRefusedError(f"{text or 'Nothing'} is no time. Type 2026-07-01 12:30:00.") from None


def _unix_times(size: int) -> Iterator[_Way]:
    for suffix, order, _ in _ORDERS:
        name = f"Unix time {8 * size} {suffix}"

        def read(data: bytes, order: Literal["little", "big"] = order) -> str:
            try:
                moment = _EPOCH + timedelta(seconds=int.from_bytes(data[:size], order, signed=True))
            except OverflowError:
                return ""
            return f"{moment:{_FORMAT}} UTC" if moment.year >= 1000 else ""

        def write(text: str, _: bytes, name: str = name, order: Literal["little", "big"] = order) -> bytes:
            try:
                return int(_time(text).timestamp()).to_bytes(size, order, signed=True)
            except OverflowError:
                raise ValueRefusedError(f"{text} does not fit into {name}.") from None

        yield _Way(name, size, read, write)


def _dos_time(data: bytes) -> str:
    """A DOS time and date as in ZIP: two little-endian 16-bit numbers, the time first."""
    time, date = struct.unpack("<HH", data[:4])
    try:
        moment = datetime(  # noqa: DTZ001 - DOS times have no time zone
            1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, (time & 31) * 2
        )
    except ValueError:
        return ""
    return f"{moment:{_FORMAT}}"


def _dos(text: str, _: bytes) -> bytes:
    moment = _time(text)
    if not 1980 <= moment.year < 2108 or moment.second % 2:
        raise ValueRefusedError("DOS times are from 1980 to 2107, in steps of two seconds.")
    time = moment.hour << 11 | moment.minute << 5 | moment.second // 2
    return struct.pack("<HH", time, (moment.year - 1980) << 9 | moment.month << 5 | moment.day)


# ---- text ----------------------------------------------------------------------------------------------------------


def _character(data: bytes) -> str:
    """The first character of UTF-8, empty for bytes that begin with none."""
    for size in range(1, min(4, len(data)) + 1):
        try:
            return data[:size].decode("utf-8")
        except UnicodeDecodeError:
            continue
    return ""


def _named_character(data: bytes) -> str:
    character = _character(data)
    return f"{visible(character)}  U+{ord(character):04X} ({in_bytes(len(character.encode()))})" if character else ""


def _utf8(text: str, data: bytes) -> bytes:
    return _same_length(text[:1].encode("utf-8", "surrogatepass"), len(_character(data).encode()), "character")


_WAYS = (
    _Way("binary", 1, lambda data: f"{data[0]:08b}", _binary),
    *(way for size in (1, 2, 3, 4, 8) for way in _integers(size)),
    *(
        way
        for size, letter, digits in ((2, "e", 5), (4, "f", 9), (8, "d", 17))
        for way in _floats(size, letter, digits)
    ),
    *(way for size in (4, 8) for way in _unix_times(size)),
    _Way("DOS time, date", 4, _dos_time, _dos),
    _Way("varint (LEB128)", 1, varint, _varint),
    _Way("UTF-8", 1, _named_character, _utf8),
)
ALL_ROWS = tuple(way.name for way in _WAYS)
"""The names of all readings in their order."""
DEFAULT_ROWS = frozenset(
    (
        *("u8", "u16 LE", "u32 LE", "u64 LE", "u32 BE", "i32 LE", "f64 LE"),
        *("Unix time 32 LE", "DOS time, date", "varint (LEB128)", "UTF-8"),
    )
)
"""The readings shown until the user chooses others."""
