"""Parts that changed places or stand there twice: found by putting them back and checking the result.

What is tried is checked with the archive's own digests, or its structure where it has none, so that a solution is one
only if nothing is wrong with it. Trials are bounded by their number and by the bytes that they read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.cause import Cause, Explanation, wrong
from inspector.core.finding import Severity
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.span import Span, intersect
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats import damage_of
from inspector.formats._causes.blocks import MAX_SPANS
from inspector.formats._causes.wrapped import without
from inspector.formats._damage import PART_SIZES, SMALL_SIZES, find_doubled

MAX_TRIALS = 48
"""Orders of parts that are tried."""
MAX_TRIED_BYTES = 192 << 20
"""Bytes of all archives that are tried together."""
MAX_PARTS = 4_096


def swapped(archive: Archive, progress: Progress) -> Explanation | None:
    """Two parts of one size that changed places. Raises SourceError and Cancelled."""
    size = archive.source.size
    damage = damage_of(archive)
    if not _has_errors(archive) or not damage.order_proved:
        return None
    sure = _verified(archive) if damage.places_proved else []
    left, trials = MAX_TRIED_BYTES, MAX_TRIALS
    for part in (*PART_SIZES, *SMALL_SIZES):
        for first, second in _pairs(sure, size, part):
            if not trials or left < size:
                return None
            left, trials = left - size, trials - 1
            order = _exchanged(size, Span(first, first + part), Span(second, second + part))
            repair = without(archive, order, 0, f"Exchange two parts of {in_bytes(part)}", progress)
            if repair is not None:
                message = (
                    f"Two parts of {_size(part)} changed places. The one at byte {first:,} belongs at {second:,}, and "
                    "the other way round: exchanged, the archive was decoded and checked without an error. Parts that "
                    "arrived out of order were joined so. Repair writes a copy with both in their places."
                )
                spans = (Span(first, first + part), Span(second, second + part))
                return Explanation(Cause.SWAPPED_PARTS, message, spans, tuple(wrong(archive)), (repair,))
    return None


def _pairs(sure: Sequence[Span], size: int, part: int) -> Iterator[tuple[int, int]]:
    """Where two parts begin that hold nothing verified, neighbours first."""
    number = size // part
    if not 2 <= number <= MAX_PARTS:
        return
    free = [at * part for at in range(number) if not intersect([Span(at * part, (at + 1) * part)], sure)]
    for distance in range(1, len(free)):
        yield from zip(free, free[distance:], strict=False)


def _verified(archive: Archive) -> list[Span]:
    """The bytes of members that verify, sorted; a part with such is where it belongs."""
    verified = VERDICTS.index(Verdict.VERIFIED)
    found: list[Span] = []
    member = archive.verdicts.find(verified)
    while member >= 0 and len(found) < 64 * MAX_SPANS:
        found += archive.members[member].spans
        member = archive.verdicts.find(verified, member + 1)
    return sorted(each for each in found if each.size)


def _exchanged(size: int, first: Span, second: Span) -> list[Span]:
    return [Span(0, first.start), second, Span(first.stop, second.start), first, Span(second.stop, size)]


def _has_errors(archive: Archive) -> bool:
    return any(each.severity is Severity.ERROR for each in wrong(archive))


def doubled(archive: Archive, progress: Progress) -> Explanation | None:
    """Bytes that stand there twice in a row, so that all that follows moved. Raises SourceError and Cancelled."""
    source = archive.source
    if not _has_errors(archive):
        return None
    left = MAX_TRIED_BYTES
    for size in damage_of(archive).repeated(archive):
        found = find_doubled(source, size, source.size, progress) if 2 * size < source.size else None
        if found is None or left < source.size:
            continue
        left -= source.size
        second = Span(found.start + size, found.start + 2 * size)
        kept = [Span(0, second.start), Span(second.stop, source.size)]
        repair = without(archive, kept, size, f"Leave out the second copy of {in_bytes(size)}", progress)
        part = any(size % each == 0 for each in (*PART_SIZES, *SMALL_SIZES))
        if repair is None and not part:
            continue
        shown = "Without them the archive was decoded and checked without an error. " if repair is not None else ""
        message = (
            f"{f'A part of {_size(size)}' if part else in_bytes(size)} {'is' if part else 'are'} there twice, "
            f"the second time from byte {second.start:,} on. All that follows moved by {in_bytes(size)}. {shown}A "
            "transfer that was retried or resumed too early wrote them again. Transfer the file again, or leave them "
            "out in a copy."
        )
        cause = Cause.DOUBLED_PART if part else Cause.INSERTED_BYTES
        repairs = () if repair is None else (repair,)
        return Explanation(cause, message, (second,), tuple(wrong(archive)), repairs)
    return None


def _size(part: int) -> str:
    return f"{part >> 20} MiB" if part >= 1 << 20 else f"{part >> 10} KiB" if part >= 1 << 10 else in_bytes(part)
