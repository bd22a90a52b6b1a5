"""What phase one finds out about an RCA archive, kept for reading its members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from msgspec import Struct, field

from inspector.core.edit import Patch
from inspector.core.field import Computed
from inspector.core.names import listed
from inspector.core.numbers import count
from inspector.core.source import SplicedSource, blocks
from inspector.core.span import Span
from inspector.formats._zstd import Stream
from inspector.formats.rca.blocks import BLOB, REST, Blocks
from inspector.formats.rca.chunks import Chunk, ChunkLayer

READ_AHEAD_BYTES = 64 * 1024
"""Bytes that are read at once where blocks and segments are small."""
PIECE_BYTES = 1 << 20
"""Bytes that are read at once where they are large: smaller pieces cost more memory management than they save cache."""


class ReadAhead:
    """Reads inner bytes ``[start, stop)``, small stretches out of the last larger one; any number of threads may."""

    def __init__(self, inner: SplicedSource) -> None:
        self._inner = inner
        self._last = (0, b"")

    def read(self, start: int, stop: int) -> bytes:
        """The bytes; fewer where the source has become shorter."""
        base, data = self._last
        if start < base or stop > base + len(data):
            if stop - start > READ_AHEAD_BYTES // 2:
                return self._inner.read(start, stop - start)
            base, data = self._last = start, self._inner.read(start, READ_AHEAD_BYTES)
        return data[start - base : stop - base]

    def pieces(self, start: int, stop: int) -> Iterable[bytes]:
        """The same bytes in pieces of at most PIECE_BYTES."""
        if stop - start <= READ_AHEAD_BYTES // 2:
            return (self.read(start, stop),)
        return blocks(self._inner, start, stop, PIECE_BYTES)


class Cursor(Struct):
    """A decoder that stands in front of the payload of ``block``."""

    stream: Stream
    block: int


class Layout(Struct):
    """The two layers of an archive.

    ``cursor`` is where the last reader stopped, so that the next one need not start over; ``damaged`` says of
    each segment that could not be decoded to its end at which block that was; ``refused`` are those of them that may be
    right, see ZstdRefusedError; ``lost`` are inner stretches in which no block can be told, a reset block behind each.

    What a hash proves to be wrong in the file is read as it should be: ``sizes`` are what it takes to put chunk headers
    right, ``varints`` the same for the varints of blocks. ``inner`` is the blob layer with them in place, ``raw`` the
    one that stands in the file. ``behind`` is what stands behind the end of the archive, where something does.
    """

    chunks: ChunkLayer
    inner: SplicedSource
    blocks: Blocks
    raw: SplicedSource
    cursor: Cursor | None = None
    damaged: dict[int, int] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    lost: tuple[Span, ...] = ()
    sizes: tuple[Patch, ...] = ()
    varints: tuple[Patch, ...] = ()
    behind: Tail | None = None

    @property
    def consistent(self) -> bool:
        """Whether blocks follow one another from the beginning to the end."""
        return not (self.lost or self.blocks.incomplete or whole_blocks(self.blocks) < len(self.blocks))

    def outer_start(self, block: int) -> int:
        """Where a block begins in the file."""
        at = self.blocks.edges[block]
        return self.inner.outer(at, at + 1)[0].start

    def starts(self, blocks: Sequence[int]) -> Computed[int]:
        """Where blocks begin in the file, for a FieldTable."""
        return Computed(len(blocks), lambda at: self.outer_start(blocks[at]))

    def filled(self, at: int) -> Chunk | None:
        """The chunk that ends at the inner position ``at``, where another one follows it."""
        return self.filled_chunks().get(at)

    def filled_chunks(self) -> dict[int, Chunk]:
        """The chunks that another one follows, by the inner position at which each ends."""
        chunks = self.chunks.chunks[:-1]
        return dict(zip(accumulate(chunk.payload.size for chunk in chunks), chunks, strict=True))

    def outer_starts(self, first: int, last: int) -> list[int]:
        """Where the blocks ``[first, last)`` begin in the file."""
        edges = self.blocks.edges
        spans = self.inner.outer(edges[first], edges[last])
        if len(spans) > 1:
            return list(map(self.outer_start, range(first, last)))
        moved = spans[0].start - edges[first]
        return [edge + moved for edge in edges[first:last]]

    def blobs(self, first: int, last: int) -> int:
        """How many of the blocks ``[first, last)`` are blobs."""
        return self.blocks.types.count(BLOB, first, last)


class Tail(Struct, frozen=True):
    """What stands behind the end of an archive: the rest of an append that was interrupted, or garbage.

    ``layout`` reads the file as if the archive went on to the end of it. All that follows are positions in it: the
    archive ends at ``start``; up to ``proved`` hashes prove every segment, the last of which hashes to ``metadata``; up
    to ``readable`` whole blobs decode, and the segment that they are in hashes to ``readable_metadata`` up to there.
    ``counted`` is how many blobs are proved, and how many only decode; ``whole`` and ``unproved`` are they in words.
    ``partial`` is the name of a blob of which the beginning decodes.
    """

    layout: Layout
    start: int
    proved: int
    metadata: bytes
    readable: int
    readable_metadata: bytes
    whole: str
    unproved: str
    counted: tuple[int, int]
    partial: bytes | None


def named(names: Sequence[bytes], number: int) -> str:
    """``3 blobs ('a', 'b', 'c')``, or the name of a single one."""
    return listed(names, 1) if number == 1 else f"{count(number, 'blob')} ({listed(names, number)})"


def whole_blocks(layer: Blocks) -> int:
    """How many blocks are whole and can be told: all of them, or all but the last."""
    last = len(layer) - 1
    return last if last >= 0 and (layer.types[last] == REST or not layer.whole(last)) else len(layer)
