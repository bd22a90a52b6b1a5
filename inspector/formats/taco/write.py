"""Writing a TACO archive: TACO_HEADER.md, "ZIP archive context", and APPNOTE.TXT for the ZIP that it is.

All is stored, nothing needs ZIP64, no member has a data descriptor, and the header stands first, so where every member
will be is known from names and sizes alone. Nothing here writes: the caller is given the pieces. Apart from "version
needed" (20, as the specification has it; tacozip writes 10) and the header's own time they are tacozip's.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_SIZE,
    END_SIZE,
    FULL_16,
    FULL_32,
    LOCAL,
    LOCAL_SIZE,
    STORED,
    UTF_8,
    Central,
    Local,
)
from inspector.formats._zip.writing import central_header, end_records, local_header
from inspector.formats.taco.edit import payload_of
from inspector.formats.taco.header import PAYLOAD_SIZE
from inspector.formats.taco.probe import Layout

LARGEST_ARCHIVE = FULL_32
"""The largest archive without ZIP64, in bytes: 4 GiB less one."""
MOST_MEMBERS = FULL_16 - 2
"""The most members without ZIP64, the header not counted."""

HEADER_NAME = str(Layout.HEADER).encode()
_NEEDED = 20
_MADE_BY = 3 << 8 | 63
"""UNIX, by version 6.3 of APPNOTE.TXT: only so are the permissions those that follow."""
_PERMISSIONS = 0o644
_REGULAR = 0o100000

_FIRST_STAMP = (0, 1 << 5 | 1)
"""DOS time and date of the beginning of 1980."""
_LAST_STAMP = (23 << 11 | 59 << 5 | 29, 127 << 9 | 12 << 5 | 31)
"""DOS time and date of the end of 2107."""
_EARLIEST, _LATEST = 315_532_800, 4_354_819_199
"""Seconds since 1970 of the first and the last time that a DOS date can be, in UTC."""


class WriteError(Exception):
    """The archive cannot be as it should: the message is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A member and its place: ``head`` is the offset of its local header, ``data`` that of its ``size`` bytes.

    ``stamp`` are its time and date, as DOS has them.
    """

    name: bytes
    size: int
    head: int
    stamp: tuple[int, int] = _FIRST_STAMP

    @property
    def data(self) -> int:
        """See the class."""
        return self.head + LOCAL_SIZE + len(self.name)

    def local(self, crc: int = 0) -> bytes:
        """Its local header and name, with the CRC-32 of its bytes; where that stands is ``LOCAL_CRC_OFFSET`` on."""
        return local_header(self._local(crc), self.name, b"")

    def central(self, crc: int) -> bytes:
        """Its header in the central directory."""
        return central_header(self._local(crc), self.name, b"", self.head, like=self._like())

    def _local(self, crc: int) -> Local:
        flags = 0 if self.name.isascii() else UTF_8
        return Local(LOCAL, _NEEDED, flags, STORED, *self.stamp, crc, self.size, self.size, len(self.name), 0)

    def _like(self) -> Central:
        kind = _REGULAR if self.head else 0  # tacozip gives the header permissions and no kind
        return Central(
            CENTRAL, _MADE_BY, _NEEDED, 0, STORED, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, (kind | _PERMISSIONS) << 16, 0
        )


def slots(members: Iterable[tuple[bytes, int, int | None]]) -> list[Slot]:
    """The places of the header and of members, from their names, sizes, and times in nanoseconds since 1970.

    The header's time is that of the newest member. Raises WriteError where an archive without ZIP64 cannot be so large.
    """
    found, at, end, newest = [], LOCAL_SIZE + len(HEADER_NAME) + PAYLOAD_SIZE, END_SIZE, _FIRST_STAMP
    end += CENTRAL_SIZE + len(HEADER_NAME)
    for name, size, modified in members:
        slot = Slot(name, size, at, dos_stamp(modified))
        if name == HEADER_NAME:
            raise WriteError("TACO_HEADER is the name of the header, so no member can have it.")
        found.append(slot)
        at = slot.data + size
        end += CENTRAL_SIZE + len(name)
        newest = max(newest, slot.stamp, key=lambda stamp: stamp[::-1])
        _see_that_it_fits(name, at + end, len(found))
    return [Slot(HEADER_NAME, PAYLOAD_SIZE, 0, newest), *found]


def _see_that_it_fits(name: bytes, size: int, members: int) -> None:
    if size > LARGEST_ARCHIVE:
        raise WriteError(
            f"With {visible(name)!r} the archive would have {in_bytes(size)} or more; without ZIP64, which TACO "
            f"forbids, it has at most {in_bytes(LARGEST_ARCHIVE)} (4 GB)."
        )
    if members > MOST_MEMBERS:
        raise WriteError(f"A TACO archive has at most {grouped(MOST_MEMBERS)} members beside its header.")


def archive_size(placed: Sequence[Slot]) -> int:
    """How large an archive of these slots is, in bytes."""
    directory = sum(CENTRAL_SIZE + len(slot.name) for slot in placed)
    return placed[-1].data + placed[-1].size + directory + END_SIZE


def header(slot: Slot, entries: Sequence[tuple[int, int]]) -> tuple[bytes, int]:
    """The 157 bytes of the header that has these entries as (offset, length), all in use, and the CRC-32 in them.

    Raises EditError for more than seven entries, and for numbers that do not fit.
    """
    payload = payload_of(entries, len(entries))
    crc = zlib.crc32(payload)
    return slot.local(crc) + payload, crc


def ending(placed: Sequence[Slot], crcs: Iterable[int]) -> Iterator[bytes]:
    """The central directory and the record that ends the archive, to be written behind the last member's bytes."""
    size = 0
    for slot, crc in zip(placed, crcs, strict=True):
        record = slot.central(crc)
        size += len(record)
        yield record
    yield end_records(len(placed), size, placed[-1].data + placed[-1].size)


def dos_stamp(modified: int | None) -> tuple[int, int]:
    """DOS time and date, in local time and steps of two seconds, of nanoseconds since 1970.

    Times that DOS has no word for become the nearest that it has.
    """
    if modified is None:
        return _FIRST_STAMP
    then = time.localtime(min(max(modified // 10**9, _EARLIEST), _LATEST))
    if not 1980 <= then.tm_year <= 2107:  # the zone has moved it over the edge
        return _FIRST_STAMP if then.tm_year < 1980 else _LAST_STAMP
    date = (then.tm_year - 1980) << 9 | then.tm_mon << 5 | then.tm_mday
    return then.tm_hour << 11 | then.tm_min << 5 | min(then.tm_sec, 59) // 2, date
