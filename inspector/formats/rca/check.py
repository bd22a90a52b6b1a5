"""The hashes of RCA's segments, by both conventions.

The specification's hash of a segment leaves out the hash bytes of the reset block that opens it; the published writer
(``rcarch``) hashes them too. The two agree on the first segment, which no reset block opens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2s

from inspector.core.archive import Emitter
from inspector.core.numbers import grouped
from inspector.core.progress import Progress
from inspector.core.source import blocks as pieces
from inspector.core.span import Spans
from inspector.formats.rca.blocks import HASH, RESET
from inspector.formats.rca.chunks import METADATA
from inspector.formats.rca.layout import Layout


class Convention(StrEnum):
    """Whether a segment's hash covers the hash bytes of the reset block that opens it."""

    SPECIFICATION = "specification"
    RCARCH = "rcarch"


@dataclass(frozen=True, slots=True)
class SegmentHash:
    """The stored and the computed hashes of one segment, all in hex.

    ``computed`` has the conventions that were tried, ``tells`` whether the conventions differ on this segment.
    ``spans`` are the file bytes of the stored hash; ``resumed`` says whether it stands in a reset block that begins a
    chunk's payload, which is where an append goes on after one that was interrupted behind a full chunk.
    """

    segment: int
    stored: str
    computed: dict[Convention, str]
    spans: Spans
    tells: bool
    resumed: bool

    @property
    def convention(self) -> Convention | None:
        """The convention by which the stored hash is right, if there is one."""
        return next((convention for convention, digest in self.computed.items() if digest == self.stored), None)


def hashes(layout: Layout, progress: Progress) -> Iterator[SegmentHash]:
    """The hashes of all segments that have one stored, in order; reads the whole inner stream.

    A segment is hashed by the convention that fitted the one before, and by the other only when that does not fit.
    """
    blocks = layout.blocks
    favourite = Convention.SPECIFICATION
    for number in range(len(blocks.segments)):
        first, last = blocks.segment(number)
        final = number + 1 == len(blocks.segments)
        if final and (layout.chunks.truncated or not layout.chunks.chunks):
            return
        if final:
            chunk = layout.chunks.chunks[-1]
            stored, resumed = chunk.metadata, False
            spans: Spans = (chunk.header._replace(start=chunk.header.stop - METADATA),)
        else:
            payload = blocks.payloads[last]
            stored = layout.inner.read(payload, min(HASH, blocks.edges[last + 1] - payload))
            spans = layout.inner.outer(payload, payload + len(stored))
            resumed = layout.begins_chunk(last)
        found = _hash(layout, first, last, stored.hex(), favourite, progress)
        tells = len(blocks) > first and blocks.types[first] == RESET
        result = SegmentHash(number, stored.hex(), found, spans, tells, resumed)
        if tells and result.convention:
            favourite = result.convention
        yield result


def _hash(
    layout: Layout, first: int, last: int, stored: str, favourite: Convention, progress: Progress
) -> dict[Convention, str]:
    blocks = layout.blocks
    start, stop = (blocks.edges[first], blocks.edges[last]) if len(blocks) else (0, 0)
    if not len(blocks) or blocks.types[first] != RESET:
        digest = _digest(layout, ((start, stop),), progress)
        return {Convention.SPECIFICATION: digest, Convention.RCARCH: digest}
    payload = blocks.payloads[first]
    ranges = {
        Convention.SPECIFICATION: ((start, payload), (min(payload + HASH, blocks.edges[first + 1]), stop)),
        Convention.RCARCH: ((start, stop),),
    }
    found: dict[Convention, str] = {}
    for convention in (favourite, *(other for other in Convention if other is not favourite)):
        found[convention] = _digest(layout, ranges[convention], progress)
        if found[convention] == stored:
            break
    return found


def _digest(layout: Layout, ranges: tuple[tuple[int, int], ...], progress: Progress) -> str:
    digest = blake2s(digest_size=HASH)
    for start, stop in ranges:
        for piece in pieces(layout.inner, start, stop):
            digest.update(piece)
            progress.advance(len(piece))
    return digest.hexdigest()


def report(layout: Layout, emitter: Emitter, progress: Progress) -> None:
    """Compare all hashes and say what does not fit, and which convention the archive follows."""
    progress.begin("Comparing hashes", layout.inner.size)
    met: set[Convention] = set()
    for found in hashes(layout, progress):
        if found.convention is None:
            _report_mismatch(found, layout, emitter)
        elif found.tells:
            met.add(found.convention)
    if len(met) > 1:
        message = "Some segments are hashed as the specification says, others as rcarch does: no reader accepts both."
        emitter.warning("rca-hash-conventions", message)
    elif Convention.RCARCH in met:
        message = (
            "The hashes cover the reset blocks' hash bytes too, as rcarch writes them; the specification does not."
        )
        emitter.info("rca-hash-convention", message)


def _report_mismatch(found: SegmentHash, layout: Layout, emitter: Emitter) -> None:
    final = found.segment + 1 == len(layout.blocks.segments)
    if len(found.stored) < 2 * HASH:
        message = (
            f"The reset block that ends segment {found.segment + 1} holds {len(found.stored) // 2} of the {HASH} bytes "
            "of a hash, so the segment cannot be verified."
        )
        emitter.error("rca-reset-hash-short", message, *found.spans)
        return
    place = "chunk metadata" if final else "reset block"
    computed = " or ".join(dict.fromkeys(found.computed.values()))
    sentence = (
        f"Hash mismatch at the {place}: segment {found.segment + 1} hashes to {computed}, "
        f"byte {grouped(found.spans[-1].stop - HASH)} on says {found.stored}."
    )
    if found.resumed and found.segment not in layout.damaged:
        emitter.error(
            "rca-hash-resumed-wrongly",
            f"{sentence} Yet every blob of the segment decodes, and it ends exactly where a full chunk does: this "
            "looks like an archive that was resumed after an interrupted append by a writer that copied the hash of "
            "the dead chunk header. If so, nothing is lost, and the hash to be written is the computed one.",
            *found.spans,
        )
        return
    code = "rca-metadata-hash-mismatch" if final else "rca-reset-hash-mismatch"
    emitter.error(code, f"{sentence} Either its bytes or the hash have changed since it was written.", *found.spans)
