"""The columns of members as numpy arrays, through all archives of a shelf: snapshots of the first so many members."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np

from inspector.core.member import HAS_DIGEST, Codec, Members
from inspector.operations.name_order import Names, Numbers
from inspector.operations.shelf import Shelf
from inspector.operations.views import SortKey


def names_of(shelf: Shelf, count: int) -> Names:
    """The whole paths of the first ``count`` members."""
    blobs: list[bytes] = []
    lengths: list[Numbers] = []
    for archive, prefix, here in zip(shelf.archives, shelf.prefixes, shelf.counts(count), strict=True):
        stops = _snapshot(archive.members.path_stops, here)
        # Copied, as all columns are: while a view of one exists, the decoder could not append to it.
        blob = bytes(archive.members.paths[: int(stops[-1]) if here else 0])
        blobs.append(_prefixed(prefix, blob, stops) if prefix else blob)
        lengths.append(np.diff(stops, prepend=0) + len(prefix))
    return Names(blobs[0] if len(blobs) == 1 else b"".join(blobs), np.cumsum(np.concatenate(lengths)))


def column_of(shelf: Shelf, key: SortKey, count: int) -> Numbers:
    """What the first ``count`` members are sorted by, as numbers (there are none for names)."""
    column = _COLUMNS[key]
    parts = [column(archive.members, here) for archive, here in zip(shelf.archives, shelf.counts(count), strict=True)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _snapshot(column: array[int], count: int) -> Numbers:
    return np.array(column[:count], np.int64 if column.typecode == "Q" else np.uint8)


def _prefixed(prefix: bytes, blob: bytes, stops: Numbers) -> bytes:
    starts = [0, *stops[:-1].tolist()]
    return b"".join(prefix + blob[start:stop] for start, stop in zip(starts, stops.tolist(), strict=True))


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
