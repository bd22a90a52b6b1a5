"""The TACO header (TACO_HEADER.md, "Header structure", "Byte-level layout" and "Payload structure")."""

from __future__ import annotations

import struct
import zlib
from enum import StrEnum

from msgspec import Struct

from inspector.core.field import Field, parent
from inspector.core.format import ProbeResult
from inspector.core.kinds import Kind
from inspector.core.layout import Part, fields_of
from inspector.core.member import UNREADABLE
from inspector.core.names import brief
from inspector.core.numbers import grouped, in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.eocd import find_eocd, first_name
from inspector.formats._zip.records import (
    CENTRAL_CRC,
    ENCRYPTED,
    LOCAL,
    LOCAL_SIZE,
    STORED,
    UTF_8,
    read_local,
)
from inspector.formats.taco.codes import TACO_ENTRY, TACO_PAYLOAD


class Layout(StrEnum):
    """The layout of the header, which is the name of the first member."""

    HEADER = "TACO_HEADER"
    GHOST = "TACO_GHOST"


def layout_of(source: Source) -> Layout | None:
    """The layout by the name in the first local header or, if that is damaged, in the central directory."""
    data = source.read(0, LOCAL_SIZE + 16)
    if data[:4] != LOCAL:
        return None
    length = int.from_bytes(data[26:28], "little")
    for layout in Layout:
        name = str(layout).encode()
        # Comparing the length too excludes names that only begin with TACO_HEADER.
        if data[LOCAL_SIZE : LOCAL_SIZE + len(name)] == name and length == len(name):
            return layout
    eocd = find_eocd(source)
    first = first_name(source, eocd) if eocd is not None else None
    return next((layout for layout in Layout if first == (str(layout).encode(), 0)), None)


def probe(source: Source) -> ProbeResult:
    """CERTAIN if the archive begins with a TACO header of either layout."""
    return ProbeResult.NO if layout_of(source) is None else ProbeResult.CERTAIN


PAYLOAD_SIZE = 116
MAX_ENTRIES = 7
HEADER_SIZE = 157
LOCAL_CRC_OFFSET = 14
"""The file offset of the CRC in the local header."""
_ENTRY_SIZE = 16
HEADER_NAME = str(Layout.HEADER).encode()
ELSEWHERE = "elsewhere in this file"
"""The target of an entry that points to no member but into the file."""


class TacoHeader(Struct, frozen=True):
    """A TACO header, for display and editing.

    ``payload`` is its 116 bytes (fewer if the file is cut off or bytes are lost). ``count`` is the recorded number of
    entries in use and ``entries`` are all seven as (offset, length) in bytes. ``crc`` is computed over the payload;
    ``local_crc`` and ``central_crc`` are the recorded ones, the latter at ``central_crc_offset``. ``obstacles`` are the
    reasons why the header cannot be edited in place; none if the layout is exactly 30 + 11 + 116 bytes.
    """

    layout: Layout
    payload: Span
    count: int
    entries: tuple[tuple[int, int], ...]
    padding: bytes
    crc: int
    local_crc: int
    central_crc: int | None
    central_crc_offset: int | None
    obstacles: tuple[str, ...]

    def entry_span(self, index: int) -> Span:
        """The file bytes of an entry."""
        start = self.payload.start + 4 + index * _ENTRY_SIZE
        return Span(start, start + _ENTRY_SIZE)

    @property
    def sensible(self) -> bool:
        """Whether a program could have written the payload: the count is in range and the padding is zero."""
        return self.count <= MAX_ENTRIES and not any(self.padding) and self.payload.size == PAYLOAD_SIZE


def read_header(source: Source, directory: Directory, layout: Layout) -> TacoHeader | None:
    """The header at the start of the file; None if its local header is not complete."""
    if (found := read_local(source, 0)) is None:
        return None
    local, name, extra, start = found.local, found.name, found.extra, found.begin
    plain = local.method == STORED and local.stored == local.size == PAYLOAD_SIZE and not local.flags & ENCRYPTED
    data = source.read(start, PAYLOAD_SIZE) if plain else b""
    if zlib.crc32(data) != local.crc:
        data = data[: _room(directory, start)]
    whole = data.ljust(PAYLOAD_SIZE, b"\0")
    first = directory.first
    central = directory.central[first] if directory.listed and first >= 0 else None
    listed = directory.members.path(directory.central.index(central)) if central is not None else None
    crc_field = source.read(central + CENTRAL_CRC, 4) if central is not None else b""
    obstacles = (
        (layout is Layout.GHOST, "it has the older layout TACO_GHOST of 156 bytes"),
        (name != HEADER_NAME and layout is Layout.HEADER, f"the local header names it {brief(name)}"),
        (
            listed not in (HEADER_NAME, None) and layout is Layout.HEADER,
            f"the central directory names it {brief(listed or b'')}",
        ),
        (bool(extra), f"it has an extra field of {in_bytes(len(extra))}"),
        (local.method != STORED, "it is compressed"),
        ((local.stored, local.size) != (PAYLOAD_SIZE, PAYLOAD_SIZE), "its sizes are not 116 bytes"),
        (bool(local.flags & ENCRYPTED), "it is encrypted"),
        (bool(local.flags & ~UTF_8) and not local.flags & ENCRYPTED, f"its flags are 0x{local.flags:04x}"),
        (plain and len(data) < PAYLOAD_SIZE, "the payload is cut off"),
        (central is None, "the central directory has no entry for it"),
    )
    return TacoHeader(
        layout=layout,
        payload=Span(start, start + len(data)),
        count=whole[0],
        entries=entries_of(whole),
        padding=whole[1:4],
        crc=zlib.crc32(data),
        local_crc=local.crc,
        central_crc=int.from_bytes(crc_field, "little") if len(crc_field) == 4 else None,
        central_crc_offset=central + CENTRAL_CRC if central is not None else None,
        obstacles=tuple(reason for applies, reason in obstacles if applies),
    )


