"""What is odd about the body of an extended header: POSIX.1-2017, pax Interchange Format, pax Extended Header."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from inspector.core.finding import Severity
from inspector.core.names import visible
from inspector.formats._tar.extension import PLACES, SPARSE, Record, decimal, records
from inspector.formats._tar.header import GNU_LINK, GNU_NAME, PAX_GLOBAL

TOLD = 100
"""The most remarks about one extended header."""

_TIMES = frozenset((b"atime", b"ctime", b"mtime", b"LIBARCHIVE.creationtime"))
_IDS = frozenset((b"gid", b"uid"))
_SECONDS = re.compile(rb"(-?)([0-9]{1,1000})(?:\.[0-9]*)?")
_LAST_SECOND = 253_402_300_799
"""The end of the year 9999, which calendars know."""
_LONGEST_SHOWN = 40


class Remark(NamedTuple):
    """One thing that is odd; ``words`` end a sentence that begins with the header.

    The bytes concerned are ``[start, stop)`` of the body.
    """

    severity: Severity
    code: str
    words: str
    start: int
    stop: int


def remarks(typeflag: bytes, body: bytes) -> list[Remark]:
    """What is odd about the body of one extended header, at most TOLD things; the worst is not left out."""
    if typeflag in (GNU_NAME, GNU_LINK):
        if b"\0" in body:
            return []
        words = "is not as specified: its name has no NUL at the end"
        return [Remark(Severity.ERROR, "tar-extension", words, 0, len(body))]
    found: list[Remark] = []
    seen: dict[bytes, bytes] = {}
    done = 0
    for record in records(body):
        done = record.stop
        if len(found) < TOLD:
            found += _of_record(record, seen, everywhere=typeflag == PAX_GLOBAL)
    if done < len(body):
        words = f"is not as specified: its record at byte {done:,} of the body is malformed"
        found.append(Remark(Severity.ERROR, "tar-extension", words, done, len(body)))
    return found


def _of_record(record: Record, seen: dict[bytes, bytes], *, everywhere: bool) -> Iterator[Remark]:
    start, stop, key, value = record
    for words in _spoilt(key, value):
        yield Remark(Severity.ERROR, "tar-extension", f"is not as specified: {words}", start, stop)
    shown = visible(key[:_LONGEST_SHOWN])
    if b"\0" in key:
        words = f"has a key with a NUL in it, {shown}, which programs read in different ways"
        yield Remark(Severity.WARNING, "tar-pax-key", words, start, stop)
    if key in PLACES:
        if seen.setdefault(key, value) != value:
            words = f"says twice what the {shown} is, and not the same; the last is taken here, not by all programs"
            yield Remark(Severity.WARNING, "tar-pax-repeated", words, start, stop)
        if not value:
            words = f"has an empty {shown}: the header's own is taken here, nothing at all by other programs"
            yield Remark(Severity.WARNING, "tar-pax-empty", words, start, stop)
    if everywhere and (key in PLACES or key.startswith(SPARSE)):
        words = f"says what the {shown} of all members after it is, though each has its own"
        yield Remark(Severity.WARNING, "tar-pax-global", words, start, stop)
    if value:
        yield from _of_number(record, shown)


def _spoilt(key: bytes, value: bytes) -> Iterator[str]:
    if key in (b"path", b"linkpath") and b"\0" in value:
        yield f"its {key.decode()} has a NUL in it"
    if key == b"size" and value and decimal(value) is None:
        yield "its size is no decimal number, so the header's own is taken"


def _of_number(record: Record, shown: str) -> Iterator[Remark]:
    start, stop, key, value = record
    text = visible(value[:_LONGEST_SHOWN])
    if key in _IDS and decimal(value) is None:
        words = f"has a {shown} that is no number ({text}); the header's own holds"
        yield Remark(Severity.WARNING, "tar-pax-number", words, start, stop)
    if key not in _TIMES:
        return
    time = _SECONDS.fullmatch(value)
    if time is None or int(time[2]) > _LAST_SECOND:
        words = f"has an {shown} that is no time of any calendar ({text})"
        yield Remark(Severity.WARNING, "tar-pax-time", words, start, stop)
    elif time[1]:
        words = f"has an {shown} before 1970 ({text} seconds), which some programs do not take"
        yield Remark(Severity.INFO, "tar-pax-time", words, start, stop)
