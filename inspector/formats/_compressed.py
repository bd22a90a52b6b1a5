"""The structure of a compressed file as fields: gzip (RFC 1952), xz, bzip2 and zstd, of a member or by itself.

Which compression it is, is told from the name, so that nothing is read before somebody looks inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspector.core.field import Field, Unread
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.source import Source, Stored, is_sparing
from inspector.core.span import Span

MAX_NAME_BYTES = 4096
"""The longest name or comment of a gzip header that is looked for."""

_FLAGS = ((1, "text"), (2, "header CRC"), (4, "extra field"), (8, "file name"), (16, "comment"))
_SYSTEMS = {0: "FAT", 3: "Unix", 7: "Macintosh", 10: "NTFS", 255: "unknown"}
_CHECKS = {0: "no check", 1: "CRC-32", 4: "CRC-64", 10: "SHA-256"}
_NOTE_OF_TRAILER = "It is that of the last gzip member, if nothing follows it."


def with_inside(field: Field, source: Source, name: str) -> Field:
    """A field of data that are stored as they are, with what is inside where its ``name`` is that of compressed data.

    It is as it was where reading may be a request.
    """
    if not field.spans or not field.spans[0].size or len(field.spans) > 1 or is_sparing(source):
        return field
    make = next((make for suffix, make in _SUFFIXES.items() if name.lower().endswith(suffix)), None)
    return field if make is None else field._replace(inside=make(Stored(source, *field.spans[0])))


def _lazily(make: Callable[[Stored], list[Field]]) -> Callable[[Stored], Sequence[Field]]:
    return lambda stored: Unread(lambda: make(stored))


class _Parts:
    """Fields that follow each other from the beginning of stored data."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.at = stored.start
        self.fields: list[Field] = []

    def read(self, size: int) -> bytes:
        """Up to ``size`` of the next bytes."""
        return self.stored.read(self.at, size)

    def add(self, name: str, size: int, kind: Kind, value: int | str | None = None, note: str = "") -> None:
        """The next ``size`` bytes, or those that are left; no field without bytes."""
        stop = min(self.at + max(0, size), self.stored.stop)
        if stop > self.at:
            text = hexadecimal(value, 2 * size) if isinstance(value, int) and kind is not Kind.LENGTH else ""
            self.fields.append(Field(name, kind, (Span(self.at, stop),), value, note, text=text))
        self.at = stop

    def number(self, name: str, size: int, kind: Kind, note: Callable[[int], str]) -> int:
        """The next ``size`` bytes as a number, little-endian, and what it means."""
        value = int.from_bytes(self.read(size), "little")
        self.add(name, size, kind, value, note(value))
        return value

    def rest(self, name: str, note: str = "", leave: int = 0) -> None:
        """What is left, but for the last bytes."""
        self.add(name, self.stored.stop - leave - self.at, Kind.DATA, note=note)


def _gzip(stored: Stored) -> list[Field]:
    parts = _Parts(stored)
    if parts.read(10)[:2] != b"\x1f\x8b" or stored.stop - stored.start < 18:
        parts.rest("data", "This is no whole gzip data.")
        return parts.fields
    parts.add("magic number", 2, Kind.SIGNATURE, 0x1F8B, "Marks a gzip member.")
    parts.number("compression method", 1, Kind.NUMBER, lambda value: "deflate" if value == 8 else "Unknown.")
    flags = parts.number("flags", 1, Kind.FLAGS, _flags_note)
    parts.number("modification time", 4, Kind.TIME, _time_note)
    parts.number("extra flags", 1, Kind.NUMBER, lambda value: {2: "best", 4: "fastest"}.get(value, ""))
    parts.number("operating system", 1, Kind.NUMBER, lambda value: _SYSTEMS.get(value, ""))
    if flags & 4:
        size = parts.number("extra field length", 2, Kind.LENGTH, in_bytes)
        parts.add("extra field", size, Kind.BYTES)
    for bit, name, kind in ((8, "file name", Kind.NAME), (16, "comment", Kind.TEXT)):
        if flags & bit:
            text, ends, _ = parts.read(MAX_NAME_BYTES).partition(b"\0")
            if not ends:
                parts.rest("data", f"The {name} in the gzip header does not end.")
                return parts.fields
            parts.add(name, len(text) + 1, kind, visible(text))
    if flags & 2:
        parts.number("header CRC-16", 2, Kind.DIGEST, lambda _: "The low 16 bits of the CRC-32 of the header.")
    parts.rest("deflate data", leave=8)
    if stored.stop - parts.at == 8:
        parts.number("CRC-32", 4, Kind.DIGEST, lambda _: f"Of the content. {_NOTE_OF_TRAILER}")
        parts.number("content size", 4, Kind.LENGTH, lambda _: f"Modulo 2^32. {_NOTE_OF_TRAILER}")
    parts.rest("data", "The gzip header leaves no room for a trailer.")
    return parts.fields


