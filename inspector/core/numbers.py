"""Numbers as text: with separators, in hex, with units and plurals."""

from __future__ import annotations

import re

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def grouped(number: int) -> str:
    """``32768`` as ``32,768``."""
    return f"{number:,}"


def count(number: int, thing: str, things: str = "") -> str:
    """``1 member``, ``32,768 members``; ``things`` is an irregular plural."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def in_bytes(number: int) -> str:
    """``1 byte``, ``32,768 bytes``."""
    return count(number, "byte")


def plural(one: str, several: str, number: int, /, **values: object) -> str:
    """``one`` if ``number`` is 1, else ``several``, with ``{number}`` and the named ``values`` filled in."""
    return (one if number == 1 else several).format(number=f"{number:,}", **values)


def verb(number: int, one: str, many: str) -> str:
    """The singular or plural form of a word: ``is`` or ``are``."""
    return one if number == 1 else many


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


_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?) ?(?:([KMGTPE])(i?B)?|B)?", re.ASCII | re.IGNORECASE)


def size_in(text: str) -> int:
    """The bytes in a size as people write it: ``30GB`` is 30 * 10**9, ``30GiB`` and ``30G`` are 30 * 2**30.

    Raises ValueError, with a message for the user, for anything else.
    """
    if (found := _SIZE.fullmatch(text.strip())) is None:
        raise ValueError(f"“{text}” is not a size. Write 500MB, 30GiB or 32000000000.")
    power = "KMGTPE".index(found[2].upper()) + 1 if found[2] else 0
    thousands = (found[3] or "").upper() == "B"
    whole, _, part = found[1].partition(".")
    scale: int = 10 ** len(part)
    return int(int(whole + part) * (1000 if thousands else 1024) ** power // scale)


def hexadecimal(number: int, digits: int = 0) -> str:
    """``0x8000``, with at least ``digits`` digits."""
    return f"0x{number:0{digits}x}"
