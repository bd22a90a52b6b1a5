"""Decoding and reading a Chunk Archive (CAF.md, "Reading from a CAF File")."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.archive import Archive, Emitter
from inspector.core.field import Field
from inspector.core.format import MemberError
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.formats._extents import lay_out
from inspector.formats.caf.columns import archive_order, doubtful_names, inverse, members_in
from inspector.formats.caf.entries import Entries
from inspector.formats.caf.exact import read_exactly
from inspector.formats.caf.fast import SLICE, read_fast
from inspector.formats.caf.fields import data_section, footer_field, index_field
from inspector.formats.caf.findings import report_layout, report_names, report_ranges
from inspector.formats.caf.index import Index
from inspector.formats.caf.locate import Place, find_index
from inspector.formats.caf.search import LARGEST_INDEX

LARGEST_ARCHIVE = 32 << 30
"""The largest archive the specification allows, in bytes (its 32 GB taken as GiB)."""
TARGET_SIZE = 30 << 30
"""The size of data at which the specification begins a new archive, in bytes (its ~30 GB taken as GiB)."""


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """See Format.decode."""
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
    if source.size > LARGEST_ARCHIVE:
        emitter.warning(
            "caf-too-large",
            f"The file has {in_bytes(source.size)}; the specification allows at most 32 GB, so other readers may "
            "refuse it.",
            (LARGEST_ARCHIVE, source.size),
        )
    elif data > TARGET_SIZE:
        emitter.info(
            "caf-above-target",
            f"The data section has {in_bytes(data)}: allowed, but more than the about 30 GB that the specification "
            "recommends.",
            (TARGET_SIZE, data),
        )


def _core_audio(source: Source, emitter: Emitter) -> None:
    emitter.error(
        "caf-core-audio",
        "This is no Chunk Archive: it begins with 'caff', the mark of an Apple Core Audio file, which has the same "
        "suffix. There is nothing in it to list.",
        (0, 4),
    )
    emitter.lay([Field("Core Audio file", Kind.BYTES, (Span(0, source.size),), note="Not a Chunk Archive.")])


def _decode_index(source: Source, emitter: Emitter, progress: Progress, place: Place, span: Span) -> None:
    footer = [footer_field(source, place)] if place.footer else []
    if span.size > LARGEST_INDEX:
        emitter.error(
            "caf-index-too-large",
            f"The index has {in_bytes(span.size)}, more than the {in_bytes(LARGEST_INDEX)} that are read: no members "
            "are listed.",
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
    entries = Entries(source, span, members)
    report_ranges(emitter, span.start, members, entries)
    report_layout(emitter, members, rows, entries)
    report_names(emitter, members, doubtful_names(members), entries)


def _undecoded(name: str, kind: Kind, start: int, stop: int) -> Field:
    return Field(name, kind, (Span(start, stop),))


def read_index(source: Source, span: Span, progress: Progress) -> Index:
    """What the index in ``span`` says; large ones are tried the fast way first. Raises SourceError and Cancelled."""
    if span.size > SLICE:
        progress.begin("Reading the index", span.size)
        index = read_fast(source, span, progress)
        if index is not None:
            return index
    progress.begin("Reading the index exactly", span.size)
    return read_exactly(source.read(span.start, span.size), span.start, progress)


def read(archive: Archive, index: int, progress: Progress) -> Iterator[bytes]:
    """See Format.read."""
    member = archive.members[index]
    name = visible(member.path)
    if not member.readable:
        raise MemberError(f"{name!r} cannot be read: its entry in the index does not say where its data lies.")
    if archive.members.starts[index] > archive.members.stops[index]:
        raise MemberError(f"{name!r} cannot be read: its start_byte is past its end_byte.")
    start, stop = member.spans[0]
    there = min(stop, archive.detail)
    for piece in blocks(archive.source, start, there):
        start += len(piece)
        progress.advance(len(piece))
        yield piece
    if start < stop:
        raise MemberError(
            f"{name!r} is not whole: {in_bytes(stop - start)} of it from byte {grouped(start)} on are not there."
        )
