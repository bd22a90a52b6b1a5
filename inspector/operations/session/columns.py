"""Columns of members as numpy arrays, over all archives of a set: snapshots of the first so many members."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np

from inspector.core.member import HAS_DIGEST, Codec, Members
from inspector.operations.protocol.views import SortKey
from inspector.operations.session.archive_set import ArchiveSet
from inspector.operations.session.name_order import Names, Numbers


def names_of(archive_set: ArchiveSet, count: int) -> Names:
    """The whole paths of the first ``count`` members."""
    blobs: list[bytes | bytearray] = []
    lengths: list[Numbers] = []
    for at, here in enumerate(archive_set.counts(count)):
        blob, stops = names_between(archive_set, at, 0, here)
        blobs.append(blob)
        lengths.append(np.diff(stops, prepend=0))
    if not lengths:
        return Names(b"", np.zeros(0, np.int64))
    return Names(blobs[0] if len(blobs) == 1 else b"".join(blobs), np.cumsum(np.concatenate(lengths)))


def names_between(archive_set: ArchiveSet, at: int, first: int, stop: int) -> tuple[bytes | bytearray, Numbers]:
    """The whole paths of members ``[first, stop)`` of an archive: one after another, and where each ends."""
    members, folder = archive_set.archives[at].members, archive_set.folder(at)
    if not members.as_appended:
        names = [folder + members.path(index) for index in range(first, stop)]
        return b"".join(names), np.cumsum([len(name) for name in names], dtype=np.int64)
    start = members.path_stops[first - 1] if first else 0
    stops = np.array(members.path_stops[first:stop], np.int64) - start
    # A copy, as all columns are: while a view of one exists, the decoder could not append to it.
    blob = members.paths[start : start + int(stops[-1])] if stop > first else b""
    if not folder:
        return blob, stops
    starts = [0, *stops[:-1].tolist()]
    paths = [folder + blob[begin:end] for begin, end in zip(starts, stops.tolist(), strict=False)]
    return b"".join(paths), stops + len(folder) * np.arange(1, len(stops) + 1)


def column_of(archive_set: ArchiveSet, key: SortKey, count: int) -> Numbers:
    """What the first ``count`` members are sorted by, as numbers (there are none for names)."""
    column = _COLUMNS[key]
    parts = [column(archive_set.archives[at].members, here) for at, here in enumerate(archive_set.counts(count))]
    if not parts:
        return np.zeros(0, np.int64)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _snapshot(column: array[int], count: int) -> Numbers:
    return np.array(column[:count], np.int64 if column.typecode == "Q" else np.uint8)


def _stored(members: Members, count: int) -> Numbers:
    stored: Numbers = np.maximum(0, _snapshot(members.stops, count) - _snapshot(members.starts, count))
    return stored


def _sizes(members: Members, count: int) -> Numbers:
    return _stored(members, count) if members.sizes is None else _snapshot(members.sizes, count)


def _codecs(members: Members, count: int) -> Numbers:
    if members.codecs is None:
        return np.full(count, list(Codec).index(members.codec), np.uint8)
    return _snapshot(members.codecs, count)


def _digests(members: Members, count: int) -> Numbers:
    """Digests as numbers; members without one come first."""
    if members.digests is None:
        return np.zeros(count, np.uint64)
    digests = np.array(members.digests[:count], np.uint64)
    if members.marks is None:
        return digests
    return np.where(_snapshot(members.marks, count) & HAS_DIGEST, digests, 0)


def _offsets(members: Members, count: int) -> Numbers:
    return _snapshot(members.starts, count)


_COLUMNS: dict[SortKey, Callable[[Members, int], Numbers]] = {
    SortKey.SIZE: _sizes,
    SortKey.STORED: _stored,
    SortKey.CODEC: _codecs,
    SortKey.DIGEST: _digests,
    SortKey.OFFSET: _offsets,
}
