"""Which stretches of a layer hold members that were verified, that are damaged, or that nothing is known of."""

from __future__ import annotations

import numpy as np

from inspector.core.archive import Archive
from inspector.core.member import UNREADABLE
from inspector.core.program.progress import Progress
from inspector.core.source import SplicedSource
from inspector.core.verdict import VERDICTS, Verdict
from inspector.operations.protocol.views import Judged
from inspector.operations.session.members.arrangement import Numbers

MEMBERS_PER_STEP = 1 << 16
"""Members painted between two chances to cancel."""

BITS = {
    Verdict.NOT_CHECKED: Judged.UNCHECKED,
    Verdict.NOT_CHECKABLE: Judged.UNCHECKED,
    Verdict.DOUBTFUL: Judged.UNCHECKED,
    Verdict.VERIFIED: Judged.VERIFIED,
    Verdict.MISMATCH: Judged.DAMAGED,
}
_MAP = np.array([BITS[verdict] for verdict in VERDICTS], np.uint8)


def verdict_overview(archive: Archive, inner: bool, rows: int, progress: Progress) -> list[int]:
    """The set (see ``Judged``) of each of ``rows`` equal stretches of an archive's file or of its inner stream.

    Stretch ``i`` is that of ``overview``. Only the stored bytes of members count. Raises Cancelled.
    """
    size = archive.inner.size if inner and archive.inner is not None else archive.source.size
    if size <= 0 or rows <= 0:
        return [0] * max(0, rows)
    painter = _VerdictPainter(size, rows)
    chunks = None if inner or archive.inner is None else _Chunks(archive.inner)
    members = archive.members
    count = len(members)
    progress.begin("Mapping verdicts", count, "members")
    limit = archive.inner.size if archive.inner is not None else size
    for first in range(0, count, MEMBERS_PER_STEP):
        stop = min(count, first + MEMBERS_PER_STEP)
        starts = np.minimum(np.array(members.starts[first:stop], np.uint64), limit).astype(np.int64)
        stops = np.minimum(np.array(members.stops[first:stop], np.uint64), limit).astype(np.int64)
        bits = _bits(archive, first, stop)
        there = stops > starts
        if members.marks is not None:
            there &= (np.array(members.marks[first:stop], np.uint8) & UNREADABLE) == 0
        starts, stops, bits = starts[there], stops[there], bits[there]
        if chunks is not None:
            starts, stops, bits = chunks.outer(starts, stops, bits)
        painter.paint(starts, stops, bits)
        progress.advance(stop - first)
    return painter.sets()


def _bits(archive: Archive, first: int, stop: int) -> Numbers:
    judged = np.frombuffer(bytes(archive.verdicts[first:stop]), np.uint8)
    return _MAP[np.pad(judged, (0, stop - first - len(judged)))]


class _Chunks:
    """Turns stretches of an inner stream into stretches of the file, many at once."""

    def __init__(self, inner: SplicedSource) -> None:
        spans = np.array(inner.outer(0, inner.size), np.int64).reshape(-1, 2)
        sizes = spans[:, 1] - spans[:, 0]
        self._stops = np.cumsum(sizes)
        self._starts = self._stops - sizes
        self._moved = spans[:, 0] - self._starts

    def outer(self, starts: Numbers, stops: Numbers, bits: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Every stretch, in as many pieces as it has in the file."""
        first = np.searchsorted(self._stops, starts, "right")
        pieces = np.searchsorted(self._stops, stops, "left") - first + 1
        which = np.repeat(np.arange(len(starts)), pieces)
        chunk = first[which] + np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        moved = self._moved[chunk]
        return (
            np.maximum(starts[which], self._starts[chunk]) + moved,
            np.minimum(stops[which], self._stops[chunk]) + moved,
            bits[which],
        )


class _VerdictPainter:
    """Counts for every stretch how many members of a kind begin in it less how many end before it."""

    def __init__(self, size: int, rows: int) -> None:
        # In Python's numbers: a product of two sizes may be more than 64 bits hold.
        self._edges = np.array([row * size // rows for row in range(rows)], np.int64)
        self._changes = {bit: np.zeros(rows + 1, np.int64) for bit in Judged}

    def paint(self, starts: Numbers, stops: Numbers, bits: Numbers) -> None:
        # Where the file is smaller than the map, one byte is in several stretches: the first of them that it is in.
        edges, rows = self._edges, len(self._edges)
        first = np.searchsorted(edges, starts, "left")
        inside = first < rows
        exact = inside & (edges[np.minimum(first, rows - 1)] == starts)
        first = np.where(exact, first, first - 1)
        after = np.searchsorted(edges, stops, "left")
        for bit, changes in self._changes.items():
            chosen = bits == bit
            begun, ended = first[chosen], after[chosen]
            changes[:] += np.bincount(begun, minlength=rows + 1) - np.bincount(ended, minlength=rows + 1)

    def sets(self) -> list[int]:
        found = np.zeros(len(self._edges), np.int64)
        for bit, changes in self._changes.items():
            found |= np.where(np.cumsum(changes)[:-1] > 0, int(bit), 0)
        return found.tolist()