def _room(directory: Directory, start: int) -> int:
    """The bytes from ``start`` to the next member: fewer than a payload if some of it were lost.

    The bytes after them belong to that member, and writing the header must not touch them.
    """
    pairs = zip(directory.heads, directory.marks, strict=True)
    others = (head for head, mark in pairs if head and not mark & UNREADABLE)
    return max(0, min(others, default=start + PAYLOAD_SIZE) - start)


def entries_of(payload: bytes) -> tuple[tuple[int, int], ...]:
    """The seven entries of a payload, as (offset, length)."""
    return tuple(struct.iter_unpack("<QQ", payload[4:]))


def target_member(directory: Directory, entry: tuple[int, int]) -> int | None:
    """The member whose data an entry points to, from its first byte to its last; None if there is none."""
    offset, length = entry
    if offset < LOCAL_SIZE:  # most entries are not in use: looking through a million members for each takes a while
        return None
    members = directory.members
    at = -1
    try:
        while True:
            at = members.starts.index(offset, at + 1)
            if members.stops[at] == offset + length and (length or members.size(at) == 0):
                return at
    except (ValueError, OverflowError):  # no further member starts there, or no member can
        return None


def target_text(directory: Directory, size: int, entry: tuple[int, int]) -> str:
    """What an entry points to, for display."""
    if (member := target_member(directory, entry)) is not None:
        return f"the data of {brief(directory.members.path(member))}"
    offset, length = entry
    stop = offset + length
    if stop > size:
        return "outside this file" if offset >= size else "begins in this file and ends outside"
    return "in the header itself" if offset < HEADER_SIZE and length else ELSEWHERE


def payload_field(source: Source, header: TacoHeader, span: Span, targets: tuple[str, ...], member: int) -> Field:
    """The payload and its parts; ``targets`` describe what each entry points to."""
    data = source.read(span.start, min(span.size, PAYLOAD_SIZE))
    children = fields_of(
        (Part("count", 1, Kind.NUMBER), Part("padding (reserved)", 3, Kind.PADDING, bytes.hex)), data[:4], span.start
    )
    for index in range(MAX_ENTRIES):
        at = 4 + index * _ENTRY_SIZE
        if piece := data[at : at + _ENTRY_SIZE]:
            used = index < header.count
            children.append(_entry_field(index, piece, span.start + at, targets[index], used))
    note = f"{min(header.count, MAX_ENTRIES)} of {MAX_ENTRIES} entries in use"
    if header.count > MAX_ENTRIES:
        note = f"count is {header.count}, but there is room for {MAX_ENTRIES}"
    return parent(
        "TACO payload",
        TACO_PAYLOAD,
        (span,),
        children,
        note=note,
        specification="TACO_HEADER, Payload structure",
        member=member,
        label=f"TACO header, {note}",
    )


def _entry_field(index: int, data: bytes, start: int, target: str, used: bool) -> Field:
    parts = (Part("offset", 8, Kind.OFFSET), Part("length", 8, Kind.LENGTH))
    children = fields_of(parts, data, start)
    offset, length = [*(each.value for each in children), None][:2]
    if isinstance(offset, int) and isinstance(length, int):
        pair = f"{grouped(offset)}, {in_bytes(length)}"
        note = f"{pair}: {target}" if used else f"unused, holds {pair}" if offset or length else "unused"
    else:
        note = "Cut off."
    span = Span(start, start + len(data))
    label = f"entry {index}, {target.removeprefix('the data of ')}" if used else f"entry {index}, unused"
    name, value = f"Entry {index}", [offset, length]
    return parent(name, TACO_ENTRY, (span,), children, value=value, note=note, label=label, unused=not used)
