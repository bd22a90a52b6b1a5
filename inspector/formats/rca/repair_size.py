"""Mending the size of a chunk, where the hash beside it proves another one (RCA: "Outer Layer Format (Chunk Layer)").

The metadata of the last chunk is the hash of the last segment, whose end the size says. A size that is wrong can be
found by hashing on: where the hash becomes the stored one, there the archive ended when it was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2s

from inspector.core.archive import Archive, Emitter
from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.numbers import grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source, SplicedSource, blocks
from inspector.formats.rca.blocks import HASH, RESET, Blocks, walk
from inspector.formats.rca.chunks import BITS, Chunk, ChunkLayer, header_size, scan
from inspector.formats.rca.hashes import Convention, Hashes
from inspector.formats.rca.repair_end import whole_blocks

_MENDS = frozenset(
    {"rca-chunk-size-reserved", "rca-chunk-size-small", "rca-truncated", "rca-past-end", "rca-metadata-hash-mismatch"}
)

SEARCHED = 1 << 30
"""Bytes that are hashed at most in the search for a size."""


def mend_size(source: Source, hashes: Hashes, progress: Progress) -> Repair | None:
    """Set the size of the chunk that is wrong; None where the hash proves no other.

    A size of 0 is one that is wrong where a hash proves that the chunk, and all up to the end, is there.
    """
    layer = hashes.layout.chunks
    held = layer.chunks and not layer.corrupt and hashes.held(len(hashes) - 1)
    if held and not layer.tail:
        return None
    if layer.truncated and whole_blocks(hashes.layout.blocks) < len(hashes.layout.blocks):
        return None  # bytes are missing: a search would read all of the last segment for nothing
    conventions = (hashes.convention,) if hashes.convention else tuple(Convention)
    for start, bits in _suspects(source, layer):
        if held and start == layer.chunks[-1].start:
            continue  # its size is right, which says nothing of a further chunk
        edit = _sized(source, start, bits, conventions, progress)
        if edit is not None:
            lost = layer.tail and start == layer.tail[0].spans[0].start
            mends = _MENDS | {"rca-trailing-garbage"} if lost else _MENDS
            return Repair("rca-mend-chunk-size", edit.label, mends, edit=edit)
    return None


def _suspects(source: Source, layer: ChunkLayer) -> Iterator[tuple[int, int]]:
    """Where the headers stand whose size may be wrong, and how many bits it has."""
    if layer.chunks and not layer.corrupt:
        last = layer.chunks[-1]
        yield last.start, last.bits
    if layer.tail and (layer.corrupt or not layer.chunks or layer.chunks[-1].full):
        start, bits = layer.tail[0].spans[0].start, BITS << len(layer.chunks)
        if source.size - start > header_size(bits):
            yield start, bits


def _sized(source: Source, start: int, bits: int, conventions: Sequence[Convention], progress: Progress) -> Edit | None:
    """The Edit that gives a chunk the size that a hash proves."""
    found = min(source.size - start, 1 << bits - 1)
    overlay = OverlaySource(source, _edit(source, start, bits, found, ""))
    scratch = Emitter(Archive(overlay, "", "", ()))
    chunks = scan(overlay, scratch).chunks
    inner = SplicedSource(overlay, [chunk.payload for chunk in chunks], source.name)
    layer = walk(inner, scratch, progress)
    last = chunks[-1]
    if not any(last.metadata):
        return None  # what a chunk begins with that is not finished yet
    end = _proved_end(inner, layer, last, conventions, progress)
    if end is None:
        return None
    size = inner.outer(end - 1, end)[0].stop - last.start
    if last.start == start:
        found = size
    elif size != last.size:
        return None  # two sizes are wrong: too much to be told
    label = f"Set the size of the chunk at byte {grouped(start)} to {in_bytes(found)}, as its hash proves"
    return _edit(source, start, bits, found, label)


def _edit(source: Source, start: int, bits: int, size: int, label: str) -> Edit:
    patch = Patch(start, source.read(start, bits // 8), size.to_bytes(bits // 8, "big"))
    return Edit(label, (patch,), source.size, source.size)


def _proved_end(
    inner: SplicedSource, layer: Blocks, last: Chunk, conventions: Sequence[Convention], progress: Progress
) -> int | None:
    """The end of a block in the last chunk where the hash is the one in its header, as an inner position."""
    low = inner.size - last.payload.size
    progress.begin("Searching for the end", inner.size)
    for number in range(len(layer.segments) if len(layer) else 0):
        first, stop = layer.segment(number)
        if layer.edges[stop] <= low or inner.size - layer.edges[first] > SEARCHED:
            continue
        for convention in conventions if layer.types[first] == RESET else conventions[:1]:
            for end, digest in _hashes(inner, layer, first, stop, convention, progress):
                if end > low and digest == last.metadata:
                    return end
    return None


def _hashes(
    inner: SplicedSource, layer: Blocks, first: int, stop: int, convention: Convention, progress: Progress
) -> Iterator[tuple[int, bytes]]:
    """Where each whole block of a segment ends, and the hash of the segment up to there."""
    digest = blake2s(digest_size=HASH)
    for block in range(first, stop):
        if not layer.whole(block):
            return
        start, end = layer.edges[block], layer.edges[block + 1]
        if block == first and layer.types[block] == RESET and convention is Convention.SPECIFICATION:
            digest.update(inner.read(start, layer.payloads[block] - start))
            start = min(layer.payloads[block] + HASH, end)
        for piece in blocks(inner, start, end):
            digest.update(piece)
            progress.advance(len(piece))
        yield end, digest.digest()
