"""Decode, check and read a Chunk Archive (CAF.md, "Reading from a CAF File"), and report what is wrong with it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from operator import lt

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Archive, CappedFindings, Emitter
from inspector.core.damage import Newer
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.member import LARGEST, MISPLACED, SHARED, UNREADABLE, Members
from inspector.core.names import brief, hazards, visible
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource, blocks, is_remote
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._damage import Doubled, find_doubled
from inspector.formats._extents import GAP, Rows, lay_out, shared_extents
from inspector.formats._kinds import DATA_SECTION, INDEX
from inspector.formats._zip.eocd import zip_end
from inspector.formats.caf import codes
from inspector.formats.caf.fields import EntrySpans, data_section, footer_field, index_field
from inspector.formats.caf.locate import (
    FOOTER_SIZE,
    MAX_COMPARED_INDEX_BYTES,
    MAX_INDEX_BYTES,
    OPENING,
    caf_end,
    find_index,
    head,
)
from inspector.formats.caf.reading import (
    UNLISTED,
    Index,
    archive_order,
    inverse,
    members_in,
    read_index,
    suspicious_names,
)
from inspector.formats.caf.shift import (
    MIN_LINE_FEEDS,
    Shift,
    find_shift,
    first_archive_size,
    inclusive_ends,
    is_text_mode,
)
from inspector.formats.caf.write import MAX_ARCHIVE_BYTES, TARGET_DATA_BYTES

MAX_SEARCHED_BYTES = 1 << 30
"""Bytes that are searched for another archive before one member is read; a check searches all."""

MOST_WRONG_GAPS = 2
"""Gaps that one wrong number can leave. Where more than a number is wrong, what is beside them may end elsewhere."""


class Detail(Struct):
    """What the format's functions know of an archive: where its data ends, and whether bytes were lost or inserted.

    ``stop`` is the size of the file where there is no index. ``doubled`` and ``text_mode`` say what was inserted,
    ``newer`` what was written over the beginning; a check finds them out.
    """

    stop: int
    shift: Shift | None = None
    doubled: Doubled | None = None
    text_mode: bool = False
    newer: Newer | None = None
    looked_for_newer: bool = False


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Find and read the index; emit its members, fields and findings."""
    emitter.archive.detail = Detail(source.size)
    place = find_index(source)
    if place.index is None and source.read(0, 4) == b"caff":
        emitter.report(
            codes.CORE_AUDIO,
            "This is an Apple Core Audio file, not a Chunk Archive. It begins with 'caff' and has the same suffix; "
            "there is nothing to list.",
            (0, 4),
        )
        emitter.lay([Field("Core Audio file", Kind.BYTES, (Span(0, source.size),), note="Not a Chunk Archive.")])
        return
    if place.problem:
        emitter.report(codes.FOOTER, place.problem, *place.wrong)
    _report_size(emitter, source.size, place.index.start if place.index else source.size)
    footer = [footer_field(source, place)] if place.footer else []
    if place.index is None:
        emitter.lay(footer)
    elif place.index.size > MAX_INDEX_BYTES:
        emitter.report(
            codes.INDEX_TOO_LARGE,
            f"The index is too large to read: it has {in_bytes(place.index.size)}, and the limit is "
            f"{in_bytes(MAX_INDEX_BYTES)}. No members are listed.",
            place.index,
        )
        data = Field("data section", DATA_SECTION, (Span(0, place.index.start),))
        emitter.lay([data, Field("index", INDEX, (place.index,)), *footer])
    else:
        _decode_index(source, emitter, progress, place.index, footer)


def _report_size(emitter: Emitter, size: int, data: int) -> None:
    if size > MAX_ARCHIVE_BYTES:
        emitter.report(
            codes.TOO_LARGE,
            f"The file is larger than 32 GiB, which the specification allows at most. It has {in_bytes(size)}; "
            "other readers may reject it.",
            (MAX_ARCHIVE_BYTES, size),
        )
    elif data > TARGET_DATA_BYTES:
        emitter.report(
            codes.ABOVE_TARGET,
            f"The data section is larger than the recommended 30 GiB: it has {in_bytes(data)}. The specification "
            "allows that.",
            (TARGET_DATA_BYTES, data),
        )


