"""Both layers of an RCA archive as they begin to be read: the chunks, and the blocks in their payloads."""

from __future__ import annotations

from inspector.core.archive import Emitter
from inspector.core.member import Codec, Members
from inspector.core.progress import Progress
from inspector.core.source import Source, SplicedSource
from inspector.formats.rca.blocks import walk
from inspector.formats.rca.chunks import scan
from inspector.formats.rca.layout import Layout


def layers(source: Source, emitter: Emitter, progress: Progress) -> Layout:
    """Find chunks and blocks, and report what is wrong with them. The members are begun, for they follow."""
    chunks = scan(source, emitter)
    inner = SplicedSource(source, [chunk.payload for chunk in chunks.chunks], f"{source.name}: inner stream")
    emitter.archive.inner = inner
    emitter.begin_members(Members(codec=Codec.ZSTD, sizes=True, heads=True, place=inner.outer))
    layout = Layout(chunks, inner, walk(inner, emitter, progress))
    emitter.archive.detail = layout
    return layout
