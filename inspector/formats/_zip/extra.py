"""Extra fields: their records (APPNOTE.TXT 4.5), ZIP64 (4.5.3), Unicode names (4.6.9), timestamps (Info-ZIP)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from struct import Struct
from typing import Any, NamedTuple
from zlib import crc32

import msgspec

from inspector.core.archive import Emitter
from inspector.core.field import Field, parent
from inspector.core.finding import FindingType
from inspector.core.kinds import Kind
from inspector.core.layout import Part, fields_of
from inspector.core.names import brief, hazards, visible
from inspector.core.numbers import in_bytes, verb
from inspector.core.span import Span
from inspector.formats._kinds import EXTRA
from inspector.formats._zip import codes

PADDING = 0x0000
"""The Header ID that padding zeros look like."""
ZIP64 = 0x0001
TIMESTAMP = 0x5455
UNICODE_PATH = 0x7075
_UNICODE_COMMENT = 0x6375
_AES_SIZE = 7
_TEXT_AT = 5
"""The offset of the text in records of Unicode names and comments, after a version and a CRC-32."""


_HEAD = Struct("<HH")


def extra_records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the complete records of an extra field: Header ID, where the data begins in the extra field, and the data.

    Bytes after the last are malformed or padding.
    """
    at = 0
    while at + 4 <= len(data):
        identifier, size = _HEAD.unpack_from(data, at)
        stop = at + 4 + size
        if stop > len(data):
            return
        yield identifier, at + 4, data[at + 4 : stop]
        at = stop


Shortage = Callable[[bytes, bool], str]
"""What is wrong with the data of a record, of a local header or not, to follow its name in a sentence."""


def _least(size: int) -> Shortage:
    def shortage(data: bytes, _: bool) -> str:
        return f"is cut off: it has {in_bytes(len(data))} and needs {size}" if len(data) < size else ""

    return shortage


def _sizes(local: tuple[int, ...], central: tuple[int, ...]) -> Shortage:
    def shortage(data: bytes, is_local: bool) -> str:
        sizes = local if is_local else central
        return "" if len(data) in sizes else f"has {in_bytes(len(data))}, not {' or '.join(map(str, sizes))}"

    return shortage


def _times(data: bytes, is_local: bool) -> str:
    # In the central directory it has only the first time, whatever the flags say; some writers repeat all.
    needed = 1 + 4 * (data[0] & (7 if is_local else 1)).bit_count() if data else 1
    if len(data) < needed:
        return f"is cut off: it has {in_bytes(len(data))} and announces {needed}"
    return f"has {in_bytes(len(data))}, which are not whole timestamps" if len(data) % 4 != 1 else ""


def _ids(data: bytes, _: bool) -> str:
    """A version, and two numbers each with its length before it. Other versions are not known."""
    user = data[1] if len(data) > 1 else 0
    needed = 3 + user + (data[2 + user] if len(data) > 2 + user else 0)
    fits = data[:1] not in (b"", b"\1") or len(data) == needed
    return "" if fits else f"has {in_bytes(len(data))}, and its lengths add up to {needed}"


def _attributes(data: bytes, _: bool) -> str:
    """Four reserved bytes, then attributes each with a tag and its length."""
    at = 4
    while at + 4 <= len(data):
        at += 4 + int.from_bytes(data[at + 2 : at + 4], "little")
    return "" if at == len(data) else f"has {in_bytes(len(data))}, and its attributes need {max(at, 4):,}"


def _aes(data: bytes, _: bool) -> str:
    """A version, the letters AE, the strength of the key and the method (AE-1 and AE-2)."""
    if len(data) != _AES_SIZE:
        return f"has {in_bytes(len(data))}, not {_AES_SIZE}"
    version, strength = int.from_bytes(data[:2], "little"), data[4]
    if data[2:4] != b"AE" or version not in (1, 2):
        return f"is of version {version} by {visible(data[2:4])}; known are AE-1 and AE-2"
    return "" if strength in (1, 2, 3) else f"has the key strength {strength}; known are 1, 2 and 3"


class _Known(NamedTuple):
    """A record that is known: its name, what its length has to be, and its parts."""

    name: str
    shortage: Shortage = lambda *_: ""
    parts: Callable[[int], Iterable[Part]] = lambda _: ()


