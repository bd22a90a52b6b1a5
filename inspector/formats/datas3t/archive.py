"""A datas3t range: a tar of datapoints, with its metadata or its index beside it (S3 Storage Layout)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import TypeVar

from inspector.core.archive import Emitter
from inspector.core.finding import UNREADABLE
from inspector.core.format import ProbeResult
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import HiddenError, Source, SourceError, is_sparing
from inspector.formats import _tar
from inspector.formats.datas3t import datapoints, lazy_range
from inspector.formats.datas3t.check import ledger
from inspector.formats.datas3t.datapoints import Beside
from inspector.formats.datas3t.index import check_index
from inspector.formats.datas3t.keys import among_ranges, last_part, range_name
from inspector.formats.datas3t.names import check_names
from inspector.formats.datas3t.rows import IndexRows, RowsError, metadata_json, metadata_rows, whole

METADATA = ".metadata"
INDEX = ".index"
TAR = ".tar"

_Made = TypeVar("_Made")


def probe(source: Source) -> ProbeResult:
    """See Format.probe: a tar that is named after a range, stands among ranges, or has something beside it."""
    named = range_name(source.name)
    regular = (named is not None and named.regular) or among_ranges(source.name)
    if regular and is_sparing(source) and _is_described(source):
        return ProbeResult.CERTAIN
    # What stands beside it is asked for last: that may cost a request.
    if _tar.probe(source) is ProbeResult.NO:
        return ProbeResult.CERTAIN if regular and _stands(source, METADATA) else ProbeResult.NO
    return ProbeResult.CERTAIN if regular or _is_described(source) else ProbeResult.NO


def _is_described(source: Source) -> bool:
    return _stands(source, METADATA) or _stands(source, INDEX, TAR)


def _stands(source: Source, suffix: str, instead_of: str = "") -> bool:
    """Whether something may stand beside it. Where that is not told, nothing speaks for it."""
    try:
        return source.sibling(suffix, instead_of) is not None
    except HiddenError:
        return False
    except SourceError:  # decoding says why it cannot be had
        return True


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """See Format.decode."""
    beside = _beside(source, emitter)
    if not beside.found and not beside.unread:
        emitter.error(
            "datas3t-metadata-missing",
            f"The metadata is missing: neither {METADATA} nor {INDEX} stands beside "
            f"{visible(last_part(source.name))}, so no offsets and no hashes are recorded for its datapoints. What is "
            "missing is a file of its own, so no byte of this one shows it.",
        )
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


def _beside(source: Source, emitter: Emitter) -> Beside:
    """What stands beside the tar, read. What cannot be fetched is UNREADABLE: nothing is known of it then."""
    named = range_name(source.name)
    later = named is not None and named.counted
    beside = Beside()
    beside.rows = _read(source, emitter, beside, METADATA, lambda data: metadata_rows(metadata_json(data)))
    beside.index = _read(source, emitter, beside, INDEX, IndexRows)
    if METADATA in beside.found:
        beside.metadata = visible(PurePath(beside.found[METADATA].name).name)
    for suffix, error in beside.hidden.items():
        # Each layout has one of the two, and it tells all that the other could.
        if not beside.found or suffix == (INDEX if later else METADATA):
            _tell_unread(emitter, beside, suffix, error)
    return beside


def _read(
    source: Source, emitter: Emitter, beside: Beside, suffix: str, make: Callable[[bytes], _Made]
) -> _Made | None:
    """What ``make`` makes of the bytes of what stands beside the tar; None where that is nothing, or no use."""
    what = suffix.removeprefix(".")
    try:
        found = source.sibling(suffix, TAR if suffix == INDEX else "")
        if found is None:
            return None
        beside.found[suffix] = found
        return make(whole(found))
    except RowsError as error:
        emitter.error(f"datas3t-{what}-damaged", f"The {what} beside the tar cannot be read. {error}")
    except HiddenError as error:
        beside.hidden[suffix] = error
    except SourceError as error:
        _tell_unread(emitter, beside, suffix, error)
    return None


def _tell_unread(emitter: Emitter, beside: Beside, suffix: str, error: SourceError) -> None:
    what = suffix.removeprefix(".")
    beside.unread = True
    emitter.error(UNREADABLE, f"The {what} beside the tar could not be fetched, so nothing is known of it. {error}")
