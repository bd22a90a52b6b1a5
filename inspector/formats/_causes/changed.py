"""Blocks of one repeated pattern, and what is left: bytes that changed, without a simpler cause.

Nothing here is looked for before the other causes; it names what a check has found as one event where it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspector.core.archive import Archive
from inspector.core.cause import Cause, Explanation
from inspector.core.finding import Finding
from inspector.core.names import visible
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.span import Span, total, united
from inspector.formats import format_of
from inspector.formats._causes.blocks import SECTOR_BYTES, Suspects
from inspector.formats._causes.flips import untried

MAX_READ_BYTES = 64 << 20
"""Bytes of what is wrong that are read again."""
MIN_FILLED_BYTES = 512
"""Shorter runs of one byte are no block."""
PATTERN_SIZES = (1, 2, 4, 8)
"""Bytes of a pattern that fills a block."""
MIN_FOLDED = 3
"""Fewer findings about the structure are not explained by bytes that changed."""
_MAX_NAMES = 3


# ---- a pattern repeated ----------------------------------------------------------------------------------------------


def filled_block(archive: Archive, bad: Suspects, progress: Progress) -> Explanation | None:
    """A block of one pattern other than zero where something is wrong. Raises SourceError and Cancelled."""
    import numpy as np

    left = MAX_READ_BYTES
    for place in united([*bad.content, *bad.structure]):
        low = max(0, place.start // 4096 * 4096 - 4096)
        high = min(archive.source.size, place.stop + 4096)
        left -= high - low
        if left < 0:
            return None
        progress.advance(0)
        data = np.frombuffer(archive.source.read(low, high - low), np.uint8)
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
    about = f" They belong to {_names(archive, members)}." if members else ""
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
    known = format_of(archive)
    types = {each.code: each.changed for each in known.findings} if known is not None else {}
    return types.get(finding.code, True)


def _names(archive: Archive, members: Sequence[int]) -> str:
    """Some names in words."""
    shown = ", ".join(visible(archive.members.path(each)) for each in members[:_MAX_NAMES])
    more = len(members) - _MAX_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