def _unicode(text: str) -> Callable[[int], Iterable[Part]]:
    return lambda size: (
        Part("Version", 1, Kind.NUMBER),
        Part("NameCRC32", 4, Kind.DIGEST, digits=8),
        Part(text, max(0, size - _TEXT_AT), Kind.NAME, visible),
    )


def _instant(seconds: Any) -> str:
    signed = seconds - (1 << 32) if seconds >= 1 << 31 else seconds
    from datetime import UTC, datetime  # listing shows no times

    return datetime.fromtimestamp(signed, UTC).isoformat() if signed >= 0 else f"{signed} seconds since 1970"


_WIDE = (
    Part("Original Size", 8, Kind.LENGTH),
    Part("Compressed Size", 8, Kind.LENGTH),
    Part("Relative Header Offset", 8, Kind.OFFSET),
)
"""Of ZIP64 information; those are there that the header refers to."""
_TIMES = (
    Part("Flags", 1, Kind.FLAGS, digits=2),
    *(Part(name, 4, Kind.TIME, note=_instant) for name in ("ModTime", "AcTime", "CrTime")),
)
_RECORDS = {
    ZIP64: _Known("ZIP64 extended information"),
    0x0007: _Known("AV info"),
    0x0009: _Known("OS/2"),
    0x000A: _Known("NTFS", _attributes),
    0x000D: _Known("UNIX", _least(12)),
    0x0014: _Known("PKCS#7 store"),
    0x0017: _Known("strong encryption header"),
    TIMESTAMP: _Known("extended timestamp", _times, lambda _: _TIMES),
    0x5855: _Known("Info-ZIP UNIX (original)", _sizes((8, 12), (8, 12))),
    _UNICODE_COMMENT: _Known("Info-ZIP Unicode comment", _least(_TEXT_AT), _unicode("UnicodeComment")),
    UNICODE_PATH: _Known("Info-ZIP Unicode path", _least(_TEXT_AT), _unicode("UnicodeName")),
    0x7855: _Known("Info-ZIP UNIX (previous new)", _sizes((4,), (0, 4))),
    0x7875: _Known("Info-ZIP UNIX (new)", _ids),
    0x9901: _Known("AES encryption", _aes),
    0xA11E: _Known("data alignment (Apache Commons)"),
    0xCAFE: _Known("Java archive"),
    0xD935: _Known("data alignment (Android)"),
}


def _known(identifier: int) -> _Known:
    return _RECORDS.get(identifier) or _Known(f"extra record 0x{identifier:04x}")


MAX_RECORDS = 1_024
"""Records of an extra field that are fields of their own: 64 KiB may have 16,384."""


def extra_field(data: bytes, start: int, placeholders: tuple[bool, bool, bool], *, local: bool) -> Field:
    """The extra field whose bytes begin at ``start``; ``placeholders`` as for ``zip64``."""
    children: list[Field] = []
    stop = 0
    wrong = {place for _, _, place, _ in extra_faults(data, local=local)}
    for identifier, begin, held in extra_records(data):
        if len(children) == MAX_RECORDS:
            rest = Span(start + stop, start + len(data))
            children.append(Field("records", EXTRA, (rest,), note="More records, too many to show one by one."))
            stop = len(data)
            break
        stop = begin + len(held)
        parts = (
            Part("Header ID", 2, Kind.NUMBER, digits=4),
            Part("Data Size", 2, Kind.LENGTH),
            *_data_parts(identifier, held, placeholders),
        )
        span = Span(start + begin - 4, start + stop)
        inner, note = fields_of(parts, data[begin - 4 : stop], span.start), _malformed(span) * (begin - 4 in wrong)
        children.append(parent(_known(identifier).name, EXTRA, (span,), inner, note=note))
    if stop < len(data):
        rest = Span(start + stop, start + len(data))
        if any(data[stop:]):
            children.append(Field("malformed", Kind.BYTES, (rest,), data[stop : stop + 16].hex(), _malformed(rest)))
        else:
            children.append(Field("padding", Kind.PADDING, (rest,), note="Zeros after the last record."))
    return parent("extra field", EXTRA, (Span(start, start + len(data)),), children, specification="APPNOTE 4.5")


def _malformed(span: Span) -> str:
    return f"malformed ({in_bytes(span.size)})"


