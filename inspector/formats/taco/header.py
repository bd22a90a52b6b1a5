"""The TACO Header: TACO_HEADER.md, "Byte-level layout", "Payload structure" and "Update mechanism"."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from inspector.core.field import Field, parent
from inspector.core.kinds import Kind
from inspector.core.layout import Part, fields_of
from inspector.core.member import UNREADABLE
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._zip.directory import Directory
from inspector.formats._zip.records import ENCRYPTED, LOCAL_SIZE, STORED, UTF_8
from inspector.formats._zip.scan import read_local
from inspector.formats.taco.probe import Layout

PAYLOAD_SIZE = 116
MOST_ENTRIES = 7
HEADER_SIZE = 157
LOCAL_CRC_OFFSET = 14
"""Where the CRC stands in the local header, from the start of the file."""
_CENTRAL_CRC = 16
_ENTRY_SIZE = 16
_NAME = str(Layout.HEADER).encode()


@dataclass(frozen=True, slots=True)
class TacoHeader:
    """What one has to know to show and to edit a TACO header.

    ``payload`` are its 116 bytes (fewer where the file ends, or some were lost), ``count`` the number of entries in use
    as written, ``entries`` all seven as (offset, length) in bytes, ``crc`` of the payload as it is, ``local_crc`` and
    ``central_crc`` as recorded; ``central_crc_offset`` is where the central directory has it. ``obstacles`` say why
    the header cannot be edited in place; empty when its layout is exactly 30 + 11 + 116 bytes.
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

    @property
    def editable(self) -> bool:
        """Whether the three writes of an update have their places."""
        return not self.obstacles

    def entry_span(self, index: int) -> Span:
        """Where one entry stands in the file."""
        start = self.payload.start + 4 + index * _ENTRY_SIZE
        return Span(start, start + _ENTRY_SIZE)

    @property
    def sensible(self) -> bool:
        """Whether the payload could have been written by a program: the count is in range and the padding zero."""
        return self.count <= MOST_ENTRIES and not any(self.padding) and self.payload.size == PAYLOAD_SIZE


def read_header(source: Source, directory: Directory, layout: Layout) -> TacoHeader | None:
    """The header at the start of the file, or None where not even its local header is whole."""
    found = read_local(source, 0)
    if found is None:
        return None
    local, name, extra = found
    start = LOCAL_SIZE + len(name) + len(extra)
    plain = local.method == STORED and local.stored == local.size == PAYLOAD_SIZE and not local.flags & ENCRYPTED
    data = source.read(start, PAYLOAD_SIZE) if plain else b""
    if zlib.crc32(data) != local.crc:
        data = data[: _room(directory, start)]
    whole = data.ljust(PAYLOAD_SIZE, b"\0")
    entries = tuple(_entry(whole, i) for i in range(MOST_ENTRIES))
    central = _central_offset(directory)
    listed = directory.members.path(directory.central.index(central)) if central is not None else None
    crc_field = source.read(central + _CENTRAL_CRC, 4) if central is not None else b""
    obstacles = (
        (layout is Layout.GHOST, "it has the older layout TACO_GHOST of 156 bytes"),
        (name != _NAME and layout is Layout.HEADER, f"the local header names it {visible(name)}"),
        (
            listed not in (_NAME, None) and layout is Layout.HEADER,
            f"the central directory names it {visible(listed or b'')}",
        ),
        (bool(extra), f"it has an extra field of {in_bytes(len(extra))}"),
        (local.method != STORED, "it is compressed"),
        ((local.stored, local.size) != (PAYLOAD_SIZE, PAYLOAD_SIZE), "its sizes are not 116 bytes"),
        (bool(local.flags & ~UTF_8), _flag_words(local.flags)),
        (plain and len(data) < PAYLOAD_SIZE, "the payload is cut off"),
        (central is None, "the central directory has no entry for it"),
    )
    return TacoHeader(
        layout=layout,
        payload=Span(start, start + len(data)),
        count=whole[0],
        entries=entries,
        padding=whole[1:4],
        crc=zlib.crc32(data),
        local_crc=local.crc,
        central_crc=int.from_bytes(crc_field, "little") if len(crc_field) == 4 else None,
        central_crc_offset=central + _CENTRAL_CRC if central is not None else None,
        obstacles=tuple(words for applies, words in obstacles if applies),
    )


