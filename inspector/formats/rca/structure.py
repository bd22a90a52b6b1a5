"""What is wrong with the two layers of an RCA archive, in findings."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.archive import Emitter
from inspector.core.numbers import grouped, in_bytes
from inspector.core.source import Source
from inspector.formats.rca.blocks import report
from inspector.formats.rca.chunks import UNFINISHED, ChunkLayer, scan
from inspector.formats.rca.layout import Behind, Layout


def report_structure(layout: Layout, source: Source, emitter: Emitter) -> None:
    """Report what is wrong with chunks and blocks."""
    _report_chunks(layout, scan(source), source, emitter)
    report(layout.blocks, layout.inner, emitter)
    for patch in layout.varints:
        emitter.error(
            "rca-varint-wrong",
            f"The varint at byte {grouped(patch.offset)} is wrong, as the hash of its segment proves. It reads "
            f"{patch.old.hex(' ')} and should read {patch.new.hex(' ')}, so it is read as that.",
            patch.span,
        )
    for gap in layout.lost:
        spans, resumed = layout.inner.outer(*gap), layout.inner.outer(gap.stop, gap.stop + 1)
        emitter.error(
            "rca-blocks-regained",
            f"No block can be found in the {in_bytes(gap.stop - gap.start)} from byte {grouped(spans[0].start)} on. "
            f"A hash proves the segment that a reset block begins at byte {grouped(resumed[0].start)}, so the blobs "
            "from there on are read.",
            *spans,
        )


def _report_chunks(layout: Layout, stands: ChunkLayer, source: Source, emitter: Emitter) -> None:
    """Report what is wrong with the chain of chunks; ``stands`` is the chain as the file has it."""
    spans = [patch.span for patch in layout.sizes]
    if stands.problem is not None:
        code, message, span = stands.problem
        message += _instead(layout) if layout.sizes else " Nothing from here on can be read." * stands.corrupt
        emitter.error(code, message, span, *spans)
    elif layout.sizes:
        at, bits = stands.unsure
        size = int.from_bytes(source.read(at, bits // 8), "big")
        message = f"The size {grouped(size)} in the chunk header at byte {grouped(at)} is wrong."
        emitter.error("rca-chunk-size-wrong", message + _instead(layout), *spans)
    if layout.chunks.tail and not layout.chunks.corrupt:
        start = layout.chunks.tail[0].spans[0].start
        message = " ".join((*_said(layout.behind), _garbage(layout.chunks, source.size - start), UNFINISHED))
        emitter.warning("rca-trailing-garbage", message, (start, source.size))


def _garbage(chunks: ChunkLayer, size: int) -> str:
    after = f"after chunk {len(chunks.chunks)}" if chunks.chunks else "without any chunk before"
    return f"There is trailing garbage {after}: {in_bytes(size)} from byte {grouped(chunks.end)} on."


def _instead(layout: Layout) -> str:
    """How an archive is read whose sizes are wrong."""
    if layout.chunks.open:
        return (
            " Hashes prove segments behind it, so everything up to the end of the file is read. Where the archive "
            "ended is no longer recorded."
        )
    return f" A hash proves that the archive ends at byte {grouped(layout.chunks.end)}, so it is read up to there."


def _said(behind: Behind | None) -> Iterator[str]:
    """What stands behind the end, where blobs do."""
    if behind is None or not any(behind.counted):
        return
    whole, unproved = behind.counted
    if whole:
        are = "is" if whole == 1 else "are"
        yield f"An append was interrupted and can be finished. {behind.whole} {are} whole."
    else:
        be = "decodes, but nothing proves it" if unproved == 1 else "decode, but nothing proves them"
        yield f"An append was interrupted. {behind.unproved} {be}."
    if whole and unproved:
        yield f"After that, {behind.unproved} can be read, but nothing proves {_them(unproved)}."


def _them(number: int) -> str:
    return "it" if number == 1 else "them"
