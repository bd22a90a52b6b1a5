"""Fields of fixed-size records (a ZIP local header, a tar header block), described by a table of parts."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple, get_type_hints

from inspector.core.field import Field, Value
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import hexadecimal
from inspector.core.span import Span


def unsigned_be(data: bytes) -> int:
    """The bytes as a big-endian unsigned integer."""
    return int.from_bytes(data, "big")


def padded_text(data: bytes) -> str:
    """The bytes as visible text, without the spaces and NULs that fill it up."""
    return visible(data.rstrip(b" \0"))


class Part(NamedTuple):
    """One fixed-size part of a record.

    ``read`` turns its bytes into the value; ``digits`` > 0 shows a number as hex with that many digits; ``note`` turns
    the value into a sentence for the user.
    """

    name: str
    size: int
    kind: Kind
    read: Callable[[bytes], Value] = lambda data: int.from_bytes(data, "little")
    digits: int = 0
    note: Callable[[Value], str] | None = None


def packed(parts: Sequence[Part]) -> struct.Struct:
    """The little-endian numbers of a record whose first part is a signature, as a ``struct.Struct``."""
    return struct.Struct(f"<{parts[0].size}s" + "".join(_CODES[part.size] for part in parts[1:]))


def parts_of(values: type[tuple[Any, ...]]) -> tuple[Part, ...]:
    """The parts of a record whose values are a NamedTuple: each is the annotation of its value."""
    return tuple(hint.__metadata__[0] for hint in get_type_hints(values, include_extras=True).values())


_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}


def fields_of(parts: Sequence[Part], data: bytes, start: int) -> list[Field]:
    """The fields of a record whose bytes are ``data`` and begin at ``start``.

    A part that is cut off owns the bytes that are there, says so in its note, and has the value None.
    """
    found: list[Field] = []
    at = 0
    for part in parts:
        piece = data[at : at + part.size]
        if len(piece) == part.size:
            found.append(_field_of(part, piece, start + at))
        elif piece:
            note = f"Cut off: {len(piece)} of {part.size} bytes are there."
            found.append(Field(part.name, part.kind, (Span(start + at, start + at + len(piece)),), None, note))
        at += part.size
    return found


def _field_of(part: Part, piece: bytes, start: int) -> Field:
    try:
        value = part.read(piece)
    except Exception as error:  # noqa: BLE001 - a format of one's own may have any function here
        return Field(part.name, part.kind, (Span(start, start + part.size),), None, f"Its value failed: {error!r}.")
    text = hexadecimal(value, part.digits) if part.digits and isinstance(value, int) else ""
    note = part.note(value) if part.note else ""
    return Field(part.name, part.kind, (Span(start, start + part.size),), value, note, (), text)


class Record:
    """A record of fixed size: from one table of parts follow its size, its values and its fields."""

    def __init__(self, *parts: Part) -> None:
        self.parts = parts
        stops = list(accumulate(part.size for part in parts))
        self.size = stops[-1]
        self._places = {
            part.name: (part, slice(stop - part.size, stop)) for part, stop in zip(parts, stops, strict=True)
        }

    def piece(self, name: str, data: bytes) -> bytes:
        """The bytes of one part; ``data`` begins where the record does."""
        return data[self._places[name][1]]

    def place(self, name: str) -> slice:
        """Where one part stands in the bytes of a record."""
        return self._places[name][1]

    def number(self, name: str, data: bytes) -> int:
        """The value of one part that is a number; 0 where it is none, or cut off."""
        value = self.value(name, data)
        return value if isinstance(value, int) else 0

    def value(self, name: str, data: bytes) -> Value:
        part, place = self._places[name]
        return part.read(data[place])

    def fields(self, data: bytes, start: int) -> list[Field]:
        return fields_of(self.parts, data, start)
