"""Blocks of zeros or of another pattern, copies of their neighbours, and what is left: bytes that changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.damage import Damage
from inspector.core.field import locate
from inspector.core.finding import Finding
from inspector.core.kinds import Kind
from inspector.core.names import brief
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.span import Span, intersect, subtract, total, united
from inspector.core.verdict import Verdict
from inspector.formats import damage_of
from inspector.formats._causes.flips import untried
from inspector.formats._causes.survey import Survey, members_with
from inspector.formats._damage import PART_SIZES

SECTOR_BYTES = 512
"""The smallest block of a disk."""
SLACK_BYTES = 24
"""Zeros of the data itself that may be before and after a block of zeros."""
BLOCK_SIZES = tuple(1 << bits for bits in range(20, 8, -1))
"""Sizes in bytes of blocks that may be copies of their neighbours, largest first."""
MAX_COMPARED_BYTES = 64 << 20
"""Bytes that are compared with their neighbours."""
MAX_SPANS = 4_096
"""Spans of findings and members that are looked at."""
NEAR_BYTES = 512
"""Distance in bytes at which damage shows, such as in the header after lost ones."""
_OUTSIDE = frozenset(("zip-prepended",))
"""Findings on bytes in front of an archive, such as a program: nothing says what should be there."""


class Suspects(Struct, frozen=True):
    """Where something is wrong. ``content`` are bytes that a digest contradicts, ``structure`` those of other findings.

    Both are sorted and disjoint. ``data`` are members' bytes that no digest contradicts.
    """

    content: list[Span]
    structure: list[Span]
    data: list[Span]

    def explain(self, archive: Archive, *holes: Span) -> tuple[Finding, ...]:
        """The findings near some bytes."""
        wide = united([Span(hole.start - NEAR_BYTES, hole.stop + NEAR_BYTES) for hole in holes])
        return tuple(each for each in wrong(archive) if any(_meets(span, wide) for span in each.spans))


def suspects(archive: Archive) -> Suspects:
    """Where something is wrong with an archive."""
    members = archive.members
    bad = set(islice(members_with(archive, Verdict.MISMATCH, Verdict.DOUBTFUL), MAX_SPANS))
    content = [span for member in bad for span in members[member].spans]
    structure: list[Span] = []
    for finding in wrong(archive)[:MAX_SPANS]:
        if finding.code not in _OUTSIDE:
            target = content if "mismatch" in finding.code else structure
            target += finding.spans[:MAX_SPANS]
    contradicted = united(content)
    data = [
        span
        for member in range(min(len(members), MAX_SPANS))
        if member not in bad
        for span in members.seen(member).spans
    ]
    return Suspects(contradicted, united(structure), subtract(united(data), contradicted))


# ---- zeros -----------------------------------------------------------------------------------------------------------


def zeros(archive: Archive, survey: Survey, bad: Suspects, explained: Sequence[Span]) -> Iterator[FoundCause]:
    """Runs of zeros that explain damage; ``explained`` are bytes whose damage has another cause already."""
    if survey.counts[0] == survey.size:
        message = (
            f"Every byte of the file is zero, all {in_bytes(survey.size)}. Room was reserved for it, and the content "
            "was never written: an interrupted download, or a crash of the system. Copy or download it again."
        )
        yield FoundCause(Cause.ALL_ZEROS, message, (Span(0, survey.size),), tuple(wrong(archive)))
        return
    near = united([Span(span.start - NEAR_BYTES, span.stop + NEAR_BYTES) for span in bad.structure])
    holes = [hole for run in survey.runs if (hole := _hole(archive, survey.size, run, bad, near, explained))]
    parts = [each for each in holes if part_size(each, survey.size)]
    blocks = [each for each in holes if each not in parts]
    if parts:
        yield _zero_parts(archive, parts, survey.size, bad)
    if blocks:
        yield _zero_blocks(archive, blocks, bad)


def _hole(
    archive: Archive, size: int, run: Span, bad: Suspects, near: list[Span], explained: Sequence[Span]
) -> Span | None:
    """The bytes of a run of zeros that should be others; None where nothing is wrong with them.

    ``near`` is what lies near a structure where something is wrong.
    """
    damage = damage_of(archive)
    if not _is_damage(run, size, bad, near, explained, damage):
        return None
    if not damage.block and run.size <= _MAX_PADDING_BYTES:
        chain = locate(archive.fields, (run.start + run.stop) // 2)
        if chain and chain[-1][1].kind is Kind.PADDING:
            return None  # what a format of blocks passes over as padding may be lost members
    low = -(-(run.start) // SECTOR_BYTES) * SECTOR_BYTES
    high = size if run.stop == size else run.stop // SECTOR_BYTES * SECTOR_BYTES
    slack = damage.block or SLACK_BYTES  # the padding of the member before
    aligned = low - run.start <= slack and run.stop - high <= SLACK_BYTES and high - low >= SECTOR_BYTES
    if aligned:
        return Span(low, high)
    # Where the bytes are compressed or random a long run is no data, whatever its place.
    return run if run.size >= _MIN_UNALIGNED and not damage.block else None


_MIN_UNALIGNED = 256
_MAX_PADDING_BYTES = 4_096
"""More zeros than fill up a block, whatever the format says of them."""


def _is_damage(
    run: Span, size: int, bad: Suspects, near: list[Span], explained: Sequence[Span], damage: Damage
) -> bool:
    """Whether other bytes than zeros should be there: a digest says so, or the structure does at this place."""
    if run.stop == size and run.size <= damage.end_zeros:
        return False
    in_content = intersect([run], bad.content)
    in_structure = intersect(subtract([run], bad.data), bad.structure if damage.block else near)
    if total(in_structure) >= _MIN_STRUCTURE:
        return True
    return bool(in_content) and not intersect(in_content, united(list(explained)))


_MIN_STRUCTURE = 16


def part_size(span: Span, size: int) -> int:
    """The size of the parts that a stretch consists of; 0 if it is none."""
    for part in PART_SIZES:
        ends = span.stop % part == 0 or span.stop == size
        if span.start % part == 0 and ends and span.size >= min(part, 1 << 20) and span.size:
            return part
    return 0


def _zero_parts(archive: Archive, holes: Sequence[Span], size: int, bad: Suspects) -> FoundCause:
    first = holes[0]
    part = part_size(first, size)
    ranges = ", ".join(f"{each.start:,} to {each.stop - 1:,}" for each in holes[:8])
    more = f" and {len(holes) - 8:,} more ranges" if len(holes) > 8 else ""
    message = (
        f"A part of the file was never downloaded: {in_bytes(first.size)} of zeros from byte {first.start:,} on. Its "
        f"place is a multiple of {part >> 20} MiB, the size of the parts that are transferred at once. Fetch bytes "
        f"{ranges}{more} again (curl --range {first.start}-{first.stop - 1}) and write them there, or download "
        "the file again."
    )
    return FoundCause(Cause.ZERO_PART, message, tuple(holes), bad.explain(archive, *holes))


def _alignment(span: Span) -> int:
    """The largest power of two up to 1 MiB that divides both ends."""
    both = span.start | span.stop | 1 << 20
    return both & -both


def _zero_blocks(archive: Archive, holes: Sequence[Span], bad: Suspects) -> FoundCause:
    first = holes[0]
    unit = _alignment(first)
    places = ", ".join(f"{each.start:,} to {each.stop - 1:,}" for each in holes[:8])
    others = f" There are {len(holes):,} such runs: {places}{', and more' if len(holes) > 8 else ''}." * (
        len(holes) > 1
    )
    if unit >= SECTOR_BYTES:
        why = (
            f"{in_bytes(first.size)} are zero from byte {first.start:,} on: a lost disk or file-system block. The run "
            f"begins and ends at a multiple of {unit:,}, as blocks do."
        )
    elif first.stop == archive.source.size:
        why = (
            f"The last {in_bytes(first.size)} are zero, from byte {first.start:,} on: their content was never written. "
            "A crash, a full disk or an interrupted copy can do this."
        )
    else:
        why = (
            f"{in_bytes(first.size)} are zero from byte {first.start:,} on, where other bytes should be. "
            "Something wrote zeros over them, or a lost block was filled with zeros while copying."
        )
    message = (
        f"{why}{others} Restore {'it' if len(holes) == 1 else 'them'} from another copy; then check disk and file "
        "system. What lies elsewhere is not affected."
    )
    return FoundCause(Cause.ZERO_BLOCK, message, tuple(holes), bad.explain(archive, *holes))


# ---- copies ----------------------------------------------------------------------------------------------------------


def copies(archive: Archive, bad: Suspects, explained: Sequence[Span], progress: Progress) -> FoundCause | None:
    """A block that is a copy of the one before or after it, where something is wrong. Raises SourceError, Cancelled."""
    places = subtract(united([*bad.content, *bad.structure]), united(list(explained)))
    near = united([Span(place.start - NEAR_BYTES, place.stop + NEAR_BYTES) for place in places])
    for low, data in _windows(archive, places, BLOCK_SIZES[0], MAX_COMPARED_BYTES, progress):
        for size, row in _equal(data):
            of, block = (
                Span(low + row * size, low + (row + 1) * size),
                Span(low + (row + 1) * size, low + (row + 2) * size),
            )
            if not _meets(Span(of.start, block.stop), near) or not _varied(
                data[row * size : (row + 1) * size].tobytes()
            ):
                continue
            message = (
                f"The {in_bytes(size)} from byte {block.start:,} on are a copy of those before them. Both ends are "
                f"multiples of {_alignment(block):,}, so a disk, cache or network put a block into the place of its "
                "neighbour. Either of the two may be the one that is lost. Restore both from another copy; what lies "
                "elsewhere is not affected."
            )
            spans, both = (block, of), Span(of.start, block.stop)
            return FoundCause(Cause.REPEATED_BLOCK, message, spans, bad.explain(archive, both))
    return None


def _windows(
    archive: Archive, places: Sequence[Span], around: int, most: int, progress: Progress
) -> Iterator[tuple[int, Any]]:
    """The bytes around places and where they begin, each once; so many on either side, and ``most`` in all."""
    import numpy as np

    size = archive.source.size
    wide = (Span(max(0, each.start // around * around - around), min(size, each.stop + around)) for each in places)
    for window in united(list(wide)):
        progress.advance(0)
        data = archive.source.read(window.start, min(window.size, most))
        most -= len(data)
        if not data:
            return
        yield window.start, np.frombuffer(data, np.uint8)


def _meets(span: Span, places: Sequence[Span]) -> bool:
    """Whether bytes are among some places, which are sorted and apart."""
    at = bisect_right(places, span.start, key=lambda each: each.stop)
    return at < len(places) and places[at].start < span.stop


def _equal(data: Any) -> Iterator[tuple[int, int]]:
    """Blocks that equal the one after them, by their size and number, the largest first."""
    import numpy as np

    whole = data[: len(data) // 8 * 8].view(np.uint64)
    for size in BLOCK_SIZES:
        rows = len(data) // size
        table = whole[: rows * size // 8].reshape(rows, size // 8)
        yield from ((size, int(row)) for row in np.flatnonzero((table[1:] == table[:-1]).all(axis=1))[:MAX_SPANS])


def _varied(block: bytes) -> bool:
    """Whether a block is no pattern: it would equal its neighbour by itself."""
    if block[:64] == block[1:65]:  # as zeros are, before all bytes are looked at
        return False
    return len(set(block)) > 16 and block[:64] not in block[1:]


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


def filled_block(archive: Archive, bad: Suspects, progress: Progress) -> FoundCause | None:
    """A block of one pattern other than zero where something is wrong. Raises SourceError and Cancelled."""
    places = united([*bad.content, *bad.structure])
    for low, data in _windows(archive, places, _PAGE_BYTES, MAX_READ_BYTES, progress):
        for size in PATTERN_SIZES:
            for run in _patterns(data, size):
                begin = -(-(low + run.start) // SECTOR_BYTES) * SECTOR_BYTES
                span = Span(begin, max(begin, (low + run.stop) // SECTOR_BYTES * SECTOR_BYTES))
                if not span.size or not _meets(span, places):
                    continue
                pattern = archive.source.read(begin, size)
                what = f"the byte {hexadecimal(pattern[0], 2)}" if size == 1 else f"the bytes {pattern.hex(' ')}"
                message = (
                    f"{in_bytes(span.size)} are {what} repeated, from byte {begin:,} on. Both ends are multiples of "
                    f"{SECTOR_BYTES:,}, as of a block: erased flash memory, or the mark of a sector that could not be "
                    "read. Restore it from another copy, and check the medium; the rest is not affected."
                )
                return FoundCause(Cause.FILLED_BLOCK, message, (span,), bad.explain(archive, span))
    return None


_PAGE_BYTES = 4_096


def _patterns(data: Any, size: int) -> list[Span]:
    """The runs of one pattern of ``size`` bytes that are not all zero and long enough, the longest first."""
    import numpy as np

    if len(data) <= size:
        return []
    edges = np.concatenate(([-1], np.flatnonzero(data[size:] != data[:-size]), [len(data) - size]))
    starts, sizes = edges[:-1] + 1, np.diff(edges) - 1 + size
    long = np.flatnonzero((sizes >= MIN_FILLED_BYTES) & (np.add.reduceat(data != 0, starts) > 0))
    order = long[np.argsort(-sizes[long], kind="stable")][:MAX_SPANS]
    return [Span(int(starts[row]), int(starts[row] + sizes[row])) for row in order]


# ---- all that is left ------------------------------------------------------------------------------------------------


def changed_bytes(archive: Archive, left: Sequence[Finding]) -> FoundCause | None:
    """One cause for findings without any: there are other bytes than were written.

    A format that tells nothing of its damage cannot tell that from a mistake of the writer.
    """
    if damage_of(archive) == Damage() and not archive.checksums:
        return None
    spans = united([span for each in left for span in each.spans if span.size])
    if not spans:
        return None
    low, high = spans[0].start, spans[-1].stop
    members = sorted({known for each in left if (known := archive.known_member(each.member)) is not None})
    mismatched = [each for each in left if "mismatch" in each.code or "content" in each.code]
    undecided = damage_of(archive).undecided(archive) if mismatched else ""
    if undecided:
        first = undecided
    elif mismatched and len(mismatched) == len(left):
        what = f" of {count(len(members), 'member')}" if members else ""
        first = f"The content{what} is not what was archived."
    elif len(left) < MIN_FOLDED:
        return None  # each says more of itself
    else:
        first = f"Bytes between {low:,} and {high - 1:,} are not those that were written."
    shown = ", ".join(brief(archive.members.path(each)) for each in members[:_MAX_NAMES])
    more = f" and {len(members) - _MAX_NAMES:,} more" if len(members) > _MAX_NAMES else ""
    about = f" Members affected: {shown}{more}." if members else ""
    left_out = untried(archive)
    message = (
        f"{first} This explains {count(len(left), 'finding')} about {in_bytes(total(spans))} from byte {low:,} on."
        f"{about} There is no {'' if left_out else 'single flipped bit, no '}run of zeros and no copy of a neighbour"
        f"{'' if undecided else ': a block was overwritten, or the copy is of another state'}. {left_out}"
        f"{'Another copy shows which it is.' if undecided else 'Restore these bytes from another copy.'}"
    )
    return FoundCause(Cause.CHANGED_BYTES, message, tuple(spans[:64]), tuple(left), adopts=True)
