"""The structure of zstd frames as fields (RFC 8878, 3.1.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from inspector.core.field import Field, Unread, parent
from inspector.core.kinds import Kind
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.source import BytesSource, Place, Stored
from inspector.core.span import Span
from inspector.formats._kinds import FRAME
from inspector.formats._zstd import (
    BLOCK,
    BLOCK_HEADER,
    HEADER,
    MAGIC,
    RESERVED,
    RLE,
    TYPES,
    FrameHeader,
    ZstdError,
    content_digits,
    frame_header,
)

MAX_BLOCKS = 1_000
"""Frame headers and blocks of one member that become fields; the rest share one."""

_SECTION = "RFC 8878, 3.1.1"
_HEADER_SECTION = "RFC 8878, 3.1.1.1"
_BLOCK_SECTION = "RFC 8878, 3.1.1.2"


def inside_zstd(stored: Stored, *, in_frame: bool = False) -> Sequence[Field]:
    """The frames and blocks of zstd data, made on access with a read for each block, up to MAX_BLOCKS.

    ``in_frame``: it may begin between two blocks of a frame. What does not divide into whole blocks then is one field.
    """
    return Unread(lambda: tuple(_frames(stored, in_frame)))


def _frames(stored: Stored, in_frame: bool) -> list[Field]:
    """The fields, which own all of the data; what begins between blocks is told by its first bytes.

    The magic number is no block header.
    """
    found: list[Field] = []
    at, note = stored.start, ""
    checksum: bool | None = None  # whether the frame ends with one; None if its header is elsewhere
    for _ in range(MAX_BLOCKS):
        if note or at == stored.stop:
            break
        head = stored.read(at, HEADER)
        number = int.from_bytes(head[:BLOCK_HEADER], "little")
        stop = at + _block_size(number)
        if head.startswith(MAGIC):
            try:
                header = frame_header(head)
                found += _header_fields(head, at, header, stored.place)
                at, in_frame, checksum = at + header.size, True, header.checksum
            except ZstdError as error:
                note = str(error)
        elif not in_frame:
            note = "No zstd frame begins here."
        elif len(head) < BLOCK_HEADER or not _is_block(number):
            note = "No zstd block begins here."
        elif stop > stored.stop:
            note = f"The block that begins here has {in_bytes(stop - at)}; its end is not in this data."
        else:
            found.append(_block(number, at, stop, stored.place))
            end = _end(stored, stop, checksum) if number & 1 else []
            found += end
            at, in_frame = stop + 4 * len(end), not number & 1
            checksum = checksum if in_frame else None
    if at == stored.stop:
        return found
    if not note:
        note = f"Only the first {MAX_BLOCKS:,} frame headers and blocks are told apart."
        return [*found, Field("further blocks", Kind.DATA, stored.place(at, stored.stop), note=note)]
    if stored.read(stored.start, len(MAGIC)) == MAGIC:
        return [*found, Field("rest", Kind.DATA, stored.place(at, stored.stop), note=note)]
    note = "It does not divide into whole zstd blocks." if found else note
    return [Field("zstd data", Kind.DATA, stored.place(stored.start, stored.stop), note=note)]


def _end(stored: Stored, at: int, checksum: bool | None) -> list[Field]:
    """The checksum of a frame whose last block ends at ``at``, if it has one."""
    behind = stored.read(at, 4 + len(MAGIC))
    if checksum is None:
        checksum = behind[:4] != MAGIC and behind[4:] in (b"", MAGIC)
    return [_checksum(behind[:4], at, stored.place)] if checksum and len(behind) >= 4 else []


def frame_field(data: bytes) -> Field:
    """The frame that is all of a file, its blocks together."""
    fields = list(inside_zstd(Stored(BytesSource(data), 0, len(data))))
    first = next((at for at, each in enumerate(fields) if each.name == "block"), len(fields))
    if blocks := tuple(takewhile(lambda each: each.name == "block", fields[first:])):
        span = Span(blocks[0].start, blocks[-1].spans[0].stop)
        fields[first : first + len(blocks)] = [Field("blocks", Kind.BYTES, (span,), len(blocks), children=blocks)]
    return parent("zstd frame", FRAME, (Span(0, len(data)),), fields, specification=_SECTION)


def _header_fields(data: bytes, at: int, header: FrameHeader, place: Place) -> list[Field]:
    """The parts of the frame header that ``data`` begins with, which stands at ``at``."""
    dictionary = (0, 1, 2, 4)[header.descriptor & 3]
    digits = content_digits(header.descriptor)
    parts = (
        ("magic number", 4, Kind.SIGNATURE, 0xFD2FB528, "Marks a zstd frame."),
        ("frame header descriptor", 1, Kind.FLAGS, header.descriptor, _descriptor_note(header)),
        (
            "window descriptor",
            header.size - 5 - dictionary - digits,
            Kind.NUMBER,
            data[5],
            f"The decoder keeps the last {in_bytes(header.window)} of the content.",
        ),
        ("dictionary ID", dictionary, Kind.NUMBER, header.dictionary, "The dictionary that decoding needs."),
        ("frame content size", digits, Kind.LENGTH, header.content, f"{in_bytes(header.content or 0)} of content."),
    )
    fields: list[Field] = []
    for name, size, kind, value, note in parts:
        if size:
            text = hexadecimal(value or 0, 2 * size) if kind is not Kind.LENGTH else ""
            fields.append(
                Field(name, kind, place(at, at + size), value, note, text=text, specification=_HEADER_SECTION)
            )
        at += size
    return fields


def _descriptor_note(header: FrameHeader) -> str:
    return ", ".join(
        (
            "single segment" if header.descriptor >> 5 & 1 else "with a window",
            "no content size" if header.content is None else "with the content size",
            "a checksum at the end" if header.checksum else "no checksum",
        )
    ).capitalize() + "."  # fmt: skip


def _checksum(data: bytes, at: int, place: Place) -> Field:
    value = int.from_bytes(data, "little")
    note = "The low 32 bits of the XXH64 of the content."
    text = hexadecimal(value, 8)
    return Field("content checksum", Kind.DIGEST, place(at, at + 4), value, note, text=text, specification=_SECTION)


def _is_block(number: int) -> bool:
    return number >> 1 & 3 != RESERVED and number >> 3 <= BLOCK


def _block_size(number: int) -> int:
    """The size of a block with its header, in bytes."""
    return BLOCK_HEADER + (1 if number >> 1 & 3 == RLE else number >> 3)


def _block(number: int, at: int, stop: int, place: Place) -> Field:
    note = f"{TYPES[number >> 1 & 3]} block, size {number >> 3:,}" + (", the last" if number & 1 else "")
    inside = at + BLOCK_HEADER
    children = [Field("block header", Kind.LENGTH, place(at, inside), number, note, text=hexadecimal(number, 6))]
    if inside < stop:
        children.append(Field("block content", Kind.DATA, place(inside, stop)))
    return parent("block", Kind.BYTES, place(at, stop), children, note=note, specification=_BLOCK_SECTION)
