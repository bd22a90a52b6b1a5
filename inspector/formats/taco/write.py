"""Write a TACO archive (TACO_HEADER.md, "ZIP archive context", and APPNOTE.TXT), and edit its header in place.

Everything is stored without ZIP64 or data descriptors and the header comes first, so names and sizes alone determine
the place of every member. Nothing here writes: the caller does, the pieces of an archive or the patches of an edit. The
pieces equal those of tacozip, except for "version needed" (20 as in the specification, where tacozip writes 10) and the
time of the header.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.edit import Edit, EditError, Patch
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.source import Source
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_CRC,
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
    Central,
    make_end_records,
)
from inspector.formats.taco.header import HEADER_NAME, LOCAL_CRC_OFFSET, MAX_ENTRIES, PAYLOAD_SIZE, TacoHeader

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


# ---- editing in place, with three writes in their order ("Update mechanism") -----------------------------------------

MAX_NUMBER = 2**64 - 1
"""The largest offset or length that an entry can hold."""
CRC_SIZE = 4


def header_edit(archive: Archive, entries: Sequence[tuple[int, int]], count: int | None = None) -> Edit:
    """The Edit that sets the entries of the header to ``entries``, (offset, length) in bytes, with ``count`` in use.

    It writes exactly what ``tacozip.update_header`` does: the padding and all entries not given become zero, and
    ``count`` defaults to the number of entries other than (0, 0). The CRC is written to both places, so an interrupted
    update becomes complete. Raises EditError if the layout is not exactly 30 + 11 + 116 bytes or a number does not fit,
    and SourceError.
    """
    return payload_edit(archive, payload_of(entries, count), "Set the TACO header")


def payload_edit(archive: Archive, payload: bytes, label: str) -> Edit:
    """The three writes, in order, that set the payload (116 bytes) and both CRCs. Raises EditError and SourceError."""
    if reasons := why_not_editable(archive):
        raise EditError(reasons)
    header = _header(archive)
    assert header is not None
    assert header.central_crc_offset is not None
    crc = zlib.crc32(payload).to_bytes(CRC_SIZE, "little")
    writes = ((header.payload.start, payload), (LOCAL_CRC_OFFSET, crc), (header.central_crc_offset, crc))
    size = archive.source.size
    patches = tuple(patch(archive.source, offset, new) for offset, new in writes)
    return Edit(label, patches, size, size)


def patch(source: Source, offset: int, new: bytes) -> Patch:
    """The patch that writes ``new`` at ``offset``. Raises EditError if the file has become too short."""
    old = source.read(offset, len(new))
    if len(old) < len(new):
        raise EditError("The file has become shorter since it was opened; open it again.")
    return Patch(offset, old, new)


def payload_of(entries: Sequence[tuple[int, int]], count: int | None = None) -> bytes:
    """The 116 bytes of a payload (TACO_HEADER.md, "Payload structure"). Missing entries become (0, 0).

    Raises EditError for more than seven entries, and for numbers that do not fit.
    """
    if len(entries) > MAX_ENTRIES:
        raise EditError(f"A TACO header has room for {MAX_ENTRIES} entries, not for {len(entries):,}.")
    used = sum(entry != (0, 0) for entry in entries) if count is None else count
    if not 0 <= used <= MAX_ENTRIES:
        raise EditError(f"The count of a TACO header has to be 0 to {MAX_ENTRIES}; {grouped(used)} is not.")
    numbers = b"".join(
        _number(index, what, number)
        for index, entry in enumerate(entries)
        for what, number in zip(("offset", "length"), entry, strict=True)
    )
    return (bytes((used, 0, 0, 0)) + numbers).ljust(PAYLOAD_SIZE, b"\0")


def _number(index: int, what: str, number: int) -> bytes:
    if not 0 <= number <= MAX_NUMBER:
        raise EditError(f"The {what} of entry {index} has to be 0 to {MAX_NUMBER:,} (64 bits); {number:,} is not.")
    return number.to_bytes(8, "little")


def why_not_editable(archive: Archive) -> str:
    """Why the header cannot be edited in place; empty if it can."""
    if (header := _header(archive)) is None:
        return "There is no TACO header to edit: the file does not begin with a whole local file header."
    reasons = [*header.obstacles, *_central_obstacles(archive.source, header)]
    if header.count > MAX_ENTRIES:
        reasons.append(f"its count is {header.count}, but there is room for {MAX_ENTRIES}")
    if not reasons:
        return ""
    advice = " Rebuild the central directory first." if header.central_crc_offset is None else ""
    return f"The TACO header cannot be edited in place: {'; '.join(reasons)}.{advice}"


def _header(archive: Archive) -> TacoHeader | None:
    header: TacoHeader | None = getattr(archive.detail, "header", None)
    return header


def _central_obstacles(source: Source, header: TacoHeader) -> Iterator[str]:
    """Reasons in the central directory's entry for the header, which an update would leave wrong."""
    if header.central_crc_offset is None:
        return
    data = source.read(header.central_crc_offset - CENTRAL_CRC, CENTRAL_SIZE)
    if len(data) < CENTRAL_SIZE:
        return  # the file has become shorter, which the writes will report
    central = Central._make(CENTRAL_STRUCT.unpack(data))
    wide, sizes = FULL_32 in (central.stored, central.size, central.offset), (central.stored, central.size)
    obstacles = (
        (wide, "the central directory has its numbers in a ZIP64 extra field"),
        (not wide and sizes != (PAYLOAD_SIZE, PAYLOAD_SIZE), "its sizes in the central directory are not 116 bytes"),
        (central.method != STORED, "it is compressed according to the central directory"),
        (bool(central.flags & ~UTF_8), f"its flags in the central directory are 0x{central.flags:04x}"),
    )
    yield from (reason for applies, reason in obstacles if applies)
