"""Decode a ZIP archive: from the end records to the local headers, or forward without them (APPNOTE.TXT 4.3.6)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inspector.core.archive import Archive, CappedFindings, Emitter
from inspector.core.field import Field
from inspector.core.finding import Severity
from inspector.core.format import ProbeResult
from inspector.core.kinds import Kind
from inspector.core.names import brief
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.pieces import Piece, PieceSource, PieceTable, RepeatedSource
from inspector.core.program.progress import Progress, Quiet
from inspector.core.source import Source, expect, is_remote, is_sparing
from inspector.core.span import Span
from inspector.formats._kinds import DATA_SECTION
from inspector.formats._zip import codes
from inspector.formats._zip.check import check, checksums
from inspector.formats._zip.directory import (
    MAX_NAME_BYTES,
    Directory,
    DirectoryWalk,
    add_member,
    has_wide_sizes,
    new_members,
)
from inspector.formats._zip.eocd import (
    Eocd,
    decide_shift,
    enclosing_member,
    find_eocd,
    find_eocd_after_members,
    is_encrypted,
)
from inspector.formats._zip.extra import ExtraPlace, report_extra
from inspector.formats._zip.fields import (
    FirstMember,
    MemberRows,
    central_directory,
    digital_signature,
    end_fields,
    end_record,
    lay_rows,
)
from inspector.formats._zip.members import path_of, report_name
from inspector.formats._zip.records import (
    CENTRAL,
    CENTRAL_CRC,
    CENTRAL_SIZE,
    DESCRIPTOR,
    DESCRIPTOR_BYTES,
    END,
    FORMS,
    FULL_16,
    LOCAL,
    LOCAL_SIZE,
    MAX_MEMBERS,
    TACO_SUFFIXES,
    LocalFile,
    central_headers,
    codec_of,
    form_of,
    local_files,
    read_local,
    zip64,
)
from inspector.formats._zip.strays import MAX_UNPACKED_BYTES, Scanner

if TYPE_CHECKING:  # annotations only
    from inspector.core.repair import Content, Repair


MIN_BULK_BYTES = 1 << 18
"""Smaller directories are read one header at a time, without numpy."""
_NARROW_DESCRIPTOR_BYTES = 16
"""The size of the longest data descriptor with sizes of 4 bytes."""
MAX_RATIO = 64
"""Members whose sizes are recorded after their data are unpacked to so many times the file, with 1 GiB more."""
_MIN_ZIP64_BYTES = 4
"""The least size of an extra field with ZIP64 information."""


def decode_zip(
    source: Source,
    emitter: Emitter,
    progress: Progress,
    first_member: FirstMember | None = None,
    crc_checked_at: Container[int] = (),
) -> Directory:
    """Emit members, fields and findings of a ZIP archive, and return its columns.

    ``first_member`` describes the member at the start of the file. ``crc_checked_at`` holds offsets of local headers
    whose CRC-32 the caller compares.
    """
    eocd = _find_eocd(source, emitter, progress)
    directory = Directory(new_members(), eocd, deferred=is_sparing(source))
    emitter.begin_members(directory.members)
    reported_from = _read_records(source, emitter, directory, crc_checked_at, progress)
    # Local files end before the directory and the first end record.
    ends = (directory.span, *((eocd.zip64, eocd.locator, eocd.record) if eocd is not None else ()))
    limit = min((span.start for span in ends if span is not None), default=source.size)
    if directory.deferred and directory.listed:
        _place_members(emitter, directory, limit)
    else:
        _measure_descriptors(source, emitter, directory, progress)
    rows = lay_rows(source, emitter, directory, limit, reported_from)
    table = MemberRows(source, directory, rows, first_member).table()
    fields: list[Field] = []
    if len(table):
        words = count(len(directory.members), "member")
        fields.append(Field("local files", DATA_SECTION, (Span(0, limit),), note=words, children=table))
    emitter.lay([*fields, *_end_fields(source, directory)])
    emitter.archive.detail = directory
    return directory


def _find_eocd(source: Source, emitter: Emitter, progress: Progress) -> Eocd | None:
    eocd = find_eocd(source) or find_eocd_after_members(source, progress)
    outer = enclosing_member(source, eocd) if eocd is not None else None
    if eocd is not None and outer is not None:
        emitter.report(
            codes.END_OF_MEMBER,
            f"The end of central directory record at {eocd.record.start:,} belongs to the archive stored in "
            f"{brief(outer)}, not to this archive.",
            eocd.record,
        )
        return None
    if eocd is not None:
        decide_shift(source, eocd)
    return eocd


def _read_records(
    source: Source, emitter: Emitter, directory: Directory, crc_checked_at: Container[int], progress: Progress
) -> int:
    """Add a member for each header, central if possible; returns where gaps are reported otherwise or not at all."""
    eocd = directory.eocd
    if eocd is not None:
        directory.encrypted = is_encrypted(source, eocd)
        for what, message, spans in eocd.problems:
            if what is not codes.ENTRY_COUNT or not directory.encrypted:
                emitter.report(what, message, *spans)
        if directory.encrypted:
            _pass_encrypted_directory(source, emitter, directory, eocd, progress)
            return 0
        if eocd.directory is not None:
            start = eocd.directory.start
            expect(source, start, eocd.anchor)
            walk = DirectoryWalk(source, emitter, directory, eocd, crc_checked_at)
            walk.run(start, eocd.anchor, progress, _in_bulk(walk, start, eocd.anchor))
            walk.report_displacement()
            directory.span = Span(start, max(eocd.directory.stop, directory.stop))
            _report_counts(source, emitter, directory, eocd, directory.span)
    if not directory.members and (eocd is None or eocd.entries):
        return _read_forward(source, emitter, directory, progress)
    return source.size


def _pass_encrypted_directory(
    source: Source, emitter: Emitter, directory: Directory, eocd: Eocd, progress: Progress
) -> None:
    """List members from their local headers instead, which may hold neither their names nor their sizes."""
    assert eocd.directory is not None
    directory.span = eocd.directory
    directory.stop = eocd.directory.stop
    _list_local_files(source, emitter, directory, 0, progress)
    emitter.report(
        codes.DIRECTORY_ENCRYPTED,
        f"The central directory is encrypted, so it is not read. It lists {count(eocd.entries, 'member')}; local "
        f"headers give {grouped(len(directory.members))}, perhaps without their names and sizes.",
        directory.span,
    )


def _in_bulk(walk: DirectoryWalk, start: int, limit: int) -> Iterator[int]:
    """Add the members of a large directory many at a time; yields where the next header is, as far as that goes."""
    is_plain = not (walk.displacement or walk.split or walk.directory.deferred or is_remote(walk.source))
    if limit - start < MIN_BULK_BYTES or not is_plain:
        return
    from inspector.formats._zip.bulk import in_bulk  # numpy is for large directories

    for stop in in_bulk(walk, start, limit, MAX_MEMBERS):
        yield stop
        if len(walk.members.paths) > MAX_NAME_BYTES:
            return


def _report_counts(source: Source, emitter: Emitter, directory: Directory, eocd: Eocd, span: Span) -> None:
    """Compare the end records with the entries found in the directory ``span``."""
    found = len(directory.central)
    if directory.capped:
        return
    if directory.stop < span.stop and digital_signature(source, directory.stop, span.stop) is None:
        emitter.report(
            codes.DIRECTORY_DAMAGED,
            f"The central directory is damaged at {directory.stop:,}, {in_bytes(span.stop - directory.stop)} before "
            f"its end. It is readable for {found:,} of {eocd.entries:,} entries; the members after them are not "
            "listed.",
            (directory.stop, span.stop),
        )
    if found != eocd.entries == found & FULL_16 and eocd.zip64 is None:
        emitter.report(
            codes.ENTRY_COUNT_MODULO,
            f"The central directory has {found:,} entries, but the end record counts them modulo 65,536: "
            f"{eocd.entries:,}.",
            eocd.record,
        )
    elif found != eocd.entries:
        emitter.report(
            codes.ENTRY_COUNT,
            f"The end record counts {eocd.entries:,} entries, but the central directory has {found:,}.",
            *eocd.records,
            span,
        )


def _read_forward(source: Source, emitter: Emitter, directory: Directory, progress: Progress) -> int:
    """List members from their local headers, report the missing directory, and return where the headers end."""
    eocd = directory.eocd
    stop = _list_local_files(source, emitter, directory, max(0, eocd.shift) if eocd is not None else 0, progress)
    found = count(len(directory.members), "member")
    if eocd is not None:
        message = f"The central directory cannot be read. Local headers give {found}."
        emitter.report(codes.NO_CENTRAL_DIRECTORY, message, eocd.record)
        return stop
    emitter.report(
        codes.NO_CENTRAL_DIRECTORY,
        "The central directory is missing or cut off: there is no end of central directory record. Local headers "
        f"give {found} up to byte {stop:,}, {in_bytes(source.size - stop)} before the end of the file.",
        (stop, source.size),
    )
    if source.read(stop, 4) == CENTRAL:  # the rest of a directory
        directory.stop = stop
        for at, _, _, _, _, end in central_headers(source, stop, source.size):
            directory.central.append(at)
            directory.stop = end
        rest = source.read(directory.stop, 4)
        directory.span = Span(stop, directory.stop if rest == END else source.size)
    return stop


def _end_fields(source: Source, directory: Directory) -> list[Field]:
    found: list[Field] = []
    span, eocd = directory.span, directory.eocd
    if span is not None and span.size:
        found.append(central_directory(source, span, directory))
    if eocd is not None:
        found += end_fields(source, eocd)
    elif span is not None and span.stop < source.size:
        found.append(end_record(source, span.stop))
    stop = found[-1].spans[-1].stop if found else source.size
    if stop < source.size:
        note = "After the end of the archive."
        found.append(Field("trailing data", Kind.GARBAGE, (Span(stop, source.size),), note=note))
    return found


def _place_members(emitter: Emitter, directory: Directory, limit: int) -> None:
    """Infer where members lie without reading local headers, which would cost a request each, and report that.

    A local header has one thing that the central directory lacks: the length of its extra field (APPNOTE.TXT 4.3.7).
    That follows from where the next header begins, because writers leave no gaps; ``limit`` is where the last ends.
    The inferred place is corrected when a member is read.
    """
    members, heads = directory.members, directory.heads
    with_descriptor = set(directory.with_descriptor)
    order = sorted(range(len(members)), key=heads.__getitem__)
    for index, following in zip(order, [*(heads[each] for each in order[1:]), limit], strict=False):
        gap = following - members.stops[index]
        forms = FORMS if index in with_descriptor else ()
        descriptor = max((form for form in forms if form <= gap), default=0)
        if 0 <= gap - descriptor <= 0xFFFF:
            directory.descriptors[index] = descriptor
            members.starts[index] += gap - descriptor
            members.stops[index] += gap - descriptor
    emitter.report(
        codes.LOCAL_HEADERS_NOT_READ,
        f"The local headers of {count(len(members), 'member')} were not read, to save a request for each. Their ends "
        "are inferred from the next header; a check reads and compares them.",
    )


def _measure_descriptors(source: Source, emitter: Emitter, directory: Directory, progress: Progress) -> None:
    """Find the form of every announced data descriptor (4.3.9); report missing ones and those that differ."""
    members = directory.members
    if not directory.with_descriptor:
        return
    progress.begin("Reading data descriptors", len(directory.with_descriptor), "members")
    words = "data descriptors of another width than ZIP64 demands"
    widths = CappedFindings(emitter, codes.DESCRIPTOR_WIDTH, words)
    for index in directory.with_descriptor:
        stop, member = members.stops[index], members[index]
        crc = int(member.digest[6:], 16) if member.digest else 0
        data = source.read(stop, DESCRIPTOR_BYTES)
        form = directory.descriptors[index] = form_of(data, crc, member.stored, member.size)
        if not form:
            _report_descriptor(emitter, directory, index, data, stop)
        elif member.size:  # of an empty member both widths look alike
            # Where the central header has ZIP64 sizes, those of the descriptor may be wide too (4.3.9.2).
            wide = form > _NARROW_DESCRIPTOR_BYTES
            listed = wide and directory.listed and has_wide_sizes(source, directory.central[index])
            # A local header without room for ZIP64 information is not read.
            room = member.spans[0].start - member.head - LOCAL_SIZE - len(member.path)
            local = read_local(source, member.head) if room >= _MIN_ZIP64_BYTES else None
            has_zip64 = local is not None and zip64(local.extra, 0, 0).present
            if wide != has_zip64 and not listed and not widths.full():
                sizes = "8 bytes, though its headers have no ZIP64 sizes"
                sizes = sizes if wide else "4 bytes, though its local header has ZIP64 information"
                message = f"The data descriptor of {brief(member.path)} has sizes of {sizes}."
                widths.add(message, ((stop, stop + form),), index)
        progress.advance(1)
    widths.close()


def _report_descriptor(emitter: Emitter, directory: Directory, index: int, data: bytes, stop: int) -> None:
    name, place = brief(directory.members.path(index)), (stop, stop + 16)
    if data[:4] == DESCRIPTOR:
        directory.descriptors[index] = min(16, len(data))
        message = f"The data descriptor of {name} differs from the central directory."
        crc = directory.central[index] + CENTRAL_CRC if directory.listed else 0
        recorded = ((crc, crc + 12),) if crc else ()
        emitter.report(codes.DESCRIPTOR_DIFFERS, message, place, *recorded, member=index)
    else:
        why = "its flags announce one, but none with its numbers follows the data"
        message = f"The data descriptor of {name} is missing: {why}."
        emitter.report(codes.DESCRIPTOR_MISSING, message, place, member=index)


def _list_local_files(source: Source, emitter: Emitter, directory: Directory, start: int, progress: Progress) -> int:
    """Add a member for each local header from ``start`` on; returns where they end."""
    progress.begin("Reading local headers", source.size)
    most = MAX_UNPACKED_BYTES + MAX_RATIO * source.size
    at, scanner = start, Scanner(source, Quiet(progress.advance), left=most)
    for found in islice(_following(scanner, start, measure=not is_sparing(source)), MAX_MEMBERS):
        local, name, begin, (stored, size) = found.local, found.name, found.begin, found.sizes or (0, 0)
        if found.sizes is None and not found.proved:
            ended = f" The search for its end stopped after {in_bytes(most)} of members were read."
            emitter.report(
                codes.SIZE_UNKNOWN,
                f"The size of {brief(name)} is unknown: it is recorded only after its data and in the missing "
                "central directory. Neither this member nor those after it can be listed."
                f"{ended if scanner.left <= 0 else ''}",
                Span(found.head, source.size),
            )
            return found.head
        index, extra_at = len(directory.members), found.head + LOCAL_SIZE + len(name)
        report_extra(emitter, found.extra, ExtraPlace(extra_at, name, index, local=True))
        report_name(emitter, name, local.flags, (found.head + LOCAL_SIZE, extra_at), index)
        path, codec = path_of(name, local.flags), codec_of(local.method, local.flags)
        add_member(emitter, directory, path, (found.head, begin), (stored, size), codec, local.crc)
        directory.descriptors[index] = found.descriptor
        at = min(found.stop, source.size)
        progress.advance(at - progress.done)
    return at


def _following(scanner: Scanner, start: int, *, measure: bool) -> Iterator[LocalFile]:
    """The local files from ``start`` on; ``measure``: where only a data descriptor has its size, up to that."""
    at: int | None = start
    while at is not None:
        start, at = at, None
        for found in local_files(scanner.source, start):
            asked = measure and found.sizes is None and scanner.left > 0
            whole = scanner.member(found.head) if asked else None
            if whole is not None and whole.proved:
                at = whole.stop
                yield replace(whole, descriptor=at - whole.begin - whole.local.stored)
            else:
                yield found


# ---- a plain ZIP -----------------------------------------------------------------------------------------------------


def probe(source: Source) -> ProbeResult:
    """CERTAIN if an end record ends the file; POSSIBLE if one is near the end, or a local header begins the file."""
    eocd = find_eocd(source)
    if eocd is not None and eocd.exact and (eocd.consistent or not eocd.entries):
        return ProbeResult.CERTAIN
    return ProbeResult.POSSIBLE if eocd is not None or source.read(0, 4) == LOCAL else ProbeResult.NO


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode the archive; report a file named like a TACO archive."""
    directory = decode_zip(source, emitter, progress)
    _report_taco_name(source, emitter, directory)
    emitter.archive.checksums = checksums(emitter.archive, directory)


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    """Plan the repairs: the end, the headers, the CRC-32 records, and a salvage last."""
    # Listing repairs nothing.
    from inspector.formats._zip.rebuild import has_whole, salvage
    from inspector.formats._zip.repair import repair_end, repair_headers, repair_records

    directory = archive.detail
    if not isinstance(directory, Directory) or directory.encrypted:
        return ()
    found = [
        *repair_end(archive, directory, progress),
        *repair_headers(archive, directory, progress),
        *repair_records(archive, directory),
    ]
    if has_whole(archive, directory) and any(finding.severity is Severity.ERROR for finding in archive.findings):
        found.append(salvage(archive, directory))
    return found


