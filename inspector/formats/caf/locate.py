"""Find the index: where the footer says, or, if the footer is wrong or missing, by searching; and probe for a CAF.

CAF.md, sections 2 (File Index Section) and 3 (Footer Section), and "Fast File Lookup".
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from inspector.core.format import ProbeResult
from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, Source, SplicedSource, expect
from inspector.core.span import Span, Spans
from inspector.formats.caf.scan import BYTE_ORDER_MARK, Malformed, Scanner

FOOTER_SIZE = 4
"""Bytes of the footer."""
MAX_INDEX_BYTES = 256 << 20
"""Larger indexes are not read, and none is searched for further than this from the end."""
SPACE = b" \t\n\r"
"""White space in JSON."""
OPENING = re.compile(rb'\{[ \t\n\r]*+"(?:files|format_version)"[ \t\n\r]*+:')
"""How an index opens."""

_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\n\r]*+\{")
_END_BYTE = re.compile(rb'"end_byte"[ \t\n\r]*+:[ \t\n\r]*+([0-9]{1,20})(?![0-9])')
_AFTER_NAME = re.compile(rb'"[ \t\n\r]*+:[ \t\n\r]*+\{[ \t\n\r]*+"(?:start|end)_byte"')

_HEAD_BYTES = 4 << 10
_TAIL_BYTES = 64 << 10
"""Bytes at the end of a file that ``probe`` reads."""
_WINDOW_BYTES = 4 << 20
"""Bytes searched at a time, so that memory does not grow with the distance searched."""
_MAX_OPENING_BYTES = 4 << 10
_MAX_TRAILING_SPACE = 64 << 10
_MAX_TRAILING_ZEROS = 1 << 20
_FIRST_READ_BYTES = 64 << 10
"""Bytes of a candidate that are scanned before more of it is read."""
_MAX_CANDIDATES_PER_WINDOW = 8
_MAX_CANDIDATES = 40
"""Places tried as the start of the index, nearest to the end of the file first."""
_TEXT_BYTES = frozenset(range(0x20, 0x7F)) | frozenset(SPACE)


class Place(Struct, frozen=True):
    """Where the index and the footer lie; None if they were not found.

    ``problem`` is the message of a finding if something about
    that is wrong, and ``wrong`` the bytes it concerns.
    """

    index: Span | None
    footer: Span | None
    problem: str = ""
    wrong: Spans = ()


class Found(Struct, frozen=True):
    """A JSON object near the end of a file; ``complete`` is false if the file ends inside it."""

    span: Span
    complete: bool


def probe(source: Source) -> ProbeResult:
    """Read the last 64 KiB, and both ends of the index that the footer names.

    Texts and programs may quote an index. In an archive its parts agree as well: the footer with the place of the
    index, or, if the footer is wrong or missing, the numbers in the index with that place.
    """
    _, span = index_from_footer(source)
    opening = b"" if span is None else head(source, span)
    if span is not None and opening[:1] == b"{":
        start = max(span.start, span.stop - _TAIL_BYTES)
        if source.read(start, span.stop - start).rstrip(SPACE).endswith(b"}"):
            return ProbeResult.CERTAIN if OPENING.match(opening) else ProbeResult.POSSIBLE
    return ProbeResult.POSSIBLE if OPENING.match(opening) or _ends_in_index(source) else ProbeResult.NO


def find_index(source: Source) -> Place:
    """Where the index lies: at the place the footer names, or else wherever a search finds it."""
    if source.size < FOOTER_SIZE:
        problem = (
            f"The file is too short for a footer: it has {in_bytes(source.size)}, and the footer has {FOOTER_SIZE}. "
            "Without it, nothing says where the index begins."
        )
        return Place(None, None, problem, (Span(0, source.size),))
    value, span = index_from_footer(source)
    footer = Span(source.size - FOOTER_SIZE, source.size)
    if span is not None and OPENING.match(head(source, span)):
        return Place(span, footer)
    if (found := search(source)) is not None:
        return _found(source, found, value)
    wrong = f"only {in_bytes(footer.start)} precede it"
    if span is not None:
        opening = source.read(span.start, min(_HEAD_BYTES, span.size))
        if _OBJECT.match(opening) or first_entry(opening) is not None:
            return Place(span, footer)  # with a damaged opening
        wrong = f"no index begins at byte {grouped(span.start)}"
    return Place(
        None,
        footer if span is not None else None,
        f"{_footer_says(value)}, but {wrong}. A search at the end of the file found no index either, so no members can "
        "be listed.",
        (footer,) if span is None else (footer, Span(span.start, span.start + 1)),
    )


def index_from_footer(source: Source) -> tuple[int, Span | None]:
    """The index size that the footer names, and the index's span; None if the file is too small for it."""
    end = source.size - FOOTER_SIZE
    footer = source.read(end, FOOTER_SIZE)
    if len(footer) < FOOTER_SIZE:
        return 0, None
    size = int.from_bytes(footer, "little")
    expect(source, end - size, end)
    return size, Span(end - size, end) if 0 < size <= end else None


