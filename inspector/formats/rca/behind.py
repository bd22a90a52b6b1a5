"""What stands behind the end of an RCA archive: an append that was interrupted, as far as it got, or garbage.

The published writer writes the payload first, then the headers of further chunks with their sizes, and the first header
that changes last of all. So all of an append may be there before it counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from hashlib import blake2s

from inspector.core.archive import Archive, Emitter
from inspector.core.member import Codec, Members
from inspector.core.progress import Progress
from inspector.core.source import blocks as pieces
from inspector.formats.rca.blobs import Decoding
from inspector.formats.rca.blocks import HASH
from inspector.formats.rca.hashes import Convention, Hashes
from inspector.formats.rca.layout import Behind, Layout, whole_blocks

_NAMES = 100
"""The most names that are kept of each kind."""


def look_behind(layout: Layout, hashes: Hashes | None, start: int, progress: Progress) -> Behind | None:
    """What stands behind the inner position ``start`` of an archive that is read to the end of its file."""
    if hashes is None or not len(layout.blocks) or start >= layout.inner.size:
        return None
    edges, segments = layout.blocks.edges, layout.blocks.segments
    first = layout.blocks.segment_of(bisect_right(edges, start) - 1)
    members = _decoded(layout, first, progress)
    names: tuple[list[bytes], list[bytes]] = ([], [])
    counted = [0, 0]
    proved, metadata, partial = start, b"", None
    for segment in range(first, len(segments)):
        row = hashes.row(segment)
        begun, stop = hashes.bounds(row)
        if hashes.proved(row) and begun <= proved < stop:
            proved, metadata = stop, hashes.stored(row)
        kind = 0 if hashes.proved(row) else 1
        whole = _decodes_to(layout, segment)
        for member in range(bisect_left(members.starts, max(begun, start)), bisect_left(members.starts, stop)):
            if members.starts[member] >= whole:
                partial = members.path(member)
                continue
            counted[kind] += 1
            if counted[kind] <= _NAMES:
                names[kind].append(members.path(member))
    readable, unproved_metadata = _readable(layout, hashes, proved, members, progress)
    return Behind(
        layout,
        start,
        proved,
        metadata,
        readable,
        unproved_metadata,
        (tuple(names[0]), tuple(names[1])),
        (counted[0], counted[1]),
        partial,
    )


def _decoded(layout: Layout, first: int, progress: Progress) -> Members:
    """The blobs of the segments from ``first`` on."""
    emitter = Emitter(Archive(layout.inner, "", "", ()))
    emitter.begin_members(Members(codec=Codec.ZSTD, sizes=True, heads=True, place=layout.inner.outer))
    Decoding(layout, emitter, progress).run(first)
    return emitter.members


def _decodes_to(layout: Layout, segment: int) -> int:
    """The inner position up to which the blocks of a segment are whole and decode."""
    _, last = layout.blocks.segment(segment)
    return layout.blocks.edges[min(layout.damaged.get(segment, last), whole_blocks(layout.blocks), last)]


def _readable(layout: Layout, hashes: Hashes, proved: int, members: Members, progress: Progress) -> tuple[int, bytes]:
    """Where the last whole blob ends of the segment that follows what is proved, and the segment's hash up to there."""
    blocks = layout.blocks
    if proved >= layout.inner.size:
        return proved, b""
    segment = blocks.segment_of(bisect_right(blocks.edges, proved) - 1)
    stop = _decodes_to(layout, segment)
    last = bisect_left(members.starts, stop) - 1
    if last < 0 or members.starts[last] < proved:
        return proved, b""
    stop = members.stops[last]
    row = hashes.row(segment)
    digest = blake2s(digest_size=HASH)
    for begin, end in hashes.ranges(row, hashes.convention or Convention.RCARCH):
        for piece in pieces(layout.inner, begin, min(end, stop)):
            digest.update(piece)
            progress.advance(0)
    return stop, digest.digest()
