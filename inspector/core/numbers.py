"""Numbers as people read them: with separators, in hex, with units."""

from __future__ import annotations

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def grouped(number: int) -> str:
    """``32768`` as ``32,768``."""
    return f"{number:,}"


def count(number: int, thing: str, things: str = "") -> str:
    """``1 byte``, ``32,768 bytes``."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def in_bytes(number: int) -> str:
    """``1 byte``, ``32,768 bytes``."""
    return count(number, "byte")


def rounded(number: int) -> str:
    """A size in bytes, rounded: ``512 B``, ``1.2 GiB``."""
    if number < 1024:
        return f"{number} B"
    size = float(number)
    for unit in _UNITS:
        size /= 1024
        if size < 999.5 or unit == _UNITS[-1]:
            break
    return f"{size:.0f} {unit}" if size >= 100 else f"{size:.1f} {unit}"


def hexadecimal(number: int, digits: int = 0) -> str:
    """``0x8000``, with at least ``digits`` digits."""
    return f"0x{number:0{digits}X}"
