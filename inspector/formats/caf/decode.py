"""Decode, check and read a Chunk Archive (CAF.md, "Reading from a CAF File")."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.archive import Archive, Emitter
from inspector.core.damage import Newer
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.member import LARGEST, MISPLACED, SHARED, Members
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks, is_remote
from inspector.core.span import Span
from inspector.core.verdict import VERDICTS, Verdict
from inspector.formats._damage import Doubled, find_doubled
from inspector.formats._extents import lay_out, shared_extents
from inspector.formats._kinds import DATA_SECTION, INDEX
from inspector.formats.caf import codes
from inspector.formats.caf.fields import EntrySpans, data_section, footer_field, index_field
from inspector.formats.caf.findings import (
    report_inclusive,
    report_inserted,
    report_layout,
    report_names,
    report_ranges,
    report_shift,
    report_two_archives,
    report_unlisted,
)
from inspector.formats.caf.index import archive_order, inverse, members_in, suspicious_names
from inspector.formats.caf.locate import MAX_INDEX_BYTES, find_index
from inspector.formats.caf.overwritten import find_newer, report_newer
from inspector.formats.caf.reading import read_index
from inspector.formats.caf.shift import MIN_LINE_FEEDS, Shift, find_shift, inclusive_ends, is_text_mode
from inspector.formats.caf.write import MAX_ARCHIVE_BYTES, TARGET_DATA_BYTES

MAX_SEARCHED_BYTES = 1 << 30
"""Bytes that are searched for another archive before one member is read; a check searches all."""


class Detail(Struct):
    """What the format's functions know of an archive: where its data ends, and whether bytes were lost or inserted.

    ``doubled`` and ``text_mode`` say what was inserted, ``newer`` what was written over the beginning; a check finds
    them out.
    """

    stop: int
    shift: Shift | None = None
    doubled: Doubled | None = None
    text_mode: bool = False
    newer: Newer | None = None
    looked_for_newer: bool = False


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Find and read the index; emit its members, fields and findings."""
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
    if shift is not None and not index.complete:
        # A lost entry may own the bytes that are too many, unless a member is seen to be moved.
        shift = replace(shift, front=False) if shift.last < len(members) else None
    moved = shift.size if shift is not None and shift.front else 0
    if moved:
        members.starts = array("Q", (start + moved for start in members.starts))
        members.stops = array("Q", (stop + moved for stop in members.stops))
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
        if not joined:
            report_shift(emitter, shift, members, entries)
    report_layout(emitter, members, rows, entries, shift)
    if rows.overlap_count:
        _mark(members, shared_extents(members.starts, members.stops), SHARED)
    report_unlisted(emitter, members, moved)
    report_names(emitter, members, suspicious_names(members), entries)


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
    if not isinstance(detail, Detail) or detail.shift is None or detail.shift.size < 0:
        return
    size = detail.shift.size
    detail.text_mode = size >= MIN_LINE_FEEDS and is_text_mode(archive.source, size, detail.stop, progress)
    doubled = None if detail.text_mode else find_doubled(archive.source, size, detail.stop, progress)
    low, high = detail.shift.bounds
    if doubled is not None and doubled.start <= high and doubled.start + 2 * size >= low:
        detail.doubled = doubled
    report_inserted(emitter, detail.text_mode, detail.doubled, size)


def _look_for_newer(archive: Archive, progress: Progress, most: int) -> Newer | None:
    """An archive in the first ``most`` bytes that was written over the beginning. Raises SourceError and Cancelled."""
    detail = archive.detail
    joined = any(each.code == codes.TWO_ARCHIVES.code for each in archive.findings)
    if not isinstance(detail, Detail) or detail.shift is not None or joined:
        return None
    detail.newer, detail.looked_for_newer = find_newer(archive, min(most, detail.stop), progress), True
    return detail.newer


def doubt(archive: Archive, index: int, progress: Progress) -> str:
    """Whether another archive is where the first members were. Objects on a server are replaced as a whole."""
    stored, detail = archive.members.stored(index), archive.detail
    if is_remote(archive.source) or not stored:
        return ""
    known = isinstance(detail, Detail) and detail.looked_for_newer
    newer = detail.newer if known else _look_for_newer(archive, progress, max(MAX_SEARCHED_BYTES, 2 * stored))
    return "another archive is where the first members were, so these may be bytes of that one" if newer else ""
