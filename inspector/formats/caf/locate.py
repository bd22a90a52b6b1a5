"""Where the index lies: what the footer says, and where it really is when the footer is wrong.

CAF.md, section 3 (Footer Section) and "Fast File Lookup".
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass

from inspector.core.format import Likeness
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats.caf.scan import Malformed, Scanner

FOOTER = 4
"""The size of the footer, in bytes."""
LARGEST_INDEX = 256 << 20
"""The largest index that is read or searched for, in bytes."""

_HEAD = 4 << 10
_TAIL = 64 << 10
_CANDIDATES = 8
"""How many places, nearest to the end first, are tried as the beginning of the index in one stretch."""
_SPACE = b" \t\n\r"
_MARK = b"\xef\xbb\xbf"
_OPENING = re.compile(rb'\{[ \t\n\r]*+"(?:files|format_version)"[ \t\n\r]*+:')
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\n\r]*+\{")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the index and the footer lie, None where they were not found.

    ``claimed`` is the index size that the footer names; ``problem`` a sentence where something about that is wrong.
    """

    index: Span | None
    footer: Span | None
    claimed: int = 0
    problem: str = ""


def likeness(source: Source) -> Likeness:
    """How much the source looks like a Chunk Archive; reads its last 64 KiB and the head of the claimed index."""
    _, span = _claimed(source)
    if span is not None and _OPENING.match(_head(source, span)):
        return Likeness.CERTAIN
    tail = source.read(max(0, source.size - _TAIL), _TAIL)
    hint = _OPENING.search(tail) or b'"start_byte"' in tail or (span is not None and _head(source, span)[:1] == b"{")
    return Likeness.POSSIBLE if hint else Likeness.NO


def find_index(source: Source) -> Place:
    """Where the index lies, footer first; the bytes before the footer are searched only when it is wrong."""
    if source.size < FOOTER:
        room = f"The file has {in_bytes(source.size)}, so there is no room for the footer of {FOOTER} bytes"
        return Place(None, None, 0, f"{room}: it cannot be told where the index begins.")
    claimed, span = _claimed(source)
    footer = Span(source.size - FOOTER, source.size)
    if span is not None and _OPENING.match(_head(source, span)):
        return Place(span, footer, claimed)
    found = _search(source)
    if found is not None:
        return _found(source, found, claimed)
    if span is not None and _OBJECT.match(source.read(span.start, _HEAD)):
        return Place(span, footer, claimed)
    wrong = (
        f"no index begins at byte {grouped(span.start)}"
        if span is not None
        else f"there are {in_bytes(footer.start)} before the footer"
    )
    return Place(
        None,
        footer if span is not None else None,
        claimed,
        f"{_says(claimed)}, but {wrong}, and no index was found at the end of the file: no members can be listed.",
    )


def _claimed(source: Source) -> tuple[int, Span | None]:
    """The index size the footer names, and the bytes that are meant where the file has room for them."""
    end = source.size - FOOTER
    footer = source.read(end, FOOTER)
    if len(footer) < FOOTER:
        return 0, None
    size = int.from_bytes(footer, "little")
    return size, Span(end - size, end) if 0 < size <= end else None


def _head(source: Source, span: Span) -> bytes:
    return source.read(span.start, min(_HEAD, span.size)).removeprefix(_MARK).lstrip(_SPACE)


def _says(claimed: int) -> str:
    return f"The footer says that the index size is {in_bytes(claimed)} ({hexadecimal(claimed)})"


def _search(source: Source) -> tuple[Span, bool] | None:
    """The JSON object at the end of the file that opens like an index, and whether it is whole.

    Looks at stretches that grow fourfold, so that all reading together stays below twice the largest index.
    """
    size, searched, length = source.size, 0, 1 << 20
    while searched < min(size, LARGEST_INDEX):
        length = min(length, size, LARGEST_INDEX)
        data = source.read(size - length, length)
        for match in reversed(deque(_OPENING.finditer(data, 0, len(data) - searched + _HEAD), _CANDIDATES)):
            start = size - length + match.start()
            scanner = Scanner(data, match.start())
            try:
                scanner.value()
            except Malformed as problem:
                if problem.end:
                    return Span(start, size), False
                continue
            stop = size - length + scanner.at
            if _ends_well(data[scanner.at :], stop - start):
                return Span(start, stop), True
        searched, length = length, length * 4
    return None


def _ends_well(rest: bytes, index_size: int) -> bool:
    """Whether the bytes behind an object allow it to be the index: a footer, right, wrong or cut off."""
    return len(rest.lstrip(_SPACE)) <= FOOTER or int.from_bytes(rest[:FOOTER], "little") == index_size


def _found(source: Source, found: tuple[Span, bool], claimed: int) -> Place:
    """Say what is wrong about the footer of an index that had to be searched for."""
    index, whole = found
    begins = f"begins at byte {grouped(index.start)}"
    if not whole:
        problem = (
            f"The file ends in the middle of its index, which {begins}: the rest of it and the footer are missing."
        )
        return Place(index, None, 0, problem)
    left = source.size - index.stop
    if left < FOOTER:
        should = f"the index {begins}, so it should say {grouped(index.size)} ({hexadecimal(index.size)})"
        problem = f"The footer is cut off: {left} of its {FOOTER} bytes are there; {should}."
        return Place(index, Span(index.stop, source.size) if left else None, 0, problem)
    footer = Span(index.stop, index.stop + FOOTER)
    if left > FOOTER and int.from_bytes(source.read(footer.start, FOOTER), "little") == index.size:
        behind = in_bytes(left - FOOTER)
        problem = f"{behind} follow the footer, where readers take them for the index size; the index {begins}."
        return Place(index, footer, index.size, problem)
    index = Span(index.start, source.size - FOOTER)
    should = f"the footer should say {grouped(index.size)} ({hexadecimal(index.size)})"
    problem = f"{_says(claimed)}, but the index found before it {begins}: {should}."
    return Place(index, Span(index.stop, source.size), claimed, problem)
