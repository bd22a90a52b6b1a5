"""Values that the user types for the bytes at the caret: the inverse of the readings of the data inspector."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime

from inspector.core.numbers import in_bytes

_NUMBER = re.compile(r"([ui])(\d+)(?: (LE|BE))?")
_FLOAT = re.compile(r"f(\d+) (LE|BE)")
_UNIX = re.compile(r"Unix time (\d+) (LE|BE)")
_FORMAT = "%Y-%m-%d %H:%M:%S"
_LETTERS = {2: "e", 4: "f", 8: "d"}


class ValueRefusedError(ValueError):
    """A typed value does not fit the bytes; the message is for the user."""


def encoded(name: str, text: str, data: bytes) -> bytes:
    """The bytes that a typed value stands for, as many as the reading ``name`` of ``data`` takes.

    Raises ValueRefusedError for a value that is none of that kind, or needs another number of bytes.
    """
    text = text.strip()
    for pattern, encode in _WRITERS:
        if (found := re.fullmatch(pattern, name)) is not None:
            new = encode(found, text, data)
            if len(new) > len(data):
                raise ValueRefusedError(f"{in_bytes(len(new))} do not fit before the end of the file.")
            return new
    raise ValueRefusedError(f"{name} cannot be typed.")


def _order(found: re.Match[str], group: int) -> str:
    return "<" if found[group] in (None, "LE") else ">"


def _whole(text: str) -> int:
    try:
        return int(text.replace(",", "").replace(" ", ""), 0)
    except ValueError:
        raise ValueRefusedError(f"{text or 'Nothing'} is no whole number. Type 1234 or 0x4D2.") from None


def _integer(found: re.Match[str], text: str, _: bytes) -> bytes:
    value, size = _whole(text), int(found[2]) // 8
    try:
        return value.to_bytes(size, "little" if _order(found, 3) == "<" else "big", signed=found[1] == "i")
    except OverflowError:
        raise ValueRefusedError(f"{value:,} does not fit into {found[0]}.") from None


def _float(found: re.Match[str], text: str, _: bytes) -> bytes:
    try:
        return struct.pack(_order(found, 2) + _LETTERS[int(found[1]) // 8], float(text.replace(",", "")))
    except (ValueError, OverflowError):
        raise ValueRefusedError(f"{text or 'Nothing'} is no number that fits into {found[0]}.") from None


def _time(text: str) -> datetime:
    try:
        return datetime.strptime(text.removesuffix("UTC").strip(), _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        raise ValueRefusedError(f"{text or 'Nothing'} is no time. Type 2026-07-01 12:30:00.") from None


def _unix(found: re.Match[str], text: str, _: bytes) -> bytes:
    seconds, size = int(_time(text).timestamp()), int(found[1]) // 8
    try:
        return seconds.to_bytes(size, "little" if _order(found, 2) == "<" else "big", signed=True)
    except OverflowError:
        raise ValueRefusedError(f"{text} does not fit into {found[0]}.") from None


def _dos(_found: re.Match[str], text: str, _: bytes) -> bytes:
    moment = _time(text)
    if not 1980 <= moment.year < 2108 or moment.second % 2:
        raise ValueRefusedError("DOS times are from 1980 to 2107, in steps of two seconds.")
    time = moment.hour << 11 | moment.minute << 5 | moment.second // 2
    return struct.pack("<HH", time, (moment.year - 1980) << 9 | moment.month << 5 | moment.day)


def _varint(_found: re.Match[str], text: str, data: bytes) -> bytes:
    value = _whole(text.partition("(")[0].strip())
    stands = next((at + 1 for at, byte in enumerate(data) if byte < 0x80), 0)
    if value < 0 or value >= 1 << 64:
        raise ValueRefusedError(f"{value:,} does not fit into a varint of 64 bits.")
    new = bytearray()
    while True:
        value, part = value >> 7, value & 0x7F
        new.append(part | (0x80 if value else 0))
        if not value:
            break
    return _same_length(bytes(new), stands, "varint")


def _character(_found: re.Match[str], text: str, data: bytes) -> bytes:
    letter = text[:1]
    stands = next((size for size in range(1, 5) if _is_character(data[:size])), 0)
    return _same_length(letter.encode("utf-8", "surrogatepass"), stands, "character")


def _is_character(data: bytes) -> bool:
    try:
        return len(data.decode("utf-8")) == 1
    except UnicodeDecodeError:
        return False


def _same_length(new: bytes, stands: int, what: str) -> bytes:
    if len(new) != stands:
        here = f"the {what} here has {in_bytes(stands)}" if stands else f"here is no {what}"
        raise ValueRefusedError(f"That takes {in_bytes(len(new))}, and {here}. Bytes are never moved.")
    return new


def _binary(_found: re.Match[str], text: str, _: bytes) -> bytes:
    digits = text.replace(" ", "")
    if not re.fullmatch("[01]{1,8}", digits):
        raise ValueRefusedError(f"{text or 'Nothing'} is no byte in binary. Type up to eight digits 0 and 1.")
    return bytes((int(digits, 2),))


_WRITERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], str, bytes], bytes]], ...] = (
    (re.compile("binary"), _binary),
    (_NUMBER, _integer),
    (_FLOAT, _float),
    (_UNIX, _unix),
    (re.compile("DOS time, date"), _dos),
    (re.compile(r"varint \(LEB128\)"), _varint),
    (re.compile("UTF-8"), _character),
)
