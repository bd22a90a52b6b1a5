"""Bytes as text for the clipboard. Pure."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

MAX_COPY_BYTES = 4 << 20
"""The most bytes copied at once: as a C array that is 25 MB of text already."""
_PER_LINE = 16


class CopyFormat(StrEnum):
    """How bytes are copied: the words of the menu, in English."""

    HEX = "Hex"
    TEXT = "Text"
    C = "C Array"
    PYTHON = "Python Bytes"


def copied(data: bytes, how: CopyFormat) -> str:
    """``data`` in a form that can be pasted."""
    return _FORMS[how](data)


def _hex(data: bytes) -> str:
    return data.hex(" ").upper()


def _text(data: bytes) -> str:
    """UTF-8 where it is, what is not becomes U+FFFD; NUL too, because the clipboard of many systems ends there."""
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


_FORMS: dict[CopyFormat, Callable[[bytes], str]] = {
    CopyFormat.HEX: _hex,
    CopyFormat.TEXT: _text,
    CopyFormat.C: _c,
    CopyFormat.PYTHON: _python,
}
