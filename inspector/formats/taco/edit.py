"""Edit the TACO header in place, with three writes in their order (TACO_HEADER.md, "Update mechanism")."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.edit import Edit, EditError, Patch
from inspector.core.numbers import grouped
from inspector.core.source import Source
from inspector.formats._zip.records import CENTRAL_CRC, CENTRAL_SIZE, CENTRAL_STRUCT, FULL_32, STORED, UTF_8, Central
from inspector.formats.taco.header import LOCAL_CRC_OFFSET, MAX_ENTRIES, PAYLOAD_SIZE, TacoHeader

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
    reasons = why_not_editable(archive)
    if reasons:
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
    header = _header(archive)
    if header is None:
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
        (bool(central.flags & ~UTF_8), f"its flags in the central directory are 0x{central.flags:04X}"),
    )
    yield from (reason for applies, reason in obstacles if applies)
