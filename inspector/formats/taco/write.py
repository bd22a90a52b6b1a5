"""Write a TACO archive (TACO_HEADER.md, "ZIP archive context", and APPNOTE.TXT).

Everything is stored without ZIP64 or data descriptors and the header comes first, so names and sizes alone determine
the place of every member. Nothing here does I/O: the caller writes the pieces. They equal those of tacozip, except for
"version needed" (20 as in the specification, where tacozip writes 10) and the time of the header.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_SIZE,
    CENTRAL_STRUCT,
    END_SIZE,
    FULL_16,
    FULL_32,
    LOCAL,
    LOCAL_SIZE,
    LOCAL_STRUCT,
    STORED,
    UTF_8,
    make_end_records,
)
from inspector.formats.taco.header import HEADER_NAME, PAYLOAD_SIZE, payload_of

MAX_ARCHIVE_BYTES = FULL_32
"""The largest archive without ZIP64: 4 GiB less one byte."""
MAX_MEMBERS = FULL_16 - 2
"""Members without ZIP64, not counting the header."""
_NEEDED = 20
_MADE_BY = 3 << 8 | 63
"""UNIX and version 6.3 of APPNOTE.TXT, so that the attributes hold UNIX permissions."""
_PERMISSIONS = 0o644
_REGULAR = 0o100000
_FIRST_STAMP = (0, 1 << 5 | 1)
"""DOS time and date of the start of 1980."""
_LAST_STAMP = (23 << 11 | 59 << 5 | 29, 127 << 9 | 12 << 5 | 31)
"""DOS time and date of the end of 2107."""
_EARLIEST, _LATEST = 315_532_800, 4_354_819_199
"""The range of DOS dates in UTC, in seconds since 1970."""


class WriteError(Exception):
    """The archive cannot be written as asked; the message is for the user."""


class Slot(Struct, frozen=True):
    """A member and its place: ``head`` is the offset of its local header; ``stamp`` is its DOS time and date."""

    name: bytes
    size: int
    head: int
    stamp: tuple[int, int] = _FIRST_STAMP

    @property
    def data(self) -> int:
        """The offset of its data."""
        return self.head + LOCAL_SIZE + len(self.name)

    def local(self, crc: int = 0) -> bytes:
        """Its local header and name; the CRC-32 of its data is ``LOCAL_CRC_OFFSET`` bytes in."""
        return (
            LOCAL_STRUCT.pack(
                *(LOCAL, _NEEDED, self._flags, STORED, *self.stamp, crc, self.size, self.size),
                *(len(self.name), 0),
            )
            + self.name
        )

    def central(self, crc: int) -> bytes:
        """Its central directory header."""
        kind = _REGULAR if self.head else 0  # tacozip sets permissions but no file type for the header
        return (
            CENTRAL_STRUCT.pack(
                *(CENTRAL, _MADE_BY, _NEEDED, self._flags, STORED, *self.stamp, crc, self.size, self.size),
                *(len(self.name), 0, 0, 0, 0, (kind | _PERMISSIONS) << 16, self.head),
            )
            + self.name
        )

    @property
    def _flags(self) -> int:
        return 0 if self.name.isascii() else UTF_8


def slots(members: Iterable[tuple[bytes, int, int | None]]) -> list[Slot]:
    """The places of the header and of members, given as (name, size, time in nanoseconds since 1970).

    The header gets the time of the newest member. Raises WriteError if the archive would need ZIP64.
    """
    found, at, end, newest = [], LOCAL_SIZE + len(HEADER_NAME) + PAYLOAD_SIZE, END_SIZE, _FIRST_STAMP
    end += CENTRAL_SIZE + len(HEADER_NAME)
    for name, size, modified in members:
        slot = Slot(name, size, at, stamp := dos_stamp(modified))
        if name == HEADER_NAME:
            raise WriteError("TACO_HEADER is the name of the header, so no member can have it.")
        found.append(slot)
        at = slot.data + size
        end += CENTRAL_SIZE + len(name)
        newest = stamp if stamp[::-1] > newest[::-1] else newest
        if at + end > MAX_ARCHIVE_BYTES:
            raise WriteError(
                f"The archive would be too large with '{visible(name)}': {in_bytes(at + end)} or more. TACO forbids "
                f"ZIP64, so an archive has at most {in_bytes(MAX_ARCHIVE_BYTES)} (4 GiB)."
            )
        if len(found) > MAX_MEMBERS:
            raise WriteError(f"A TACO archive has at most {grouped(MAX_MEMBERS)} members besides its header.")
    return [Slot(HEADER_NAME, PAYLOAD_SIZE, 0, newest), *found]


def archive_size(placed: Sequence[Slot]) -> int:
    """The size of an archive of these slots, in bytes."""
    directory = sum(CENTRAL_SIZE + len(slot.name) for slot in placed)
    return placed[-1].data + placed[-1].size + directory + END_SIZE


def header(slot: Slot, entries: Sequence[tuple[int, int]]) -> tuple[bytes, int]:
    """The 157 bytes of a header with these entries, (offset, length), all in use; and their CRC-32.

    Raises EditError for more than seven entries, and for numbers that do not fit.
    """
    payload = payload_of(entries, len(entries))
    crc = zlib.crc32(payload)
    return slot.local(crc) + payload, crc


def end_of_archive(placed: Sequence[Slot], crcs: Iterable[int]) -> Iterator[bytes]:
    """The central directory and the end record, to be written after the last member's data."""
    size = 0
    for slot, crc in zip(placed, crcs, strict=True):
        record = slot.central(crc)
        size += len(record)
        yield record
    yield make_end_records(len(placed), size, placed[-1].data + placed[-1].size)


def dos_stamp(modified: int | None) -> tuple[int, int]:
    """DOS time and date (local time, steps of two seconds) for nanoseconds since 1970.

    Times outside the DOS range become the nearest inside.
    """
    if modified is None:
        return _FIRST_STAMP
    then = time.localtime(min(max(modified // 10**9, _EARLIEST), _LATEST))
    if not 1980 <= then.tm_year <= 2107:  # the time zone has moved it out of range
        return _FIRST_STAMP if then.tm_year < 1980 else _LAST_STAMP
    date = (then.tm_year - 1980) << 9 | then.tm_mon << 5 | then.tm_mday
    return then.tm_hour << 11 | then.tm_min << 5 | min(then.tm_sec, 59) // 2, date
