"""Repairing what is read otherwise than it stands in the file: sizes of chunks, and varints of blocks."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.core.edit import Edit
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.formats.rca.behind import look_behind
from inspector.formats.rca.chunks import ended, scan
from inspector.formats.rca.hashes import Hashes

_SIZE = frozenset(
    {
        "rca-chunk-size-reserved",
        "rca-chunk-size-small",
        "rca-chunk-size-wrong",
        "rca-truncated",
        "rca-past-end",
        "rca-metadata-hash-mismatch",
    }
)


def put_right(source: Source, hashes: Hashes, progress: Progress) -> Iterator[Repair]:
    """Write what a hash proves to be right, of the headers first."""
    layout = hashes.layout
    if layout.chunks.open:
        repair = _open_end(source, hashes, progress)
        if repair is not None:
            yield repair
    elif layout.sizes:
        at = min(patch.offset for patch in layout.sizes)
        size = next(chunk.size for chunk in layout.chunks.chunks if chunk.start == at)
        label = f"Set the size of the chunk at byte {grouped(at)} to {in_bytes(size)}, as its hash proves"
        yield Repair("rca-mend-chunk-size", label, _SIZE, edit=Edit(label, layout.sizes, source.size, source.size))
    if layout.varints:
        places = ", ".join(grouped(patch.offset) for patch in layout.varints[:3])
        more = f" and {grouped(len(layout.varints) - 3)} more" if len(layout.varints) > 3 else ""
        thing = "varint at byte" if len(layout.varints) == 1 else "varints at bytes"
        label = f"Set the {thing} {places}{more} to what the hash of its segment proves"
        edit = Edit(label, layout.varints, source.size, source.size)
        yield Repair("rca-mend-varint", label, frozenset({"rca-varint-wrong"}), edit=edit)


def _open_end(source: Source, hashes: Hashes, progress: Progress) -> Repair | None:
    """End an archive whose header is lost behind the last blob that decodes."""
    layout = hashes.layout
    behind = look_behind(layout, hashes, 0, progress)
    if behind is None or layout.lost:
        return None
    end, metadata = behind.proved, behind.metadata
    claim = "The archive ended there: the header that said so is lost."
    if behind.readable > behind.proved:
        end, metadata = behind.readable, behind.readable_metadata
        unproved = behind.counted[1]
        decode = "decodes, and is" if unproved == 1 else "decode, and are"
        claim = (
            f"{count(unproved, 'blob')} {decode} taken to be what was archived: the hash of the last segment is lost."
        )
    if not end:
        return None
    stop = layout.inner.outer(end - 1, end)[0].stop
    first = scan(source).unsure
    patches = ended(source, first, stop, metadata)
    label = f"Set the size of the chunk at byte {grouped(first[0])} so that the archive ends at byte {grouped(stop)}"
    edit = Edit(label, patches, source.size, source.size)
    return Repair("rca-mend-chunk-size", label, _SIZE, claim=claim, edit=edit)
