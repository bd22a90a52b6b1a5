"""RCA's outer layer, the chain of chunks (specification: "Outer Layer Format (Chunk Layer)"), and both layers together.

Each chunk is a size field, 8 bytes of metadata and a payload. The size field is 16 bits wide at first and twice as wide
in each further chunk, so a file holds only a handful of chunks, whatever its size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2s
from itertools import accumulate, islice, takewhile

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.edit import Patch
from inspector.core.field import Computed, Field, parent
from inspector.core.finding import FindingType
from inspector.core.kinds import Kind
from inspector.core.layout import Part, fields_of, unsigned_be
from inspector.core.names import listed
from inspector.core.numbers import count, grouped, hexadecimal, in_bytes, verb
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource, blocks
from inspector.core.span import Span
from inspector.formats._signatures import found_outside
from inspector.formats._zstd import MAGIC, Stream
from inspector.formats.rca import CHUNK_HEADER, CHUNK_LAYER, codes
from inspector.formats.rca.blocks import BLOB, HASH_SIZE, MAX_VARINT_BYTES, RESET, REST, Blocks, kind_and_size, varint

FIRST_SIZE_BITS = 16
"""The width of the first chunk's size field."""

METADATA_BYTES = HASH_SIZE
"""The size of the metadata field in bytes."""

FIRST_FULL = 1 << FIRST_SIZE_BITS - 1
"""The size of a first chunk that another one follows."""

MAX_FRONT_BYTES = 64 << 20
"""How far from the beginning of a file an archive of several chunks is looked for that ends with the file."""

OPENING_BYTES = 52
"""The most bytes from the beginning to the end of the magic of the first zstd frame: a reset block may be between."""

MAX_STARTS = 100_000
"""Places that are looked at for that; 64 MiB of noise have some 1,000."""

_RESERVED_BYTES = 64 << 10
"""So many zeros are room that was reserved and not written yet, whatever follows them."""

_SECTION = "RCA, Outer Layer Format (Chunk Layer)"
UNFINISHED = (
    "Readers ignore these bytes. An interrupted append leaves such bytes, and the next one overwrites them unless "
    "they show to be more than that."
)


class Chunk(Struct, frozen=True):
    """One chunk: its place in the file, the width of its size field in bits, the field's value and its metadata.

    ``stop`` is the end of what is there: before ``start + size`` where the file is truncated.
    """

    number: int
    start: int
    stop: int
    bits: int
    size: int
    metadata: bytes

    @property
    def header(self) -> Span:
        """The size field and the metadata."""
        return Span(self.start, self.start + header_size(self.bits))

    @property
    def payload(self) -> Span:
        return Span(self.header.stop, self.stop)

    @property
    def full(self) -> bool:
        """Whether another chunk may follow."""
        return self.size == 1 << self.bits - 1

    @property
    def truncated(self) -> bool:
        """Whether the file ends before the chunk does."""
        return self.stop < self.start + self.size


class ChunkLayer(Struct, frozen=True):
    """The valid chunks, the fields of what follows them, and whether that is more than an interrupted append leaves.

    ``problem`` is the type, the sentence and the place of what is wrong with the chain, None where nothing is. ``open``
    is whether it is not recorded where the last chunk ends, so that the metadata in its header proves nothing.
    ``start`` is where the first header is: behind the bytes that precede the archive.
    """

    chunks: tuple[Chunk, ...]
    tail: tuple[Field, ...]
    corrupt: bool
    problem: tuple[FindingType, str, Span] | None = None
    open: bool = False
    start: int = 0

    @property
    def truncated(self) -> bool:
        """Whether bytes of the last chunk are missing."""
        return bool(self.chunks) and self.chunks[-1].truncated

    @property
    def end(self) -> int:
        """Where the last valid chunk ends in the file."""
        return self.chunks[-1].stop if self.chunks else self.start

    @property
    def uncertain_header(self) -> tuple[int, int]:
        """Where the first header stands that may say another size than it should, and the bits of its size field."""
        if self.chunks and not self.corrupt:
            return self.chunks[-1].start, self.chunks[-1].bits
        return self.end, FIRST_SIZE_BITS << len(self.chunks)


