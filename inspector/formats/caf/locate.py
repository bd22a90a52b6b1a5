"""Where the index lies: what the footer says, and where it really is when the footer is wrong.

CAF.md, section 3 (Footer Section) and "Fast File Lookup".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from inspector.core.numbers import grouped, hexadecimal, in_bytes
from inspector.core.source import Source, expect
from inspector.core.span import Span, Spans
from inspector.formats.caf.resume import first_entry
from inspector.formats.caf.search import FOOTER, OPENING, SPACE, Found, search

_HEAD = 4 << 10
_MARK = b"\xef\xbb\xbf"
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\n\r]*+\{")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the index and the footer lie, None where they were not found.

    ``claimed`` is the index size that the footer names; ``problem`` a sentence where something about that is wrong, and
    ``wrong`` the bytes that it is about.
    """

    index: Span | None
    footer: Span | None
    claimed: int = 0
    problem: str = ""
    wrong: Spans = ()


def find_index(source: Source) -> Place:
    """Where the index lies, footer first; the bytes before the footer are searched only when it is wrong."""
    if source.size < FOOTER:
        room = f"The file has {in_bytes(source.size)}, so there is no room for the footer of {FOOTER} bytes"
        problem = f"{room}: it cannot be told where the index begins."
        return Place(None, None, 0, problem, (Span(0, source.size),))
    claimed, span = claimed_index(source)
    footer = Span(source.size - FOOTER, source.size)
    if span is not None and OPENING.match(head(source, span)):
        return Place(span, footer, claimed)
    found = search(source)
    if found is not None:
        return _found(source, found, claimed)
    if span is not None and _holds_entries(source, span):
        return Place(span, footer, claimed)
    return _nothing(footer, claimed, span)


def _holds_entries(source: Source, span: Span) -> bool:
    """Whether a place that does not open like an index is one all the same, be it damaged where it opens."""
    beginning = source.read(span.start, min(_HEAD, span.size))
    return _OBJECT.match(beginning) is not None or first_entry(beginning) is not None


def claimed_index(source: Source) -> tuple[int, Span | None]:
    """The index size the footer names, and the bytes that are meant where the file has room for them."""
    end = source.size - FOOTER
    footer = source.read(end, FOOTER)
    if len(footer) < FOOTER:
        return 0, None
    size = int.from_bytes(footer, "little")
    expect(source, end - size, end)
    return size, Span(end - size, end) if 0 < size <= end else None


def head(source: Source, span: Span) -> bytes:
    """The first bytes of an index, without what may stand before its first brace."""
    return source.read(span.start, min(_HEAD, span.size)).removeprefix(_MARK).lstrip(SPACE)


def _says(claimed: int) -> str:
    return f"The footer says that the index size is {in_bytes(claimed)} ({hexadecimal(claimed)})"


def _nothing(footer: Span, claimed: int, span: Span | None) -> Place:
    """Say that there is no index, neither in ``span``, where the footer leads if it leads anywhere, nor elsewhere."""
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
        (footer,) if span is None else (footer, Span(span.start, span.start + 1)),
    )


def _found(source: Source, found: Found, claimed: int) -> Place:
    """Say what is wrong about the footer of an index that had to be searched for."""
    index = found.span
    begins = f"begins at byte {grouped(index.start)}"
    if not found.whole:
        problem = (
            f"The file ends in the middle of its index, which {begins}: the rest of it and the footer are missing."
        )
        return Place(index, None, 0, problem, (index,))
    left = source.size - index.stop
    if left < FOOTER:
        should = f"the index {begins}, so it should say {grouped(index.size)} ({hexadecimal(index.size)})"
        problem = f"The footer is cut off: {left} of its {FOOTER} bytes are there; {should}."
        rest = Span(index.stop, source.size)
        return Place(index, rest if left else None, 0, problem, (rest if left else index,))
    footer = Span(index.stop, index.stop + FOOTER)
    if left > FOOTER and int.from_bytes(source.read(footer.start, FOOTER), "little") == index.size:
        follow = f"{in_bytes(left - FOOTER)} {'follows' if left == FOOTER + 1 else 'follow'} the footer"
        problem = f"{follow}, where readers take them for the index size; the index {begins}."
        return Place(index, footer, index.size, problem, (Span(footer.stop, source.size),))
    index = Span(index.start, source.size - FOOTER)
    should = f"the footer should say {grouped(index.size)} ({hexadecimal(index.size)})"
    problem = f"{_says(claimed)}, but the index found before it {begins}: {should}."
    footer = Span(index.stop, source.size)
    return Place(index, footer, claimed, problem, (footer,))
