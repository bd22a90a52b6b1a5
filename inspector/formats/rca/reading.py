"""Reads the chunks of an RCA archive and the blocks in their payloads, and what follows its end.

Headers and varints are taken as stored, unless a hash proves other values: then those are used and the difference is
reported, so that every other chapter sees the segments that can be proved.

The published writer writes payload first, then the headers of further chunks, and last the first header that changes.
So a whole interrupted append may stand after the end before it counts: ``look_behind`` finds it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import chain, islice

from msgspec.structs import replace

from inspector.core.archive import Emitter
from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.field import Field
from inspector.core.format import ProbeResult
from inspector.core.kinds import Kind
from inspector.core.member import Codec, Members
from inspector.core.program.progress import Progress
from inspector.core.source import Source, SplicedSource, expect, is_sparing
from inspector.core.span import Span
from inspector.formats.rca.blobs import Decoding
from inspector.formats.rca.blocks import BLOB, RESET, walk
from inspector.formats.rca.check import StoredHashes
from inspector.formats.rca.chunks import (
    FIRST_FULL,
    FIRST_SIZE_BITS,
    ChunkLayer,
    Layout,
    Tail,
    beginning,
    ended,
    header_size,
    layer_field,
    named,
    opening,
    reach,
    scan,
    whole_blocks,
)
from inspector.formats.rca.fields import BlobLayerFields
from inspector.formats.rca.findings import report_hashes, report_structure
from inspector.formats.rca.hashes import Hashes, compare, digest_of, own_convention
from inspector.formats.rca.search import Fix, Search, decoded

MAX_HASHED_BYTES = 16 * 1024 * 1024
"""Bytes of inner stream whose hashes are compared while decoding: hashing more would delay the listing."""
MAX_FIXES = 16
"""Varints and ends of one archive that are corrected while reading."""


def layers(source: Source, progress: Progress, *, search: bool = False) -> Hashes:
    """Find chunks and blocks; ``search`` forces a search for hidden segments. Hashes are compared as far as it takes.

    Other bytes may precede the archive. One that a proved segment of the file holds is a blob, and not the archive.
    """
    if start := beginning(source, progress):
        outer = _from(source, 0, progress, search)
        if outer.holds(start):
            return outer
    return _from(source, start, progress, search)


def ends_proved(source: Source, start: int, progress: Progress) -> bool:
    """Whether an archive begins at ``start`` that is all there, and the hash of its last segment is right."""
    chunks = scan(source, start)
    if chunks.corrupt or chunks.truncated or not chunks.chunks:
        return False
    layout = _layout(source, chunks, progress)
    last = len(Hashes(layout)) - 1
    return bool(compare(layout, progress, [last]).matched(last))


def some_proved(source: Source, start: int, progress: Progress) -> bool:
    """Whether the hash of a segment is right in an archive that begins at ``start``, whatever its chunks say."""
    hashes = compare(_layout(source, scan(source, start), progress), progress)
    return any(hashes.proved(row) for row in range(len(hashes)))


def _from(source: Source, start: int, progress: Progress, search: bool) -> Hashes:
    layout = _layout(source, scan(source, start), progress)
    chunks = layout.chunks
    beyond = bool(chunks.tail) or chunks.corrupt
    if not (search or beyond or chunks.truncated or layout.inner.size <= MAX_HASHED_BYTES or _unusual(layout)):
        return Hashes(layout)
    large = layout.inner.size > MAX_HASHED_BYTES and layout.consistent and not (search or _unusual(layout))
    plain = _resolve(source, layout, progress, _last_segment_start(layout) if large else 0)
    return _as_far_as_proved(source, plain, progress) if beyond or chunks.truncated else plain


def _layout(
    source: Source, chunks: ChunkLayer, progress: Progress, lost: tuple[Span, ...] = (), file: Source | None = None
) -> Layout:
    """The layout of what ``source`` reads; ``file`` are the archive's own bytes where those are others."""
    inner, raw = (
        SplicedSource(each, [chunk.payload for chunk in chunks.chunks], f"{source.name}: inner stream")
        for each in (source, file or source)
    )
    return Layout(chunks, inner, walk(inner, progress, lost), raw, lost=lost)


def _unusual(layout: Layout) -> bool:
    """Whether there are blocks that no known writer makes, so that block boundaries are doubtful."""
    blocks = layout.blocks
    return not layout.consistent or len(blocks.types) > blocks.types.count(BLOB) + blocks.types.count(RESET)


def _last_segment_start(layout: Layout) -> int:
    """Where the last segment begins, as an inner position."""
    blocks = layout.blocks
    return blocks.edges[blocks.segments[-1]] if len(blocks) else 0


