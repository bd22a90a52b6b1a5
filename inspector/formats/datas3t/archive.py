"""A datas3t range: a tar of datapoints, with its metadata or its index beside it (S3 Storage Layout)."""

from __future__ import annotations

from functools import partial
from pathlib import PurePath

from inspector.core.archive import Emitter
from inspector.core.format import Likeness
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError, is_sparing
from inspector.formats import _tar
from inspector.formats.datas3t import datapoints, lazy_range
from inspector.formats.datas3t.check import ledger
from inspector.formats.datas3t.datapoints import Beside
from inspector.formats.datas3t.index import check_index
from inspector.formats.datas3t.keys import among_ranges, last_part, range_name
from inspector.formats.datas3t.names import check_names
from inspector.formats.datas3t.rows import IndexRows, Rows, RowsError, metadata_json, metadata_rows, whole

METADATA = ".metadata"
INDEX = ".index"
TAR = ".tar"


def probe(source: Source) -> Likeness:
    """See Format.probe: a tar that is named after a range, stands among ranges, or has something beside it."""
    named = range_name(source.name)
    regular = (named is not None and named.regular) or among_ranges(source.name)
    if regular and is_sparing(source) and _is_described(source):
        return Likeness.CERTAIN
    # What stands beside it is asked for last: that may cost a request.
    if _tar.likeness(source) is Likeness.NO:
        return Likeness.CERTAIN if regular and source.sibling(METADATA) is not None else Likeness.NO
    return Likeness.CERTAIN if regular or _is_described(source) else Likeness.NO


def _is_described(source: Source) -> bool:
    return source.sibling(METADATA) is not None or source.sibling(INDEX, TAR) is not None


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """See Format.decode."""
    metadata, index = source.sibling(METADATA), source.sibling(INDEX, TAR)
    if metadata is None and index is None:
        emitter.error(
            "datas3t-metadata-missing",
            f"The metadata is missing: neither {METADATA} nor {INDEX} stands beside "
            f"{visible(last_part(source.name))}, so no offsets and no hashes are recorded for its datapoints. What is "
            "missing is a file of its own, so no byte of this one shows it.",
        )
    named = "" if metadata is None else visible(PurePath(metadata.name).name)
    beside = Beside(_rows(metadata, emitter), _index(index, emitter), named)
    digest = "xxh64" if beside.rows is not None else ""
    places = lazy_range.places(beside, range_name(source.name), source.size) if is_sparing(source) else None
    if places is not None:
        lazy_range.decode(emitter, progress, beside, places, digest)
    else:
        recorded = partial(beside.offsets, source.size)
        _tar.decode(source, emitter, progress, digest=digest, extras=beside.extras, recorded=recorded)
        if is_sparing(source):
            lazy_range.say_walked(emitter, beside)
    beside.take(emitter.members)
    emitter.archive.detail = beside
    emitter.archive.checksums = ledger(emitter.archive, beside, emitter.archive.checksums)
    progress.advance(0)
    check_names(emitter, beside, range_name(source.name), among_ranges(source.name))
    datapoints.check_rows(emitter, beside)
    check_index(emitter, beside)


def _rows(source: Source | None, emitter: Emitter) -> Rows | None:
    if source is None:
        return None
    try:
        return metadata_rows(metadata_json(whole(source)))
    except (RowsError, SourceError) as error:
        emitter.error("datas3t-metadata-damaged", f"The metadata beside the tar cannot be read. {error}")
    return None


def _index(source: Source | None, emitter: Emitter) -> IndexRows | None:
    if source is None:
        return None
    try:
        return IndexRows(whole(source))
    except (RowsError, SourceError) as error:
        emitter.error("datas3t-index-damaged", f"The index beside the tar cannot be read. {error}")
    return None
