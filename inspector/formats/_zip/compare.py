"""Local header against central directory header: APPNOTE.TXT 4.3.7 and 4.3.12 say the same things twice."""

from __future__ import annotations

from typing import NamedTuple

from inspector.core.names import visible
from inspector.formats._zip.extra import zip64
from inspector.formats._zip.records import (
    CENTRAL_SIZE,
    ENCRYPTED,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    LOCAL_SIZE,
    MASKED,
    Central,
    Local,
    method_words,
    version_words,
)


class Difference(NamedTuple):
    """One thing on which the two headers differ; ``grave`` when programs would read different content or names.

    ``local`` and ``central`` are the bytes of the field in each, ``(start, stop)`` from where the header begins.
    """

    code: str
    grave: bool
    words: str
    local: tuple[int, int]
    central: tuple[int, int]


_OFFSET = (42, 46)
"""Where the central header says where the local one is."""
_BEHIND = 2
"""By how much a field stands further back centrally: the version made by is in front of it."""


def _at(start: int, stop: int, *, code: str, grave: bool, words: str) -> Difference:
    """A difference in a field of the fixed part that both have; its place in the local header is given."""
    return Difference(code, grave, words, (start, stop), (start + _BEHIND, stop + _BEHIND))


def differences(central: Central, local: Local, name: bytes, local_name: bytes, local_extra: bytes) -> list[Difference]:
    """On what the two disagree; ``central`` has its ZIP64 numbers filled in."""
    found = []
    if local.signature != LOCAL:
        words = f"the local signature is {local.signature.hex()}"
        found.append(Difference("signature", True, words, (0, 4), _OFFSET))
    if local_name != name:
        words = f"the name is {visible(local_name)} locally and {visible(name)} in the central directory"
        places = (LOCAL_SIZE, LOCAL_SIZE + len(local_name)), (CENTRAL_SIZE, CENTRAL_SIZE + len(name))
        found.append(Difference("name", True, words, *places))
    if local.method != central.method:
        words = f"the compression method is {_method(local.method)} locally and {_method(central.method)} centrally"
        found.append(_at(8, 10, code="method", grave=True, words=words))
    if local.flags != central.flags:
        grave = bool((local.flags ^ central.flags) & (ENCRYPTED | HAS_DESCRIPTOR))
        words = f"the flags are 0x{local.flags:04X} locally and 0x{central.flags:04X} in the central directory"
        found.append(_at(6, 8, code="flags", grave=grave, words=words))
    if local.needed != central.needed:
        words = (
            f"the version needed is {version_words(local.needed)} locally and {version_words(central.needed)} centrally"
        )
        found.append(_at(4, 6, code="needed", grave=False, words=words))
    if (local.time, local.date) != (central.time, central.date):
        found.append(_at(10, 14, code="time", grave=False, words="the times differ"))
    if not central.flags & MASKED:
        found += _number_differences(central, local, local_extra)
    return found


def _number_differences(central: Central, local: Local, local_extra: bytes) -> list[Difference]:
    found = []
    later = bool(local.flags & HAS_DESCRIPTOR)
    wide = zip64(local_extra, local.size == FULL_32, local.stored == FULL_32, False)
    stored = local.stored if wide.stored is None else wide.stored
    size = local.size if wide.size is None else wide.size
    if local.crc != central.crc and not (later and not local.crc):
        words = f"the CRC is 0x{local.crc:08X} locally and 0x{central.crc:08X} in the central directory"
        found.append(_at(14, 18, code="crc", grave=True, words=words))
    for at, word, here, there in (
        (18, "compressed", stored, central.stored),
        (22, "uncompressed", size, central.size),
    ):
        if here != there and not (later and here in (0, FULL_32)):
            words = f"the {word} size is {here:,} locally and {there:,} in the central directory"
            found.append(_at(at, at + 4, code="size", grave=True, words=words))
    return found


def _method(method: int) -> str:
    return f"{method} ({method_words(method)})"