def _resolve(
    source: Source,
    layout: Layout,
    progress: Progress,
    since: int = 0,
    beyond: int = 0,
    unsure: tuple[int, int] = (0, 0),
) -> Hashes:
    """A layout with its hashes compared from the inner position ``since`` on, and hidden segments found.

    ``unsure`` is the first header whose size is left open, where one is: an end behind the inner position ``beyond`` is
    taken if a hash proves it.
    """
    hashes = compare(layout, progress, since=since)
    for _ in range(MAX_FIXES):
        found = Search(layout, hashes, progress).run()
        if found.fix is not None:
            layout = _patched(source, layout, progress, varints=(*layout.varints, *_patches(source, layout, found.fix)))
        elif found.end is not None and found.end > beyond:
            # The chunks up to there are as long as they can be, and the last one ends there.
            stop = layout.inner.outer(found.end - 1, found.end)[0].stop
            layout = _patched(source, layout, progress, sizes=ended(source, unsure, stop), is_open=False)
        elif tuple(found.lost) != layout.lost:
            layout = _patched(source, layout, progress, lost=tuple(found.lost))
        else:
            break
        hashes = compare(layout, progress, since=since)
    return hashes


def _patches(source: Source, layout: Layout, fix: Fix) -> Iterator[Patch]:
    """The patches that correct a varint: two if a chunk boundary lies inside it."""
    at, data = fix
    for span in layout.inner.outer(at, at + len(data)):
        yield Patch(span.start, source.read(span.start, span.size), data[: span.size])
        data = data[span.size :]


def _patched(
    source: Source,
    layout: Layout,
    progress: Progress,
    *,
    sizes: tuple[Patch, ...] | None = None,
    varints: tuple[Patch, ...] | None = None,
    lost: tuple[Span, ...] = (),
    is_open: bool | None = None,
) -> Layout:
    """The layout with some of what it is read with replaced."""
    sizes = layout.sizes if sizes is None else sizes
    varints = layout.varints if varints is None else varints
    patches = (*sizes, *varints)
    overlay = OverlaySource(source, Edit("", patches, source.size, source.size)) if patches else source
    chunks = replace(scan(overlay, layout.chunks.start), open=layout.chunks.open if is_open is None else is_open)
    made = _layout(overlay, chunks, progress, lost, source)
    made.sizes, made.varints = sizes, varints
    return made


def _as_far_as_proved(source: Source, plain: Hashes, progress: Progress) -> Hashes:
    """The archive as far as hashes prove it, whatever the chunk sizes state, and what follows its end."""
    chunks = plain.layout.chunks
    if (open_ := _open(source, plain.layout, progress)) is None:
        return plain
    since = _last_segment_start(plain.layout) if plain.ends and plain.layout.inner.size > MAX_HASHED_BYTES else 0
    end = plain.layout.inner.size if plain.ends else 0
    whole = _resolve(source, open_, progress, since, end, chunks.uncertain_header)
    if plain.ends:
        plain.layout.behind = read_tail(whole, end, progress)
        return plain
    # Of a first append that was interrupted the first header still is zeros; it writes no reset block.
    begun = (
        not (chunks.chunks or chunks.corrupt)
        and not any(source.read(0, header_size(FIRST_SIZE_BITS)))
        and len(whole.layout.blocks.segments) == 1
    )
    if not begun and (whole.proved_to > plain.proved_to or whole.ends):
        return whole
    if not chunks.chunks:
        plain.layout.behind = read_tail(whole, 0, progress)
    return plain


def _open(source: Source, layout: Layout, progress: Progress) -> Layout | None:
    """The layout if the archive continues to the end of the file; None if that is the same one."""
    unsure = layout.chunks.uncertain_header
    stop = reach(source, unsure)
    if stop <= unsure[0]:
        return None
    base = replace(layout, sizes=(), varints=())
    sizes = ended(source, unsure, stop)
    return _patched(source, base, progress, sizes=sizes, varints=layout.varints, is_open=True)


MAX_LISTED_NAMES = 100
"""The most names that are kept of each kind."""


