"""What is wrong with members that an index lists: ranges, overlaps, gaps and names (CAF.md, sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.core.archive import Emitter
from inspector.core.capped_findings import MAX_FINDINGS_PER_KIND, CappedFindings
from inspector.core.finding import Severity
from inspector.core.member import UNREADABLE, Members
from inspector.core.names import hazards, visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.formats._extents import GAP, Rows
from inspector.formats.caf.columns import beyond
from inspector.formats.caf.concatenated import report_two_archives
from inspector.formats.caf.entries import Entries

START, END = "start_byte", "end_byte"


def report_ranges(emitter: Emitter, stop: int, members: Members, entries: Entries) -> None:
    """Members whose range is reversed or leaves the data section ``[0, stop)``; the numbers are what is wrong."""
    reversed_ones = CappedFindings(
        emitter, Severity.ERROR, "caf-entry-reversed", "members whose start_byte is past their end_byte"
    )
    outside = CappedFindings(emitter, Severity.ERROR, "caf-entry-out-of-range", "members that lie out of range")
    for member in beyond(members, stop):
        if members.marks is not None and members.marks[member] & UNREADABLE:
            continue
        first, last = members.starts[member], members.stops[member]
        if (reversed_ones if first > last else outside).full():
            continue
        name = visible(members.path(member))
        if first > last:
            message = f"{name!r}: start_byte {grouped(first)} is past end_byte {grouped(last)}, so it has no data."
            reversed_ones.add(message, [*entries.number(member, START), *entries.number(member, END)], member)
        elif last > stop:
            missing = in_bytes(last - max(first, stop))
            message = (
                f"{name!r} is out of range: it ends at byte {grouped(last)}, but the data section ends at "
                f"{grouped(stop)}; {missing} of it are not there."
            )
            numbers = [*entries.number(member, START)] if first > stop else []
            there = [(first, stop)] if first < stop else []
            outside.add(message, [*numbers, *entries.number(member, END), *there], member)
    reversed_ones.close()
    outside.close()


def report_layout(emitter: Emitter, members: Members, rows: Rows, entries: Entries) -> None:
    """Bytes that several members claim, and bytes that none does."""
    overlaps = CappedFindings(emitter, Severity.ERROR, "caf-overlap", "overlaps")
    for earlier, later, start, stop in rows.overlaps:
        names = f"{visible(members.path(earlier))!r} and {visible(members.path(later))!r}"
        overlaps.add(
            f"{names} overlap: both claim {in_bytes(stop - start)} from byte {grouped(start)} on.",
            [(start, stop), *entries.number(earlier, END), *entries.number(later, START)],
            later,
        )
    overlaps.dropped += rows.overlap_count - len(rows.overlaps)
    overlaps.close()
    report_two_archives(emitter, rows)
    if not _report_inclusive(emitter, rows):
        gaps = CappedFindings(emitter, Severity.WARNING, "caf-gap", "gaps")
        gaps.dropped += max(0, len(rows.gaps) - MAX_FINDINGS_PER_KIND)
        for row in rows.gaps[:MAX_FINDINGS_PER_KIND]:
            start, stop = rows.starts[row], rows.row_stop(row)
            gaps.add(
                f"There is a gap: {in_bytes(stop - start)} at byte {grouped(start)} "
                f"{verb(stop - start, 'belongs', 'belong')} to no member.",
                [(start, stop)],
            )
        gaps.close()


def _report_inclusive(emitter: Emitter, rows: Rows) -> bool:
    """Whether a gap of one byte stands after every member, which has one reason and deserves one sentence.

    Members that are empty need none: some writers leave those as they are.
    """
    if not _inclusive(rows):
        return False
    short = count(len(rows.gaps), "member")
    empty = len(rows.starts) - 2 * len(rows.gaps)
    others = f" (the other {count(empty, 'member')} {'is' if empty == 1 else 'are'} empty)" if empty else ""
    emitter.find(
        Severity.WARNING,
        "caf-end-byte-inclusive",
        f"There is a gap of 1 byte after every one of {short}{others}: the writer took end_byte as inclusive, though "
        "the specification says exclusive, so every one of them lacks its last byte.",
        [(rows.starts[row], rows.row_stop(row)) for row in rows.gaps[:MAX_FINDINGS_PER_KIND]],
    )
    return True


def _inclusive(rows: Rows) -> bool:
    if not len(rows.gaps) or rows.gaps[0] == 0:
        return False
    if any(rows.row_stop(row) - rows.starts[row] != 1 for row in rows.gaps):
        return False
    owners, last = rows.owners, len(rows.starts) - 1
    return all(
        owner == GAP or rows.row_stop(row) == rows.starts[row] or (row < last and owners[row + 1] == GAP)
        for row, owner in enumerate(owners)
    )


def report_names(emitter: Emitter, members: Members, suspects: Iterable[int], entries: Entries) -> None:
    """Members whose names are dangerous to write to disk or doubtful to look at."""
    names = CappedFindings(emitter, Severity.WARNING, "caf-name-hazard", "members with a hazardous name")
    for member in suspects:
        path = members.path(member)
        for hazard in hazards(path):
            if not names.full():
                names.add(f"The name {visible(path)!r} {hazard}.", [*entries.name(member)], member)
    names.close()
