"""Decoding a ZIP archive: APPNOTE.TXT 4.3.6, from the end records to the local headers, or forwards without them."""

from __future__ import annotations

from collections.abc import Container

from inspector.core.archive import Emitter
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source, expect, is_sparing
from inspector.core.span import Span
from inspector.formats._zip.base_offset import holder_of, report_distance, settle_shift
from inspector.formats._zip.deferred_headers import place_members
from inspector.formats._zip.descriptors import measure_descriptors
from inspector.formats._zip.directory import Directory, DirectoryWalk, headers, new_members
from inspector.formats._zip.eocd import Ending, find_ending
from inspector.formats._zip.eocd_search import ending_behind_members
from inspector.formats._zip.fields import Lead, MemberRows, central_directory, end_fields, end_record
from inspector.formats._zip.records import CENTRAL, END, FULL_16
from inspector.formats._zip.rows import lay_rows
from inspector.formats._zip.scan import walk_forward


def decode_zip(
    source: Source, emitter: Emitter, progress: Progress, lead: Lead | None = None, quiet: Container[int] = ()
) -> Directory:
    """Emit everything about a ZIP archive and give its columns.

    ``lead`` speaks for the member at the start of the file, ``quiet`` are local header offsets whose CRC is judged by
    the caller.
    """
    ending = _ending(source, emitter, progress)
    directory = Directory(new_members(), ending, assumed=is_sparing(source))
    emitter.begin_members(directory.members)
    if ending is not None:
        for severity, code, message, spans in ending.problems:
            emitter.find(Severity(severity), code, message, spans)
        if ending.directory is not None:
            _read_directory(source, emitter, directory, ending, quiet, progress)
    told = source.size
    if not directory.members and (ending is None or ending.entries):
        told = _read_forward(source, emitter, directory, progress)
    limit = _limit(source, directory)
    if directory.assumed and directory.listed:
        place_members(emitter, directory, limit)
    else:
        measure_descriptors(source, emitter, directory, progress)
    rows = lay_rows(source, emitter, directory, limit, told)
    table = MemberRows(source, directory, rows, lead).table()
    fields: list[Field] = []
    if len(table):
        words = count(len(directory.members), "member")
        fields.append(Field("local files", Kind.DATA_SECTION, (Span(0, limit),), note=words, children=table))
    emitter.lay([*fields, *_end_fields(source, directory)])
    return directory


def _ending(source: Source, emitter: Emitter, progress: Progress) -> Ending | None:
    ending = find_ending(source) or ending_behind_members(source, progress)
    if ending is None:
        return None
    holder = holder_of(source, ending)
    if holder is not None:
        message = (
            f"The end of central directory record at {ending.record.start:,} ends an archive that is the content of "
            f"{visible(holder)}, not the one that holds it."
        )
        emitter.info("zip-end-of-member", message, ending.record)
        return None
    settle_shift(source, ending)
    return ending


def _read_directory(
    source: Source,
    emitter: Emitter,
    directory: Directory,
    ending: Ending,
    quiet: Container[int],
    progress: Progress,
) -> None:
    assert ending.directory is not None
    start = ending.directory.start
    expect(source, start, ending.anchor)
    walk = DirectoryWalk(source, emitter, directory, ending, quiet)
    walk.run(start, ending.anchor, progress)
    report_distance(emitter, directory, walk)
    directory.span = Span(start, max(ending.directory.stop, directory.stop))
    _report_counts(emitter, directory)


def _report_counts(emitter: Emitter, directory: Directory) -> None:
    """Compare what the end records claim with what the walk found."""
    ending, span = directory.ending, directory.span
    assert ending is not None
    assert span is not None
    found = len(directory.central)
    if directory.capped:
        return
    if directory.stop < span.stop:
        message = (
            f"The central directory stops making sense at {directory.stop:,}, {in_bytes(span.stop - directory.stop)} "
            f"before its end, after {found:,} of {ending.entries:,} entries; members after that are not listed."
        )
        emitter.error("zip-directory-damaged", message, (directory.stop, span.stop))
    if found == ending.entries:
        return
    if ending.small and found & FULL_16 == ending.entries:
        message = f"The central directory has {found:,} entries; its count is {ending.entries:,}, that modulo 65,536."
        emitter.warning("zip-entry-count-modulo", message, ending.record)
    else:
        message = f"The end record counts {ending.entries:,} entries; the central directory has {found:,}."
        emitter.error("zip-entry-count", message, *ending.records, span)


def _read_forward(source: Source, emitter: Emitter, directory: Directory, progress: Progress) -> int:
    """List what local headers tell, and say that the central directory is missing; where that ends."""
    start = max(0, directory.ending.shift) if directory.ending is not None else 0
    stop = walk_forward(source, emitter, directory, start, progress)
    found = len(directory.members)
    if directory.ending is None:
        message = (
            f"There is no end of central directory record, so the central directory is missing or cut off: the file "
            f"ends early. What is listed ({count(found, 'member')}) is what local headers tell up to byte "
            f"{stop:,}, {in_bytes(source.size - stop)} before the end."
        )
        emitter.error("zip-no-central-directory", message, (stop, source.size))
        _find_cut_directory(source, directory, stop)
    else:
        message = (
            f"No central directory can be read; what is listed ({count(found, 'member')}) is what local headers tell."
        )
        emitter.error("zip-no-central-directory", message, directory.ending.record)
    return stop


def _find_cut_directory(source: Source, directory: Directory, stop: int) -> None:
    """What is left of a central directory that stands where the local files end."""
    if source.read(stop, 4) != CENTRAL:
        return
    directory.stop = stop
    for at, _, _, _, _, end in headers(source, stop, source.size):
        directory.central.append(at)
        directory.stop = end
    rest = source.read(directory.stop, 4)
    directory.span = Span(stop, directory.stop if rest == END else source.size)


def _limit(source: Source, directory: Directory) -> int:
    """Where local files have to end: the first of the directory and the end records."""
    ending = directory.ending
    spans = [directory.span]
    if ending is not None:
        spans += [ending.zip64, ending.locator, ending.record]
    return min((span.start for span in spans if span is not None), default=source.size)


def _end_fields(source: Source, directory: Directory) -> list[Field]:
    found: list[Field] = []
    span, ending = directory.span, directory.ending
    if span is not None and span.size:
        found.append(central_directory(source, span, directory))
    stop = source.size
    if ending is not None:
        found += end_fields(source, ending)
        stop = ending.record.stop
    elif span is not None and span.stop < source.size:
        record = end_record(source, span.stop)
        found.append(record)
        stop = record.spans[0].stop
    if stop < source.size:
        note = "After the end of the archive."
        found.append(Field("trailing data", Kind.GARBAGE, (Span(stop, source.size),), note=note))
    return found
