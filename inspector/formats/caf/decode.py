"""Decode, check and read a Chunk Archive (CAF.md, "Reading from a CAF File")."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.formats._extents import lay_out
from inspector.formats.caf.exact import read_exactly
from inspector.formats.caf.fast import SLICE_BYTES, read_fast
from inspector.formats.caf.fields import EntrySpans, data_section, footer_field, index_field
from inspector.formats.caf.findings import report_layout, report_names, report_ranges
from inspector.formats.caf.index import Index, archive_order, inverse, members_in, suspicious_names
from inspector.formats.caf.locate import MAX_INDEX_BYTES, Place, find_index

MAX_ARCHIVE_BYTES = 32 << 30
"""The largest archive the specification allows, in bytes (its 32 GB taken as GiB)."""
TARGET_DATA_BYTES = 30 << 30
"""The size of data at which the specification begins a new archive, in bytes (its ~30 GB taken as GiB)."""


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Find and read the index; emit its members, fields and findings."""
    place = find_index(source)
    if place.index is None and source.read(0, 4) == b"caff":
        _core_audio(source, emitter)
        return
    if place.problem:
        emitter.error("caf-footer", place.problem, *place.wrong)
    _report_size(source, emitter, place)
    if place.index is None:
        emitter.lay([footer_field(source, place)] if place.footer else [])
        return
    _decode_index(source, emitter, progress, place, place.index)


def _report_size(source: Source, emitter: Emitter, place: Place) -> None:
    data = place.index.start if place.index else source.size
    if source.size > MAX_ARCHIVE_BYTES:
        emitter.warning(
            "caf-too-large",
            f"The file is larger than 32 GB, which the specification allows at most. It has {in_bytes(source.size)}; "
            "other readers may reject it.",
            (MAX_ARCHIVE_BYTES, source.size),
        )
    elif data > TARGET_DATA_BYTES:
        emitter.info(
            "caf-above-target",
            f"The data section is larger than the recommended 30 GB: it has {in_bytes(data)}. The specification allows "
            "that.",
            (TARGET_DATA_BYTES, data),
        )


def _core_audio(source: Source, emitter: Emitter) -> None:
    emitter.error(
        "caf-core-audio",
        "This is an Apple Core Audio file, not a Chunk Archive. It begins with 'caff' and has the same suffix; there "
        "is nothing to list.",
        (0, 4),
    )
    emitter.lay([Field("Core Audio file", Kind.BYTES, (Span(0, source.size),), note="Not a Chunk Archive.")])


def _decode_index(source: Source, emitter: Emitter, progress: Progress, place: Place, span: Span) -> None:
    footer = [footer_field(source, place)] if place.footer else []
    if span.size > MAX_INDEX_BYTES:
        emitter.error(
            "caf-index-too-large",
            f"The index is too large to read: it has {in_bytes(span.size)}, and the limit is "
            f"{in_bytes(MAX_INDEX_BYTES)}. No members are listed.",
            span,
        )
        emitter.lay(
            [
                _undecoded("data section", Kind.DATA_SECTION, 0, span.start),
                _undecoded("index", Kind.INDEX, *span),
                *footer,
            ]
        )
        return
    index = read_index(source, span, progress)
    order = archive_order(index)
    members = members_in(order, index)
    emitter.begin_members(members)
    emitter.archive.detail = span.start
    member_of = inverse(order)
    rows = lay_out(members.starts, members.stops, 0, span.start)
    emitter.lay([data_section(members, rows), index_field(source, index, member_of.__getitem__), *footer])
    for problem in index.problems:
        member = None if problem.entry is None or problem.entry >= len(index) else member_of[problem.entry]
        emitter.find(problem.severity, problem.code, problem.message, problem.spans, member)
    entries = EntrySpans(source, span, members)
    report_ranges(emitter, span.start, members, entries)
    report_layout(emitter, members, rows, entries)
    report_names(emitter, members, suspicious_names(members), entries)


def _undecoded(name: str, kind: Kind, start: int, stop: int) -> Field:
    return Field(name, kind, (Span(start, stop),))


def read_index(source: Source, span: Span, progress: Progress) -> Index:
    """Read the index in ``span``, a large one the fast way if possible. Raises SourceError and Cancelled."""
    if span.size > SLICE_BYTES:
        progress.begin("Reading the index", span.size)
        index = read_fast(source, span, progress)
        if index is not None:
            return index
    progress.begin("Reading the index exactly", span.size)
    return read_exactly(source.read(span.start, span.size), span.start, progress)


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """Yield the bytes of a member."""
    member = archive.members[index]
    name = visible(member.path)
    if not member.readable:
        raise MemberError(f"{name!r} cannot be read: its entry in the index does not say where its data is.")
    if archive.members.starts[index] > archive.members.stops[index]:
        raise MemberError(f"{name!r} cannot be read: its start_byte is past its end_byte.")
    start, stop = member.spans[0]
    available = min(stop, archive.detail)
    for piece in blocks(archive.source, start, available):
        start += len(piece)
        progress.advance(len(piece))
        yield piece
    if start < stop:
        raise MemberError(
            f"{name!r} is incomplete: {in_bytes(stop - start)} of it are missing from byte {grouped(start)} on."
        )


def check(archive: Archive, emitter: Emitter, progress: Progress) -> str:
    """The format records no checksums, so decoding has compared everything; this only sums up."""
    progress.advance(0)
    emitter.judge_all(Verdict.NOT_CHECKABLE)
    if not len(archive.members) and any(finding.severity is Severity.ERROR for finding in archive.findings):
        return "No members can be listed."
    errors = [finding.member for finding in archive.findings if finding.severity is Severity.ERROR]
    wrong, elsewhere = len(set(errors) - {None}), errors.count(None)
    parts = [count(len(archive.members), "member")]
    if wrong:
        parts.append(f"{grouped(wrong)} of them with errors")
    if elsewhere:
        parts.append(f"{count(elsewhere, 'error')} in the index or the footer")
    return f"{', '.join(parts)}; the format records no checksums, so only the structure was checked."
