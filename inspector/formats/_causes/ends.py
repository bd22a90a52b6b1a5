"""A file that ends too early, and bytes behind the end of an archive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.finding import Finding
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, verb
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._causes.table import Cause, Explanation, wrong
from inspector.formats._zip.records import CENTRAL, CENTRAL_SIZE, END_SIZE, LOCAL
from inspector.formats.caf.locate import FOOTER_SIZE
from inspector.formats.rca.chunks import FIRST_SIZE_BITS, ChunkLayer, scan

TAR_END_BYTES = 1_024
"""The two blocks of zeros that end a tar."""
_TAR_CUT = ("tar-truncated-data", "tar-truncated-header", "tar-end-missing")
_MAX_TAIL_BYTES = 66_000
_TAIL_TEXT_BYTES = 2_048
_SERVER_TEXT = re.compile(rb"<\?xml[^>]{0,200}\?>\s*<Error>|<(?:!DOCTYPE )?html|HTTP/\d(?:\.\d)? \d{3} ", re.IGNORECASE)
_TRAILING = ("zip-end-not-at-end", "rca-trailing-garbage", "tar-data-after-end")
MAX_MOVED_BYTES = 64 << 10
"""How far from its place a chunk header is looked for."""
_MIN_SIZE_BITS = 32
_MAX_TRAILING_BYTES = 1 << 20
"""More bytes behind an archive are no note that a program left."""
_MAX_NAMES = 3


def truncated(archive: Archive) -> Explanation | None:
    """The cause that a file ends too early. Raises SourceError."""
    found = {"caf": _caf, "rca": _rca, "tar": _tar, "datas3t": _tar, "zip": _zip, "taco": _zip}.get(archive.format)
    missing = found(archive) if found is not None else None
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
    return Explanation(Cause.TRUNCATED, message, (Span(start, size),), tuple(_explained(archive)))


def _explained(archive: Archive) -> Iterator[Finding]:
    """What follows from a cut: all that is wrong, but for contents that lie before it and do not match a digest."""
    near = archive.source.size
    for each in wrong(archive):
        if "mismatch" in each.code and each.spans and max(span.stop for span in each.spans) < near - 1:
            continue
        yield each


def _server_text(archive: Archive) -> int:
    """Where the message of a server begins at the end of the file; 0 where there is none."""
    start = max(0, archive.source.size - _TAIL_TEXT_BYTES)
    tail = archive.source.read(start, _TAIL_TEXT_BYTES)
    found = _SERVER_TEXT.search(tail)
    return start + found.start() if found and tail.rstrip().endswith(b">") else 0


def _codes(archive: Archive) -> frozenset[str]:
    return frozenset(each.code for each in wrong(archive))


_Missing = tuple[int, str]
"""The bytes that are missing at least, 0 where that is not known, and a sentence on what shows it."""


def _tar(archive: Archive) -> _Missing | None:
    codes, size = _codes(archive), archive.source.size
    if not codes & frozenset(_TAR_CUT) or not size:
        return None
    members = archive.members
    stop = max(members.stops, default=0)
    tail = archive.source.read(max(0, size - TAR_END_BYTES), TAR_END_BYTES)
    if "tar-truncated-data" in codes and not tail.strip(b"\0"):
        return None  # its end is there, so what is missing stood before
    if "tar-truncated-data" in codes and stop >= size:
        least = stop - size + TAR_END_BYTES
        name = visible(members.path(len(members) - 1))
        return least, f"The member {name} goes on for {in_bytes(stop - size)}, and then a tar has two blocks of zeros."
    if "tar-truncated-header" in codes:
        return (
            512 - size % 512 + TAR_END_BYTES,
            "The file ends inside a header, and a tar ends with two blocks of zeros.",
        )
    if "tar-truncated-data" in codes or codes == {"tar-end-missing"} or _rows_missing(archive):
        return TAR_END_BYTES, "A tar ends with two blocks of zeros, and there are none."
    return None


def _rows_missing(archive: Archive) -> bool:
    """Whether the metadata lists datapoints that would begin at the end of the file or behind it."""
    rows = getattr(archive.detail, "rows", None)
    return rows is not None and any(begin >= archive.source.size for begin in rows.begins)


def _zip(archive: Archive) -> _Missing | None:
    if "zip-no-central-directory" not in _codes(archive) or archive.source.read(0, 4) != LOCAL:
        return None
    source, members = archive.source, archive.members
    tail_at = max(0, source.size - _MAX_TAIL_BYTES)
    tail = source.read(tail_at, _MAX_TAIL_BYTES)
    if not tail.strip(b"\0"):
        return None
    stop = max(members.stops, default=0)
    directory = sum(CENTRAL_SIZE + len(members.path(each)) for each in range(min(len(members), 100_000))) + END_SIZE
    first = tail.rfind(CENTRAL)
    if first >= 0 and tail_at + first >= stop:
        entry = tail[first : first + CENTRAL_SIZE]
        if len(entry) == CENTRAL_SIZE:
            fields = (int.from_bytes(entry[at : at + 2], "little") for at in (28, 30, 32))
            after = first + CENTRAL_SIZE + sum(fields)
            if after < len(tail) - END_SIZE:
                return None  # something else stands behind it
            left = after - len(tail) + END_SIZE if after > len(tail) else END_SIZE - (len(tail) - after)
            return max(1, left), "It ends inside its central directory, or in the record that ends one."
        return END_SIZE, "It ends inside its central directory."
    cut = next((each for each in wrong(archive) if each.code in ("zip-member-cut-off", "zip-size-unknown")), None)
    if cut is None and stop < source.size - 1:
        rest = source.read(stop, 64)
        if rest[:2] not in (b"PK", b"P"):
            return None if source.size - stop > _MAX_TRAILING_BYTES else (directory, _NO_DIRECTORY)
    inside = max(0, stop - source.size)
    where = "It ends inside a member, and" if cut is not None else "It ends after a member, and"
    return inside + directory, f"{where} the central directory of {len(members):,} entries should follow."


_NO_DIRECTORY = "The central directory that ends a ZIP is not there."


def _caf(archive: Archive) -> _Missing | None:
    codes, source = _codes(archive), archive.source
    if "caf-footer" not in codes or not source.size:
        return None
    index = next((each.spans[0] for each in archive.fields if each.name == "index" and each.spans), None)
    tail = source.read(max(0, source.size - 4_096), 4_096)
    if not tail.strip(b"\0") or tail.count(tail[-1:]) == len(tail):
        return None
    if index is None:
        where = "There is neither an index nor a footer at its end, and a CAF ends with both."
        return (4 + 2, where) if not len(archive.members) else None
    if "caf-index-malformed" in codes and index.stop >= source.size - 4:
        return 4 + 2, "It ends inside the index, and a footer of 4 bytes should follow."
    left = source.size - index.stop
    return (4 - left, "The footer of 4 bytes after the index is not whole.") if 0 <= left < 4 else None


def _rca(archive: Archive) -> _Missing | None:
    codes = _codes(archive)
    if "rca-truncated" not in codes or codes & {"rca-blocks-regained"}:
        return None
    layer = scan(archive.source)
    if not layer.truncated or moved_header(archive.source, layer):
        return None
    last = layer.chunks[-1]
    least = last.start + last.size - archive.source.size
    before = [each for each in wrong(archive) if "mismatch" in each.code and each.spans]
    if any(max(span.stop for span in each.spans) < archive.source.size - 1 for each in before):
        return None
    return least, f"Its chunk {last.number + 1} has {in_bytes(last.size)} by its own header."


def moved_header(source: Source, layer: ChunkLayer) -> int:
    """By how many bytes the header of an RCA's last chunk has moved from its place; 0 where none is found near it."""
    second = 1 << FIRST_SIZE_BITS - 1
    return _moved_by(source, *layer.uncertain_header) or _moved_by(source, second, 2 * FIRST_SIZE_BITS)


