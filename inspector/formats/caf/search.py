"""Looking for an index that the footer does not lead to (CAF.md, section 2, File Index Section)."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats.caf.scan import Malformed, Scanner

FOOTER = 4
"""The size of the footer, in bytes."""
LARGEST_INDEX = 256 << 20
"""The largest index that is read or searched for, in bytes."""
SPACE = b" \t\n\r"
_END = re.compile(rb'"end_byte"[ \t\n\r]*+:[ \t\n\r]*+([0-9]{1,20})(?![0-9])')
OPENING = re.compile(rb'\{[ \t\n\r]*+"(?:files|format_version)"[ \t\n\r]*+:')

_WINDOW = 4 << 20
"""Bytes searched at a time, so that memory does not depend on how far the search goes."""
_LONGEST_OPENING = 4 << 10
_LONGEST_SPACE = 64 << 10
_MOST_ZEROS = 1 << 20
_FIRST = 64 << 10
"""Bytes of a candidate that are scanned before more of it is read."""
_IN_A_WINDOW = 8
_IN_ALL = 40
"""How many places, nearest to the end first, are tried as the beginning of the index."""


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON object at the end of a file. It is not ``whole`` where the file ends in the middle of it."""

    span: Span
    whole: bool


def search(source: Source, reach: int = LARGEST_INDEX) -> Found | None:
    """The object that opens like an index and ends where one may end, within the last ``reach`` bytes.

    Whatever follows it, it is one as well where its members end where it begins.
    """
    low, stop, left = max(0, source.size - reach), source.size, _IN_ALL
    while stop > low and left:
        start = max(low, stop - _WINDOW)
        data = source.read(start, stop - start + _LONGEST_OPENING)
        places = (match.start() for match in OPENING.finditer(data))
        nearest = deque((start + at for at in places if start + at < stop), min(_IN_A_WINDOW, left))
        for place in reversed(nearest):
            found = object_at(source, place)
            if found is not None and (not found.whole or _ends_well(source, found.span) or _fits(source, found.span)):
                return found
        stop, left = start, left - len(nearest)
    return None


def object_at(source: Source, start: int) -> Found | None:
    """The JSON object that begins at ``start``, None where what stands there is none."""
    length = _FIRST
    while True:
        data = source.read(start, length)
        scanner = Scanner(data)
        try:
            scanner.value()
        except Malformed as problem:
            if not problem.end:
                cut = _zeros_from(source, start + problem.at)
                return Found(Span(start, source.size), False) if cut else None
        else:
            return Found(Span(start, start + scanner.at), True)
        if len(data) < length:
            return Found(Span(start, start + len(data)), False)
        length *= 16


def _zeros_from(source: Source, start: int) -> bool:
    """Whether only zeros stand there up to the end, as after a crash that kept the size of a file and not its end."""
    stop = source.size
    return start < stop <= start + _MOST_ZEROS and not source.read(start, stop - start).strip(b"\0")


def _ends_well(source: Source, index: Span) -> bool:
    """Whether the bytes behind an object allow it to be the index: a footer, right, wrong or cut off."""
    footer = source.read(index.stop, FOOTER)
    if int.from_bytes(footer, "little") == index.size:
        return True
    behind = source.size - index.stop
    if behind > _LONGEST_SPACE:
        return False
    rest = source.read(index.stop, behind)
    return len(rest.lstrip(SPACE)) <= FOOTER or not rest.strip(b"\0")


def _fits(source: Source, index: Span) -> bool:
    """Whether the members of an index end where it begins."""
    ends = ends_in(source.read(index.start, index.size))
    return bool(ends) and max(ends) == index.start


def ends_in(data: bytes) -> list[int]:
    """Every ``end_byte`` in a piece of an index."""
    return [int(number) for number in _END.findall(data)]
