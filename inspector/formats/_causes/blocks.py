"""Blocks of zeros or of another pattern, copies of their neighbours, and what is left: bytes that changed."""

from __future__ import annotations

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
from inspector.core.names import visible
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, intersect, subtract, total, united
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats import damage_of
from inspector.formats._causes.flips import untried
from inspector.formats._causes.survey import Survey
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

    def explain(self, archive: Archive, hole: Span) -> tuple[Finding, ...]:
        """The findings near a stretch of bytes."""
        wide = Span(hole.start - NEAR_BYTES, hole.stop + NEAR_BYTES)
        return tuple(
            each
            for each in wrong(archive)
            if any(span.start < wide.stop and wide.start < span.stop for span in each.spans)
        )


def suspects(archive: Archive) -> Suspects:
    """Where something is wrong with an archive."""
    mismatch = VERDICTS.index(Verdict.MISMATCH)
    doubtful = VERDICTS.index(Verdict.DOUBTFUL)
    content: list[Span] = []
    for verdict in (mismatch, doubtful):
        member = archive.verdicts.find(verdict)
        while member >= 0 and len(content) < MAX_SPANS:
            content += archive.members[member].spans
            member = archive.verdicts.find(verdict, member + 1)
    structure: list[Span] = []
    for finding in wrong(archive)[:MAX_SPANS]:
        if finding.code in _OUTSIDE:
            continue
        target = content if "mismatch" in finding.code else structure
        target += finding.spans[:MAX_SPANS]
    bad = united(content)
    members = archive.members
    data: list[Span] = []
    for member in range(min(len(members), MAX_SPANS)):
        if not len(archive.verdicts) or archive.verdicts[member] not in (mismatch, doubtful):
            data += members.seen(member).spans
    return Suspects(bad, united(structure), subtract(united(data), bad))


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
    blocks = [each for each in holes if not part_size(each, survey.size)]
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
    if not _is_damage(run, size, bad, near, explained, damage) or (not damage.block and _is_padding(archive, run)):
        return None
    low = -(-(run.start) // SECTOR_BYTES) * SECTOR_BYTES
    high = run.stop // SECTOR_BYTES * SECTOR_BYTES
    if run.stop == size:
        high = size
    slack = damage.block or SLACK_BYTES  # the padding of the member before
    aligned = low - run.start <= slack and run.stop - high <= SLACK_BYTES and high - low >= SECTOR_BYTES
    if aligned:
        return Span(low, high)
    # Where the bytes are compressed or random a long run is no data, whatever its place.
    return run if run.size >= _MIN_UNALIGNED and not damage.block else None


_MIN_UNALIGNED = 256


def _is_padding(archive: Archive, run: Span) -> bool:
    """Whether the format fills up its archives there. What one of blocks passes over as padding may be lost members."""
    if run.size > _MAX_PADDING_BYTES:
        return False
    chain = locate(archive.fields, (run.start + run.stop) // 2)
    return bool(chain) and chain[-1][1].kind is Kind.PADDING


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
    found = {id(each): each for hole in holes for each in bad.explain(archive, hole)}
    return FoundCause(Cause.ZERO_PART, message, tuple(holes), tuple(found.values()))


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
    found = {id(each): each for hole in holes for each in bad.explain(archive, hole)}
    return FoundCause(Cause.ZERO_BLOCK, message, tuple(holes), tuple(found.values()))


# ---- copies ----------------------------------------------------------------------------------------------------------


def copies(archive: Archive, bad: Suspects, explained: Sequence[Span], progress: Progress) -> FoundCause | None:
    """A block that is a copy of the one before or after it, where something is wrong. Raises SourceError, Cancelled."""
    places = subtract(united([*bad.content, *bad.structure]), united(list(explained)))
    left = MAX_COMPARED_BYTES
    windows = [
        Span(
            max(0, place.start // BLOCK_SIZES[0] * BLOCK_SIZES[0] - BLOCK_SIZES[0]),
            min(archive.source.size, place.stop + BLOCK_SIZES[0]),
        )
        for place in places
    ]
    equal: _Equal | None = None
    for number, (place, window) in enumerate(zip(places, windows, strict=True)):
        if window.size > left:
            break
        left -= window.size
        progress.advance(0)
        if equal is None or equal.window.start != window.start or equal.window.stop < window.stop:
            # Of very many places close to each other the blocks around them are compared once.
            stop = window.stop
            for each in islice(windows, number, None):
                if each.start != window.start or each.size > MAX_COMPARED_BYTES:
                    break
                stop = max(stop, each.stop)
            equal = _Equal(archive.source, Span(window.start, stop))
        found = equal.copied(window.stop, place)
        if found is not None:
            block, of = found
            message = (
                f"The {in_bytes(block.size)} from byte {block.start:,} on are a copy of those "
                f"{'before' if of.start < block.start else 'after'} them. Both ends are multiples of "
                f"{_alignment(block):,}, so a disk, cache or network put a block into the place of its neighbour. "
                "Either of the two may be the one that is lost. Restore both from another copy; what lies elsewhere is "
                "not affected."
            )
            return FoundCause(Cause.REPEATED_BLOCK, message, (block, of), bad.explain(archive, Span(*_hull(block, of))))
    return None


def _hull(some: Span, other: Span) -> tuple[int, int]:
    return min(some.start, other.start), max(some.stop, other.stop)


class _Equal:
    """The aligned blocks in ``window`` that equal the one before them."""

    def __init__(self, source: Source, window: Span) -> None:
        import numpy as np

        self.window = window
        self._data = source.read(window.start, window.size)
        whole = np.frombuffer(self._data[: len(self._data) // 8 * 8], np.uint64)
        self._rows: dict[int, list[int]] = {}
        for size in BLOCK_SIZES:
            words = size // 8
            rows = len(whole) // words
            if rows >= 2:
                table = whole[: rows * words].reshape(rows, words)
                same = (table[1:] == table[:-1]).all(axis=1)
                self._rows[size] = np.flatnonzero(same)[:MAX_SPANS].tolist()
        self._is_varied: dict[Span, bool] = {}

    def copied(self, stop: int, place: Span) -> tuple[Span, Span] | None:
        """The largest such block before ``stop`` and the one before it, of two of which one is near ``place``."""
        for size, rows in self._rows.items():
            for row in rows:
                start = self.window.start + row * size
                if start + 2 * size > stop or start >= place.stop + NEAR_BYTES:
                    break
                if start + 2 * size <= place.start - NEAR_BYTES:
                    continue
                before, after = Span(start, start + size), Span(start + size, start + 2 * size)
                if before not in self._is_varied:
                    low = self.window.start
                    self._is_varied[before] = _varied(self._data[before.start - low : before.stop - low])
                if self._is_varied[before]:
                    return after, before
        return None


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
        return FoundCause(Cause.FILLED_BLOCK, message, (span,), bad.explain(archive, span))
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
    about = f" They belong to {_names(archive, members)}." if members else ""
    left_out = untried(archive)
    message = (
        f"{first} {count(len(left), 'finding')} about {in_bytes(total(spans))} from byte {low:,} on "
        f"{'follow' if len(left) > 1 else 'follows'} from that.{about} It is no "
        f"{'' if left_out else 'single flipped bit, no '}run of zeros and no copy of a neighbour"
        f"{'' if undecided else ': a block was overwritten, or the copy is of another state'}. {left_out}"
        f"{'Another copy shows which it is.' if undecided else 'Restore these bytes from another copy.'}"
    )
    return FoundCause(Cause.CHANGED_BYTES, message, tuple(spans[:64]), tuple(left), adopts=True)


def _names(archive: Archive, members: Sequence[int]) -> str:
    """Some names in words."""
    shown = ", ".join(visible(archive.members.path(each)) for each in members[:_MAX_NAMES])
    more = len(members) - _MAX_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown
