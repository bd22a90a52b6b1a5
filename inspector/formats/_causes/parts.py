"""Parts that were lost, doubled or swapped, and other bytes that went or came, at the end too.

Landmarks are bytes that the archive's own records place: the local headers that a ZIP's directory lists, the tar
headers that datas3t metadata lists. Where they are found again shows what happened between them.

Other parts are put back by trial. What is tried is checked with the archive's own digests, or its structure where it
has none, so that a solution is one only if nothing is wrong with it. Trials are bounded by their number and by the
bytes that they read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.cause import Cause, FoundCause, wrong
from inspector.core.damage import Landmark
from inspector.core.finding import Severity
from inspector.core.numbers import in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span, intersect
from inspector.core.verdict import Verdict
from inspector.formats import damage_of, format_of
from inspector.formats._causes.blocks import MAX_SPANS, PIECE_BYTES, Survey, members_with
from inspector.formats._causes.wrapped import without
from inspector.formats._damage import (
    MAX_TRAILING_BYTES,
    PART_SIZES,
    SMALL_SIZES,
    TAIL_TEXT_BYTES,
    fewer,
    find_doubled,
    first_line,
    is_text,
    part_of,
)
from inspector.formats._signatures import found_outside

MAX_SEARCHES = 6
"""Times that the whole file is searched for a landmark that is elsewhere."""


class _Run(Struct, frozen=True):
    """Landmarks in a row, ``number`` of them, that were all found ``shift`` bytes further on; None: not found."""

    shift: int | None
    first: int
    last: int
    number: int


def moved_parts(archive: Archive, survey: Survey, expected: int | None, progress: Progress) -> FoundCause | None:
    """What was lost, doubled or swapped. Raises SourceError and Cancelled."""
    if doubled := _part_again(archive, survey):
        return doubled
    damage = damage_of(archive)
    places = sorted(damage.landmarks(archive), key=lambda each: each[:3])
    runs = _runs(archive.source, places, progress) if len(places) > 1 else []
    change = None if expected is None else survey.size - expected
    found = _from_runs(archive, runs, change) if runs else None
    if found is None and change and runs and not any(run.shift for run in runs):
        last = places[-1].offset
        found = _changed(archive, change, Span(last, max(last, survey.size - change)), Span(last, survey.size))
    if found is None and change is not None:  # where no landmarks do, the size says what the format knows of it
        found = damage.resized(archive, change)
        if found is None and change < 0 and part_of(-change):
            found = fewer(archive, change, f"A part of {in_bytes(-change)} is missing")
    return found


# ---- doubled -------------------------------------------------------------------------------------------------------


def _part_again(archive: Archive, survey: Survey) -> FoundCause | None:
    digests = survey.digests
    for part in PART_SIZES:
        pieces = part // PIECE_BYTES
        for first in range(0, len(digests) - 2 * pieces + 1, pieces):
            some, other = digests[first : first + pieces], digests[first + pieces : first + 2 * pieces]
            if some == other and len(set(some)) > 1:
                start = (first + pieces) * PIECE_BYTES
                span = Span(start, start + part)
                message = (
                    f"A part of {part >> 20} MiB is there twice, the second time from byte {start:,} on. Bytes "
                    f"{start:,} to {span.stop - 1:,} are the same as the {in_bytes(part)} before them. A transfer that "
                    "was retried wrote it again, over the next part or before it. Transfer the file again, or fetch "
                    "what should be there."
                )
                return FoundCause(Cause.DOUBLED_PART, message, (span,), tuple(wrong(archive)))
    return None


# ---- landmarks -----------------------------------------------------------------------------------------------------


def _runs(source: Source, places: Sequence[Landmark], progress: Progress) -> list[_Run]:
    """Where the landmarks are, in their order."""
    known = [0, *(sign * part for part in PART_SIZES for sign in (-1, 1))]
    searches = MAX_SEARCHES
    shifts: list[tuple[int, int | None]] = []
    for place in (places[-1], *places):  # what was lost may hold more landmarks than searches do, so the last one first
        progress.advance(0)
        shift = next((each for each in known if _is_at(source, place, place.offset + each)), None)
        if shift is None and searches:
            searches -= 1
            at = _find(source, place, progress)
            shift = None if at is None else at - place.offset
        if shift is not None:
            known = [shift, *(each for each in known if each != shift)]
        shifts.append((place.offset, shift))
    groups = (
        (shift, [offset for offset, _ in group]) for shift, group in groupby(shifts[1:], key=lambda pair: pair[1])
    )
    return [_Run(shift, offsets[0], offsets[-1], len(offsets)) for shift, offsets in groups]


def _is_at(source: Source, place: Landmark, at: int) -> bool:
    if at < 0 or at + place.at + len(place.name) > source.size:
        return False
    return place.holds(source, at, place.name)


def _find(source: Source, place: Landmark, progress: Progress) -> int | None:
    """The one place where a landmark is; None where there is none, or several."""
    progress.begin("Looking for what moved", source.size)
    names = found_outside(source, place.name, (), source.size, progress)
    found = list(islice((at - place.at for at in names if _is_at(source, place, at - place.at)), 2))
    return found[0] if len(found) == 1 else None


# ---- what happened -------------------------------------------------------------------------------------------------


def _from_runs(archive: Archive, runs: Sequence[_Run], grown: int | None) -> FoundCause | None:
    """What moved the landmarks; ``grown`` is by how much the file is too large, if that is known."""
    seen = [run for run in runs if run.shift is not None]
    shifts = [run.shift for run in seen if run.shift is not None]
    if len(set(shifts)) < 2:
        return _beginning_lost(archive, runs, shifts)
    explains = tuple(wrong(archive))
    ups, downs = [each for each in shifts if each > 0], [each for each in shifts if each < 0]
    if ups and downs and max(ups) == -min(downs) and (part := part_of(max(ups))):
        low = min(run.first for run in seen if run.shift)
        start = low // part * part
        message = (
            f"Two parts of {part >> 20} MiB changed places, from byte {start:,} on. What belongs to {start:,} is found "
            f"{in_bytes(part)} further on, and what belongs there comes before it. Parts that arrived out of order "
            "were joined so. Transfer the file again, or exchange the two parts in a copy."
        )
        return FoundCause(Cause.SWAPPED_PARTS, message, (Span(start, start + 2 * part),), explains)
    joined = [(shift, list(group)) for shift, group in groupby(seen, key=lambda run: run.shift)]
    if len(joined) != 2:
        return None  # a wrong record, or more than one event
    (_, earlier), (_, later) = joined
    before, after = earlier[-1], later[0]
    assert before.shift is not None
    assert after.shift is not None
    change = after.shift - before.shift
    if sum(run.number for run in later) < 2 and change != grown:
        return None
    place = Span(before.last + before.shift, max(after.first + after.shift, before.last + before.shift + 1))
    return _changed(archive, change, Span(before.last, after.first), place)


def _beginning_lost(archive: Archive, runs: Sequence[_Run], shifts: Sequence[int]) -> FoundCause | None:
    """All landmarks are the same number of bytes too early, but for the first ones, which are gone."""
    if not shifts or shifts[0] >= 0 or sum(run.number for run in runs if run.shift is not None) < 2:
        return None
    lost = -shifts[0]
    message = (
        f"The first {in_bytes(lost)} of the file {'is' if lost == 1 else 'are'} missing. Everything is that much "
        "before its place, from the first to the last record. A transfer that was resumed without its beginning leaves "
        "a file like this. Copy the file again; the members that are whole can be saved."
    )
    return FoundCause(Cause.LOST_BYTES, message, (Span(0, 1),), tuple(wrong(archive)))


def _changed(archive: Archive, change: int, gap: Span, place: Span) -> FoundCause:
    """Bytes that went or came between two places."""
    explains = tuple(wrong(archive))
    part = part_of(abs(change))
    between = f"between the bytes {gap.start:,} and {gap.stop:,} of the original"
    if change < 0 and part:
        message = (
            f"A part of {in_bytes(-change)} is missing {between}. That is a multiple of {part >> 20} MiB, the size of "
            "the parts that are transferred at once. Everything after it moved towards the beginning. Transfer the "
            "file again; what lies before and after it is whole."
        )
        return FoundCause(Cause.LOST_PART, message, (place,), explains)
    if change < 0:
        message = (
            f"{in_bytes(-change)} {'is' if change == -1 else 'are'} missing {between}. Everything after them moved "
            "towards the beginning. A copy that broke off and went on at the wrong place does that. Copy the file "
            "again."
        )
        return FoundCause(Cause.LOST_BYTES, message, (place,), explains)
    message = (
        f"{in_bytes(change)} {'was' if change == 1 else 'were'} inserted {between}. Everything after them moved "
        f"towards the end.{f' That is a part of {part >> 20} MiB.' if part else ''} A retried or joined transfer does "
        "that. Copy the file again, or cut them out of a copy."
    )
    return FoundCause(Cause.INSERTED_BYTES, message, (place,), explains)


# ---- found by trial --------------------------------------------------------------------------------------------------

MAX_TRIALS = 48
"""Orders of parts that are tried."""
MAX_TRIED_BYTES = 192 << 20
"""Bytes of all archives that are tried together."""
MAX_PARTS = 4_096


def swapped(archive: Archive, progress: Progress) -> FoundCause | None:
    """Two parts of one size that changed places. Raises SourceError and Cancelled."""
    size = archive.source.size
    damage = damage_of(archive)
    if not any(each.severity is Severity.ERROR for each in wrong(archive)) or not damage.order_proved:
        return None
    verified = islice(members_with(archive, Verdict.VERIFIED), 64 * MAX_SPANS if damage.places_proved else 0)
    # A part with bytes of a member that verifies is where it belongs.
    sure = sorted(span for member in verified for span in archive.members[member].spans if span.size)
    left, trials = MAX_TRIED_BYTES, MAX_TRIALS
    for part in (*PART_SIZES, *SMALL_SIZES):
        for first, second in _pairs(sure, size, part):
            if not trials or left < size:
                return None
            left, trials = left - size, trials - 1
            spans = (Span(first, first + part), Span(second, second + part))
            between, behind = Span(first + part, second), Span(second + part, size)
            order = (Span(0, first), spans[1], between, spans[0], behind)
            repair = without(archive, order, 0, f"Exchange two parts of {in_bytes(part)}", progress)
            if repair is not None:
                message = (
                    f"Two parts of {_size(part)} changed places. The one at byte {first:,} belongs at {second:,}, and "
                    "the other way round: exchanged, the archive was decoded and checked without an error. Parts that "
                    "arrived out of order were joined so. Repair writes a copy with both in their places."
                )
                return FoundCause(Cause.SWAPPED_PARTS, message, spans, tuple(wrong(archive)), (repair,))
    return None


def _pairs(sure: Sequence[Span], size: int, part: int) -> Iterator[tuple[int, int]]:
    """Where two parts begin that hold nothing verified, neighbours first."""
    number = size // part
    if not 2 <= number <= MAX_PARTS:
        return
    free = [at * part for at in range(number) if not intersect([Span(at * part, (at + 1) * part)], sure)]
    for distance in range(1, len(free)):
        yield from zip(free, free[distance:], strict=False)


def doubled(archive: Archive, progress: Progress) -> FoundCause | None:
    """Bytes that occur twice in a row, so that all that follows moved. Raises SourceError and Cancelled."""
    source = archive.source
    if not any(each.severity is Severity.ERROR for each in wrong(archive)):
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
        return FoundCause(cause, message, (second,), tuple(wrong(archive)), repairs)
    return None


def _size(part: int) -> str:
    return f"{part >> 20} MiB" if part >= 1 << 20 else f"{part >> 10} KiB" if part >= 1 << 10 else in_bytes(part)


# ---- a file that ends too early, and bytes behind the end of an archive ----------------------------------------------


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
    # Contents that lie before the cut and do not match a digest do not follow from it.
    follows = (
        each
        for each in wrong(archive)
        if "mismatch" not in each.code or max((span.stop for span in each.spans), default=size) >= size - 1
    )
    return FoundCause(Cause.TRUNCATED, message, (Span(start, size),), tuple(follows))


def _server_text(archive: Archive) -> int:
    """Where the message of a server begins at the end of the file; 0 where there is none."""
    start = max(0, archive.source.size - TAIL_TEXT_BYTES)
    tail = archive.source.read(start, TAIL_TEXT_BYTES)
    found = _SERVER_TEXT.search(tail)
    return start + found.start() if found and tail.rstrip().endswith(b">") else 0


def trailing(archive: Archive) -> FoundCause | None:
    """The cause that bytes stand behind an archive. Raises SourceError."""
    damage, known, size = damage_of(archive), format_of(archive), archive.source.size
    appendable = known is not None and known.appendable
    if not damage.trailing:
        return damage.behind(archive)
    found = [each for each in wrong(archive) if each.code in damage.trailing]
    spans = [span for each in found for span in each.spans if span.stop == size and 0 < span.size <= MAX_TRAILING_BYTES]
    if not spans or len(wrong(archive)) > len(found):
        return None
    span = max(spans, key=lambda each: each.start)
    data = archive.source.read(span.start, span.size)
    they_are, advice = verb(span.size, "It is", "They are"), "look at the rest before you cut it off in a copy"
    if not data.strip(b"\0"):
        advice = "cut the rest off in a copy"
        what = f"{they_are} zero, the usual padding of a program that writes whole blocks."
    elif appendable and span.size > TAIL_TEXT_BYTES:
        return None  # an append that was interrupted leaves such
    elif is_text(data[:TAIL_TEXT_BYTES]):
        shown = first_line(data[:TAIL_TEXT_BYTES])
        what = f'{they_are} text: "{shown}". Another program probably printed to the same output.'
    elif appendable:
        return None
    else:
        what = f"{verb(span.size, 'It belongs', 'They belong')} to none of its records."
    message = (
        f"{in_bytes(span.size)} {verb(span.size, 'follows', 'follow')} the end of the archive. {what} Everything "
        f"before byte {span.start:,} is as it was; {advice}."
    )
    return FoundCause(Cause.TRAILING_BYTES, message, (span,), tuple(found), adopts=True)
