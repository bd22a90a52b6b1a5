"""Bytes as text for the clipboard, in four formats."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

MAX_COPY_BYTES = 4 << 20
"""The most bytes copied at once: as a C array they are 25 MB of text."""
_PER_LINE = 16


class CopyFormat(StrEnum):
    """The format of copied bytes; values are the labels of the menu."""

    HEX = "Hex"
    TEXT = "Text"
    C = "C Array"
    PYTHON = "Python Bytes"


def formatted(data: bytes, copy_format: CopyFormat) -> str:
    """``data`` as text in one of the formats."""
    return _FORMATTERS[copy_format](data)


def _hex(data: bytes) -> str:
    return data.hex(" ").upper()


def _text(data: bytes) -> str:
    """Decoded as UTF-8; invalid bytes become U+FFFD, and so does NUL, which truncates the clipboard of many systems."""
    return data.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


def _lines(data: bytes) -> list[bytes]:
    return [data[i : i + _PER_LINE] for i in range(0, len(data), _PER_LINE)]


def _c(data: bytes) -> str:
    body = "".join(f"    {', '.join(f'0x{byte:02X}' for byte in line)},\n" for line in _lines(data))
    return f"const unsigned char data[{len(data)}] = {{\n{body}}};\n"


def _python(data: bytes) -> str:
    if len(data) <= _PER_LINE:
        return repr(data)
    return "(\n" + "".join(f"    {line!r}\n" for line in _lines(data)) + ")"


_FORMATTERS: dict[CopyFormat, Callable[[bytes], str]] = {
    CopyFormat.HEX: _hex,
    CopyFormat.TEXT: _text,
    CopyFormat.C: _c,
    CopyFormat.PYTHON: _python,
}
