"""Findings about the members in an index: ranges, overlaps, gaps and names (CAF.md, sections 1 and 2)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import islice
from operator import lt

from inspector.core.archive import MAX_FINDINGS_PER_KIND, CappedFindings, Emitter
from inspector.core.member import UNREADABLE, Members
from inspector.core.names import brief, hazards
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.span import Span
from inspector.formats._damage import Doubled
from inspector.formats._extents import Rows
from inspector.formats.caf import codes
from inspector.formats.caf.fields import EntrySpans
from inspector.formats.caf.index import UNLISTED
from inspector.formats.caf.shift import Shift, first_archive_size

START, END = "start_byte", "end_byte"


def report_ranges(emitter: Emitter, stop: int, members: Members, entries: EntrySpans) -> None:
    """Report members whose range is reversed or leaves the data section ``[0, stop)``."""
    reversed_ones = CappedFindings(emitter, codes.ENTRY_REVERSED, "members whose start_byte is past their end_byte")
    outside = CappedFindings(emitter, codes.ENTRY_OUT_OF_RANGE, "members that lie out of range")
    for member, (first, last) in enumerate(zip(members.starts, members.stops, strict=True)):
        if first <= last <= stop or (members.marks is not None and members.marks[member] & UNREADABLE):
            continue
        if (reversed_ones if first > last else outside).full():
            continue
        name = brief(members.path(member))
        if first > last:
            message = (
                f"The range of '{name}' is reversed: start_byte {grouped(first)} is past end_byte {grouped(last)}."
            )
            reversed_ones.add(message, [*entries.of(member, START), *entries.of(member, END)], member)
        elif last > stop:
            missing = last - max(first, stop)
            message = (
                f"'{name}' is out of range: it ends at byte {grouped(last)}, but the data section ends at byte "
                f"{grouped(stop)}." + (f" {in_bytes(missing)} {verb(missing, 'is', 'are')} missing." if missing else "")
            )
            numbers = [*entries.of(member, START)] if first > stop else []
            present = [(first, stop)] if first < stop else []
            outside.add(message, [*numbers, *entries.of(member, END), *present], member)
    reversed_ones.close()
    outside.close()


def report_layout(emitter: Emitter, members: Members, rows: Rows, entries: EntrySpans, shift: Shift | None) -> None:
    """Report bytes that several members claim, and bytes that no member claims.

    ``shift`` explains the gap before the index.
    """
    overlaps = CappedFindings(emitter, codes.OVERLAP, "overlaps")
    for earlier, later, start, stop in rows.overlaps:
        names = f"'{brief(members.path(earlier))}' and '{brief(members.path(later))}'"
        overlaps.add(
            f"{names} overlap: both claim {in_bytes(stop - start)} from byte {grouped(start)} on.",
            [(start, stop), *entries.of(earlier, END), *entries.of(later, START)],
            later,
        )
    overlaps.dropped += rows.overlap_count - len(rows.overlaps)
    overlaps.close()
    reported = rows.gaps[:-1] if shift is not None and shift.size > 0 else rows.gaps
    gaps = CappedFindings(emitter, codes.GAP, "gaps")
    gaps.dropped += max(0, len(reported) - MAX_FINDINGS_PER_KIND)
    for row in reported[:MAX_FINDINGS_PER_KIND]:
        start, stop = rows.starts[row], rows.row_stop(row)
        gaps.add(
            f"There is a gap: {in_bytes(stop - start)} at byte {grouped(start)} "
            f"{verb(stop - start, 'belongs', 'belong')} to no member.",
            [(start, stop)],
        )
    gaps.close()


def report_unlisted(emitter: Emitter, members: Members, moved: int) -> None:
    """Report what a repair listed in the place of members whose entries were lost: it stands behind all others."""
    last = len(members) - 1
    start, stop = (members.starts[last], members.stops[last]) if last >= 0 else (0, 0)
    if last >= 0 and members.path(last) == UNLISTED % (start - moved, stop - moved):
        emitter.report(
            codes.UNLISTED,
            f"'{brief(members.path(last))}' holds {in_bytes(stop - start)} whose entries were lost before the index "
            "was repaired. They are members one after another; their names and sizes are not known.",
            (start, stop),
            member=last,
        )


def report_shift(emitter: Emitter, shift: Shift, members: Members, entries: EntrySpans) -> None:
    """Report that bytes were lost or inserted in the data section, and where."""
    size, index = abs(shift.size), shift.end + shift.size
    done = f"{verb(size, 'was', 'were')} {'lost' if shift.size < 0 else 'inserted'}"
    place = f"before the index at byte {grouped(index)}"
    message = [f"{in_bytes(size)} {done} {place}: its members end at byte {grouped(shift.end)}."]
    outside = sum(stop > index for stop in members.stops) if shift.size < 0 else 0
    if outside:
        message.append(
            f"So {'the last member ends' if outside == 1 else f'the last {grouped(outside)} members end'} out of range."
        )
    message.append(_where(shift, members))
    last = entries.of(len(members) - 1, END) if len(members) else ()
    emitter.report(codes.SHIFTED, " ".join(message), shift.bounds, *last)


def _where(shift: Shift, members: Members) -> str:
    """A sentence on where the bytes were lost or inserted, as far as content shows it."""
    every, later = len(members), len(members) - shift.last
    if not every:
        return "It lists no members."
    number_wrong = ", unless only the last end_byte in the index is wrong" if not later else ""
    if not shift.bounds.start and not later:
        return f"Nothing shows where, so the place of every member is in doubt{number_wrong}."
    moved = f"{in_bytes(abs(shift.size))} {'later' if shift.size > 0 else 'earlier'} than the index says"
    if later == every:
        return f"They precede the first member, so every member begins {moved}, and is read there."
    parts = []
    if shift.first:
        parts.append(
            f"{count(shift.first, 'member')} before that {verb(shift.first, 'is in its', 'are in their')} place"
        )
    if later:
        parts.append(f"{count(later, 'member')} after that {verb(later, 'begins', 'begin')} {moved}")
    between = shift.last - shift.first
    parts.append(f"the place of {count(between, 'member')} is in doubt{number_wrong}")
    return (
        "The first bytes of members show that it was between byte "
        f"{grouped(shift.bounds.start)} and byte {grouped(shift.bounds.stop)}: {'; '.join(parts)}."
    )


def report_inserted(emitter: Emitter, text_mode: bool, doubled: Doubled | None, size: int) -> None:
    """Report what the ``size`` inserted bytes are, if that was found out."""
    if text_mode:
        emitter.report(
            codes.TEXT_MODE,
            f"The data was copied in text mode: there is a carriage return before each of its {grouped(size)} line "
            "feeds. These are as many as the bytes inserted.",
        )
    elif doubled is not None:
        second = Span(doubled.start + size, doubled.start + 2 * size)
        emitter.report(
            codes.DOUBLED,
            f"The {in_bytes(size)} at byte {grouped(second.start)} repeat those before them. As many were inserted, so "
            "this is probably where.",
            second,
        )


def report_inclusive(emitter: Emitter, members: Members, ends: array[int]) -> None:
    """Report that members are read to their ``ends``, one byte further than the index says by the specification."""
    filled = sum(map(lt, members.starts, ends))
    empty = len(ends) - filled
    others = f" (the other {count(empty, 'member')} {verb(empty, 'is', 'are')} empty)" if empty else ""
    alone = " Of a single member, one inserted byte would look the same." if filled == 1 else ""
    emitter.report(
        codes.END_BYTE_INCLUSIVE,
        f"The writer took end_byte as inclusive: exactly 1 byte follows each of {count(filled, 'member')}{others}. "
        f"They are read with that byte here; readers that follow the specification lose it.{alone}",
        *islice(
            ((end - 1, end) for start, end in zip(members.starts, ends, strict=True) if start < end),
            MAX_FINDINGS_PER_KIND,
        ),
    )


def report_names(emitter: Emitter, members: Members, suspects: Iterable[int], entries: EntrySpans) -> None:
    """Report names that are dangerous to extract or misleading to read."""
    names = CappedFindings(emitter, codes.NAME_HAZARD, "members with a hazardous name")
    for member in suspects:
        path = members.path(member)
        for hazard in hazards(path):
            if not names.full():
                names.add(f"The name '{brief(path)}' {hazard}.", [*entries.of(member, "name")], member)
    names.close()


def report_two_archives(emitter: Emitter, rows: Rows) -> bool:
    """Report two concatenated archives; False if there is one."""
    size = first_archive_size(emitter.archive.source, rows)
    if size:
        emitter.report(
            codes.TWO_ARCHIVES,
            f"The file holds two archives, one after the other. The first has {in_bytes(size)}; the members listed are "
            f"those of the second, from byte {grouped(size)} on. Its index ignores the first, so every member is read "
            f"{in_bytes(size)} too early.",
            (0, size),
        )
    return bool(size)