def _decode_index(source: Source, emitter: Emitter, progress: Progress, span: Span, footer: Sequence[Field]) -> None:
    index = read_index(source, span, progress)
    order = archive_order(index)
    members = members_in(order, index)
    rows = lay_out(members.starts, members.stops, 0, span.start)
    ends = inclusive_ends(members, rows) if index.complete else None
    if ends is not None:
        report_inclusive(emitter, members, ends)
        members.stops = ends
        rows = lay_out(members.starts, ends, 0, span.start)
    shift = find_shift(source, members, rows, progress)
    if shift is not None and shift.size > 0 and not index.complete:
        # A lost entry may own the bytes that are too many, unless a member is seen to be moved.
        shift = replace(shift, front=False) if shift.last < len(members) else None
    moved = shift.size if shift is not None and shift.front else 0
    if moved:
        members.starts = array("Q", (min(start + moved, LARGEST) for start in members.starts))
        members.stops = array("Q", (min(stop + moved, LARGEST) for stop in members.stops))
        rows = lay_out(members.starts, members.stops, 0, span.start)
    emitter.begin_members(members)
    member_of = inverse(order)
    emitter.archive.detail = Detail(span.start, shift)
    emitter.lay([data_section(source, members, rows), index_field(source, index, member_of.__getitem__), *footer])
    for problem in index.problems:
        member = None if problem.entry is None or problem.entry >= len(index) else member_of[problem.entry]
        emitter.report(problem.what, problem.message, *problem.spans, member=member)
    entries = EntrySpans(source, span, members)
    joined = report_two_archives(emitter, rows)
    if shift is None:
        if not isinstance(rows.owners, range):  # members that tile the data are all within it
            report_ranges(emitter, span.start, members, entries)
    else:
        if not moved:  # each may lie elsewhere than the index says; an empty one is empty anywhere
            _mark(members, filter(members.stored, range(shift.first, len(members))), MISPLACED)
        gaps = [row for row in rows.gaps if (not moved or row) and row < len(rows.owners) - 1]
        if 0 < len(gaps) <= MOST_WRONG_GAPS:
            beside = {rows.owners[each] for row in gaps for each in (row - 1, row + 1) if each >= 0}
            _mark(members, beside - {GAP}, MISPLACED)
        if not joined:
            report_shift(emitter, shift, members, entries)
    report_layout(emitter, members, rows, entries, shift)
    if shift is None and _denies(source, members, span.start):
        _mark(members, filter(members.stored, range(len(members))), MISPLACED)
    if rows.overlap_count:
        _mark(members, shared_extents(members.starts, members.stops), SHARED)
    report_unlisted(emitter, members, moved)
    report_names(emitter, members, suspicious_names(members), entries)


_LAST_END = re.compile(rb'"end_byte"[ \t\n\r]*+:[ \t\n\r]*+([^,}]*+)(?=[,}])')


def _denies(source: Source, members: Members, stop: int) -> bool:
    """Whether the unreadable number of the last member's end differs from that of the data in more than a character."""
    last = len(members) - 1
    if last < 0 or not members.marks_of(last) & UNREADABLE or members.starts[last] == LARGEST or members.heads is None:
        return False
    head = members.heads[last]
    found = _LAST_END.search(source.read(head, 6 * len(members.path(last)) + _ENTRY_BYTES))
    if found is None:
        return False
    there, right = found[1].strip(), b"%d" % stop
    pairs = (zip(there, right, strict=False), zip(there[::-1], right[::-1], strict=False))
    same = sum(1 for each in pairs for _ in takewhile(lambda pair: pair[0] == pair[1], each))
    return same < max(len(there), len(right)) - 1


_ENTRY_BYTES = 200
"""Bytes of an entry beside its name, at most, as programs write it."""


