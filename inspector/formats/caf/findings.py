"""Findings about the members in an index: ranges, overlaps, gaps and names (CAF.md, sections 1 and 2)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from inspector.core.archive import Emitter
from inspector.core.capped_findings import MAX_FINDINGS_PER_KIND, CappedFindings
from inspector.core.finding import Severity
from inspector.core.member import UNREADABLE, Members
from inspector.core.names import hazards, visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.formats._extents import GAP, Rows
from inspector.formats.caf.fields import EntrySpans
from inspector.formats.caf.index import members_out_of_range
from inspector.formats.caf.locate import FOOTER_SIZE, OPENING, head

START, END = "start_byte", "end_byte"


def report_ranges(emitter: Emitter, stop: int, members: Members, entries: EntrySpans) -> None:
    """Report members whose range is reversed or leaves the data section ``[0, stop)``."""
    reversed_ones = CappedFindings(
        emitter, Severity.ERROR, "caf-entry-reversed", "members whose start_byte is past their end_byte"
    )
    outside = CappedFindings(emitter, Severity.ERROR, "caf-entry-out-of-range", "members that lie out of range")
    for member in members_out_of_range(members, stop):
        if members.marks is not None and members.marks[member] & UNREADABLE:
            continue
        first, last = members.starts[member], members.stops[member]
        if (reversed_ones if first > last else outside).full():
            continue
        name = visible(members.path(member))
        if first > last:
            message = (
                f"The range of {name!r} is reversed: start_byte {grouped(first)} is past end_byte {grouped(last)}."
            )
            reversed_ones.add(message, [*entries.number(member, START), *entries.number(member, END)], member)
        elif last > stop:
            missing = in_bytes(last - max(first, stop))
            message = (
                f"{name!r} is out of range: it ends at byte {grouped(last)}, but the data section ends at byte "
                f"{grouped(stop)}. {missing} {verb(last - max(first, stop), 'is', 'are')} missing."
            )
            numbers = [*entries.number(member, START)] if first > stop else []
            present = [(first, stop)] if first < stop else []
            outside.add(message, [*numbers, *entries.number(member, END), *present], member)
    reversed_ones.close()
    outside.close()


def report_layout(emitter: Emitter, members: Members, rows: Rows, entries: EntrySpans) -> None:
    """Report bytes that several members claim, and bytes that no member claims."""
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
    """Report a gap of one byte after every member, which has one cause, in one finding. False if it is otherwise.

    Empty members need no gap: some writers record those as specified.
    """
    if not _inclusive(rows):
        return False
    short = count(len(rows.gaps), "member")
    empty = len(rows.starts) - 2 * len(rows.gaps)
    others = f" (the other {count(empty, 'member')} {'is' if empty == 1 else 'are'} empty)" if empty else ""
    emitter.find(
        Severity.WARNING,
        "caf-end-byte-inclusive",
        f"There is a gap of 1 byte after each of {short}{others}. The writer took end_byte as inclusive, but it is "
        "exclusive, so each of them lacks its last byte.",
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


def report_names(emitter: Emitter, members: Members, suspects: Iterable[int], entries: EntrySpans) -> None:
    """Report names that are dangerous to extract or misleading to read."""
    names = CappedFindings(emitter, Severity.WARNING, "caf-name-hazard", "members with a hazardous name")
    for member in suspects:
        path = members.path(member)
        for hazard in hazards(path):
            if not names.full():
                names.add(f"The name {visible(path)!r} {hazard}.", [*entries.name(member)], member)
    names.close()


TWO_ARCHIVES = "caf-two-archives"


def first_archive_size(source: Source, rows: Rows) -> int:
    """The size of an archive that precedes the one the members in ``rows`` belong to; 0 if there is none.

    Two archives were concatenated (CAF.md, "Fast File Lookup"): the footer leads to the second index, whose offsets
    count from where the second archive begins. So the data section is too long by the size of the first archive, and
    the file begins with that many bytes ending in a footer that leads to an index. If a member ends exactly there,
    the first archive is a member.
    """
    if not len(rows.gaps):
        return 0
    row = rows.gaps[-1]
    size = rows.stop - rows.starts[row]
    if row != len(rows.starts) - 1 or not FOOTER_SIZE < size < rows.stop:
        return 0
    if rows.starts[bisect_left(rows.starts, size, hi=row)] == size and size != rows.starts[row]:
        return 0
    stop = size - FOOTER_SIZE
    claimed = int.from_bytes(source.read(stop, FOOTER_SIZE), "little")
    index = Span(stop - claimed, stop)
    return size if 0 < claimed <= stop and OPENING.match(head(source, index)) else 0


def report_two_archives(emitter: Emitter, rows: Rows) -> None:
    """Report two concatenated archives."""
    size = first_archive_size(emitter.archive.source, rows)
    if size:
        emitter.error(
            TWO_ARCHIVES,
            f"The file holds two archives, one after the other. The first has {in_bytes(size)}; the members listed are "
            f"those of the second, from byte {grouped(size)} on. Its index ignores the first, so every member is read "
            f"{in_bytes(size)} too early.",
            (0, size),
        )