def head(source: Source, span: Span) -> bytes:
    """The first bytes of an index from its first brace on: without a byte order mark or white space before it."""
    return source.read(span.start, min(_HEAD_BYTES, span.size)).removeprefix(BYTE_ORDER_MARK).lstrip(SPACE)


def search(source: Source, last_bytes: int = MAX_INDEX_BYTES) -> Found | None:
    """The last object within ``last_bytes`` of the end that opens like an index and ends where an index may end.

    If other bytes follow it than may follow an index, it still counts if its members end where it begins.
    """
    low, stop, left = max(0, source.size - last_bytes), source.size, _MAX_CANDIDATES
    while stop > low and left:
        start = max(low, stop - _WINDOW_BYTES)
        data = source.read(start, stop - start + _MAX_OPENING_BYTES)
        places = (match.start() for match in OPENING.finditer(data))
        nearest = deque((start + at for at in places if start + at < stop), min(_MAX_CANDIDATES_PER_WINDOW, left))
        for place in reversed(nearest):
            found = object_at(source, place)
            if found is not None and (not found.complete or _is_last(source, found.span)):
                return found
        stop, left = start, left - len(nearest)
    return None


def object_at(source: Source, start: int) -> Found | None:
    """The JSON object that begins at ``start``; None if there is none."""
    length = _FIRST_READ_BYTES
    while True:
        data = source.read(start, length)
        scanner = Scanner(data)
        try:
            scanner.value()
        except Malformed as problem:
            if not problem.end:
                # A file may end in zeros after a crash that kept its size but not its last data.
                at, stop = start + problem.at, source.size
                zeros = at < stop <= at + _MAX_TRAILING_ZEROS and not source.read(at, stop - at).strip(b"\0")
                return Found(Span(start, stop), False) if zeros else None
        else:
            return Found(Span(start, start + scanner.at), True)
        if len(data) < length:
            return Found(Span(start, start + len(data)), False)
        length *= 16


def first_entry(data: bytes, since: int = 0) -> int | None:
    """The offset of the first unmistakable entry at or after ``since``: a name, a brace and one of its keys.

    The result does not depend on whether the bytes before it are inside a string.
    """
    for after_name in _AFTER_NAME.finditer(data, since):
        if (start := _opening_quote(data, since, after_name.start())) is not None:
            return start
        since = after_name.end()
    return None


def _opening_quote(data: bytes, low: int, stop: int) -> int | None:
    """The last unescaped quote in ``[low, stop)``."""
    while (at := data.rfind(b'"', low, stop)) >= 0:
        first = at
        while first > low and data[first - 1] == ord("\\"):
            first -= 1
        if not (at - first) % 2:
            return at
        stop = first
    return None


def _footer_says(value: int) -> str:
    return f"The footer says the index size is {in_bytes(value)} ({hexadecimal(value)})"


def _found(source: Source, found: Found, value: int) -> Place:
    """The place of an index that was found by searching, and what is wrong with the footer."""
    index = found.span
    begins = f"begins at byte {grouped(index.start)}"
    if not found.complete:
        problem = f"The file ends inside its index, which {begins}. The rest of the index and the footer are missing."
        return Place(index, None, problem, (index,))
    left = source.size - index.stop
    if left < FOOTER_SIZE:
        problem = (
            f"The footer is cut off: {left} of its {FOOTER_SIZE} bytes are there. The index {begins}, so the footer "
            f"should say {grouped(index.size)} ({hexadecimal(index.size)})."
        )
        rest = Span(index.stop, source.size)
        return Place(index, rest if left else None, problem, (rest if left else index,))
    footer = Span(index.stop, index.stop + FOOTER_SIZE)
    if left > FOOTER_SIZE and has_footer(source, index):
        follow = f"{in_bytes(left - FOOTER_SIZE)} {'follows' if left == FOOTER_SIZE + 1 else 'follow'} the footer"
        problem = f"{follow}, where readers expect the index size. The index {begins}."
        return Place(index, footer, problem, (Span(footer.stop, source.size),))
    index = Span(index.start, source.size - FOOTER_SIZE)
    problem = (
        f"{_footer_says(value)}, but the index {begins}. The footer should say {grouped(index.size)} "
        f"({hexadecimal(index.size)})."
    )
    footer = Span(index.stop, source.size)
    return Place(index, footer, problem, (footer,))


