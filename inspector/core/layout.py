"""Fields of fixed-size records (a ZIP local header, a tar header block), described by a table of parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspector.core.field import Field, Value
from inspector.core.kinds import Kind
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span


def unsigned_le(data: bytes) -> int:
    """The bytes as a little-endian unsigned integer."""
    return int.from_bytes(data, "little")


def unsigned_be(data: bytes) -> int:
    """The bytes as a big-endian unsigned integer."""
    return int.from_bytes(data, "big")


def hex_text(data: bytes) -> str:
    """The bytes as lower-case hex."""
    return data.hex()


@dataclass(frozen=True, slots=True)
class Part:
    """One fixed-size part of a record.

    ``read`` turns its bytes into the value; ``digits`` > 0 shows a number as hex with that many digits; ``note`` turns
    the value into a sentence for the user.
    """

    name: str
    size: int
    kind: Kind
    read: Callable[[bytes], Value] = unsigned_le
    digits: int = 0
    note: Callable[[Value], str] | None = None


def fields_of(parts: Sequence[Part], data: bytes, start: int) -> tuple[list[Field], dict[str, Value]]:
    """The fields of a record whose bytes are ``data`` and begin at ``start``, and their values by name.

    A part that is cut off owns the bytes that are there, says so in its note, and has the value None.
    """
    found: list[Field] = []
    values: dict[str, Value] = {}
    at = 0
    for part in parts:
        piece = data[at : at + part.size]
        if len(piece) == part.size:
            value = part.read(piece)
            text = hexadecimal(value, part.digits) if part.digits and isinstance(value, int) else ""
            note = part.note(value) if part.note else ""
        else:
            value, text, note = None, "", f"Cut off: {len(piece)} of {part.size} bytes are there."
        values[part.name] = value
        if piece or not part.size:
            span = Span(start + at, start + at + len(piece))
            found.append(Field(part.name, part.kind, (span,), value, note, text=text))
        at += part.size
    return found, values
