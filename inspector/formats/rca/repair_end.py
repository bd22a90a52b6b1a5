"""Repairing where an RCA archive ends: garbage behind it, and an end that is cut off or cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2s

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source, blocks
from inspector.formats.rca.blocks import BLOB, HASH, RESET, REST
from inspector.formats.rca.chain import header
from inspector.formats.rca.chunks import BITS, ended, header_size
from inspector.formats.rca.hashes import Hashes
from inspector.formats.rca.layout import Behind, Layout, whole_blocks
from inspector.formats.rca.repair_hash import own_convention

_UNPROVED = (
    "The blobs of the last segment that decode are taken to be what was archived. Nothing proves it, for no hash is "
    "left that covers them and is right."
)
_GARBAGE = frozenset({"rca-trailing-garbage"})
_ENDS = frozenset({"rca-truncated", "rca-past-end", "rca-varint"})


def finish(source: Source, hashes: Hashes) -> Iterator[Repair]:
    """Make what an interrupted append left behind the end part of the archive: what is proved, and what decodes."""
    layout = hashes.layout
    behind = layout.behind
    if behind is None:
        return
    unproved = behind.counted[1]
    if behind.proved > behind.start:
        title = f"Finish the append that was interrupted: {behind.whole}"
        edit = _finished(source, layout, behind, behind.proved, behind.metadata, title)
        yield Repair("rca-finish-append", title, _GARBAGE, edit=edit)
    if behind.readable > behind.proved:
        title = f"Finish the append that was interrupted, as far as blobs decode: {behind.unproved}"
        edit = _finished(source, layout, behind, behind.readable, behind.readable_metadata, title)
        decode = "decodes, and is" if unproved == 1 else "decode, and are"
        claim = f"{count(unproved, 'blob')} {decode} taken to be what was to be archived. No hash proves it."
        yield Repair("rca-finish-unproved", title, _GARBAGE, claim=claim, edit=edit)


def _finished(source: Source, layout: Layout, behind: Behind, stop: int, metadata: bytes, label: str) -> Edit:
    """The Edit after which the archive ends at a position of what stands behind it."""
    end = behind.layout.inner.outer(stop - 1, stop)[0].stop
    return Edit(label, ended(source, layout.chunks.unsure, end, metadata), source.size, source.size)


def drop_garbage(source: Source, hashes: Hashes) -> Repair | None:
    """Cut off what an interrupted append left; proved to be that by the hash of what stands before it."""
    chunks, behind = hashes.layout.chunks, hashes.layout.behind
    if not chunks.tail or chunks.corrupt:
        return None
    end = chunks.tail[0].spans[0].start
    size = in_bytes(source.size - end)
    title = f"Cut off the {size} of garbage from byte {grouped(end)} on"
    claim, loses = "", tuple(_held_behind(behind))
    if loses:
        claim = "What the interrupted append left is not wanted, though blobs in it can be read."
    elif not chunks.chunks:
        claim = (
            "The append that was interrupted was the first, so the archive is empty afterwards. The size 0 in its "
            "first header says so, and nothing else does."
        )
    elif not hashes.held(len(hashes) - 1):
        claim = (
            f"The archive ends at byte {grouped(end)}, as the size of its last chunk says. The hash of the last "
            "segment does not prove it: if it is the size that is wrong, there are blobs among these bytes."
        )
    edit = Edit(title, (), source.size, end)
    lossless = "" if claim else _lossless(behind)
    return Repair("rca-drop-garbage", title, _GARBAGE, loses, claim, edit, lossless=lossless)


def _held_behind(behind: Behind | None) -> Iterator[str]:
    """What is among the bytes behind the end."""
    if behind is None:
        return
    whole, unproved = behind.counted
    if whole:
        yield f"{behind.whole}: proved whole by {'its hash' if whole == 1 else 'their hashes'}."
    if unproved:
        yield f"{behind.unproved}: readable, though nothing proves {'it' if unproved == 1 else 'them'}."


def _lossless(behind: Behind | None) -> str:
    """Why nothing is lost with bytes behind the end that hold no whole blob."""
    if behind is not None and behind.partial is not None:
        return f"Of '{visible(behind.partial[:80])}' only the beginning is there, and the archive never held it."
    return "No blob in them can be read, and no hash covers them."


@dataclass(frozen=True, slots=True)
class _End:
    """A blob layer as it would end: ``kept`` blocks, and what the last hash is then; ``proved`` by a stored hash."""

    kept: int
    metadata: bytes
    proved: bool


def cut_back(archive: Archive, hashes: Hashes, progress: Progress) -> Repair | None:
    """Cut an archive off behind its last whole block, where nothing that stands further back can be read.

    None where no blob would be left, and where the last segment is damaged before its end.
    """
    layout = hashes.layout
    if not _ends_badly(layout, archive.source) or layout.blocks.left_off or layout.chunks.open:
        return None
    end = _end(hashes, progress)
    if end is None:
        return None
    edit = _shortened(archive.source, layout, layout.blocks.edges[end.kept], end.metadata)
    claim = "" if end.proved else _UNPROVED
    if end.proved and _partial(archive, layout, end.kept):
        claim = "The last blob is not wanted: only its beginning can be read."
    found = {finding.code for finding in archive.findings}
    ends = _ENDS if end.kept == len(layout.blocks) or layout.damaged.keys() - _last(layout) else _ENDS | {"rca-zstd"}
    fixes = frozenset(found & (ends | {"rca-metadata-hash-mismatch"}))
    loses = _loses(archive, layout, end.kept)
    lossless = "" if loses or claim else "No part of a blob is among them, only what was to open the next segment."
    return Repair("rca-cut-back", edit.label, fixes, loses, claim, edit, lossless=lossless)


def _ends_badly(layout: Layout, source: Source) -> bool:
    """Whether bytes are missing at the end, or what stands there is no block."""
    chunks, blocks_ = layout.chunks, layout.blocks
    if chunks.corrupt:
        at = chunks.tail[0].spans[0].start
        return source.size - at < header_size(BITS << len(chunks.chunks))
    if not len(blocks_):
        return False
    return chunks.truncated or whole_blocks(blocks_) < len(blocks_)


def _last(layout: Layout) -> set[int]:
    return {len(layout.blocks.segments) - 1}


def _end(hashes: Hashes, progress: Progress) -> _End | None:
    layout = hashes.layout
    all_blocks = layout.blocks
    kept = whole_blocks(all_blocks)
    metadata = b""
    while kept and all_blocks.types[kept - 1] == RESET:
        # A segment without a block is left out, with the reset block that opens it.
        kept -= 1
        row = hashes.row(all_blocks.segment_of(kept) - 1)
        metadata = hashes.stored(row) if hashes.held(row) else b""
    if not layout.blobs(0, kept):
        return None
    segment = all_blocks.segment_of(kept - 1)
    if layout.damaged.get(segment, kept) < kept:
        return None
    as_written = bool(hashes.held(len(hashes) - 1))
    missing = layout.chunks.truncated or layout.chunks.corrupt
    if metadata:
        # Bytes that are there and were not written so may be blobs behind one that was changed.
        return _End(kept, metadata, missing or as_written)
    metadata = _hash(hashes, segment, kept, progress)
    filled = layout.filled(layout.blocks.edges[kept])
    # What an append left behind that was to go on in a new chunk: the chunk before says where it began.
    begun = filled is not None and filled.metadata == metadata
    return _End(kept, metadata, begun or (as_written and not layout.chunks.truncated))


def _hash(hashes: Hashes, segment: int, kept: int, progress: Progress) -> bytes:
    """The hash of a segment that ends before the block ``kept``."""
    layout, row = hashes.layout, hashes.row(segment)
    convention = own_convention(hashes)
    stop = layout.blocks.edges[kept]
    digest = blake2s(digest_size=HASH)
    progress.begin("Hashing", stop - hashes.bounds(row)[0])
    for first, last in hashes.ranges(row, convention):
        for piece in blocks(layout.inner, first, min(last, stop)):
            digest.update(piece)
            progress.advance(len(piece))
    return digest.digest()


def _shortened(source: Source, layout: Layout, stop: int, metadata: bytes) -> Edit:
    """The Edit after which the blob layer ends at its byte ``stop``, which is not its first."""
    end = layout.inner.outer(stop - 1, stop)[0].stop
    chunk = next(each for each in layout.chunks.chunks if end <= each.stop)
    old = source.read(chunk.start, chunk.header.size)
    new = header(end - chunk.start, chunk.bits, metadata)
    label = f"End the archive at byte {grouped(end)}, behind its last whole block"
    return Edit(label, (Patch(chunk.start, old, new),), source.size, end)


def _partial(archive: Archive, layout: Layout, kept: int) -> bool:
    """Whether the beginning of a blob that is cut off can be read."""
    starts = archive.members.starts
    return bool(len(starts)) and starts[-1] >= layout.blocks.edges[kept]


def _loses(archive: Archive, layout: Layout, kept: int) -> tuple[str, ...]:
    """What is lost that is there now; nothing where it is no more than reset blocks."""
    all_blocks = layout.blocks
    last = len(all_blocks) - 1
    if last < kept or all_blocks.types[last] not in (BLOB, REST):
        return ()
    if all_blocks.types[last] == REST:
        there = all_blocks.edges[-1] - all_blocks.edges[last]
        return (f"{in_bytes(there)} at the end, in which no block can be told.",)
    payload, stop = all_blocks.payloads[last], all_blocks.edges[last + 1]
    name = ""
    if _partial(archive, layout, kept):
        name = f" '{visible(archive.members.path(len(archive.members) - 1)[:80])}'"
    wanted = in_bytes(all_blocks.claimed - payload)
    return (f"The blob{name} at the end, of which {grouped(stop - payload)} of {wanted} are there.",)
