"""Which stretches of a layer hold members that were verified, that are damaged, or that nothing is known of."""

from __future__ import annotations

import numpy as np

from inspector.core.archive import Archive
from inspector.core.member import UNREADABLE
from inspector.core.program.progress import Progress
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
    # In Python's numbers: a product of two sizes may be more than 64 bits hold.
    edges = np.array([row * size // rows for row in range(rows)], np.int64)
    # For every stretch, how many members of a kind begin in it less how many end before it.
    changes = {bit: np.zeros(rows + 1, np.int64) for bit in Judged}
    members = archive.members
    progress.begin("Mapping verdicts", len(members), "members")
    limit = archive.inner.size if archive.inner is not None else size
    chunks = None if inner or archive.inner is None else np.array(archive.inner.outer(0, limit), np.int64)
    for first in range(0, len(members), MEMBERS_PER_STEP):
        stop = min(len(members), first + MEMBERS_PER_STEP)
        starts = np.minimum(np.array(members.starts[first:stop], np.uint64), limit).astype(np.int64)
        stops = np.minimum(np.array(members.stops[first:stop], np.uint64), limit).astype(np.int64)
        judged = np.frombuffer(bytes(archive.verdicts[first:stop]), np.uint8)
        bits = _MAP[np.pad(judged, (0, stop - first - len(judged)))]
        there = stops > starts
        if members.marks is not None:
            there &= (np.array(members.marks[first:stop], np.uint8) & UNREADABLE) == 0
        starts, stops, bits = starts[there], stops[there], bits[there]
        if chunks is not None:
            starts, stops, bits = _in_chunks(chunks.reshape(-1, 2), starts, stops, bits)
        # Where the file is smaller than the map, one byte is in several stretches: the first of them that it is in.
        begun = np.searchsorted(edges, starts, "left")
        begun = np.where((begun < rows) & (edges[np.minimum(begun, rows - 1)] == starts), begun, begun - 1)
        ended = np.searchsorted(edges, stops, "left")
        for bit in Judged:
            chosen = bits == bit
            changes[bit] += np.bincount(begun[chosen], minlength=rows + 1) - np.bincount(
                ended[chosen], minlength=rows + 1
            )
        progress.advance(stop - first)
    found = np.zeros(rows, np.int64)
    for bit, change in changes.items():
        found |= np.where(np.cumsum(change)[:-1] > 0, int(bit), 0)
    return found.tolist()


def _in_chunks(chunks: Numbers, starts: Numbers, stops: Numbers, bits: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Stretches of an inner stream as stretches of the file, each in as many pieces as it has there."""
    sizes = chunks[:, 1] - chunks[:, 0]
    chunk_stops = np.cumsum(sizes)
    chunk_starts = chunk_stops - sizes
    first = np.searchsorted(chunk_stops, starts, "right")
    pieces = np.searchsorted(chunk_stops, stops, "left") - first + 1
    which = np.repeat(np.arange(len(starts)), pieces)
    chunk = first[which] + np.arange(len(which)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    moved = chunks[chunk, 0] - chunk_starts[chunk]
    begun, ended = np.maximum(starts[which], chunk_starts[chunk]), np.minimum(stops[which], chunk_stops[chunk])
    return begun + moved, ended + moved, bits[which]
