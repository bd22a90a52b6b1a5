"""How much a file looks like a Chunk Archive, from little of it (CAF.md, "Fast File Lookup").

Texts and programs quote indexes. What sets an archive apart from them is that its parts agree: the footer with the
place of the index, or, where the footer is wrong or gone, the numbers in the index with that place.
"""

from __future__ import annotations

from inspector.core.format import ProbeResult
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span
from inspector.formats.caf.locate import claimed_index, head
from inspector.formats.caf.search import FOOTER, OPENING, SPACE, ends_in, object_at, search

_TAIL = 64 << 10
_TEXT = frozenset(range(0x20, 0x7F)) | frozenset(SPACE)


def probe(source: Source) -> ProbeResult:
    """See Format.probe; reads the last 64 KiB, and both ends of the index that the footer claims."""
    _, span = claimed_index(source)
    if span is not None and _closes(source, span):
        beginning = head(source, span)
        if OPENING.match(beginning):
            return ProbeResult.CERTAIN
        if beginning[:1] == b"{":
            return ProbeResult.POSSIBLE
    return ProbeResult.POSSIBLE if _opens(source, span) or _remains(source) else ProbeResult.NO


def _opens(source: Source, span: Span | None) -> bool:
    return span is not None and OPENING.match(head(source, span)) is not None


def _closes(source: Source, span: Span) -> bool:
    start = max(span.start, span.stop - _TAIL)
    return source.read(start, span.stop - start).rstrip(SPACE).endswith(b"}")


def _remains(source: Source) -> bool:
    """Whether the file ends in an index that the footer does not lead to."""
    found = search(source, _TAIL)
    if found is None:
        return source.size > _TAIL and _ends_in_entries(source)
    start, stop = found.span
    ends = ends_in(source.read(start, min(stop - start, _TAIL)))
    if not found.whole:
        return bool(ends) and max(ends) <= start
    return 0 < start in ends or _is_binary(source.read(stop, FOOTER))


def _ends_in_entries(source: Source) -> bool:
    """Whether the end of the file is the end of an index that begins long before it."""
    tail = source.read(source.size - _TAIL, _TAIL)
    ends = ends_in(tail)
    if not ends or max(ends) > source.size:
        return False
    # What follows an entry is, with a brace before it, an object of the further ones.
    rest = b"{" + tail[tail.find(b"},") + 2 :]
    found = object_at(BytesSource(rest), 0)
    if found is None or not found.whole:
        return found is not None
    behind = rest[found.span.stop :].lstrip(SPACE + b",")
    return behind[:1] == b"}" and _is_binary(behind[1:].lstrip(SPACE))


def _is_binary(footer: bytes) -> bool:
    """Whether these are the bytes of a number, be it a wrong one, and not the end of a text."""
    return len(footer) == FOOTER and not _TEXT.issuperset(footer)