def _flags_note(flags: int) -> str:
    return ", ".join(meaning for bit, meaning in _FLAGS if flags & bit)


def _time_note(value: int) -> str:
    from datetime import UTC, datetime  # listing shows no times

    return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S} UTC" if value else "Not recorded."


def _xz(stored: Stored) -> list[Field]:
    """The xz file format, 2.1.1 and 2.1.2: the header of the first stream, the footer of the last."""
    parts = _Parts(stored)
    if parts.read(6) != b"\xfd7zXZ\0" or stored.stop - stored.start < 32:
        parts.rest("data", "This is no whole xz data.")
        return parts.fields
    parts.add("magic number", 6, Kind.SIGNATURE, 0xFD377A585A00, "Marks an xz stream.")
    parts.number("stream flags", 2, Kind.FLAGS, lambda value: _CHECKS.get(value >> 8 & 15, "unknown check"))
    parts.number("header CRC-32", 4, Kind.DIGEST, lambda _: "Of the stream flags.")
    if stored.read(stored.stop - 2, 2) != b"YZ":
        parts.rest("blocks and index", "No stream footer is at the end.")
        return parts.fields
    parts.rest("blocks and index", leave=12)
    parts.number("footer CRC-32", 4, Kind.DIGEST, lambda _: "Of the backward size and the stream flags.")
    parts.number("backward size", 4, Kind.LENGTH, lambda value: f"The index has {in_bytes(4 * (value + 1))}.")
    parts.number("stream flags", 2, Kind.FLAGS, lambda value: _CHECKS.get(value >> 8 & 15, "unknown check"))
    parts.add("footer magic", 2, Kind.SIGNATURE, 0x595A, "Marks the end of an xz stream.")
    return parts.fields


def _bzip2(stored: Stored) -> list[Field]:
    parts = _Parts(stored)
    head = parts.read(4)
    if head[:3] != b"BZh" or not b"1" <= head[3:] <= b"9":
        parts.rest("data", "This is no bzip2 data.")
        return parts.fields
    parts.add("magic number", 3, Kind.SIGNATURE, 0x425A68, "Marks a bzip2 stream.")
    level = head[3] - ord("0")
    parts.add(
        "level", 1, Kind.NUMBER, level + ord("0"), f"Blocks of up to {grouped(level * 100_000)} bytes of content."
    )
    parts.rest("blocks", "They begin at any bit.")
    return parts.fields


def zstd_inside(stored: Stored) -> Sequence[Field]:
    """As ``inside_zstd`` of whole frames, which is loaded when somebody looks."""

    def make() -> Sequence[Field]:
        from inspector.formats._zstd_fields import inside_zstd  # brings zstandard, which few archives need

        return inside_zstd(stored)

    return Unread(make)


_SUFFIXES: dict[str, Callable[[Stored], Sequence[Field]]] = {
    ".gz": _lazily(_gzip),
    ".tgz": _lazily(_gzip),
    ".xz": _lazily(_xz),
    ".txz": _lazily(_xz),
    ".bz2": _lazily(_bzip2),
    ".zst": zstd_inside,
}