def read_tail(hashes: Hashes, start: int, progress: Progress) -> Tail | None:
    """What follows the inner position ``start`` of an archive that is read to the end of its file."""
    layout = hashes.layout
    if not len(layout.blocks) or start >= layout.inner.size:
        return None
    edges, segments = layout.blocks.edges, layout.blocks.segments
    first = layout.blocks.segment_of(bisect_right(edges, start) - 1)
    members = decoded(layout, layout.inner, progress, first).members
    found: tuple[list[range], list[range]] = ([], [])
    proved, metadata, partial = start, b"", None
    for segment in range(first, len(segments)):
        row = hashes.row(segment)
        begun, stop = hashes.bounds(row)
        if hashes.proved(row) and begun <= proved < stop:
            proved, metadata = stop, hashes.stored(row)
        begin, end = (bisect_left(members.starts, at) for at in (max(begun, start), stop))
        whole = max(begin, min(end, bisect_left(members.starts, _decodes_to(layout, segment))))
        found[not hashes.proved(row)].append(range(begin, whole))
        partial = members.path(end - 1) if whole < end else partial
    readable, unproved_metadata = _readable(hashes, proved, members, progress)
    counted = sum(map(len, found[0])), sum(map(len, found[1]))
    whole_names, unproved_names = (
        named([members.path(each) for each in islice(chain(*some), MAX_LISTED_NAMES)], number)
        for some, number in zip(found, counted, strict=True)
    )
    return Tail(
        layout, start, proved, metadata, readable, unproved_metadata, whole_names, unproved_names, counted, partial
    )


def _decodes_to(layout: Layout, segment: int) -> int:
    """The inner position up to which the blocks of a segment are whole and decode."""
    _, last = layout.blocks.segment(segment)
    return layout.blocks.edges[min(layout.damaged.get(segment, last), whole_blocks(layout.blocks), last)]


def _readable(hashes: Hashes, proved: int, members: Members, progress: Progress) -> tuple[int, bytes]:
    """Where the last whole blob ends of the segment that follows what is proved, and the segment's hash up to there."""
    layout, blocks = hashes.layout, hashes.layout.blocks
    if proved >= layout.inner.size:
        return proved, b""
    segment = blocks.segment_of(bisect_right(blocks.edges, proved) - 1)
    stop = _decodes_to(layout, segment)
    last = bisect_left(members.starts, stop) - 1
    if last < 0 or members.starts[last] < proved:
        return proved, b""
    stop = members.stops[last]
    row = hashes.row(segment)
    return stop, digest_of(hashes, row, own_convention(hashes), progress, stop=stop)


# ---- recognising and decoding ----------------------------------------------------------------------------------------


MAX_PREFETCHED_BYTES = 32 * 1024 * 1024
"""The largest archive that is asked for at once, in bytes: a larger one is walked first, and then decompressed."""


def probe(source: Source) -> ProbeResult:
    """Whether ``source`` begins with a chunk header and a block that make sense."""
    if (size := opening(source)) is None:
        return ProbeResult.NO
    possible = header_size(FIRST_SIZE_BITS) <= size <= min(FIRST_FULL, source.size)
    return ProbeResult.CERTAIN if possible else ProbeResult.POSSIBLE


def decode(source: Source, emitter: Emitter, progress: Progress) -> None:
    """Decode the structure of both layers, then names and sizes, which need decompression.

    Members appear as they are decoded. Hashes of archives up to MAX_HASHED_BYTES are compared at the end; a check
    compares those of larger ones.
    """
    if source.size <= MAX_PREFETCHED_BYTES:
        expect(source, 0, source.size)
    hashes, found = layers(source, progress), len(emitter.archive.findings)
    _decode(source, hashes.layout, emitter, progress)
    if not hashes.compared and hashes.layout.damaged and len(hashes.layout.blocks.segments) > 1:
        # Blocks may have been lost without a sign of it: a search tells more.
        searched = layers(source, progress, search=True)
        if searched.layout.lost or searched.layout.varints:
            del emitter.archive.findings[found:]
            _decode(source, searched.layout, emitter, progress)
        else:
            searched.layout.damaged.update(hashes.layout.damaged)
            searched.layout.refused.update(hashes.layout.refused)
            emitter.archive.detail = searched.layout
        hashes = searched
    layout = hashes.layout
    if not hashes.compared or (layout.inner.size > MAX_HASHED_BYTES and layout.consistent and not layout.varints):
        emitter.archive.checksums = StoredHashes(Hashes(layout))
    else:
        emitter.archive.checksums = StoredHashes(hashes)
        report_hashes(hashes, emitter)


def _decode(source: Source, layout: Layout, emitter: Emitter, progress: Progress) -> None:
    """Lay the fields of the two layers, report what is wrong with them, and decode the members."""
    emitter.archive.inner = layout.raw
    emitter.archive.detail = layout
    emitter.begin_members(Members(codec=Codec.ZSTD, sizes=True, heads=True, stream=layout.inner))
    report_structure(layout, source, emitter)
    chunks = layout.chunks
    note = "They do not belong to the archive, and no reader passes over them."
    front = Field("bytes before the archive", Kind.GAP, (Span(0, chunks.start),), note=note)
    emitter.lay(
        [
            *([front] if chunks.start else ()),
            *layer_field(chunks, source),
            *BlobLayerFields(layout, emitter.members, sparing=is_sparing(source)).layer(),
            *(() if chunks.corrupt else chunks.tail),
        ]
    )
    Decoding(layout, emitter, progress).run()