def _data_parts(identifier: int, data: bytes, placeholders: tuple[bool, bool, bool]) -> list[Part]:
    known = compress(_WIDE, placeholders) if identifier == ZIP64 else _known(identifier).parts(len(data))
    kept: list[Part] = []
    size = len(data)
    for part in known:
        if part.size <= size:
            kept.append(part)
            size -= part.size
    rest = Part("data", size, Kind.BYTES, lambda data: data[:64].hex() + "..." * (len(data) > 64))
    return [*kept, rest] if size else kept


MAX_FAULTS_PER_FIELD = 100
"""Faults reported of one extra field."""
_OVERRIDING = frozenset((ZIP64, _UNICODE_COMMENT, UNICODE_PATH))
"""Records that override numbers or names of the header."""


class ExtraPlace(msgspec.Struct, frozen=True):
    """An extra field that begins at ``start``, in a header of a member."""

    start: int
    name: bytes
    member: int
    local: bool

    @property
    def text(self) -> str:
        """The header, for a message."""
        header = "local header" if self.local else "central directory header"
        return f"the {header} of {brief(self.name)}"


ExtraFault = tuple[FindingType, str, int, int]
"""A problem at bytes of an extra field, half-open."""


def is_harmless(data: bytes, *, local: bool) -> bool:
    """Whether an extra field has no faults and no records that override the header."""
    overrides = any(identifier in _OVERRIDING for identifier, *_ in extra_records(data))
    return not overrides and not extra_faults(data, local=local)


def extra_faults(data: bytes, *, local: bool) -> list[ExtraFault]:
    """The faults of an extra field, at most MAX_FAULTS_PER_FIELD."""
    found: list[ExtraFault] = []
    seen = set()
    stop = 0
    for identifier, start, held in extra_records(data):
        stop = start + len(held)
        if len(found) == MAX_FAULTS_PER_FIELD:
            return found
        name, shortage, _ = _known(identifier)
        if text := shortage(held, local):
            found.append((codes.EXTRA_MALFORMED, f"Its {name} {text}", start - 4, stop))
        if identifier in seen:
            text = f"It repeats the record {name}, and programs differ in which one they use"
            found.append((codes.EXTRA_REPEATED, text, start - 4, stop))
        if identifier != PADDING:
            seen.add(identifier)
    rest = data[stop:]
    if any(rest):
        text = f"Its last {in_bytes(len(rest))} {verb(len(rest), 'is', 'are')} not a complete record"
        if len(rest) >= 4:
            claimed, present = int.from_bytes(rest[2:4], "little"), len(rest) - 4
            text = f"Its last record should have {in_bytes(claimed)} of data and has {present:,}"
        found.append((codes.EXTRA_MALFORMED, text, stop, len(data)))
    return found


def report_extra(emitter: Emitter, data: bytes, place: ExtraPlace, *, names: bool = True) -> None:
    """Report the faults of one extra field, and with ``names`` a second name that differs from that in the header."""
    for what, text, start, stop in extra_faults(data, local=place.local):
        emitter.report(
            what,
            f"The extra field in {place.text} is malformed. {text}.",
            (place.start + start, place.start + stop),
            member=place.member,
        )

    for identifier, start, held in extra_records(data) if names else ():
        if identifier == UNICODE_PATH and len(held) >= _TEXT_AT and held[0] == 1:
            name, span = held[_TEXT_AT:], (place.start + start + _TEXT_AT, place.start + start + len(held))
            if name != place.name:
                for what, text in _second_name_problems(name, int.from_bytes(held[1:_TEXT_AT], "little"), place):
                    emitter.report(what, text, span, member=place.member)
            return


def _second_name_problems(name: bytes, crc: int, place: ExtraPlace) -> Iterator[tuple[FindingType, str]]:
    whose = f"The second name {brief(name)} in {place.text}"
    if crc != crc32(place.name):
        message = (
            f"{whose} is stale: its CRC-32 is of another first name. It should be ignored, but programs that do not "
            "check the CRC-32 use it."
        )
        yield codes.SECOND_NAME_STALE, message
    else:
        # An ASCII name needs no second one; for any other it is the UTF-8 form.
        doubtful = name.isascii() and place.name.isascii()
        yield (
            codes.SECOND_NAME_DOUBTFUL if doubtful else codes.SECOND_NAME,
            f"{whose} differs from the first; some programs use it.",
        )
    for text in hazards(name):
        yield codes.NAME_HAZARD, f"{whose} is hazardous. It {text}."
