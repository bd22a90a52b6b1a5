"""A datas3t range: a tar of datapoints, with its metadata or its index beside it (S3 Storage Layout).

A remote range is opened by its metadata or index alone, if that gives the start and end of each datapoint without a
gap: then the headers need not be walked, at one request each. They add only the extension of the name and the exact
size, and are read when their datapoint is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import PurePath
from typing import TypeVar

from inspector.core.archive import Archive, Emitter
from inspector.core.codes import NOT_READ
from inspector.core.format import ProbeResult
from inspector.core.member import UNREAD, Members
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import HiddenError, Source, SourceError, SplicedSource, gather, is_sparing
from inspector.core.span import Span
from inspector.formats._kinds import TAR_END
from inspector.formats._tar import reading
from inspector.formats._tar.fields import archive_fields
from inspector.formats._tar.header import BLOCK, EXTENSIONS, PAX_GLOBAL, ZEROS, aligned, parse
from inspector.formats._tar.resync import Layout, Stray
from inspector.formats.datas3t import DIGITS, RangeName, base_name, codes, datapoint_key, in_range_folder, range_name
from inspector.formats.datas3t.check import checksum_table
from inspector.formats.datas3t.consistency import check_index, check_names, check_rows
from inspector.formats.datas3t.datapoints import RangeRecords
from inspector.formats.datas3t.recovery import Recovery, report_recovered
from inspector.formats.datas3t.rows import (
    IndexRows,
    RefusedRowsError,
    Rows,
    RowsError,
    metadata_json,
    metadata_rows,
    read_whole,
)

METADATA = ".metadata"
INDEX = ".index"
TAR = ".tar"

_T = TypeVar("_T")


def probe(source: Source) -> ProbeResult:
    """A tar that is named after a range, is in a folder of ranges, or has metadata or an index beside it."""
    named = range_name(source.name)
    regular = (named is not None and named.regular) or in_range_folder(source.name)
    if regular and is_sparing(source) and _is_described(source):
        return ProbeResult.CERTAIN
    # Siblings last: asking for one may cost a request.
    if reading.probe(source) is ProbeResult.NO:
        return ProbeResult.CERTAIN if regular and _sibling_may_exist(source, METADATA) else ProbeResult.NO
    return ProbeResult.CERTAIN if regular or _is_described(source) else ProbeResult.NO


def _is_described(source: Source) -> bool:
    return _sibling_may_exist(source, METADATA) or _sibling_may_exist(source, INDEX, TAR)


def _sibling_may_exist(source: Source, suffix: str, instead_of: str = "") -> bool:
    """Whether the file beside it exists. Not where that cannot be determined, unless an error hides it."""
    try:
        return source.sibling(suffix, instead_of) is not None
    except HiddenError:
        return False
    except SourceError:  # decoding reports why it cannot be read
        return True


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode the tar with what its metadata and index record, and report where they disagree."""
    records = _read_records(source, emitter)
    if not records.found and not records.unread:
        emitter.report(
            codes.INDEX_MISSING if _is_upload(source) else codes.METADATA_MISSING,
            f"The metadata is missing: neither {METADATA} nor {INDEX} exists beside "
            f"{visible(base_name(source.name))}. No offsets and no hashes are recorded for its datapoints. The missing "
            "file is separate from the tar, so there are no bytes to show.",
        )
    digest = "xxh64" if records.described else ""
    locations = datapoint_locations(records, range_name(source.name), source.size) if is_sparing(source) else None
    if locations is not None:
        _decode_unread(emitter, progress, records, locations, digest)
    else:
        recover = Recovery(emitter, records)
        reading.decode(source, emitter, progress, digest=digest, extras=records.extras, recover=recover)
        records.layout = emitter.archive.detail
        if is_sparing(source):
            present = records.described or records.index is not None
            why = "the metadata or the index leaves gaps" if present else "there is no readable metadata or index"
            emitter.report(
                codes.HEADERS_WALKED,
                f"All tar headers were read one after another, because {why}. Each may have taken a request.",
            )
    records.assign_rows(emitter.members, None if is_sparing(source) else source)
    emitter.archive.detail = records
    emitter.archive.checksums = checksum_table(emitter.archive, records, emitter.archive.checksums)
    progress.advance(0)
    report_recovered(emitter, records)
    check_names(emitter, records, range_name(source.name), in_range_folder(source.name))
    check_rows(emitter, records)
    check_index(emitter, records)


def _is_upload(source: Source) -> bool:
    """Whether it is named as the later layout names its uploads."""
    named = range_name(source.name)
    return named is not None and named.upload is not None


def _read_records(source: Source, emitter: Emitter) -> RangeRecords:
    """The files beside the tar, read. One that cannot be fetched is reported as UNREADABLE."""
    records = RangeRecords()
    rows = _read(source, emitter, records, METADATA, lambda data: metadata_rows(metadata_json(data)))
    records.described, records.rows = rows is not None, rows or Rows()
    records.index = _read(source, emitter, records, INDEX, IndexRows)
    if METADATA in records.found:
        records.metadata = visible(PurePath(records.found[METADATA].name).name)
    for suffix, error in records.hidden.items():
        # Each layout has one of the two files, and either gives all the offsets.
        if not records.found or suffix == (INDEX if _is_upload(source) else METADATA):
            _report_unfetched(emitter, records, suffix, error)
    return records


