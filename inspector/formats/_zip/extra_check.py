"""What is wrong with extra fields: APPNOTE.TXT 4.5 (their form) and 4.6.9 (a second name), Info-ZIP's timestamp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from inspector.core.archive import Emitter
from inspector.core.finding import Severity
from inspector.core.names import hazards, unportable, visible
from inspector.core.numbers import in_bytes, verb
from inspector.formats._zip.extra import PADDING, TIMESTAMP, UNICODE_PATH, record_name, records, shortage, unicode_path

MOST = 100
"""The most faults of one extra field."""

_TELLING = frozenset(identifier.to_bytes(2, "little") for identifier in (0x0001, 0x6375, UNICODE_PATH))
"""Records that change what the header says."""
_TIMESTAMP = TIMESTAMP.to_bytes(2, "little")


class Place(NamedTuple):
    """Where an extra field stands: from byte ``start`` on, in the header of a member with that name and flags."""

    start: int
    name: bytes
    member: int
    local: bool

    @property
    def words(self) -> str:
        """Whose field it is."""
        header = "local header" if self.local else "central directory header"
        return f"the {header} of {visible(self.name)}"


class Fault(NamedTuple):
    """What is wrong with the bytes ``[start, stop)`` of an extra field."""

    code: str
    words: str
    start: int
    stop: int


def is_harmless(data: bytes, size: int = -1, *, local: bool) -> bool:
    """Whether an extra field has no faults and no records that change what the header says; made to be fast.

    ``size`` is how long it has to be, when that is known from elsewhere. A field with nothing wrong may be called
    harmful, never the other way round.
    """
    at, end = 0, len(data)
    seen = b""
    while at + 4 <= end:
        kind = data[at : at + 2]
        length = data[at + 2] + (data[at + 3] << 8)
        if kind in _TELLING or kind in seen:
            return False
        if kind == _TIMESTAMP and shortage(TIMESTAMP, data[at + 4 : at + 4 + length], local=local):
            return False
        seen += kind
        at += 4 + length
    return (at == end or (at < end and not any(data[at:]))) and size in (-1, end)


def faults(data: bytes, *, local: bool) -> list[Fault]:
    """Everything about the form of an extra field that is not as it should be, at most MOST things."""
    found: list[Fault] = []
    seen = set()
    stop = 0
    for identifier, start, stop in records(data):
        if len(found) == MOST:
            return found
        words = shortage(identifier, data[start:stop], local=local)
        if words:
            found.append(Fault("zip-extra-malformed", f"its {record_name(identifier)} {words}", start - 4, stop))
        if identifier in seen:
            words = f"it has more than one record of {record_name(identifier)}, and programs differ in which they take"
            found.append(Fault("zip-extra-repeated", words, start - 4, stop))
        if identifier != PADDING:
            seen.add(identifier)
    rest = data[stop:]
    if any(rest):
        words = f"its last {in_bytes(len(rest))} {verb(len(rest), 'is', 'are')} no whole record"
        if len(rest) >= 4:
            claimed, there = int.from_bytes(rest[2:4], "little"), len(rest) - 4
            words = (
                f"its last record claims {in_bytes(claimed)} of data, and {there:,} {verb(there, 'is', 'are')} there"
            )
        found.append(Fault("zip-extra-malformed", words, stop, len(data)))
    return found


def report_extra(emitter: Emitter, data: bytes, place: Place) -> None:
    """Report what is wrong with one extra field."""
    for code, words, start, stop in faults(data, local=place.local):
        message = f"The extra field in {place.words} is not as specified: {words}."
        emitter.warning(code, message, (place.start + start, place.start + stop), member=place.member)


def report_second_name(emitter: Emitter, data: bytes, place: Place) -> None:
    """Report a second name that says something else than the header's own."""
    second = unicode_path(data)
    if second is None or second.name == place.name:
        return
    span = place.start + second.start, place.start + second.stop
    for severity, code, words in _doubts(second.name, second.crc, place):
        emitter.find(severity, code, words, (span,), place.member)


def _doubts(name: bytes, crc: int, place: Place) -> Iterator[tuple[Severity, str, str]]:
    whose = f"The second name {visible(name)} in {place.words}"
    if crc != crc32(place.name):
        message = (
            f"{whose} was made for another first name, as its CRC-32 tells: it is to be passed over, and programs that "
            "do not look use it."
        )
        yield Severity.WARNING, "zip-second-name-stale", message
    else:
        # A name that ASCII can spell needs no second one; of any other it is the UTF-8 form.
        doubtful = name.isascii() and place.name.isascii()
        message = f"{whose} differs from the first; some programs use it."
        yield Severity.WARNING if doubtful else Severity.INFO, "zip-second-name", message
    for words in hazards(name):
        yield Severity.WARNING, "zip-name-hazard", f"{whose} {words}."
    for words in unportable(name)[:1]:
        yield Severity.INFO, "name-not-portable", f"{whose} is not portable: it {words}."