def header_size(bits: int) -> int:
    """The size in bytes of a chunk header whose size field has ``bits`` bits."""
    return bits // 8 + METADATA_BYTES


def header_places(at: int, bits: int) -> Iterator[tuple[int, int]]:
    """Where the headers from ``at`` on are while all chunks are full, and the bits of their size fields; for ever."""
    while True:
        yield at, bits
        at, bits = at + (1 << bits - 1), bits * 2


def opening(source: Source, at: int = 0) -> int | None:
    """The size that a first chunk at ``at`` states; None where no blob that opens a zstd frame follows its header.

    An empty archive has no blob, and its hash is that of nothing. A reset block may precede the first blob.
    """
    size = header_size(FIRST_SIZE_BITS)
    head = source.read(at, OPENING_BYTES)
    if len(head) < size:
        return None
    stated, stop = int.from_bytes(head[: FIRST_SIZE_BITS // 8], "big"), size
    if stated == size and head[FIRST_SIZE_BITS // 8 : size] == blake2s(digest_size=HASH_SIZE).digest():
        return stated
    value, stop = varint(head, stop)
    if stop and kind_and_size(value)[0] == RESET:
        value, stop = varint(head, stop + kind_and_size(value)[1])
    opens = stop and kind_and_size(value)[0] == BLOB and head.startswith(MAGIC, stop)
    return stated if opens else None


def is_rca(source: Source, at: int) -> bool:
    """Whether a first chunk of a possible size begins here, with a blob that opens a zstd frame."""
    size = opening(source, at)
    return size is not None and header_size(FIRST_SIZE_BITS) <= size <= FIRST_FULL


def ending(source: Source, progress: Progress) -> Iterator[int]:
    """Where archives begin, behind the first byte, that end where the file does, by the sizes of their chunks."""
    full = found_outside(source, FIRST_FULL.to_bytes(2, "big"), (), MAX_FRONT_BYTES, progress)
    for at in islice(full, MAX_STARTS):
        if at and is_rca(source, at) and _fills(source, at):
            yield at
    low = max(1, source.size - FIRST_FULL + 1)
    data = source.read(low, source.size - low)
    for at in range(low, source.size - header_size(FIRST_SIZE_BITS) + 1):
        if data.startswith((source.size - at).to_bytes(2, "big"), at - low) and is_rca(source, at):
            yield at


def _fills(source: Source, at: int) -> bool:
    """Whether the chunks of an archive that begins at ``at`` end where the file does."""
    layer = scan(source, at)
    return layer.end == source.size and not (layer.corrupt or layer.truncated)


def beginning(source: Source, progress: Progress) -> int:
    """Where the archive begins: behind other bytes if none begins with the file and exactly one ends with it."""
    if _fills(source, 0):
        return 0
    found = ending(source, progress)
    if opening(source) is not None:
        # The last byte of a hash may look like the first of the varint behind it, so that two places seem right.
        found = (at for at in range(1, MAX_VARINT_BYTES) if is_rca(source, at) and _fills(source, at))
    places = tuple(islice(found, 2))
    return places[0] if len(places) == 1 else 0


def scan(source: Source, start: int = 0) -> ChunkLayer:
    """Follow the chain from ``start`` to where it ends or breaks."""
    chunks: list[Chunk] = []
    at, bits = start, FIRST_SIZE_BITS
    while at < source.size and (not chunks or chunks[-1].full):
        header = source.read(at, header_size(bits))
        size = int.from_bytes(header[: bits // 8], "big")
        if len(header) < bits // 8 or (size == 0 and (chunks or _is_begun(source, at))):
            break
        if wrong := _wrong(size, bits, header, at):
            field = _header_field(header, at, bits, len(chunks), wrong[1])
            problem = (*wrong, Span(at, at + len(header)))
            return ChunkLayer(tuple(chunks), (field,), True, problem, start=start)
        chunks.append(Chunk(len(chunks), at, min(at + size, source.size), bits, size, header[bits // 8 :]))
        at, bits = chunks[-1].stop, bits * 2
    tail = (_garbage(source, at, bits, chunks),) if at < source.size else ()
    layer = ChunkLayer(tuple(chunks), tail, False, start=start)
    if not layer.truncated:
        return layer
    last = chunks[-1]
    there = last.stop - last.start
    missing = last.size - there
    message = (
        f"Chunk {last.number + 1} is truncated. Its size field states {in_bytes(last.size)}, and "
        f"{in_bytes(there)} {verb(there, 'is', 'are')} there. {in_bytes(missing)} {verb(missing, 'is', 'are')} missing "
        "at the end of the file."
    )
    return replace(layer, problem=(codes.TRUNCATED, message, last.header))


def _is_begun(source: Source, at: int) -> bool:
    """Whether an append that was interrupted may have left a first header of zeros: a blob follows, or nothing yet."""
    left = source.size - at - header_size(FIRST_SIZE_BITS)
    return left < len(MAGIC) + 2 or opening(source, at) is not None or not any(source.read(at, _RESERVED_BYTES))


def ended(source: Source, unsure: tuple[int, int], stop: int, metadata: bytes = b"") -> tuple[Patch, ...]:
    """What to write so that the archive ends at byte ``stop``; headers before ``unsure`` stay as they are.

    The last header gets ``metadata`` where that is given. Patches stand in the order of writing: the first header
    last, for the archive is what it was until that is there. Headers that are right already have none.
    """
    patches: list[Patch] = []
    for at, bits in takewhile(lambda header: header[0] < stop, header_places(*unsure)):
        size = min(stop - at, 1 << bits - 1)
        new = size.to_bytes(bits // 8, "big") + (metadata if at + size == stop else b"")
        if (old := source.read(at, len(new))) != new:
            patches.append(Patch(at, old, new))
    return tuple(reversed(patches))


def reach(source: Source, unsure: tuple[int, int]) -> int:
    """Where the archive would end that goes on to the end of the file: before a header with nothing behind it."""
    for at, bits in header_places(*unsure):
        if source.size - at <= header_size(bits):
            return at
        if at + (1 << bits - 1) >= source.size:
            return source.size
    raise AssertionError("the places never end")


def _wrong(size: int, bits: int, header: bytes, at: int) -> tuple[FindingType, str] | None:
    """The type and the sentence of what is wrong with a chunk header that is not 0."""
    limit = 1 << bits - 1
    shown = hexadecimal(size, bits // 4)
    if size == 0:
        return codes.CHUNK_SIZE_SMALL, (
            f"The chunk size at byte {grouped(at)} is 0, and no blob follows. An interrupted first append leaves such "
            "a header before the blobs that it wrote, so this header was lost."
        )
    if size > limit:
        return codes.CHUNK_SIZE_RESERVED, (
            f"The chunk size {shown} at byte {grouped(at)} is reserved. A {bits}-bit size field holds at most "
            f"{hexadecimal(limit)}."
        )
    if size < header_size(bits):
        return codes.CHUNK_SIZE_SMALL, (
            f"The chunk size {shown} at byte {grouped(at)} is smaller than the chunk's own header of "
            f"{header_size(bits)} bytes."
        )
    if len(header) < header_size(bits):
        return codes.TRUNCATED, (
            f"The file is truncated inside the chunk header at byte {grouped(at)}. Its size field states "
            f"{in_bytes(size)}, and {in_bytes(len(header))} are there."
        )
    return None


def _garbage(source: Source, at: int, bits: int, chunks: Sequence[Chunk]) -> Field:
    """The bytes past the last valid chunk."""
    span = Span(at, source.size)
    header = source.read(at, header_size(bits)) if not chunks or chunks[-1].full else b""
    if len(header) < bits // 8:
        note = f"The beginning of a chunk header. {UNFINISHED}" if header else UNFINISHED
        return Field("trailing garbage", Kind.GARBAGE, (span,), note=note, specification=_SECTION)
    size_note = "0: the chunk is incomplete, so the archive ends before it."
    size_span = Span(at, at + bits // 8)
    metadata = Span(size_span.stop, min(size_span.stop + METADATA_BYTES, source.size))
    children = [
        Field("size", Kind.NUMBER, (size_span,), 0, size_note, text=hexadecimal(0, bits // 4)),
        Field("metadata", Kind.BYTES, (metadata,), header[bits // 8 :].hex(), "Of a dead chunk header: irrelevant."),
        Field("payload", Kind.BYTES, (Span(metadata.stop, source.size),), note="Never completed."),
    ]
    children = [child for child in children if child.spans[0].size]
    return parent("trailing garbage", Kind.GARBAGE, (span,), children, note=UNFINISHED, specification=_SECTION)


def layer_field(layer: ChunkLayer, source: Source) -> list[Field]:
    """The chunk layer as a field that owns all headers, with one child a header; empty where there is no header.

    The headers are shown as they stand in ``source``, though the layer may read some as others.
    """
    headers = [_chunk_field(chunk, layer, source) for chunk in layer.chunks]
    if layer.corrupt:
        headers += layer.tail
    if not headers:
        return []
    spans = [span for header in headers for span in header.spans]
    payload = sum(chunk.payload.size for chunk in layer.chunks)
    note = f"{len(layer.chunks)} of {len(headers)} chunks can be read" if layer.corrupt else f"chunks: {len(headers)}"
    note = f"{note}; their payload is {in_bytes(payload)} of blob layer."
    return [parent("chunk layer", CHUNK_LAYER, spans, headers, note=note, specification=_SECTION)]


def _chunk_field(chunk: Chunk, layer: ChunkLayer, source: Source) -> Field:
    last = chunk.number == len(layer.chunks) - 1
    raw = source.read(chunk.start, header_size(chunk.bits))
    size = int.from_bytes(raw[: chunk.bits // 8], "big")
    if size != chunk.size and layer.open:
        note = f"{in_bytes(size)}, which is wrong: it is read as if the chunk went on to byte {grouped(chunk.stop)}"
    elif size != chunk.size:
        note = f"{in_bytes(size)}, which is wrong: a hash proves that it should be {in_bytes(chunk.size)}"
    elif chunk.truncated:
        note = f"{in_bytes(size)}, but the file ends {in_bytes(chunk.start + chunk.size - chunk.stop)} earlier"
    elif chunk.full:
        note = f"{in_bytes(size)}, full: another chunk {'may follow' if last else 'follows'}"
    else:
        note = f"{in_bytes(size)}: the last chunk, anything after it is garbage"
    return _header_field(raw, chunk.start, chunk.bits, chunk.number, note, relevant=last)


def _header_field(header: bytes, start: int, bits: int, number: int, note: str, *, relevant: bool = False) -> Field:
    """One chunk header; ``relevant`` is whether its metadata counts."""
    metadata = (
        "The hash of the last segment." if relevant else "Irrelevant: only the metadata of the last chunk counts."
    )
    parts = (
        Part("size", bits // 8, Kind.LENGTH, unsigned_be, bits // 4, lambda _: note),
        Part("metadata", METADATA_BYTES, Kind.DIGEST, bytes.hex, 0, lambda _: metadata),
    )
    children = fields_of(parts, header, start)
    span = Span(start, start + len(header))
    return parent(
        "chunk header",
        CHUNK_HEADER,
        (span,),
        children,
        value=children[0].value if children else None,
        text=children[0].text,
        note=f"Chunk {number + 1}: {note}" if not note.endswith(".") else note,
        label=f"chunk {number + 1} header, the last" if relevant else f"chunk {number + 1} header",
    )


# ---- both layers -----------------------------------------------------------------------------------------------------

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