def _mark(members: Members, which: Iterable[int], mark: int) -> None:
    if members.marks is None:
        members.marks = array("B", bytes(len(members)))
    for member in which:
        members.marks[member] |= mark


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a member."""
    member = archive.members[index]
    name = visible(member.path)
    if not member.readable:
        raise MemberError(f"'{name}' cannot be read: its entry in the index does not say where its data is.")
    if archive.members.starts[index] > archive.members.stops[index]:
        raise MemberError(f"'{name}' cannot be read: its start_byte is past its end_byte.")
    start, stop = member.spans[0]
    available = min(stop, archive.detail.stop)
    for piece in blocks(archive.source, start, available):
        start += len(piece)
        progress.advance(len(piece))
        yield piece
    if start < stop:
        raise MemberError(
            f"'{name}' is incomplete: {in_bytes(stop - start)} of it are missing from byte {grouped(start)} on."
        )


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """The format records no checksums, so decoding has compared everything; this sums up.

    The data is read to find another archive in it, and if bytes were inserted, to find out what they are.
    """
    progress.advance(0)
    emitter.judge_all(Verdict.NOT_CHECKABLE)
    for member, mark in enumerate(archive.members.marks or ()):
        if mark & MISPLACED:
            emitter.judge(member, Verdict.DOUBTFUL)
    _look_at_inserted(archive, emitter, progress)
    if newer := _look_for_newer(archive, progress, LARGEST):
        report_newer(archive, emitter, newer)
    errors = [finding.member for finding in archive.findings if finding.severity is Severity.ERROR]
    if not len(archive.members) and errors:
        return "No members can be listed."
    shifted = any(finding.code == codes.SHIFTED.code for finding in archive.findings)
    wrong, elsewhere = len(set(errors) - {None}), errors.count(None) - shifted
    doubtful = archive.verdicts.count(VERDICTS.index(Verdict.DOUBTFUL))
    parts = [count(len(archive.members), "member")]
    if wrong:
        parts.append(f"{grouped(wrong)} of them with errors")
    if doubtful:
        number = "all" if doubtful == len(archive.members) else grouped(doubtful)
        why = "another archive is where the first members were" if newer else "bytes were lost or inserted"
        parts.append(f"{number} of them in doubt, because {why}")
    if elsewhere:
        parts.append(f"{count(elsewhere, 'error')} in the index or the footer")
    return f"{', '.join(parts)}; the format records no checksums, so only the structure was checked."


def _look_at_inserted(archive: Archive, emitter: Emitter, progress: Progress) -> None:
    """Find out and report what the inserted bytes are, if bytes were inserted. Raises SourceError and Cancelled."""
    detail = archive.detail
    if detail.shift is None or detail.shift.size < 0:
        return
    size = detail.shift.size
    detail.text_mode = size >= MIN_LINE_FEEDS and is_text_mode(archive.source, size, detail.stop, progress)
    doubled = None if detail.text_mode else find_doubled(archive.source, size, detail.stop, progress)
    low, high = detail.shift.bounds
    if doubled is not None and doubled.start <= high and doubled.start + 2 * size >= low:
        detail.doubled = doubled
    if detail.text_mode:
        emitter.report(
            codes.TEXT_MODE,
            f"The data was copied in text mode: there is a carriage return before each of its {grouped(size)} line "
            "feeds. These are as many as the bytes inserted.",
        )
    elif detail.doubled is not None:
        second = Span(detail.doubled.start + size, detail.doubled.start + 2 * size)
        emitter.report(
            codes.DOUBLED,
            f"The {in_bytes(size)} at byte {grouped(second.start)} repeat those before them. As many were inserted, so "
            "this is probably where.",
            second,
        )


def _look_for_newer(archive: Archive, progress: Progress, most: int) -> Newer | None:
    """An archive in the first ``most`` bytes that was written over the beginning. Raises SourceError and Cancelled."""
    detail = archive.detail
    joined = any(each.code == codes.TWO_ARCHIVES.code for each in archive.findings)
    if detail.shift is None and not joined:
        detail.newer, detail.looked_for_newer = find_newer(archive, min(most, detail.stop), progress), True
    newer: Newer | None = detail.newer
    return newer


def doubt(archive: Archive, index: int, progress: Progress) -> str:
    """Whether another archive is where the first members were. Objects on a server are replaced as a whole."""
    stored, detail = archive.members.stored(index), archive.detail
    if is_remote(archive.source) or not stored:
        return ""
    newer = (
        detail.newer
        if detail.looked_for_newer
        else _look_for_newer(archive, progress, max(MAX_SEARCHED_BYTES, 2 * stored))
    )
    return "another archive is where the first members were, so these may be bytes of that one" if newer else ""


# ---- another archive at the beginning: a shorter one was written over it ---------------------------------------------

# The footer at the end still leads to the index of the longer archive, and every range in it lies in the data section,
# so nothing but the bytes tells: a whole archive begins where the file begins, and ends where no member does.

MAX_REMOTE_BYTES = 8 << 20
"""Bytes of a remote archive that are searched."""


def find_newer(archive: Archive, stop: int, progress: Progress) -> Newer | None:
    """The archive written over the first bytes of the data section ``[0, stop)``; None if there is none.

    A member may be an archive itself: it ends where the member ends. An object on a server is not read for this beyond
    its first ``MAX_REMOTE_BYTES``: it is replaced as a whole. Linear in time. Raises SourceError and Cancelled.
    """
    members = archive.members
    firsts = [each for each in range(len(members)) if not members.starts[each] and members.stored(each)]
    if not firsts:
        return None
    stop = min(stop, MAX_REMOTE_BYTES) if is_remote(archive.source) else stop
    progress.begin("Looking for another archive in the data", stop)
    data = SplicedSource(archive.source, [Span(0, stop)], archive.source.name)
    ends = ((end(data, 0, progress), kind) for kind, end in (("zip", zip_end), ("caf", caf_end)))
    end, kind = next((each for each in ends if each[0] is not None), (None, ""))
    if (
        end is None
        or any(members.stops[each] == end for each in firsts)
        or (kind == "caf" and earlier_index(archive, end, progress) is not None)
    ):
        return None
    return Newer(end, kind, all(members.stops[each] < end for each in firsts))


def earlier_index(archive: Archive, end: int, progress: Progress) -> Index | None:
    """The index that ends with its footer at ``end``, if what the last one lists before that is in it unchanged.

    Then members were appended behind it, and a new index of all: nothing was written over.
    """
    source, members = archive.source, archive.members
    size = int.from_bytes(source.read(end - FOOTER_SIZE, FOOTER_SIZE), "little")
    span = Span(end - FOOTER_SIZE - size, end - FOOTER_SIZE)
    fits = 0 <= span.start < span.stop <= span.start + MAX_COMPARED_INDEX_BYTES
    if not fits or not OPENING.match(head(source, span)):
        return None
    index = read_index(source, span, progress)
    listed = {(index.path(at), index.starts[at], index.stops[at]) for at in range(len(index))}
    kept = all(
        members.starts[each] >= end
        or not members.stored(each)
        or (bytes(members.path(each)), members.starts[each], members.stops[each]) in listed
        for each in range(len(members))
    )
    return index if kept else None


def report_newer(archive: Archive, emitter: Emitter, newer: Newer) -> None:
    """Report a newer archive, and doubt every member that the index of the older one lists."""
    members, stop, end = archive.members, newer.stop, grouped(newer.stop)
    stored = [each for each in range(len(members)) if members.stored(each)]
    for member in stored:
        emitter.judge(member, Verdict.DOUBTFUL)
    what = "CAF" if newer.kind == "caf" else "ZIP archive"
    whole = f"A whole {what} fills the first {in_bytes(stop)}"
    if not newer.certain:
        emitter.report(
            codes.OVERWRITTEN_PERHAPS,
            f"{whole}, and the first member goes on after it. Either a shorter archive was written over this one, or "
            "that member is an archive with more bytes after its end. Compare the member with its original, or look "
            f"at the shorter archive: {_part(archive, stop)}.",
            (0, stop),
        )
        return
    left = sum(members.starts[each] >= stop for each in stored)
    gone = len(stored) - left
    emitter.report(
        codes.OVERWRITTEN,
        f"{whole}, and the index at the end is of another, longer archive. {count(gone, 'member')} of the longer one "
        f"{verb(gone, 'begins', 'begin')} before byte {end}, where the bytes of the shorter one are now; the bytes of "
        f"{count(left, 'member')} after that are left, and nothing proves them. Open the shorter archive as "
        f"{_part(archive, stop)}, or write both to files with repair and a copy as its target.",
        (0, stop),
    )


def _part(archive: Archive, stop: int) -> str:
    name = archive.source.name.replace("\\", "/").rpartition("/")[2] or "FILE"
    return f"{visible(name)}!/@0-{stop}"


# ---- findings about members: ranges, overlaps, gaps and names (CAF.md, sections 1 and 2) ----------------------------

START, END = "start_byte", "end_byte"


def report_ranges(emitter: Emitter, stop: int, members: Members, entries: EntrySpans) -> None:
    """Report members whose range is reversed or leaves the data section ``[0, stop)``."""
    reversed_ones = CappedFindings(emitter, codes.ENTRY_REVERSED, "members whose start_byte is past their end_byte")
    outside = CappedFindings(emitter, codes.ENTRY_OUT_OF_RANGE, "members that lie out of range")
    for member, (first, last) in enumerate(zip(members.starts, members.stops, strict=True)):
        if first <= last <= stop or (members.marks is not None and members.marks[member] & UNREADABLE):
            continue
        name = brief(members.path(member))
        if first > last and not reversed_ones.full():
            message = (
                f"The range of '{name}' is reversed: start_byte {grouped(first)} is past end_byte {grouped(last)}."
            )
            reversed_ones.add(message, [*entries.of(member, START), *entries.of(member, END)], member)
        elif first <= last and not outside.full():
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
    if size := first_archive_size(emitter.archive.source, rows):
        emitter.report(
            codes.TWO_ARCHIVES,
            f"The file holds two archives, one after the other. The first has {in_bytes(size)}; the members listed are "
            f"those of the second, from byte {grouped(size)} on. Its index ignores the first, so every member is read "
            f"{in_bytes(size)} too early.",
            (0, size),
        )
    return bool(size)
