"""A datas3t range: a tar of datapoints, with its metadata or its index beside it (S3 Storage Layout)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

from inspector.core.archive import Emitter
from inspector.core.codes import NOT_READ
from inspector.core.format import ProbeResult
from inspector.core.names import visible
from inspector.core.program.progress import Progress
from inspector.core.source import HiddenError, Source, SourceError, is_sparing
from inspector.formats._tar import reading
from inspector.formats.datas3t import codes, lazy_range
from inspector.formats.datas3t.check import checksum_table
from inspector.formats.datas3t.consistency import check_index, check_names, check_rows
from inspector.formats.datas3t.datapoints import RangeRecords
from inspector.formats.datas3t.keys import base_name, in_range_folder, range_name
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
            codes.METADATA_MISSING,
            f"The metadata is missing: neither {METADATA} nor {INDEX} exists beside "
            f"{visible(base_name(source.name))}. No offsets and no hashes are recorded for its datapoints. The missing "
            "file is separate from the tar, so there are no bytes to show.",
        )
    digest = "xxh64" if records.described else ""
    datapoint_locations = (
        lazy_range.datapoint_locations(records, range_name(source.name), source.size) if is_sparing(source) else None
    )
    if datapoint_locations is not None:
        lazy_range.decode(emitter, progress, records, datapoint_locations, digest)
    else:
        recover = Recovery(emitter, records)
        reading.decode(source, emitter, progress, digest=digest, extras=records.extras, recover=recover)
        records.layout = emitter.archive.detail
        if is_sparing(source):
            lazy_range.report_walked(emitter, records)
    records.assign_rows(emitter.members, None if is_sparing(source) else source)
    emitter.archive.detail = records
    emitter.archive.checksums = checksum_table(emitter.archive, records, emitter.archive.checksums)
    progress.advance(0)
    report_recovered(emitter, records)
    check_names(emitter, records, range_name(source.name), in_range_folder(source.name))
    check_rows(emitter, records)
    check_index(emitter, records)


def _read_records(source: Source, emitter: Emitter) -> RangeRecords:
    """The files beside the tar, read. One that cannot be fetched is reported as UNREADABLE."""
    named = range_name(source.name)
    is_later_layout = named is not None and named.counted
    records = RangeRecords()
    rows = _read(source, emitter, records, METADATA, lambda data: metadata_rows(metadata_json(data)))
    records.described, records.rows = rows is not None, rows or Rows()
    records.index = _read(source, emitter, records, INDEX, IndexRows)
    if METADATA in records.found:
        records.metadata = visible(PurePath(records.found[METADATA].name).name)
    for suffix, error in records.hidden.items():
        # Each layout has one of the two files, and either gives all the offsets.
        if not records.found or suffix == (INDEX if is_later_layout else METADATA):
            _report_unfetched(emitter, records, suffix, error)
    return records


def _read(
    source: Source, emitter: Emitter, records: RangeRecords, suffix: str, make: Callable[[bytes], _T]
) -> _T | None:
    """The file beside the tar, parsed by ``make``; None if it is absent, unreachable or damaged."""
    what = suffix.removeprefix(".")
    try:
        found = source.sibling(suffix, TAR if suffix == INDEX else "")
        if found is None:
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
