"""Where a member belongs beneath a folder, and which names are refused: the one place that decides it."""

from __future__ import annotations

import re
import sys

from inspector.core.names import BACKSLASH, DOT, INVISIBLE, NO_COMPONENT, NOT_UTF_8, hazards, unportable
from inspector.core.numbers import in_bytes

COMPONENT = 255
"""The longest component of a path, in bytes."""

_TOLERATED = {NOT_UTF_8, INVISIBLE, BACKSLASH, DOT, NO_COMPONENT}
"""What does not keep a member from being extracted: invisible characters need a word, the others harm nobody here."""

# Names without a hazard, found fast.
_PLAIN = re.compile(rb"(?:[0-9A-Za-z_][0-9A-Za-z_. -]{0,250}/){0,9}[0-9A-Za-z_][0-9A-Za-z_. -]{0,250}")

_EXTENSION = re.compile(rb"(?s)(.+?)((?:\.[^./]{1,12}){0,2})")


def refusal(path: bytes) -> str:
    """Why nothing is extracted under a name, as the end of a sentence that begins with "its name"; empty if it may be.

    Nothing is repaired silently: a name that leaves the folder is refused, not bent.
    """
    if _PLAIN.fullmatch(path) and sys.platform != "win32":
        return ""
    for words in hazards(path):
        if words not in _TOLERATED:
            return words
    parts = parts_of(path)
    if not parts:
        return "names no file"
    if max(map(len, parts)) > COMPONENT:
        return f"has a component of more than {in_bytes(COMPONENT)}"
    if sys.platform == "win32":
        return next(iter((*unportable(path), *(BACKSLASH,) * (b"\\" in path))), "")
    return ""


def has_invisible(path: bytes) -> bool:
    """Whether a name holds characters that are not seen, so that it may look like another one."""
    return not _PLAIN.fullmatch(path) and INVISIBLE in hazards(path)


def parts_of(path: bytes) -> tuple[bytes, ...]:
    """The components of a path; those that lead nowhere, ``.`` and empty ones, are left out."""
    return tuple(part for part in path.split(b"/") if part not in (b"", b"."))


def numbered(name: bytes, number: int) -> bytes:
    """``report (2).txt``: a name like another one, short enough for a component."""
    found = _EXTENSION.fullmatch(name)
    stem, extension = found.groups() if found else (name, b"")
    return ended(stem, f" ({number})".encode() + extension)


def ended(stem: bytes, end: bytes) -> bytes:
    """``stem`` with something behind it, cut so that both are a component; no character of UTF-8 is cut in two."""
    room = COMPONENT - len(end)
    if len(stem) > room:
        while room > 0 and stem[room] & 0xC0 == 0x80:
            room -= 1
        stem = stem[:room]
    return stem + end