def _is_last(source: Source, index: Span) -> bool:
    """Whether an object may be the index: a footer that is right, wrong or cut off follows, or its members fit."""
    if has_footer(source, index) or data_size(source, index) == index.start:
        return True
    left = source.size - index.stop
    if left > _MAX_TRAILING_SPACE:
        return False
    rest = source.read(index.stop, left)
    return len(rest.lstrip(SPACE)) <= FOOTER_SIZE or not rest.strip(b"\0")


def has_footer(source: Source, index: Span) -> bool:
    """Whether the footer behind an index says its size."""
    return int.from_bytes(source.read(index.stop, FOOTER_SIZE), "little") == index.size


def data_size(source: Source, index: Span) -> int:
    """Where the members of an index end, counted from where its archive begins; -1 without a member."""
    return max(_end_bytes(source.read(index.start, index.size)), default=-1)


def _end_bytes(data: bytes) -> list[int]:
    """Every ``end_byte`` in a piece of an index."""
    return [int(number) for number in _END_BYTE.findall(data)]


def _ends_in_index(source: Source) -> bool:
    """Whether the file ends in an index that the footer does not lead to."""
    if (found := search(source, _TAIL_BYTES)) is None:
        return source.size > _TAIL_BYTES and _ends_in_entries(source)
    start, stop = found.span
    ends = _end_bytes(source.read(start, min(stop - start, _TAIL_BYTES)))
    if not found.complete:
        return bool(ends) and max(ends) <= start
    return 0 < start in ends or _is_binary(source.read(stop, FOOTER_SIZE))


def _ends_in_entries(source: Source) -> bool:
    """Whether the file ends in the last part of a long index."""
    tail = source.read(source.size - _TAIL_BYTES, _TAIL_BYTES)
    ends = _end_bytes(tail)
    if not ends or max(ends) > source.size:
        return False
    # With a brace in front, the entries after the first complete one are an object.
    rest = b"{" + tail[tail.find(b"},") + 2 :]
    found = object_at(BytesSource(rest), 0)
    if found is None or not found.complete:
        return found is not None
    after = rest[found.span.stop :].lstrip(SPACE + b",")
    return after[:1] == b"}" and _is_binary(after[1:].lstrip(SPACE))


def _is_binary(footer: bytes) -> bool:
    """Whether these bytes are a footer, right or wrong, and not the end of a text."""
    return len(footer) == FOOTER_SIZE and not _TEXT_BYTES.issuperset(footer)


# ---- where an archive ends that begins at a place --------------------------------------------------------------------

MAX_TRIED_ENDS = 256
"""Places that are tried as the end of one archive."""
MAX_COMPARED_INDEX_BYTES = 16 << 20
"""The largest index that is looked at there."""
_MAX_INDEX_READS = 2
"""Candidates for an index are read up to so many times the size of the file together."""
_SEARCHED_BYTES = 1 << 20
_OVERLAP = 256


def caf_end(source: Source, at: int, progress: Progress) -> int | None:
    """Where the CAF that begins at ``at`` ends: behind the first index whose members lie in front of it.

    Raises SourceError and Cancelled.
    """
    left = max(MAX_COMPARED_INDEX_BYTES, _MAX_INDEX_READS * source.size)
    _, last = index_from_footer(source)
    for tried, place in enumerate(_openings(source, at, progress)):
        if tried == MAX_TRIED_ENDS or left <= 0:
            return None
        # The last index of the file, which its footer leads to, may be larger, and need not be scanned.
        is_last = last is not None and last.start == place and last.size <= MAX_INDEX_BYTES
        index = last if is_last else index_at(source, place)
        left -= min(MAX_COMPARED_INDEX_BYTES, source.size - place) if index is None else index.size
        if index is not None and data_size(source, index) == place - at and has_footer(source, index):
            return index.stop + FOOTER_SIZE
    return None


def index_at(source: Source, place: int) -> Span | None:
    """The whole index that opens at ``place``; None if there is none, or a larger one."""
    room = Span(place, min(source.size, place + MAX_COMPARED_INDEX_BYTES))
    found = object_at(SplicedSource(source, [room], source.name), 0)
    return Span(place, place + found.span.size) if found is not None and found.complete else None


def _openings(source: Source, start: int, progress: Progress) -> Iterator[int]:
    for at in range(start, source.size, _SEARCHED_BYTES):
        data = source.read(at, _SEARCHED_BYTES + _OVERLAP)
        yield from (at + found.start() for found in OPENING.finditer(data) if found.start() < _SEARCHED_BYTES)
        progress.advance(min(len(data), _SEARCHED_BYTES))
