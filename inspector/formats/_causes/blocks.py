"""Blocks of zeros or of another pattern and copies of their neighbours, by one pass over the whole file.

The pass is linear in time, and its memory is bounded by ``MAX_RUNS`` and by a digest a MiB.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.damage import Damage
from inspector.core.field import locate
from inspector.core.finding import Finding, Severity
from inspector.core.kinds import Kind
from inspector.core.numbers import hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source, expect, is_remote
from inspector.core.span import Span, intersect, subtract, total, united
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats import damage_of, format_of
from inspector.formats._damage import PART_SIZES

if TYPE_CHECKING:  # annotations only
    from numpy.typing import NDArray


# ---- one pass over the whole file ------------------------------------------------------------------------------------

PIECE_BYTES = 1 << 20
"""Bytes read at a time, and covered by one digest: divides all sizes of parts."""
MIN_RUN_BYTES = 256
"""Shorter runs of zeros are not noted."""
_RUN_ROW = MIN_RUN_BYTES // 2
"""A run has a row of so many bytes in it."""
MAX_RUNS = 10_000
"""Runs of zeros noted; further ones are not."""
MAX_REMOTE_BYTES = 8 << 20
"""A larger object on a server is not read again to find the cause."""
MAX_BYTES = 64 << 30
"""A larger file is not surveyed: it takes a second a GiB or so."""
MAX_UNREAD_BYTES = 256 << 20
"""A larger file is not surveyed unless the check has read most of it and found errors."""


class Survey(Struct):
    """``counts`` has the number of each byte, ``crlf`` of each 0D 0A; ``runs`` are the runs of zeros in file order.

    ``digests`` has one for each ``PIECE_BYTES`` of the file; equal pieces have equal ones.
    """

    size: int
    counts: list[int] = field(default_factory=lambda: [0] * 256)
    crlf: int = 0
    runs: list[Span] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)

    @property
    def high(self) -> int:
        """The number of bytes from 0x80 on."""
        return sum(self.counts[128:])

    @property
    def rare_controls(self) -> float:
        """How often a control byte occurs that no text has, on average."""
        return float(sum(self.counts[byte] for byte in _NO_TEXT)) / len(_NO_TEXT)


_NO_TEXT = (*range(1, 8), *range(14, 26), *range(28, 32))
"""Control bytes that text does not have: no line ends, no tabs, no end of file of MS-DOS."""


def may_be_surveyed(archive: Archive) -> bool:
    """Whether reading all of it again costs little beside what the check has read."""
    size = archive.source.size
    if is_remote(archive.source):
        return size <= MAX_REMOTE_BYTES
    errors = any(each.severity is Severity.ERROR for each in archive.findings)
    known = format_of(archive)
    is_read = known is not None and known.has_checksums
    if size <= MAX_UNREAD_BYTES or not is_read or not errors:
        return size <= MAX_UNREAD_BYTES
    members = archive.members
    return size <= min(MAX_BYTES, 2 * (sum(members.stops) - sum(members.starts)))


def survey(source: Source, progress: Progress) -> Survey:
    """Read the whole file once. Raises SourceError and Cancelled."""
    import numpy as np

    found = Survey(source.size)
    counts: NDArray[Any] = np.zeros(256, np.int64)
    last, before = -1, b""  # the last byte that is not zero, and the last of the piece before
    progress.begin("Looking for the cause", source.size)
    if source.size <= MAX_REMOTE_BYTES:
        expect(source, 0, source.size)
    for at in range(0, source.size, PIECE_BYTES):
        data = source.read(at, min(PIECE_BYTES, source.size - at))
        if not data:
            break
        values = np.frombuffer(data, np.uint8)
        counts += np.bincount(values, minlength=256)
        found.crlf += data.count(b"\r\n") + (before == b"\r" and data.startswith(b"\n"))
        found.digests.append(blake2b(data, digest_size=16).digest())
        table = values[: len(data) // _RUN_ROW * _RUN_ROW].reshape(-1, _RUN_ROW)
        if len(table) and table.any(axis=1).all():  # no run inside: the first that is not zero is enough
            places = np.array((len(data) - len(data.lstrip(b"\0")),))
        else:
            places = np.flatnonzero(values)
        filled = np.concatenate(([last], places + at))
        rows = np.flatnonzero(np.diff(filled) > MIN_RUN_BYTES)[: MAX_RUNS - len(found.runs)]
        found.runs += [Span(int(filled[row]) + 1, int(filled[row + 1])) for row in rows]
        stop = len(data.rstrip(b"\0"))
        last, before = at + stop - 1 if stop else last, data[-1:]
        progress.advance(len(data))
    if source.size - last > MIN_RUN_BYTES and len(found.runs) < MAX_RUNS:
        found.runs.append(Span(last + 1, source.size))
    found.counts = [int(each) for each in counts]
    return found


def members_with(archive: Archive, *verdicts: Verdict) -> Iterator[int]:
    """The members with these verdicts, those of the first one first."""
    for code in map(VERDICTS.index, verdicts):
        member = archive.verdicts.find(code)
        while member >= 0:
            yield member
            member = archive.verdicts.find(code, member + 1)


# ---- where something is wrong ----------------------------------------------------------------------------------------

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
    else:
        why = (
            f"{in_bytes(first.size)} are zero from byte {first.start:,} on, where other bytes should be. "
            "Something wrote zeros over them, or they were never written: a crash or an interrupted copy can do this."
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
_FILLED_ROW = MIN_FILLED_BYTES // 2
"""A run has a row of so many bytes in it, of which the first ``_LOOK`` are looked at."""
_LOOK = 64
PATTERN_SIZES = (1, 2, 4, 8)
"""Bytes of a pattern that fills a block."""


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

    rows = data[: len(data) // _FILLED_ROW * _FILLED_ROW].reshape(-1, _FILLED_ROW)
    same = (rows[:, size:_LOOK] == rows[:, : _LOOK - size]).all(axis=1)
    if not rows[same].any():  # a run that is long enough has a whole row in it, and most data has none
        return []
    edges = np.concatenate(([-1], np.flatnonzero(data[size:] != data[:-size]), [len(data) - size]))
    starts, sizes = edges[:-1] + 1, np.diff(edges) - 1 + size
    long = np.flatnonzero((sizes >= MIN_FILLED_BYTES) & (np.add.reduceat(data != 0, starts) > 0))
    order = long[np.argsort(-sizes[long], kind="stable")][:MAX_SPANS]
    return [Span(int(starts[row]), int(starts[row] + sizes[row])) for row in order]
