"""A file that ends too early, and bytes behind the end of an archive."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.finding import Finding
from inspector.core.numbers import in_bytes, verb
from inspector.core.span import Span
from inspector.formats import damage_of, format_of
from inspector.formats._damage import MAX_TRAILING_BYTES, TAIL_TEXT_BYTES, first_line, is_text

_SERVER_TEXT = re.compile(rb"<\?xml[^>]{0,200}\?>\s*<Error>|<(?:!DOCTYPE )?html|HTTP/\d(?:\.\d)? \d{3} ", re.IGNORECASE)


def truncated(archive: Archive) -> FoundCause | None:
    """The cause that a file ends too early. Raises SourceError."""
    missing = damage_of(archive).missing(archive)
    if missing is None:
        return None
    least, where = missing
    size = archive.source.size
    page = _server_text(archive)
    least_words = f"{in_bytes(least)} {'is' if least == 1 else 'are'}"
    end = f"at least {least_words} missing" if least else "what follows is missing"
    first = f"The file is cut off after {size:,} bytes; {end}."
    reason = (
        "The last bytes are the message of a server, in place of the rest: the transfer failed."
        if page
        else "A copy or download stopped there, a disk was full, or a write was interrupted."
    )
    left = "what precedes the cut is still there."
    if not len(archive.members):
        left = "the bytes before the cut are still there, but nothing left says which file they belong to."
    message = f"{first} {where} {reason} Copy or download it again, or fetch what follows byte {size:,}; {left}"
    start = page or max(0, size - 1)
    return FoundCause(Cause.TRUNCATED, message, (Span(start, size),), tuple(_explained(archive)))


def _explained(archive: Archive) -> Iterator[Finding]:
    """What follows from a cut: all that is wrong, but for contents that lie before it and do not match a digest."""
    near = archive.source.size
    for each in wrong(archive):
        if "mismatch" in each.code and each.spans and max(span.stop for span in each.spans) < near - 1:
            continue
        yield each


def _server_text(archive: Archive) -> int:
    """Where the message of a server begins at the end of the file; 0 where there is none."""
    start = max(0, archive.source.size - TAIL_TEXT_BYTES)
    tail = archive.source.read(start, TAIL_TEXT_BYTES)
    found = _SERVER_TEXT.search(tail)
    return start + found.start() if found and tail.rstrip().endswith(b">") else 0


def trailing(archive: Archive) -> FoundCause | None:
    """The cause that bytes stand behind an archive. Raises SourceError."""
    damage, known = damage_of(archive), format_of(archive)
    appendable = known is not None and known.appendable
    if not damage.trailing:
        return damage.behind(archive)
    found = [each for each in wrong(archive) if each.code in damage.trailing]
    size = archive.source.size
    spans = [span for each in found for span in each.spans if span.stop == size and 0 < span.size <= MAX_TRAILING_BYTES]
    if not spans or len(wrong(archive)) > len(found):
        return None
    span = max(spans, key=lambda each: each.start)
    data = archive.source.read(span.start, span.size)
    if appendable and span.size > TAIL_TEXT_BYTES and data.strip(b"\0"):
        return None
    data = data if not data.strip(b"\0") else data[:TAIL_TEXT_BYTES]
    they_are = verb(span.size, "It is", "They are")
    first = f"{in_bytes(span.size)} {verb(span.size, 'follows', 'follow')} the end of the archive."
    if not data.strip(b"\0"):
        what = f"{they_are} zero, the usual padding of a program that writes whole blocks."
    elif is_text(data):
        what = f'{they_are} text: "{first_line(data)}". Another program probably printed to the same output.'
    elif appendable:
        return None  # an append that was interrupted leaves such
    else:
        what = f"{verb(span.size, 'It belongs', 'They belong')} to none of its records."
    message = f"{first} {what} Everything before byte {span.start:,} is as it was; cut the rest off in a copy."
    return FoundCause(Cause.TRAILING_BYTES, message, (span,), tuple(found), adopts=True)