def _moved_by(source: Source, start: int, bits: int) -> int:
    """The same for a header that belongs at ``start``, with so many bits of size.

    Its size field says how much of the file follows, which 32 bits or more do not say by chance.
    """
    if bits < _MIN_SIZE_BITS:
        return 0
    low, width = max(0, start - MAX_MOVED_BYTES), bits // 8
    data = source.read(low, 2 * MAX_MOVED_BYTES + width)
    found = [
        low + at - start
        for at in range(len(data) - width)
        if int.from_bytes(data[at : at + width], "big") == source.size - low - at
    ]
    return found[0] if len(found) == 1 else 0


# ---- behind the end --------------------------------------------------------------------------------------------------


def trailing(archive: Archive) -> Explanation | None:
    """The cause that bytes stand behind an archive. Raises SourceError."""
    if archive.format == "caf":
        return _behind_footer(archive)
    found = [each for each in wrong(archive) if each.code in _TRAILING]
    size = archive.source.size
    spans = [
        span for each in found for span in each.spans if span.stop == size and 0 < span.size <= _MAX_TRAILING_BYTES
    ]
    if not spans or len(wrong(archive)) > len(found):
        return None
    span = max(spans, key=lambda each: each.start)
    data = archive.source.read(span.start, span.size)
    if archive.format == "rca" and span.size > _TAIL_TEXT_BYTES and data.strip(b"\0"):
        return None
    data = data if not data.strip(b"\0") else data[:_TAIL_TEXT_BYTES]
    they_are = verb(span.size, "It is", "They are")
    first = f"{in_bytes(span.size)} {verb(span.size, 'follows', 'follow')} the end of the archive."
    if not data.strip(b"\0"):
        what = f"{they_are} zero, the usual padding of a program that writes whole blocks."
    elif _is_text(data):
        what = f'{they_are} text: "{_shown(data)}". Another program probably printed to the same output.'
    elif archive.format == "rca":
        return None  # an append that was interrupted leaves such
    else:
        what = f"{verb(span.size, 'It belongs', 'They belong')} to none of its records."
    message = f"{first} {what} Everything before byte {span.start:,} is as it was; cut the rest off in a copy."
    return Explanation(Cause.TRAILING_BYTES, message, (span,), tuple(found), adopts=True)


