"""Local header against central directory header: APPNOTE.TXT 4.3.7 and 4.3.12 say the same things twice."""

from __future__ import annotations

from typing import NamedTuple

from inspector.core.names import visible
from inspector.formats._zip.extra import zip64
from inspector.formats._zip.records import (
    ENCRYPTED,
    FULL_32,
    HAS_DESCRIPTOR,
    LOCAL,
    MASKED,
    Central,
    Local,
    method_words,
    version_words,
)


class Difference(NamedTuple):
    """One thing on which the two headers differ; ``grave`` when programs would read different content or names."""

    code: str
    grave: bool
    words: str


def differences(central: Central, local: Local, name: bytes, local_name: bytes, local_extra: bytes) -> list[Difference]:
    """On what the two disagree; ``central`` has its ZIP64 numbers filled in."""
    found = []
    if local.signature != LOCAL:
        found.append(Difference("signature", True, f"the local signature is {local.signature.hex()}"))
    if local_name != name:
        words = f"the name is {visible(local_name)} locally and {visible(name)} in the central directory"
        found.append(Difference("name", True, words))
    if local.method != central.method:
        words = f"the compression method is {_method(local.method)} locally and {_method(central.method)} centrally"
        found.append(Difference("method", True, words))
    if local.flags != central.flags:
        grave = bool((local.flags ^ central.flags) & (ENCRYPTED | HAS_DESCRIPTOR))
        words = f"the flags are 0x{local.flags:04X} locally and 0x{central.flags:04X} in the central directory"
        found.append(Difference("flags", grave, words))
    if local.needed != central.needed:
        words = (
            f"the version needed is {version_words(local.needed)} locally and {version_words(central.needed)} centrally"
        )
        found.append(Difference("needed", False, words))
    if (local.time, local.date) != (central.time, central.date):
        found.append(Difference("time", False, "the times differ"))
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
        found.append(Difference("crc", True, words))
    for word, here, there in (("compressed", stored, central.stored), ("uncompressed", size, central.size)):
        if here != there and not (later and here in (0, FULL_32)):
            words = f"the {word} size is {here:,} locally and {there:,} in the central directory"
            found.append(Difference("size", True, words))
    return found


def _method(method: int) -> str:
    return f"{method} ({method_words(method)})"
