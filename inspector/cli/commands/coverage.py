"""``coverage``: which keys the ranges of datasets have, from one listing; no range is opened."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import NamedTuple

import msgspec

from inspector.cli.bootstrap import FINE, NOT_SOUND
from inspector.cli.options import CONNECTION, JSON, Option, connection_of, location
from inspector.cli.output import show
from inspector.core.collection import Collection, Fate, Range
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes, rounded
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.collection import datasets_of, keys_text
from inspector.operations.open.location import NoRangeError, open_location
from inspector.operations.protocol.views import DatasetRow

_ORPHAN, _MISSING, _OTHER_SIZE = "orphan", "missing", "other size"
"""States that only the service's list tells."""

OPTIONS = (
    location("a folder or prefix with datas3t datasets"),
    Option(
        "--live",
        metavar="FILE",
        help="what the service answers to GET /api/v1/dataranges?datas3t_name=NAME: its live ranges",
    ),
    JSON,
    *CONNECTION,
)


class _Live(msgspec.Struct):
    data_object_key: str
    min_datapoint_key: int
    max_datapoint_key: int
    size_bytes: int


class _Answer(msgspec.Struct):
    dataranges: list[_Live]


class _Row(NamedTuple):
    name: str
    first: int
    last: int
    size: int
    state: str
    by: int | None = None
    modified: float = 0.0


def run(options: argparse.Namespace) -> int:
    """Print how ranges cover the keys of each dataset, and return the exit status. Raises SourceError."""
    live = None if options.live is None else _live(Path(options.live))
    try:
        collection = open_location(options.location, connection_of(options)).collection
    except NoRangeError as error:
        collection = error.collection
    if collection is None:
        raise SourceError(f"{visible(options.location)} is no folder with datas3t ranges.")
    status, now = FINE, time()
    for dataset in datasets_of(collection):
        rows = [*_rows(dataset, collection, live)]
        wrong = dataset.overlaps or any(row.state in (_MISSING, _OTHER_SIZE) for row in rows)
        status = NOT_SOUND if wrong else status
        _show(options.location, dataset, rows, now)
    return status


def _live(path: Path) -> dict[str, _Live]:
    """The service's live ranges by the keys of their objects. Raises OperationError."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Answer | list[_Live])
    except (OSError, msgspec.MsgspecError) as error:
        raise OperationError(f"{visible(str(path))} is no list of data ranges: {error}.") from error
    return {each.data_object_key: each for each in (found if isinstance(found, list) else found.dataranges)}


def _rows(dataset: DatasetRow, collection: Collection, live: dict[str, _Live] | None) -> Iterator[_Row]:
    ranges = collection.ranges[dataset.start : dataset.start + dataset.ranges]
    left = {key.rpartition("/")[2]: each for key, each in (live or {}).items() if f"/{dataset.name}/" in f"/{key}"}
    for each in ranges:
        recorded = left.pop(each.name, None)
        state = str(each.fate) if live is None else _state(each, recorded)
        yield _Row(each.name, each.first, each.last, each.size, state, each.by, each.modified)
    for orphan in dataset.orphans:
        state = _ORPHAN if orphan.upload is None else str(Fate.UNFINISHED)
        yield _Row(orphan.name, orphan.first, orphan.last, 0, state, modified=orphan.modified)
    for name, lost in left.items():
        yield _Row(name, lost.min_datapoint_key, lost.max_datapoint_key, lost.size_bytes, _MISSING)


def _state(each: Range, recorded: _Live | None) -> str:
    """What the service's list, which names the live ranges, tells of one."""
    if recorded is not None:
        return str(Fate.LIVE) if recorded.size_bytes == each.size else _OTHER_SIZE
    return _ORPHAN if each.fate is Fate.LIVE else str(each.fate)


def _show(source: str, dataset: DatasetRow, rows: Iterable[_Row], now: float) -> None:
    about = {"source": source, "dataset": dataset.name}
    for row in rows:
        found = {"name": row.name, "keys": (row.first, row.last), "bytes": row.size, "state": row.state, "by": row.by}
        modified = row.modified or None
        by = "" if row.by is None else f" by #{row.by}"
        line = f"  {row.state + by:<20}  {rounded(row.size):>9}  {visible(row.name)}{_age(row, now)}"
        show(about | found | {"modified": modified}, *() if row.state == Fate.LIVE else (line,))
    show(
        about
        | {
            "ranges": dataset.ranges,
            "bytes": dataset.size,
            "keys": (dataset.first, dataset.last),
            "gaps": dataset.gaps,
            "overlaps": dataset.overlaps,
            "wasted": dataset.wasted,
        },
        f"{visible(dataset.name)}: {count(dataset.ranges, 'range')}, {in_bytes(dataset.size)}, "
        f"{keys_text(dataset.first, dataset.last)}",
        *(f"  no range has {keys_text(*gap)}" for gap in dataset.gaps),
        *(f"  two ranges have {keys_text(*overlap)}" for overlap in dataset.overlaps),
        *((f"  later uploads hold {in_bytes(dataset.wasted)} of it as well",) if dataset.wasted else ()),
    )


def _age(row: _Row, now: float) -> str:
    """When an upload that is not finished was written to last."""
    if row.state != Fate.UNFINISHED or not row.modified:
        return ""
    hours = max(0, now - row.modified) / 3600
    age = f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:,.0f} days"
    when = f"{datetime.fromtimestamp(row.modified, UTC):%Y-%m-%d %H:%M} UTC"
    return f", in progress or given up: written {when}, {age} ago"
