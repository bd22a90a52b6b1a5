"""The structure of a zstd frame as fields (RFC 8878, 3.1.1)."""

from __future__ import annotations

from array import array

from inspector.core.field import Field, FieldTable, parent
from inspector.core.kinds import Family, Kind, Role, family_bit, role_bit
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.span import Span
from inspector.formats._kinds import FRAME
from inspector.formats._zstd import (
    BLOCK,
    BLOCK_HEADER,
    MAGIC,
    RESERVED,
    RLE,
    TYPES,
    FrameHeader,
    ZstdError,
    content_digits,
    frame_header,
)


def frame_field(data: bytes, start: int) -> Field:
    """The structure of the frame at the beginning of ``data``, which lies at ``start`` in its file.

    The field owns all of ``data``; what is no part of the frame, or cannot be understood, is a gap in it.
    """
    try:
        header = frame_header(data)
    except ZstdError as error:
        magic = [Field("magic number", Kind.SIGNATURE, (Span(start, start + 4),))] if data.startswith(MAGIC) else []
        return parent("zstd frame", FRAME, (Span(start, start + len(data)),), magic, note=str(error))
    fields = _header_fields(data, start, header)
    blocks, at = _block_fields(data, start, header.size)
    fields.append(blocks)
    if header.checksum and at + 4 <= len(data):
        span = Span(start + at, start + at + 4)
        value = int.from_bytes(data[at : at + 4], "little")
        note = "The low 32 bits of the XXH64 of the content."
        fields.append(Field("content checksum", Kind.DIGEST, (span,), value, note, text=hexadecimal(value, 8)))
    return parent("zstd frame", FRAME, (Span(start, start + len(data)),), fields, specification="RFC 8878, 3.1.1")


def _header_fields(data: bytes, start: int, header: FrameHeader) -> list[Field]:
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
    at = start
    for name, size, kind, value, note in parts:
        if size:
            text = hexadecimal(value or 0, 2 * size) if kind is not Kind.LENGTH else ""
            fields.append(Field(name, kind, (Span(at, at + size),), value, note, text=text))
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


def _block_fields(data: bytes, start: int, at: int) -> tuple[Field, int]:
    """The blocks from ``at`` in ``data``, and where they end in it."""
    starts = array("Q")
    begin, last = at, False
    while not last and at + BLOCK_HEADER <= len(data):
        number = int.from_bytes(data[at : at + BLOCK_HEADER], "little")
        if number >> 1 & 3 == RESERVED or number >> 3 > BLOCK:
            break
        starts.append(start + at)
        last = bool(number & 1)
        at = min(len(data), at + BLOCK_HEADER + (1 if number >> 1 & 3 == RLE else number >> 3))
    stop = start + at

    def make(row: int) -> Field:
        first = starts[row]
        span = Span(first, starts[row + 1] if row + 1 < len(starts) else stop)
        number = int.from_bytes(data[first - start : first - start + BLOCK_HEADER], "little")
        note = f"{TYPES[number >> 1 & 3]} block, size {number >> 3:,}" + (", the last" if number & 1 else "")
        head = Span(first, first + BLOCK_HEADER)
        children = [
            Field("block header", Kind.LENGTH, (head,), number, note, text=hexadecimal(number, 6)),
            Field("block content", Kind.DATA, (Span(head.stop, span.stop),)),
        ]
        return parent("block", Kind.BYTES, (span,), children, note=note)

    roles = role_bit(Role.EXTENT) | role_bit(Role.DATA) | family_bit(Family.HEADER) | family_bit(Family.CONTENT)
    children = FieldTable(starts, make, roles) if len(starts) else ()
    return Field("blocks", Kind.BYTES, (Span(start + begin, stop),), len(starts), children=children), at
