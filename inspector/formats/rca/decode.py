"""Recognise an RCA archive, and decode both of its layers."""

from __future__ import annotations

from inspector.core.archive import Emitter
from inspector.core.field import Field
from inspector.core.format import ProbeResult
from inspector.core.kinds import Kind
from inspector.core.member import Codec, Members
from inspector.core.program.progress import Progress
from inspector.core.source import Source, expect, is_sparing
from inspector.core.span import Span
from inspector.formats.rca.blobs import Decoding
from inspector.formats.rca.check import StoredHashes
from inspector.formats.rca.chunks import FIRST_FULL, FIRST_SIZE_BITS, header_size, layer_field, opening
from inspector.formats.rca.fields import BlobLayerFields
from inspector.formats.rca.findings import report_hashes, report_structure
from inspector.formats.rca.hashes import Hashes
from inspector.formats.rca.layout import Layout
from inspector.formats.rca.reading import MAX_HASHED_BYTES, layers

MAX_PREFETCHED_BYTES = 32 * 1024 * 1024
"""The largest archive that is asked for at once, in bytes: a larger one is walked first, and then decompressed."""


def probe(source: Source) -> ProbeResult:
    """Whether ``source`` begins with a chunk header and a block that make sense."""
    size = opening(source)
    if size is None:
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
    reading, found = layers(source, progress), len(emitter.archive.findings)
    _decode(source, reading.layout, emitter, progress)
    if reading.hashes is None and reading.layout.damaged and len(reading.layout.blocks.segments) > 1:
        # Blocks may have been lost without a sign of it: a search tells more.
        searched = layers(source, progress, search=True)
        if searched.layout.lost or searched.layout.varints:
            del emitter.archive.findings[found:]
            _decode(source, searched.layout, emitter, progress)
        else:
            searched.layout.damaged.update(reading.layout.damaged)
            searched.layout.refused.update(reading.layout.refused)
            emitter.archive.detail = searched.layout
        reading = searched
    layout = reading.layout
    if reading.hashes is None or (layout.inner.size > MAX_HASHED_BYTES and layout.consistent and not layout.varints):
        emitter.archive.checksums = StoredHashes(Hashes(layout))
    else:
        emitter.archive.checksums = StoredHashes(reading.hashes)
        report_hashes(reading.hashes, emitter)


def _front(size: int) -> list[Field]:
    """The bytes before the archive."""
    note = "They do not belong to the archive, and no reader passes over them."
    return [Field("bytes before the archive", Kind.GAP, (Span(0, size),), note=note)] if size else []


def _decode(source: Source, layout: Layout, emitter: Emitter, progress: Progress) -> None:
    """Lay the fields of the two layers, report what is wrong with them, and decode the members."""
    emitter.archive.inner = layout.raw
    emitter.archive.detail = layout
    emitter.begin_members(Members(codec=Codec.ZSTD, sizes=True, heads=True, stream=layout.inner))
    report_structure(layout, source, emitter)
    chunks = layout.chunks
    tail = () if chunks.corrupt else chunks.tail
    emitter.lay(
        [
            *_front(chunks.start),
            *layer_field(chunks, source),
            *BlobLayerFields(layout, emitter.members, sparing=is_sparing(source)).layer(),
            *tail,
        ]
    )
    Decoding(layout, emitter, progress).run()
