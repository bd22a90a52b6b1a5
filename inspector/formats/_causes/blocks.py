"""Blocks of zeros, and blocks that are copies of their neighbours, where something is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.field import locate
from inspector.core.finding import Finding
from inspector.core.kinds import Kind
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, intersect, subtract, total, united
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._causes.survey import Survey
from inspector.formats._causes.table import Cause, Explanation, wrong

PART_SIZES = tuple(size << 20 for size in (16, 8, 5))
"""Sizes in bytes of the parts of uploads and downloads, largest first."""
SECTOR_BYTES = 512
"""The smallest block of a disk."""
SLACK_BYTES = 24
"""Zeros of the data itself that may stand before and after a block of zeros."""
BLOCK_SIZES = tuple(1 << bits for bits in range(20, 8, -1))
"""Sizes in bytes of blocks that may be copies of their neighbours, largest first."""
MAX_COMPARED_BYTES = 64 << 20
"""Bytes that are compared with their neighbours."""
MAX_SPANS = 4_096
"""Spans of findings and members that are looked at."""
_TAR_PADDING_BYTES = 10_240 + 1_024
"""Zeros at the end of a tar archive that are as they should be."""
NEAR_BYTES = 512
"""Distance in bytes at which damage shows, such as in the header after lost ones."""


class Suspects(NamedTuple):
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


def zeros(archive: Archive, survey: Survey, bad: Suspects, explained: Sequence[Span]) -> Iterator[Explanation]:
    """Runs of zeros that explain damage; ``explained`` are bytes whose damage has another cause already."""
    if survey.counts[0] == survey.size:
        message = (
            f"Every byte of the file is zero, all {in_bytes(survey.size)}. Room was reserved for it, and the content "
            "was never written: an interrupted download, or a crash of the system. Copy or download it again."
        )
        yield Explanation(Cause.ALL_ZEROS, message, (Span(0, survey.size),), tuple(wrong(archive)))
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
    tar = archive.format in ("tar", "datas3t")
    if not _is_damage(run, size, bad, near, explained, tar=tar) or (not tar and _is_padding(archive, run)):
        return None
    low = -(-(run.start) // SECTOR_BYTES) * SECTOR_BYTES
    high = run.stop // SECTOR_BYTES * SECTOR_BYTES
    if run.stop == size:
        high = size
    slack = SECTOR_BYTES if tar else SLACK_BYTES  # the padding of the member before
    aligned = low - run.start <= slack and run.stop - high <= SLACK_BYTES and high - low >= SECTOR_BYTES
    if aligned:
        return Span(low, high)
    # Where the bytes are compressed or random a long run is no data, whatever its place.
    return run if run.size >= _MIN_UNALIGNED and not tar else None


_MIN_UNALIGNED = 256


def _is_padding(archive: Archive, run: Span) -> bool:
    """Whether the format fills up its archives there. What a tar passes over as padding may be lost members."""
    if run.size > _MAX_PADDING_BYTES:
        return False
    chain = locate(archive.fields, (run.start + run.stop) // 2)
    return bool(chain) and chain[-1][1].kind is Kind.PADDING


_MAX_PADDING_BYTES = 4_096
"""More zeros than fill up a block, whatever the format says of them."""


def _is_damage(run: Span, size: int, bad: Suspects, near: list[Span], explained: Sequence[Span], *, tar: bool) -> bool:
    """Whether other bytes than zeros should be there: a digest says so, or the structure does at this place."""
    if tar and run.stop == size and run.size <= _TAR_PADDING_BYTES:
        return False
    in_content = intersect([run], bad.content)
    in_structure = intersect(subtract([run], bad.data), bad.structure if tar else near)
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


def _zero_parts(archive: Archive, holes: Sequence[Span], size: int, bad: Suspects) -> Explanation:
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
    return Explanation(Cause.ZERO_PART, message, tuple(holes), tuple(found.values()))


def _alignment(span: Span) -> int:
    """The largest power of two up to 1 MiB that divides both ends."""
    both = span.start | span.stop | 1 << 20
    return both & -both


def _zero_blocks(archive: Archive, holes: Sequence[Span], bad: Suspects) -> Explanation:
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
    return Explanation(Cause.ZERO_BLOCK, message, tuple(holes), tuple(found.values()))


# ---- copies ----------------------------------------------------------------------------------------------------------


def copies(archive: Archive, bad: Suspects, explained: Sequence[Span], progress: Progress) -> Explanation | None:
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
            return Explanation(
                Cause.REPEATED_BLOCK, message, (block, of), bad.explain(archive, Span(*_hull(block, of)))
            )
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
