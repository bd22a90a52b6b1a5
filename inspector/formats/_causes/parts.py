"""Parts that were lost, doubled or swapped, and other bytes that went or came: by what stands at another place.

Landmarks are bytes that the archive's own records place: the local headers that a ZIP's directory lists, the tar
headers that datas3t metadata lists. Where they are found again shows what happened between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from inspector.core.archive import Archive
from inspector.core.cause import Cause, Explanation, wrong
from inspector.core.damage import Landmark
from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats import damage_of
from inspector.formats._causes.survey import PIECE_BYTES, Survey
from inspector.formats._damage import PART_SIZES, fewer, part_of

MAX_SEARCHES = 6
"""Times that the whole file is searched for a landmark that is elsewhere."""
_OVERLAP = 128


class _Run(NamedTuple):
    """Landmarks in a row, ``number`` of them, that were all found ``shift`` bytes further on; None: not found."""

    shift: int | None
    first: int
    last: int
    number: int


def moved_parts(archive: Archive, survey: Survey, expected: int | None, progress: Progress) -> Iterator[Explanation]:
    """What was lost, doubled or swapped. Raises SourceError and Cancelled."""
    doubled = _doubled(archive, survey)
    if doubled is not None:
        yield doubled
        return
    places = sorted(damage_of(archive).landmarks(archive), key=lambda each: each[:3])
    runs = _runs(archive.source, places, progress) if len(places) > 1 else []
    change = None if expected is None else survey.size - expected
    found = _from_runs(archive, runs, change) if runs else None
    if found is None and change and runs and all(not run.shift for run in runs):
        last = places[-1].offset
        found = _changed(archive, change, Span(last, max(last, survey.size - change)), Span(last, survey.size))
    if found is None and change is not None:
        found = _from_size(archive, change)
    if found is not None:
        yield found


# ---- doubled -------------------------------------------------------------------------------------------------------


def _doubled(archive: Archive, survey: Survey) -> Explanation | None:
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
                return Explanation(Cause.DOUBLED_PART, message, (span,), tuple(wrong(archive)))
    return None


# ---- landmarks -----------------------------------------------------------------------------------------------------


def _runs(source: Source, places: Sequence[Landmark], progress: Progress) -> list[_Run]:
    """Where the landmarks are, in their order."""
    known = [0, *(sign * part for part in PART_SIZES for sign in (-1, 1))]
    searches = MAX_SEARCHES
    if not _is_at(source, places[-1], places[-1].offset):  # what was lost may hold more landmarks than searches do
        searches -= 1
        at = _find(source, places[-1], progress)
        if at is not None:
            known.append(at - places[-1].offset)
    shifts: list[tuple[int, int | None]] = []
    for place in places:
        progress.advance(0)
        shift = next((each for each in known if _is_at(source, place, place.offset + each)), None)
        if shift is None and searches:
            searches -= 1
            at = _find(source, place, progress)
            if at is not None:
                shift = at - place.offset
        if shift is not None:
            known = [shift, *(each for each in known if each != shift)]
        shifts.append((place.offset, shift))
    found = []
    for shift, group in groupby(shifts, key=lambda pair: pair[1]):
        offsets = [offset for offset, _ in group]
        found.append(_Run(shift, offsets[0], offsets[-1], len(offsets)))
    return found


def _is_at(source: Source, place: Landmark, at: int) -> bool:
    if at < 0 or at + place.at + len(place.name) > source.size:
        return False
    return place.holds(source, at, place.name)


def _find(source: Source, place: Landmark, progress: Progress) -> int | None:
    """The one place where a landmark is; None where there is none, or several."""
    found: list[int] = []
    step = PIECE_BYTES
    for start in range(0, source.size, step):
        data = source.read(start, step + _OVERLAP + len(place.name))
        at = data.find(place.name)
        while 0 <= at < step:
            if _is_at(source, place, start + at - place.at):
                found.append(start + at - place.at)
            if len(found) > 1:
                return None
            at = data.find(place.name, at + 1)
        progress.advance(0)
    return found[0] if found else None


# ---- what happened -------------------------------------------------------------------------------------------------


def _from_runs(archive: Archive, runs: Sequence[_Run], grown: int | None) -> Explanation | None:
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
        return Explanation(Cause.SWAPPED_PARTS, message, (Span(start, start + 2 * part),), explains)
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


def _beginning_lost(archive: Archive, runs: Sequence[_Run], shifts: Sequence[int]) -> Explanation | None:
    """All landmarks stand the same number of bytes too early, but for the first ones, which are gone."""
    if not shifts or shifts[0] >= 0 or sum(run.number for run in runs if run.shift is not None) < 2:
        return None
    lost = -shifts[0]
    message = (
        f"The first {in_bytes(lost)} of the file {'is' if lost == 1 else 'are'} missing. Everything is that much "
        "before its place, from the first to the last record. A transfer that was resumed without its beginning leaves "
        "a file like this. Copy the file again; the members that are whole can be saved."
    )
    return Explanation(Cause.LOST_BYTES, message, (Span(0, 1),), tuple(wrong(archive)))


def _changed(archive: Archive, change: int, gap: Span, place: Span) -> Explanation:
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
        return Explanation(Cause.LOST_PART, message, (place,), explains)
    if change < 0:
        message = (
            f"{in_bytes(-change)} {'is' if change == -1 else 'are'} missing {between}. Everything after them moved "
            "towards the beginning. A copy that broke off and went on at the wrong place does that. Copy the file "
            "again."
        )
        return Explanation(Cause.LOST_BYTES, message, (place,), explains)
    message = (
        f"{in_bytes(change)} {'was' if change == 1 else 'were'} inserted {between}. Everything after them moved "
        f"towards the end.{f' That is a part of {part >> 20} MiB.' if part else ''} A retried or joined transfer does "
        "that. Copy the file again, or cut them out of a copy."
    )
    return Explanation(Cause.INSERTED_BYTES, message, (place,), explains)


def _from_size(archive: Archive, change: int) -> Explanation | None:
    """What the size says where no landmarks do: only that whole parts are missing, or what the format knows more."""
    found = damage_of(archive).resized(archive, change)
    if found is None and change < 0 and part_of(-change):
        found = fewer(archive, change, f"A part of {in_bytes(-change)} is missing")
    return found
