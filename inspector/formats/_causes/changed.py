"""Blocks of one repeated pattern, and what is left: bytes that changed, without a simpler cause.

Nothing here is looked for before the other causes; it names what a check has found as one event where it can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from inspector.core.archive import Archive
from inspector.core.finding import Finding, Severity
from inspector.core.format import Format
from inspector.core.names import visible
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.span import Span, total, united
from inspector.formats._causes.blocks import PART_SIZES, SECTOR_BYTES, Suspects
from inspector.formats._causes.ends import moved_header, names
from inspector.formats._causes.flips import untried
from inspector.formats._causes.joined import is_rca
from inspector.formats._causes.table import Cause, Explanation, wrong
from inspector.formats._tar.header import BLOCK, aligned
from inspector.formats.rca.chunks import scan

MAX_READ_BYTES = 64 << 20
"""Bytes of what is wrong that are read again."""
MIN_FILLED_BYTES = 512
"""Shorter runs of one byte are no block."""
PATTERN_SIZES = (1, 2, 4, 8)
"""Bytes of a pattern that fills a block."""
MAX_LATE = 3
"""Distances of late headers that are tried as the size of bytes that stand there twice."""
MIN_FOLDED = 3
"""Fewer findings about the structure are not explained by bytes that changed."""


# ---- a pattern repeated ----------------------------------------------------------------------------------------------


def filled_block(archive: Archive, bad: Suspects, progress: Progress) -> Explanation | None:
    """A block of one pattern other than zero where something is wrong. Raises SourceError and Cancelled."""
    for low, data in _around(archive, bad, progress):
        found = next(filter(None, (_longest_pattern(data, size) for size in PATTERN_SIZES)), None)
        if found is None:
            continue
        start, stop = low + found.start, low + found.stop
        begin, end = -(-start // SECTOR_BYTES) * SECTOR_BYTES, stop // SECTOR_BYTES * SECTOR_BYTES
        if end - begin < SECTOR_BYTES or not _meets(Span(begin, end), bad):
            continue
        pattern = archive.source.read(begin, max(PATTERN_SIZES))
        size = next(each for each in PATTERN_SIZES if pattern == pattern[:each] * (len(pattern) // each))
        what = f"the byte {hexadecimal(pattern[0], 2)}" if size == 1 else f"the bytes {pattern[:size].hex(' ')}"
        message = (
            f"{in_bytes(end - begin)} are {what} repeated, from byte {begin:,} on. Both ends "
            f"are multiples of {SECTOR_BYTES:,}, as of a block: erased flash memory, or the mark of a sector that "
            "could not be read. Restore it from another copy, and check the medium; the rest is not affected."
        )
        span = Span(begin, end)
        return Explanation(Cause.FILLED_BLOCK, message, (span,), bad.explain(archive, span))
    return None


def _around(archive: Archive, bad: Suspects, progress: Progress) -> Iterator[tuple[int, Any]]:
    """The bytes around each place, and where they begin; of places close to each other only if they have a pattern."""
    import numpy as np

    def read(low: int, high: int) -> Any:
        return np.frombuffer(archive.source.read(low, high - low), np.uint8)

    left = MAX_READ_BYTES
    windows = [
        (max(0, place.start // 4096 * 4096 - 4096), min(archive.source.size, place.stop + 4096))
        for place in united([*bad.content, *bad.structure])
    ]
    widest: dict[int, int] = {}
    for low, high in windows:
        if high - low <= _MAX_SHARED_WINDOW_BYTES:
            widest[low] = max(high, widest.get(low, 0))
    has_pattern: dict[int, bool] = {}
    for low, high in windows:
        left -= high - low
        if left < 0:
            return
        progress.advance(0)
        shared = widest.get(low, 0)
        if high < shared and low not in has_pattern:
            data = read(low, shared)
            has_pattern[low] = any(_longest_pattern(data, size) for size in PATTERN_SIZES)
        if high > shared or has_pattern.get(low, True):
            yield low, read(low, high)


_MAX_SHARED_WINDOW_BYTES = 16_384
"""Bytes of a window around several places that are looked at once for all of them."""


def _longest_pattern(data: Any, size: int) -> Span | None:
    """The longest run of one pattern of ``size`` bytes that are not all zero; None if it is short."""
    import numpy as np

    if len(data) <= size:
        return None
    edges = np.concatenate(([-1], np.flatnonzero(data[size:] != data[:-size]), [len(data) - size]))
    starts, sizes = edges[:-1] + 1, np.diff(edges) - 1 + size
    sizes[np.add.reduceat(data != 0, starts) == 0] = 0
    row = int(sizes.argmax())
    found = Span(int(starts[row]), int(starts[row] + sizes[row]))
    return found if found.size >= MIN_FILLED_BYTES else None


def _meets(span: Span, bad: Suspects) -> bool:
    return any(span.start < each.stop and each.start < span.stop for each in (*bad.content, *bad.structure))


# ---- an RCA that is too short or too long ----------------------------------------------------------------------------


def shifted_rca(archive: Archive) -> Explanation | None:
    """Bytes that went or came, by the sizes that the chunks of an RCA record. Raises SourceError."""
    if archive.format != "rca":
        return None
    layer = scan(archive.source)
    if not is_rca(archive.source, 0) and any(each.code == "rca-blocks-regained" for each in wrong(archive)):
        message = (
            "The beginning of the archive is missing: there is no chunk header at byte 0. Segments after it are found "
            "again by their hashes. A transfer that was resumed without its beginning leaves a file like this, and so "
            "does damage to the first header. Copy the file again; what is proved can be saved."
        )
        return Explanation(Cause.LOST_BYTES, message, (Span(0, 1),), tuple(wrong(archive)))
    change = moved_header(archive.source, layer)
    if not change:
        if (
            not is_rca(archive.source, 0)
            or layer.corrupt
            or not layer.chunks
            or any(each.code == "rca-chunk-size-wrong" for each in wrong(archive))
        ):
            return None
        last = layer.chunks[-1]
        change = archive.source.size - (last.start + last.size)
    bad = [each for each in wrong(archive) if each.spans and each.code not in ("rca-truncated", "rca-trailing-garbage")]
    if not change or not bad:
        return None
    low = min(span.start for each in bad for span in each.spans)
    high = max(span.stop for each in bad for span in each.spans)
    span = Span(low, min(high, archive.source.size))
    part = next((size for size in PART_SIZES if change % size == 0), 0)
    size = archive.source.size
    known = f"By its chunks the file has {in_bytes(size - change)}, and it has {in_bytes(size)}."
    parts = f" That is a multiple of {part >> 20} MiB, the size of parts of a transfer." if part else ""
    where = f"between the bytes {span.start:,} and {span.stop:,}"
    if change < 0:
        verb = "is" if change == -1 else "are"
        first = f"{'A part of ' if part else ''}{in_bytes(-change)} {'is' if part else verb} missing {where}."
        cause = Cause.LOST_PART if part else Cause.LOST_BYTES
    else:
        verb = "was" if change == 1 else "were"
        first = f"{'A part of ' if part else ''}{in_bytes(change)} {'was' if part else verb} inserted {where}."
        cause = Cause.DOUBLED_PART if part else Cause.INSERTED_BYTES
    message = (
        f"{first} {known}{parts} Segments that hashes prove lie on both sides of it, moved. Copy the file again; "
        "what is proved can be saved."
    )
    return Explanation(cause, message, (span,), tuple(wrong(archive)))


# ---- a tar whose headers stand at other places -----------------------------------------------------------------------


def shifted_tar(archive: Archive) -> Explanation | None:
    """Bytes that went or came inside a member of a tar: the next header stands before or behind where it should."""
    members = archive.members
    if archive.format not in ("tar", "datas3t") or members.heads is None or not len(members):
        return None
    before = members.heads[0]
    if before and any(each.severity is Severity.ERROR for each in wrong(archive)):
        message = (
            f"The beginning of the archive is missing: its first header is at byte {before:,}. What comes before "
            "it is the rest of a member whose header is gone. A transfer that was resumed without its beginning leaves "
            "a file like this, and so does damage to the first header. Copy the file again; all other members can be "
            "saved."
        )
        return Explanation(Cause.LOST_BYTES, message, (Span(0, before),), tuple(wrong(archive)))
    events = [(each, gap) for each in range(len(members)) if (gap := _distance(archive, each))]
    if not any(each.severity is Severity.ERROR for each in wrong(archive)):
        return None
    if not events:
        return _lost_at_end(archive)
    member, change = max(events, key=lambda each: abs(each[1]))
    part = next((size for size in (*PART_SIZES, 1 << 16) if change % size == 0), 0)
    begin, end = members.starts[member], members.heads[member + 1]
    name = visible(members.path(member))
    known = f" That is a multiple of {in_bytes(part)}, the size of parts that are copied at once." if part else ""
    size = in_bytes(abs(change))
    more = f" There are {len(events):,} such places." if len(events) > 1 else ""
    if change < 0:
        first = f"{size} {'is' if change == -1 else 'are'} missing between the bytes {begin:,} and {end:,}."
        cause = Cause.LOST_PART if part else Cause.LOST_BYTES
    elif change % BLOCK == 0 and not part:
        first = f"A header is missing between the bytes {begin:,} and {end:,}, and bytes with it."
        cause = Cause.LOST_BYTES
        known = " Whole blocks that were inserted there would look the same."
    else:
        first = f"{size} {'was' if change == 1 else 'were'} inserted between the bytes {begin:,} and {end:,}."
        cause = Cause.DOUBLED_PART if part else Cause.INSERTED_BYTES
    message = (
        f"{first} The header after {name} is {size} too {'early' if change < 0 else 'late'}.{more}{known} The "
        "members after it are whole, only moved; that one is not. Copy the file again."
    )
    return Explanation(cause, message, (Span(begin, max(begin + 1, end)),), tuple(wrong(archive)), member=member)


def late_headers(archive: Archive) -> list[int]:
    """By how many bytes headers of a tar stand too late, the most first; a few of them."""
    if archive.format not in ("tar", "datas3t") or archive.members.heads is None:
        return []
    distances = {_distance(archive, each) for each in range(len(archive.members))}
    return sorted((each for each in distances if each > 0), reverse=True)[:MAX_LATE]


def _distance(archive: Archive, member: int) -> int:
    """By how many bytes the next header stands too late; negative: too early. 0 for the last member."""
    members = archive.members
    if members.heads is None or member + 1 >= len(members):
        return 0
    stop = members.starts[member] + aligned(max(0, members.size(member)))
    return members.heads[member + 1] - stop if members.size(member) else 0


def _lost_at_end(archive: Archive) -> Explanation | None:
    """The last member reaches behind the file although the blocks that end a tar are there: bytes are missing in it."""
    members, source = archive.members, archive.source
    member = len(members) - 1
    stop = members.starts[member] + aligned(max(0, members.size(member)))
    codes = {each.code for each in wrong(archive)}
    if "tar-truncated-data" not in codes or source.read(source.size - 2 * BLOCK, 2 * BLOCK).strip(b"\0"):
        return None
    lost = stop + 2 * BLOCK - source.size
    part = next((size for size in (*PART_SIZES, 1 << 16) if lost % size == 0), 0)
    message = (
        f"At least {in_bytes(lost)} are missing in {visible(members.path(member))}, or in what followed it. It should "
        f"end at byte {stop:,}, but the blocks that end a tar come before that. The members before it are whole. Copy "
        "the file again."
    )
    cause = Cause.LOST_PART if part else Cause.LOST_BYTES
    span = Span(members.starts[member], source.size)
    return Explanation(cause, message, (span,), tuple(wrong(archive)), member=member)


# ---- all that is left ------------------------------------------------------------------------------------------------


def changed_bytes(archive: Archive, left: Sequence[Finding]) -> Explanation | None:
    """One cause for findings without any: other bytes stand there than were written."""
    left = [each for each in left if _shows_change(archive, each)]
    spans = united([span for each in left for span in each.spans if span.size])
    if not spans:
        return None
    low, high = spans[0].start, spans[-1].stop
    members = sorted({known for each in left if (known := archive.known_member(each.member)) is not None})
    mismatched = [each for each in left if "mismatch" in each.code or "content" in each.code]
    if mismatched and len(mismatched) == len(left):
        what = f" of {count(len(members), 'member')}" if members else ""
        first = f"The content{what} is not what was archived."
    elif len(left) < MIN_FOLDED:
        return None  # each says more of itself
    else:
        first = f"Bytes between {low:,} and {high - 1:,} are not those that were written."
    about = f" They belong to {names(archive, members)}." if members else ""
    left_out = untried(archive)
    message = (
        f"{first} {count(len(left), 'finding')} about {in_bytes(total(spans))} from byte {low:,} on "
        f"{'follow' if len(left) > 1 else 'follows'} from that.{about} It is no "
        f"{'' if left_out else 'single flipped bit, no '}run of zeros and no copy of a neighbour: a block was "
        f"overwritten, or the copy is of another state. {left_out}Restore these bytes from another copy."
    )
    return Explanation(Cause.CHANGED_BYTES, message, tuple(spans[:64]), tuple(left), adopts=True)


def _shows_change(archive: Archive, finding: Finding) -> bool:
    """Whether a finding shows that bytes changed; one of a declared type says so itself."""
    decoder: Format | None = getattr(archive, "decoder", None)
    types = {each.code: each.changed for each in decoder.findings} if decoder is not None else {}
    return types.get(finding.code, True)
