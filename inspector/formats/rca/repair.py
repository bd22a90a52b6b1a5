"""Repairs of RCA archives in place: of wrong sizes and varints, of the end, and of stored hashes.

By rcarch's convention a hash covers the one before it, so correcting one may break the next: all hashes that follow
from it are corrected in the same Edit (specification: "Reset blocks (block type 0)").
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from inspector.core.archive import Archive
from inspector.core.edit import Edit, Patch
from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.core.verdict import Verdict
from inspector.formats.rca.blocks import BLOB, HASH_SIZE, RESET, REST, Convention
from inspector.formats.rca.check import StoredHashes
from inspector.formats.rca.chunks import FIRST_SIZE_BITS, Layout, ended, header_size, scan, whole_blocks
from inspector.formats.rca.findings import is_as_written, resumed_wrongly
from inspector.formats.rca.hashes import Hashes, digest_of, own_convention
from inspector.formats.rca.reading import read_tail
from inspector.formats.rca.salvage import salvages
from inspector.formats.rca.search import find_strays
from inspector.formats.rca.write import header


def repairs(archive: Archive, progress: Progress) -> Sequence[Repair]:
    if not isinstance(archive.checksums, StoredHashes):
        return ()  # the file could not be read
    found = list(_edits(archive, archive.checksums, progress))
    found.sort(key=lambda repair: repair.needs_consent)
    return [*found, *salvages(archive, archive.checksums.hashes, progress)]


def _edits(archive: Archive, stored: StoredHashes, progress: Progress) -> Iterator[Repair]:
    """Repairs in place. Values that a hash proves come first; the rest is planned once they are written."""
    hashes, source = stored.hashes, archive.source
    if proved := list(repair_headers(source, hashes, progress)):
        yield from proved
        return
    yield from finish(source, hashes)
    yield from filter(None, (_drop_garbage(source, hashes, progress), cut_back(archive, hashes, progress)))
    yield from repair_hashes(source, hashes, progress)


_UNPROVED = (
    "The blobs of the last segment that decode are taken to be what was archived. Nothing proves it, for no hash is "
    "left that covers them and is right."
)
_GARBAGE = frozenset({"rca-trailing-garbage"})
_ENDS = frozenset({"rca-truncated", "rca-past-end", "rca-varint"})


def finish(source: Source, hashes: Hashes) -> Iterator[Repair]:
    """Finish an interrupted append: as far as hashes prove it, and as far as blobs decode."""
    if (behind := hashes.layout.behind) is None:
        return
    first, before = hashes.layout.chunks.uncertain_header, behind.start
    claim = f"{_taken(behind.counted[1])} to be archived. No hash proves it."
    for code, stop, metadata, what, claimed in (
        ("rca-finish-append", behind.proved, behind.metadata, f": {behind.whole}", ""),
        (
            "rca-finish-unproved",
            behind.readable,
            behind.readable_metadata,
            f", as far as blobs decode: {behind.unproved}",
            claim,
        ),
    ):
        if stop > before:
            title = f"Finish the append that was interrupted{what}"
            end = behind.layout.inner.outer(stop - 1, stop)[0].stop
            edit = Edit(title, ended(source, first, end, metadata), source.size, source.size)
            yield Repair(code, title, _GARBAGE, claim=claimed, edit=edit)
        before = stop


def _taken(blobs: int) -> str:
    """The beginning of a claim about blobs that decode, and that no hash proves."""
    return f"{count(blobs, 'blob')} {'decodes, and is' if blobs == 1 else 'decode, and are'} taken to be what was"


def _drop_garbage(source: Source, hashes: Hashes, progress: Progress) -> Repair | None:
    """Cut off what an interrupted append left; the hash of the last segment proves where the archive ends.

    None where a segment that a hash proves is among it.
    """
    chunks, behind = hashes.layout.chunks, hashes.layout.behind
    if not chunks.tail or chunks.corrupt or (behind is not None and behind.counted[0]):
        return None
    end = chunks.tail[0].spans[0].start
    strays, searched = find_strays(source, (Span(0, end),), frozenset(), progress)
    if strays:
        return None
    size = in_bytes(source.size - end)
    title = f"Cut off the {size} of garbage from byte {grouped(end)} on"
    claim, loses = "", tuple[str, ...]()
    if behind is not None and (unproved := behind.counted[1]):
        loses = (f"{behind.unproved}: readable, though nothing proves {'it' if unproved == 1 else 'them'}.",)
        claim = "What the interrupted append left is not wanted, though blobs in it can be read."
    elif not chunks.chunks:
        claim = (
            "The append that was interrupted was the first, so the archive is empty afterwards. The size 0 in its "
            "first header says so, and nothing else does."
        )
    elif not hashes.matched(len(hashes) - 1):
        claim = (
            f"The archive ends at byte {grouped(end)}, as the size of its last chunk says. The hash of the last "
            "segment does not prove it: if it is the size that is wrong, there are blobs among these bytes."
        )
    elif not searched:
        claim = "No whole blob is among these bytes. They are too many for all of them to be searched."
    lossless = "No blob in them can be read, and no hash covers them."
    if behind is not None and behind.partial is not None:
        lossless = f"Of '{visible(behind.partial[:80])}' only the beginning is there, and the archive never held it."
    edit = Edit(title, (), source.size, end)
    return Repair("rca-drop-garbage", title, _GARBAGE, loses, claim, edit, lossless="" if claim else lossless)


def cut_back(archive: Archive, hashes: Hashes, progress: Progress) -> Repair | None:
    """Cut an archive off behind its last whole block, where nothing that stands further back can be read.

    None where no blob would be left, and where the last segment is damaged before its end.
    """
    layout, source = hashes.layout, archive.source
    edges = layout.blocks.edges
    if not _ends_badly(layout, source) or layout.blocks.incomplete or layout.chunks.open:
        return None
    if (end := _end(hashes, progress)) is None:
        return None
    kept, metadata, proved = end
    stop = layout.inner.outer(edges[kept] - 1, edges[kept])[0].stop
    chunk = next(each for each in layout.chunks.chunks if stop <= each.stop)
    old, new = source.read(chunk.start, chunk.header.size), header(stop - chunk.start, chunk.bits, metadata)
    label = f"End the archive at byte {grouped(stop)}, after its last whole block"
    edit = Edit(label, (Patch(chunk.start, old, new),), source.size, stop)
    starts = archive.members.starts
    partial = archive.members.path(len(starts) - 1) if len(starts) and starts[-1] >= edges[kept] else None
    claim = "" if proved else _UNPROVED
    if proved and partial is not None:
        claim = "The last blob is not wanted: only its beginning can be read."
    others = layout.damaged.keys() - {len(layout.blocks.segments) - 1}
    ends = _ENDS if kept == len(layout.blocks) or others else _ENDS | {"rca-zstd"}
    found = {finding.code for finding in archive.findings}
    loses = _loses(layout, kept, partial)
    lossless = "" if loses or claim else "No part of a blob is among them, only what was to open the next segment."
    fixes = frozenset(found & (ends | {"rca-metadata-hash-mismatch"}))
    return Repair("rca-cut-back", label, fixes, loses, claim, edit, lossless=lossless)


def _ends_badly(layout: Layout, source: Source) -> bool:
    """Whether bytes are missing at the end, or what stands there is no block."""
    chunks, blocks_ = layout.chunks, layout.blocks
    if chunks.corrupt:
        at = chunks.tail[0].spans[0].start
        return source.size - at < header_size(FIRST_SIZE_BITS << len(chunks.chunks))
    return len(blocks_) > 0 and (chunks.truncated or whole_blocks(blocks_) < len(blocks_))


def _end(hashes: Hashes, progress: Progress) -> tuple[int, bytes, bool] | None:
    """How many blocks are kept, what the last hash is then, and whether a stored hash proves that end."""
    layout = hashes.layout
    all_blocks = layout.blocks
    kept = whole_blocks(all_blocks)
    metadata = b""
    while kept and all_blocks.types[kept - 1] == RESET:
        # A segment without a block is left out, with the reset block that opens it.
        kept -= 1
        row = hashes.row(all_blocks.segment_of(kept) - 1)
        metadata = hashes.stored(row) if hashes.matched(row) else b""
    segment = all_blocks.segment_of(kept - 1)
    if not layout.blobs(0, kept) or layout.damaged.get(segment, kept) < kept:
        return None
    as_written = bool(hashes.matched(len(hashes) - 1))
    if metadata:
        # Bytes that are there and were not written so may be blobs behind one that was changed.
        return kept, metadata, layout.chunks.truncated or layout.chunks.corrupt or as_written
    row, stop = hashes.row(segment), all_blocks.edges[kept]
    progress.begin("Hashing", stop - hashes.bounds(row)[0])
    metadata = digest_of(hashes, row, own_convention(hashes), progress, stop=stop, counted=True)
    filled = layout.filled_chunks().get(stop)
    # What an append left behind that was to go on in a new chunk: the chunk before says where it began.
    begun = filled is not None and filled.metadata == metadata
    return kept, metadata, begun or (as_written and not layout.chunks.truncated)


def _loses(layout: Layout, kept: int, partial: bytes | None) -> tuple[str, ...]:
    """What the cut loses, ``partial`` being the name of the last blob; nothing if only reset blocks are cut."""
    all_blocks = layout.blocks
    last = len(all_blocks) - 1
    if last < kept or all_blocks.types[last] not in (BLOB, REST):
        return ()
    if all_blocks.types[last] == REST:
        there = all_blocks.edges[-1] - all_blocks.edges[last]
        return (f"{in_bytes(there)} at the end, in which no block can be told.",)
    payload, stop = all_blocks.payloads[last], all_blocks.edges[last + 1]
    name = "" if partial is None else f" '{visible(partial[:80])}'"
    wanted = in_bytes(all_blocks.claimed - payload)
    return (f"The blob{name} at the end, of which {grouped(stop - payload)} of {wanted} are there.",)


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


def repair_headers(source: Source, hashes: Hashes, progress: Progress) -> Iterator[Repair]:
    """Write the sizes and varints that a hash proves, sizes first."""
    layout = hashes.layout
    if layout.chunks.open:
        if (repair := _open_end(source, hashes, progress)) is not None:
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
    """End an archive whose last header is lost after the last blob that decodes."""
    layout = hashes.layout
    behind = read_tail(hashes, 0, progress)
    if behind is None or layout.lost:
        return None
    end, metadata = behind.proved, behind.metadata
    claim = "The archive ended there: the header that said so is lost."
    if behind.readable > behind.proved:
        end, metadata = behind.readable, behind.readable_metadata
        claim = f"{_taken(behind.counted[1])} archived: the hash of the last segment is lost."
    if not end:
        return None
    stop = layout.inner.outer(end - 1, end)[0].stop
    first = scan(source, layout.chunks.start).uncertain_header
    patches = ended(source, first, stop, metadata)
    label = f"Set the size of the chunk at byte {grouped(first[0])} so that the archive ends at byte {grouped(stop)}"
    edit = Edit(label, patches, source.size, source.size)
    return Repair("rca-mend-chunk-size", label, _SIZE, claim=claim, edit=edit)


MIN_PROVING_BYTES = 4
"""The bytes of a hash that prove a segment where the rest of it is known to be unwritten."""
_RESET = frozenset({"rca-reset-hash-mismatch", "rca-hash-resumed-wrongly"})
_METADATA = frozenset({"rca-metadata-hash-mismatch"})


def repair_hashes(source: Source, hashes: Hashes, progress: Progress) -> Iterator[Repair]:
    """Repairs of wrong hashes whose segments decode, proved ones first."""
    wrong = [row for row in range(len(hashes)) if _repairable(hashes, row)]
    inside = [row for row in wrong if not hashes.final(row)]
    proved = {row for row in inside if _proved(hashes, row)}
    # A wrong hash that is as it was written is right: it is the segment that has changed.
    assumed = [row for row in inside if row not in proved and not is_as_written(hashes, row)]
    half = half_written(hashes)
    final = wrong[-1:] if half or (wrong and hashes.final(wrong[-1])) else []
    last = "rca-finish-append" if half else "rca-mend-metadata"
    for code, rows, fixes in (
        ("rca-mend-reset-hash", sorted(proved), _RESET),
        ("rca-accept-segments", assumed, _RESET),
        (last, final, _METADATA),
    ):
        if not rows:
            continue
        edit = _edit(source, hashes, rows, progress)
        title, claim = edit.label, "" if code == "rca-mend-reset-hash" else _claim(hashes, rows)
        if code == "rca-finish-append":
            title = f"Finish the header of the last chunk, of which {half} bytes of the hash were written"
            is_proof = half >= MIN_PROVING_BYTES
            claim = "" if is_proof else f"Only {count(half, 'byte')} of the hash that was being written prove it."
        yield Repair(code, title, fixes, claim=claim, edit=edit)


def half_written(hashes: Hashes) -> int:
    """How many bytes of the last hash an interrupted write had written; 0 if that does not explain it.

    The others are those of the hash that stood there before, which the reset block repeats that opens the last segment,
    or zeros in an archive of one segment.
    """
    row = len(hashes) - 1
    if row < 0 or not _repairable(hashes, row):
        return 0
    stored, before = hashes.stored(row), hashes.stored(row - 1) if row else bytes(HASH_SIZE)
    digests = [bytes.fromhex(hashes.digest(row, each)) for each in Convention]
    return max(
        (size for size in range(1, HASH_SIZE) for each in digests if stored == each[:size] + before[size:]), default=0
    )


def _repairable(hashes: Hashes, row: int) -> bool:
    """Whether a hash is wrong, all of its segment decodes, and no hash before it explains it."""
    wrong = hashes.verdict(row) is Verdict.MISMATCH
    if hashes.final(row) and whole_blocks(hashes.layout.blocks) < len(hashes.layout.blocks):
        return False  # what the hash covers is not known
    return wrong and hashes.segment(row) not in hashes.layout.damaged and row - 1 not in hashes.repaired


def _proved(hashes: Hashes, row: int) -> bool:
    """Whether a wrong reset hash is known to be all that is wrong."""
    if hashes.segment(row) < 0 or row in hashes.repaired or hashes.confirmed_by_chunk(row):
        return True
    # The wrong one was written so, which only a wrong resume does at this place.
    return resumed_wrongly(hashes, row) and is_as_written(hashes, row)


def _claim(hashes: Hashes, rows: Sequence[int]) -> str:
    if all(hashes.one_byte_off(row) for row in rows):
        return (
            "Only the stored hash has changed. It differs from the computed one in one byte, and a change of the "
            "segment would most likely change all of it; but no other hash says so."
        )
    blobs = sum(hashes.layout.blobs(*hashes.layout.blocks.segment(hashes.segment(row))) for row in rows)
    return (
        f"{_taken(blobs)} archived. Nothing proves it: where a hash is wrong, either it or a byte of its segment has "
        "changed, and a changed byte may decode too."
    )


def _edit(source: Source, hashes: Hashes, wrong: Collection[int], progress: Progress) -> Edit:
    """The Edit after which the hashes of the rows ``wrong`` are right, and all that were right still are."""
    rows = set(wrong)
    after = _after(hashes, rows, progress)
    patches: list[Patch] = []
    for row, digest in after.items():
        at, stored = 0, hashes.stored(row)
        for span in hashes.place(row):  # two where a chunk boundary lies between
            patches.append(Patch(span.start, stored[at : at + span.size], digest[at : at + span.size]))
            at += span.size
    places = " and ".join(grouped(hashes.place(row)[0].start) for row in sorted(rows)[:3])
    more = f" and {grouped(len(rows) - 3)} more" if len(rows) > 3 else ""
    follow = len(after.keys() - rows)
    follows = f", and the {count(follow, 'hash', 'hashes')} that {'follows' if follow == 1 else 'follow'} from that"
    if len(rows) > 1:
        label = f"Set the reset hashes at bytes {places}{more} to what their segments hash to"
    elif hashes.final(min(rows)):
        label = f"Set the hash in the last chunk's header at byte {places} to what the segment hashes to"
    else:
        label = f"Set the reset hash at byte {places} to what the segment hashes to"
    label += follows if follow else ""
    return Edit(label, tuple(patches), source.size, source.size)


def _after(hashes: Hashes, rows: Collection[int], progress: Progress) -> dict[int, bytes]:
    """The hashes that change: those of ``rows``, and the right ones that cover one that changes."""
    found: dict[int, bytes] = {}
    for row in range(min(rows), len(hashes)):
        convention = hashes.matched(row) or hashes.one_byte_off(row) or own_convention(hashes)
        covered = found.get(row - 1) if hashes.conventions_differ(row) and convention is Convention.RCARCH else None
        if row in rows or (covered and hashes.matched(row)):
            digest = bytes.fromhex(hashes.digest(row, convention))
            if covered is not None:  # it takes the place of the hash that stands in the reset block
                start, stop = hashes.bounds(row)
                progress.begin("Hashing", stop - start)
                digest = digest_of(hashes, row, convention, progress, instead=covered, counted=True)
            if digest != hashes.stored(row):
                found[row] = digest
    return found