def _read(
    source: Source, emitter: Emitter, records: RangeRecords, suffix: str, make: Callable[[bytes], _T]
) -> _T | None:
    """The file beside the tar, parsed by ``make``; None if it is absent, unreachable or damaged."""
    what = suffix.removeprefix(".")
    try:
        if (found := source.sibling(suffix, TAR if suffix == INDEX else "")) is None:
            return None
        records.found[suffix] = found
        return make(read_whole(found))
    except RefusedRowsError as error:
        emitter.report(codes.RECORDS_NOT_READ, f"The {what} beside the tar is not read. {error}")
    except RowsError as error:
        damaged = codes.INDEX_DAMAGED if what == "index" else codes.METADATA_DAMAGED
        emitter.report(damaged, f"The {what} beside the tar cannot be read. {error}")
    except HiddenError as error:
        records.hidden[suffix] = error
    except SourceError as error:
        _report_unfetched(emitter, records, suffix, error)
    return None


def _report_unfetched(emitter: Emitter, records: RangeRecords, suffix: str, error: SourceError) -> None:
    what = suffix.removeprefix(".")
    records.unread = True
    emitter.report(NOT_READ, f"The {what} beside the tar could not be fetched, so it was not compared. {error}")


_PLAIN = frozenset((b"0", b"\0"))
"""Type flags of regular files."""


# ---- a remote range, of which no header is read before its datapoint is shown ----------------------------------------


DatapointLocation = tuple[int, int, int, int]
"""Where the headers of a datapoint begin, its key, and where its data begins and ends, approximately."""


def datapoint_locations(records: RangeRecords, named: RangeName | None, size: int) -> list[DatapointLocation] | None:
    """The datapoints of a tar of ``size`` bytes in order; None if neither metadata nor index covers it without gaps."""
    found: list[DatapointLocation] = []
    if records.described and not records.rows.unreadable:
        rows = zip(records.rows.ids, records.rows.begins, records.rows.ends, strict=True)
        found = sorted((begin, key, begin + BLOCK, end) for key, begin, end in rows)
    elif records.index is not None and named is not None:
        # Index rows have no keys: they are in the order of the tar, whose keys are contiguous.
        for row in range(len(records.index)):
            head, blocks, stored = records.index[row]
            start = head + blocks * BLOCK
            found.append((head, named.first + row, start, start + stored))
    # Each datapoint begins where the one before ends, and all keys differ.
    ends = [0, *(aligned(stop) for *_, stop in found)]
    contiguous = all(
        head == end and head + BLOCK <= start <= stop for end, (head, _, start, stop) in zip(ends, found, strict=False)
    )
    differ = len({key for _, key, _, _ in found}) == len(found)
    return found if found and contiguous and differ and ends[-1] <= size else None


def _decode_unread(
    emitter: Emitter, progress: Progress, records: RangeRecords, found: Sequence[DatapointLocation], digest: str
) -> None:
    """Emit the members at ``datapoint_locations``, with headers unread."""
    archive = emitter.archive
    source = archive.source
    progress.begin("Reading metadata", len(found), "members")
    members = Members(digest=digest, digest_digits=16 if digest else 0, sizes=True, heads=True, marks=True)
    emitter.begin_members(members)
    for head, key, start, stop in found:
        members.append(b"%0*d" % (DIGITS, key), start, stop, head=head, marks=UNREAD)
        progress.advance(1)
    end = aligned(found[-1][-1])
    layout = Layout()
    if end < source.size:
        note = "The bytes after the last datapoint, which were not read. Two blocks of zeros end a tar."
        layout.strays.append(Stray("end of archive", TAR_END, Span(end, source.size), note))
    emitter.lay(archive_fields(source, members, layout, records.extras))
    members.reader = partial(_read_headers, archive, members, end)
    emitter.report(
        codes.HEADERS_NOT_READ,
        "Tar headers were not read, because the metadata or the index locates every datapoint. Reading them takes "
        "requests. The exact name and size of a datapoint are read when it is shown; a check reads and compares all.",
    )


def _read_headers(archive: Archive, members: Members, end: int, indices: Sequence[int]) -> None:
    """Read the headers of the members ``indices`` (Members.reader)."""
    assert members.heads is not None
    heads = members.heads
    spans = [Span(heads[index], heads[index] + BLOCK) for index in indices]
    for index, block in zip(indices, gather(archive.source, spans), strict=True):
        stop = heads[index + 1] if index + 1 < len(members) else end
        resolved, was = _member_in(archive, Span(heads[index], stop), block), datapoint_key(members.path(index))
        now = datapoint_key(resolved[0]) if resolved is not None else None
        if resolved is None or was is None or now is None or now != (was[0], True):
            members.misled = True
        else:
            members.settle(index, *resolved)


ResolvedMember = tuple[bytes, int, int]
"""A member's name and its data ``[start, stop)``."""


def _member_in(archive: Archive, room: Span, block: bytes) -> ResolvedMember | None:
    """The member whose headers and data fill ``room``, which starts with ``block``; None if they do not fill it."""
    if len(block) < BLOCK or block == ZEROS:
        return None
    found = parse(block)
    if not found.fits or found.typeflag == PAX_GLOBAL:
        return None
    if found.typeflag in EXTENSIONS:
        return _extended_member_in(archive, room)
    start = room.start + BLOCK
    if found.typeflag not in _PLAIN or found.folder or found.size is None or found.size < 0:
        return None
    stop = start + found.size
    return (found.name, start, stop) if aligned(stop) == room.stop else None


def _extended_member_in(archive: Archive, room: Span) -> ResolvedMember | None:
    """The same for a member with extended headers, decoded as a tar of its own."""
    alone = Archive(SplicedSource(archive.source, (room,), archive.source.name), "tar", "", ())
    reading.decode(alone.source, Emitter(alone), Progress())
    members = alone.members
    if len(members) != 1 or members[0].marks or aligned(members.stops[0]) != room.size:
        return None
    return members.path(0), room.start + members.starts[0], room.start + members.stops[0]
