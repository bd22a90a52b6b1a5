"""Repairing RCA's stored hashes (specification: "Reset blocks (block type 0)").

By rcarch's convention a hash covers the one before it, so a hash that is put right may make the next one wrong: all
that follow from it are put right with it, in one Edit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import blake2s

from inspector.core.edit import Edit, Patch
from inspector.core.numbers import count, grouped
from inspector.core.progress import Progress
from inspector.core.repair import Repair
from inspector.core.source import Source, blocks
from inspector.core.verdict import Verdict
from inspector.formats.rca import explain
from inspector.formats.rca.blocks import HASH
from inspector.formats.rca.hashes import Convention, Hashes
from inspector.formats.rca.layout import whole_blocks

_ENOUGH = 4
"""The bytes of a hash that prove a segment where the rest of it is known to be unwritten."""
_RESET = frozenset({"rca-reset-hash-mismatch", "rca-hash-resumed-wrongly"})
_METADATA = frozenset({"rca-metadata-hash-mismatch"})


def own_convention(hashes: Hashes) -> Convention:
    """The convention to write hashes by: the archive's own, or that of the published writer where none is told."""
    return hashes.convention or Convention.RCARCH


def repair_hashes(source: Source, hashes: Hashes, progress: Progress) -> list[Repair]:
    """The repairs of hashes that are wrong while their segments decode, those that are proved first."""
    wrong = [row for row in range(len(hashes)) if _mendable(hashes, row)]
    proved = {row for row in wrong if not hashes.final(row) and _proved(hashes, row)}
    # A wrong hash that is as it was written is right: it is the segment that has changed.
    assumed = [row for row in wrong if not hashes.final(row) and row not in proved and not _written(hashes, row)]
    found: list[Repair] = []
    if proved:
        edit = _edit(source, hashes, proved, progress)
        found.append(Repair("rca-mend-reset-hash", edit.label, _RESET, edit=edit))
    if assumed:
        edit, claim = _edit(source, hashes, assumed, progress), _claim(hashes, assumed)
        found.append(Repair("rca-accept-segments", edit.label, _RESET, claim=claim, edit=edit))
    half = half_written(hashes)
    if half:
        edit = _edit(source, hashes, [len(hashes) - 1], progress)
        title = f"Finish the header of the last chunk, of which {half} bytes of the hash were written"
        claim = "" if half >= _ENOUGH else f"Only {count(half, 'byte')} of the hash that was being written prove it."
        found.append(Repair("rca-finish-append", title, _METADATA, claim=claim, edit=edit))
    elif wrong and hashes.final(wrong[-1]):
        edit, claim = _edit(source, hashes, wrong[-1:], progress), _claim(hashes, wrong[-1:])
        found.append(Repair("rca-mend-metadata", edit.label, _METADATA, claim=claim, edit=edit))
    return found


def half_written(hashes: Hashes) -> int:
    """How many bytes of the last hash were written when its writing was cut off; 0 where that does not explain it.

    The others are those of the hash that stood there before, which the reset block repeats that opens the last segment,
    or zeros in an archive of one segment.
    """
    row = len(hashes) - 1
    if row < 0 or not _mendable(hashes, row):
        return 0
    stored, before = hashes.stored(row), hashes.stored(row - 1) if row else bytes(HASH)
    digests = [bytes.fromhex(hashes.digest(row, each)) for each in Convention]
    return max(
        (size for size in range(1, HASH) for each in digests if stored == each[:size] + before[size:]), default=0
    )


def _mendable(hashes: Hashes, row: int) -> bool:
    """Whether a hash is wrong, all of its segment decodes, and no hash before it explains it."""
    wrong = hashes.verdict(row) is Verdict.MISMATCH
    if hashes.final(row) and whole_blocks(hashes.layout.blocks) < len(hashes.layout.blocks):
        return False  # what the hash covers is not known
    return wrong and hashes.segment(row) not in hashes.layout.damaged and row - 1 not in hashes.repaired


def _proved(hashes: Hashes, row: int) -> bool:
    """Whether a wrong reset hash is known to be all that is wrong."""
    if hashes.segment(row) < 0 or row in hashes.repaired or hashes.witnessed(row):
        return True
    # The wrong one was written so, which only a wrong resume does at this place.
    return explain.resumed_wrongly(hashes, row) and _written(hashes, row)


def _written(hashes: Hashes, row: int) -> bool:
    """Whether the next hash, which is right, covers a reset hash."""
    return hashes.held(row + 1) is Convention.RCARCH


def _claim(hashes: Hashes, rows: Sequence[int]) -> str:
    if all(hashes.near(row) for row in rows):
        return (
            "Only the stored hash has changed. It differs from the computed one in one byte, and a change of the "
            "segment would most likely change all of it; but no other hash says so."
        )
    blobs = sum(hashes.layout.blobs(*hashes.layout.blocks.segment(hashes.segment(row))) for row in rows)
    decode = "decodes, and is" if blobs == 1 else "decode, and are"
    return (
        f"{count(blobs, 'blob')} {decode} taken to be what was archived. Nothing proves it: where a hash is wrong, "
        "either it or a byte of its segment has changed, and a changed byte may decode too."
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
        convention = hashes.held(row) or hashes.near(row) or own_convention(hashes)
        covered = found.get(row - 1) if hashes.tells(row) and convention is Convention.RCARCH else None
        if row in rows or (covered and hashes.held(row)):
            digest = _digest(hashes, row, convention, covered, progress)
            if digest != hashes.stored(row):
                found[row] = digest
    return found


def _digest(hashes: Hashes, row: int, convention: Convention, covered: bytes | None, progress: Progress) -> bytes:
    """The hash of a segment; with ``covered`` in the place of the hash that stands in its reset block."""
    if covered is None:
        return bytes.fromhex(hashes.digest(row, convention))
    (start, cut), (after, stop) = hashes.ranges(row, Convention.SPECIFICATION)
    digest = blake2s(hashes.layout.inner.read(start, cut - start) + covered, digest_size=HASH)
    progress.begin("Hashing", stop - after)
    for piece in blocks(hashes.layout.inner, after, stop):
        digest.update(piece)
        progress.advance(len(piece))
    return digest.digest()