def _behind_footer(archive: Archive) -> Explanation | None:
    """Bytes behind the footer of a CAF: what stands behind the index says the size of the index."""
    index = next((each.spans[0] for each in archive.fields if each.name == "index" and each.spans), None)
    source = archive.source
    if index is None or "caf-footer" not in _codes(archive):
        return None
    span = Span(index.stop + FOOTER_SIZE, source.size)
    right = int.from_bytes(source.read(index.stop, FOOTER_SIZE), "little") == index.size
    if not right or not 0 < span.size <= _MAX_TRAILING_BYTES:
        return None
    data = source.read(span.start, min(span.size, _TAIL_TEXT_BYTES))
    they_are, they_belong = verb(span.size, "It is", "They are"), verb(span.size, "It belongs", "They belong")
    what = f'{they_are} text: "{_shown(data)}".' if _is_text(data) else f"{they_belong} to none of its records."
    if _ends_older_index(source, span):
        message = (
            f"A new archive was written over a longer old one, and the end of the old one's index is left. It has "
            f"{in_bytes(span.size)} from byte {span.start:,} on. What it lists was overwritten; everything before it "
            "is the new archive. Cut it off in a copy."
        )
        return Explanation(Cause.JOINED, message, (span,), tuple(wrong(archive)), adopts=True)
    message = (
        f"{in_bytes(span.size)} {verb(span.size, 'follows', 'follow')} the footer, which ends a CAF. {what} A "
        "program padded the file to whole blocks, or another one printed to the same output. Repair writes the footer "
        "where the file ends, or cut the rest off in a copy."
    )
    return Explanation(Cause.TRAILING_BYTES, message, (span,), tuple(wrong(archive)), adopts=True)


def _ends_older_index(source: Source, rest: Span) -> bool:
    """Whether these bytes at the end of a file end an index that began before them, with its footer."""
    data = source.read(rest.start, rest.size)
    size = int.from_bytes(data[-FOOTER_SIZE:], "little")
    return data[:-FOOTER_SIZE].endswith(b"}}") and rest.size - FOOTER_SIZE < size < source.size


def _is_text(data: bytes) -> bool:
    return all(byte >= 32 or byte in b"\t\r\n\x1a" for byte in data) and data.isascii()


def _shown(data: bytes) -> str:
    text = visible(data.strip().splitlines()[0]) if data.strip() else visible(data)
    return text if len(text) <= 60 else f"{text[:60]}…"


def names(archive: Archive, members: Sequence[int]) -> str:
    """Some names in words."""
    shown = ", ".join(visible(archive.members.path(each)) for each in members[:_MAX_NAMES])
    more = len(members) - _MAX_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
