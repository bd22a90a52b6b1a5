"""Making ZIP records: APPNOTE.TXT 4.3.7 and 4.3.12 (headers of members), 4.3.14 to 4.3.16 (end records)."""

from __future__ import annotations

from struct import pack

from inspector.formats._zip.extra import TIMESTAMP, ZIP64, records
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_STRUCT,
    END,
    END_STRUCT,
    FULL_16,
    FULL_32,
    LOCAL,
    LOCAL_STRUCT,
    ZIP64_END,
    ZIP64_END_SIZE,
    ZIP64_END_STRUCT,
    ZIP64_LOCATOR,
    Central,
    End,
    Local,
    Zip64End,
)

_ZIP64_VERSION = 45
_FOLDER_ATTRIBUTE = 0x10


def local_header(local: Local, name: bytes, extra: bytes) -> bytes:
    """A local file header (4.3.7) with its name and extra field, both sizes in ZIP64 information where one needs it."""
    wide = max(local.size, local.stored) >= FULL_32
    numbers = (local.size.to_bytes(8, "little") + local.stored.to_bytes(8, "little")) if wide else b""
    extra = _zip64(numbers) + _without_zip64(extra)
    sizes = (FULL_32, FULL_32) if wide else (local.stored, local.size)
    header = local._replace(
        signature=LOCAL,
        needed=max(local.needed, _ZIP64_VERSION) if wide else local.needed,
        stored=sizes[0],
        size=sizes[1],
        name_length=len(name),
        extra_length=len(extra),
    )
    return LOCAL_STRUCT.pack(*header) + name + extra


def central_header(local: Local, name: bytes, extra: bytes, offset: int, like: Central | None = None) -> bytes:
    """The central directory header that a local header asks for.

    ``local`` has its true CRC-32 and sizes, also where those stand in ZIP64 information or a data descriptor;
    ``extra`` is its extra field, ``offset`` where the archive says that it is, in bytes. What a local header does not
    know (permissions) is as in ``like``, or left at what stands for unknown.
    """
    numbers = (local.size, local.stored, offset)
    wide = b"".join(number.to_bytes(8, "little") for number in numbers if number >= FULL_32)
    extra = _zip64(wide) + _central_extra(extra)
    size, stored, place = (min(number, FULL_32) for number in numbers)
    needed = max(local.needed, _ZIP64_VERSION) if wide else local.needed
    folder = _FOLDER_ATTRIBUTE if name.endswith(b"/") else 0
    header = Central(
        signature=CENTRAL,
        made_by=needed & 0xFF if like is None else like.made_by,
        needed=needed,
        flags=local.flags,
        method=local.method,
        time=local.time,
        date=local.date,
        crc=local.crc,
        stored=stored,
        size=size,
        name_length=len(name),
        extra_length=len(extra),
        comment_length=0,
        disk=0,
        internal=0 if like is None else like.internal,
        external=folder if like is None else like.external,
        offset=place,
    )
    return CENTRAL_STRUCT.pack(*header) + name + extra


def _zip64(numbers: bytes) -> bytes:
    return pack("<HH", ZIP64, len(numbers)) + numbers if numbers else b""


def _without_zip64(extra: bytes) -> bytes:
    """The whole records of an extra field but the one whose numbers are written anew."""
    return b"".join(extra[each.start - 4 : each.stop] for each in records(extra) if each.identifier != ZIP64)


def _central_extra(extra: bytes) -> bytes:
    """What of a local extra field the central directory repeats: all but ZIP64 information and two of three times."""
    kept = b""
    for identifier, start, stop in records(extra):
        data = extra[start:stop]
        if identifier == TIMESTAMP and data:
            data = data[: 5 if data[0] & 1 else 1]
        if identifier != ZIP64:
            kept += pack("<HH", identifier, len(data)) + data
    return kept


def end_records(entries: int, directory_size: int, directory_offset: int, comment: bytes = b"") -> bytes:
    """The records that end an archive, those of ZIP64 only where a number needs them.

    ``directory_offset`` is as the archive records it, which is less than a position in a file that it was put into.
    """
    end = End(
        signature=END,
        disk=0,
        directory_disk=0,
        entries_here=min(entries, FULL_16),
        entries=min(entries, FULL_16),
        directory_size=min(directory_size, FULL_32),
        directory_offset=min(directory_offset, FULL_32),
        comment_length=len(comment),
    )
    wide = b""
    if end.entries == FULL_16 or FULL_32 in (end.directory_size, end.directory_offset):
        wide = _zip64_end(entries, directory_size, directory_offset)
    return wide + END_STRUCT.pack(*end) + comment


def _zip64_end(entries: int, directory_size: int, directory_offset: int) -> bytes:
    record = Zip64End(
        signature=ZIP64_END,
        rest=ZIP64_END_SIZE - 12,
        made_by=_ZIP64_VERSION,
        needed=_ZIP64_VERSION,
        disk=0,
        directory_disk=0,
        entries_here=entries,
        entries=entries,
        directory_size=directory_size,
        directory_offset=directory_offset,
    )
    locator = pack("<4sIQI", ZIP64_LOCATOR, 0, directory_offset + directory_size, 1)
    return ZIP64_END_STRUCT.pack(*record) + locator
