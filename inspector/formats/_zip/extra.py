"""Extra fields: APPNOTE.TXT 4.5 (records of Header ID, Data Size, data) and 4.5.3 (ZIP64)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from inspector.core.field import Field, Value, parent
from inspector.core.kinds import Kind
from inspector.core.layout import Part, fields_of
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.span import Span

PADDING = 0x0000
"""What zeros that only fill read as."""
ZIP64 = 0x0001
TIMESTAMP = 0x5455
_UNICODE_COMMENT = 0x6375
UNICODE_PATH = 0x7075
_TEXT_AT = 5
"""Where the text begins in the records of Unicode names and comments, after a version and a CRC-32."""

_NAMES = {
    ZIP64: "ZIP64 extended information",
    0x0007: "AV info",
    0x0009: "OS/2",
    0x000A: "NTFS",
    0x000D: "UNIX",
    0x0014: "PKCS#7 store",
    0x0017: "strong encryption header",
    TIMESTAMP: "extended timestamp",
    0x5855: "Info-ZIP UNIX (original)",
    _UNICODE_COMMENT: "Info-ZIP Unicode comment",
    UNICODE_PATH: "Info-ZIP Unicode path",
    0x7855: "Info-ZIP UNIX (previous new)",
    0x7875: "Info-ZIP UNIX (new)",
    0x9901: "AES encryption",
    0xA11E: "data alignment (Apache Commons)",
    0xCAFE: "Java archive",
    0xD935: "data alignment (Android)",
}


class Record(NamedTuple):
    """One record of an extra field: its number and its data ``[start, stop)`` within the extra field."""

    identifier: int
    start: int
    stop: int


def records(data: bytes) -> Iterator[Record]:
    """The whole records of an extra field; what follows the last of them is malformed or padding."""
    at = 0
    while at + 4 <= len(data):
        stop = at + 4 + int.from_bytes(data[at + 2 : at + 4], "little")
        if stop > len(data):
            return
        yield Record(int.from_bytes(data[at : at + 2], "little"), at + 4, stop)
        at = stop


def record_name(identifier: int) -> str:
    """What a record is called."""
    return _NAMES.get(identifier, f"extra record 0x{identifier:04X}")


def shortage(identifier: int, data: bytes, *, local: bool) -> str:
    """What the data of a record lack, as the end of a sentence that begins with it; empty where nothing is missing."""
    if identifier in (UNICODE_PATH, _UNICODE_COMMENT):
        return "" if len(data) >= _TEXT_AT else f"is cut off: it has {in_bytes(len(data))} and needs {_TEXT_AT}"
    if identifier != TIMESTAMP:
        return ""
    # Centrally it has the first time alone, whatever its flags announce; some writers repeat all of them.
    announced = (data[0] & (7 if local else 1)).bit_count() if data else 0
    needed = 1 + 4 * announced
    if len(data) < needed:
        return f"is cut off: it has {in_bytes(len(data))} and announces {needed}"
    return f"has {in_bytes(len(data))}, which are no whole times" if len(data) % 4 != 1 else ""


class Zip64(NamedTuple):
    """What the ZIP64 extended information says, as far as it was asked; None where it does not say."""

    present: bool
    size: int | None
    stored: int | None
    offset: int | None


def zip64(data: bytes, size: bool, stored: bool, offset: bool) -> Zip64:
    """The numbers for which the header has a placeholder (True), in the order of 4.5.3."""
    for record in records(data):
        if record.identifier == ZIP64:
            found: list[int | None] = []
            at = record.start
            for wanted in (size, stored, offset):
                whole = wanted and at + 8 <= record.stop
                found.append(int.from_bytes(data[at : at + 8], "little") if whole else None)
                at += 8 * wanted
            return Zip64(True, *found)
    return Zip64(False, None, None, None)


class SecondName(NamedTuple):
    """A name in an extra field, as UTF-8: ``crc`` is that of the first name it was made for.

    The name is the bytes ``[start, stop)`` of the extra field.
    """

    name: bytes
    crc: int
    start: int
    stop: int


def unicode_path(data: bytes) -> SecondName | None:
    """What an Info-ZIP Unicode path record says (4.6.9)."""
    for identifier, start, stop in records(data):
        if identifier == UNICODE_PATH and stop - start >= _TEXT_AT and data[start] == 1:
            at = start + _TEXT_AT
            return SecondName(data[at:stop], int.from_bytes(data[start + 1 : at], "little"), at, stop)
    return None


def extra_field(data: bytes, start: int, placeholders: tuple[bool, bool, bool], *, local: bool) -> Field:
    """The extra field whose bytes begin at ``start``; ``placeholders`` as for ``zip64``, ``local`` for ``shortage``."""
    children: list[Field] = []
    stop = 0
    seen: set[int] = set()
    for record in records(data):
        lacking = shortage(record.identifier, data[record.start : record.stop], local=local)
        wrong = bool(lacking) or record.identifier in seen
        children.append(_record_field(data, record, start, placeholders, wrong=wrong))
        if record.identifier != PADDING:
            seen.add(record.identifier)
        stop = record.stop
    if stop < len(data):
        rest = Span(start + stop, start + len(data))
        if any(data[stop:]):
            children.append(Field("malformed", Kind.BYTES, (rest,), data[stop : stop + 16].hex(), _malformed(rest)))
        else:
            children.append(Field("padding", Kind.PADDING, (rest,), note="Zeros after the last record."))
    return parent("extra field", Kind.EXTRA, (Span(start, start + len(data)),), children, specification="APPNOTE 4.5")


def _malformed(span: Span) -> str:
    return f"malformed ({in_bytes(span.size)})"


def _record_field(
    data: bytes, record: Record, start: int, placeholders: tuple[bool, bool, bool], *, wrong: bool
) -> Field:
    parts = (
        Part("Header ID", 2, Kind.NUMBER, digits=4),
        Part("Data Size", 2, Kind.LENGTH),
        *_data_parts(record.identifier, data[record.start : record.stop], placeholders),
    )
    span = Span(start + record.start - 4, start + record.stop)
    children, _ = fields_of(parts, data[record.start - 4 : record.stop], span.start)
    note = _malformed(span) if wrong else ""
    return parent(record_name(record.identifier), Kind.EXTRA, (span,), children, note=note)


def _data_parts(identifier: int, data: bytes, placeholders: tuple[bool, bool, bool]) -> list[Part]:
    if identifier == ZIP64:
        names = ("Original Size", "Compressed Size", "Relative Header Offset")
        kinds = (Kind.LENGTH, Kind.LENGTH, Kind.OFFSET)
        parts = [Part(names[i], 8, kinds[i]) for i in range(3) if placeholders[i]]
    elif identifier == TIMESTAMP:
        parts = [Part("Flags", 1, Kind.FLAGS, digits=2)]
        parts += [Part(name, 4, Kind.TIME, note=_instant) for name in ("ModTime", "AcTime", "CrTime")]
    elif identifier in (UNICODE_PATH, _UNICODE_COMMENT):
        name = "UnicodeName" if identifier == UNICODE_PATH else "UnicodeComment"
        parts = [
            Part("Version", 1, Kind.NUMBER),
            Part("NameCRC32", 4, Kind.DIGEST, digits=8),
            Part(name, max(0, len(data) - _TEXT_AT), Kind.NAME, visible),
        ]
    else:
        parts = []
    return _fitting(parts, len(data))


def _fitting(parts: list[Part], size: int) -> list[Part]:
    """The parts that lie wholly inside ``size`` bytes, and one for what is left."""
    kept: list[Part] = []
    for part in parts:
        if part.size <= size:
            kept.append(part)
            size -= part.size
    return [*kept, Part("data", size, Kind.BYTES, _short_hex)] if size else kept


def _short_hex(data: bytes) -> str:
    return data.hex() if len(data) <= 64 else data[:64].hex() + "..."


def _instant(seconds: Value) -> str:
    assert isinstance(seconds, int)
    signed = seconds - (1 << 32) if seconds >= 1 << 31 else seconds
    return datetime.fromtimestamp(signed, UTC).isoformat() if signed >= 0 else f"{signed} seconds since 1970"