def _room(directory: Directory, start: int) -> int:
    """How many bytes there are from ``start`` to the next member: few where some of the payload were lost.

    What is behind them is that member's, which nothing written to the header may touch.
    """
    heads, marks = directory.members.heads, directory.members.marks
    assert heads is not None
    assert marks is not None
    others = (head for head, mark in zip(heads, marks, strict=True) if head and not mark & UNREADABLE)
    return max(0, min(others, default=start + PAYLOAD_SIZE) - start)


def _flag_words(flags: int) -> str:
    return "it is encrypted" if flags & ENCRYPTED else f"its flags are 0x{flags:04X}"


def _entry(payload: bytes, index: int) -> tuple[int, int]:
    at = 4 + index * _ENTRY_SIZE
    return int.from_bytes(payload[at : at + 8], "little"), int.from_bytes(payload[at + 8 : at + 16], "little")


def first_member(directory: Directory) -> int:
    """The member at the start of the file, -1 when there is none."""
    heads = directory.members.heads
    return heads.index(0) if heads is not None and 0 in heads else -1


def _central_offset(directory: Directory) -> int | None:
    """Where the central directory header of the member at the start of the file begins."""
    first = first_member(directory)
    return directory.central[first] if directory.listed and first >= 0 else None


def target_words(directory: Directory, size: int, entry: tuple[int, int]) -> str:
    """Where an entry points."""
    offset, length = entry
    stop = offset + length
    members = directory.members
    at = -1
    try:
        while True:
            at = members.starts.index(offset, at + 1)
            if members.stops[at] == stop and (length or members.size(at) == 0):
                return f"the data of {visible(members.path(at))}"
    except (ValueError, OverflowError):
        pass
    if stop > size:
        return "outside this file" if offset >= size else "begins in this file and ends outside"
    if offset < HEADER_SIZE and length:
        return "in the header itself"
    return "elsewhere in this file"


def payload_field(source: Source, header: TacoHeader, span: Span, targets: tuple[str, ...], member: int) -> Field:
    """The payload and its parts; ``targets`` say where each entry points."""
    data = source.read(span.start, min(span.size, PAYLOAD_SIZE))
    head, _ = fields_of(
        (Part("count", 1, Kind.NUMBER), Part("padding (reserved)", 3, Kind.PADDING, bytes.hex)), data[:4], span.start
    )
    children = [*head]
    for index in range(MOST_ENTRIES):
        at = 4 + index * _ENTRY_SIZE
        piece = data[at : at + _ENTRY_SIZE]
        if piece:
            used = index < header.count
            children.append(_entry_field(index, piece, span.start + at, targets[index], used))
    note = f"{min(header.count, MOST_ENTRIES)} of {MOST_ENTRIES} entries in use"
    if header.count > MOST_ENTRIES:
        note = f"count is {header.count}; there is room for {MOST_ENTRIES}"
    return parent(
        "TACO payload",
        Kind.TACO_PAYLOAD,
        (span,),
        children,
        note=note,
        specification="TACO_HEADER, Payload structure",
        member=member,
    )


def _entry_field(index: int, data: bytes, start: int, target: str, used: bool) -> Field:
    parts = (Part("offset", 8, Kind.OFFSET), Part("length", 8, Kind.LENGTH))
    children, values = fields_of(parts, data, start)
    offset, length = values["offset"], values["length"]
    if isinstance(offset, int) and isinstance(length, int):
        pair = f"{grouped(offset)}, {in_bytes(length)}"
        note = f"{pair}: {target}" if used else f"unused, holds {pair}" if offset or length else "unused"
    else:
        note = "Cut off."
    span = Span(start, start + len(data))
    return parent(f"Entry {index}", Kind.TACO_ENTRY, (span,), children, value=[offset, length], note=note)