def older(archive: Archive, start: int) -> Content:
    """A new archive of the members of one whose bytes before ``start`` were written over."""

    def pieces(progress: Progress) -> Iterator[bytes]:
        zeros = Piece(RepeatedSource(b"\0", start), 0, start)
        table = PieceTable((zeros, Piece(archive.source, start, archive.source.size - start)))
        rest = Archive(PieceSource(archive.source, table), archive.format, archive.title, ())
        decode(rest.source, Emitter(rest), progress)
        check(rest, Emitter(rest), progress)
        saves = (each for each in repairs(rest, progress) if each.is_salvage and each.content is not None)
        salvage = next(saves, None)
        if salvage is not None and salvage.content is not None:
            yield from salvage.content(progress)

    return pieces


def _report_taco_name(source: Source, emitter: Emitter, directory: Directory) -> None:
    """Report a file with the suffix of a TACO archive but no header (TACO_HEADER.md, "Header structure")."""
    if not source.name.lower().endswith(TACO_SUFFIXES):
        return
    local = read_local(source, 0)
    if local is None:
        cause = "does not begin with a local header"
        spans = [(0, min(len(LOCAL), source.size))]
    else:
        cause = f"begins with the member {brief(local.name)}"
        spans = [(LOCAL_SIZE, LOCAL_SIZE + len(local.name))]
        if directory.first >= 0 and directory.listed:
            name = directory.central[directory.first] + CENTRAL_SIZE
            spans.append((name, name + len(local.name)))
    emitter.report(
        codes.NO_TACO_HEADER,
        f"The file has the name of a TACO archive, but no TACO_HEADER: it {cause}. It is read as a plain ZIP archive. "
        "Programs for TACO find no entries in it.",
        *spans,
    )
