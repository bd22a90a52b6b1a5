"""Findings about the structure and the hashes of RCA archives: the smallest explanation that the data allows.

A hash covers a whole segment, so a mismatch shows only that a byte of the segment or of the hash has changed. Four
things narrow that down:
- Decompression never depends on later bytes, so if it fails at a blob, the damage is in that blob or before it.
- By rcarch's convention the next hash covers this one.
- A hash that is wrong in only one byte has most likely changed itself.
- If a segment ends with a full chunk, that chunk's metadata was once its hash too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from inspector.core.archive import MAX_FINDINGS_PER_KIND, Emitter
from inspector.core.finding import FindingType
from inspector.core.numbers import count, grouped, in_bytes, verb
from inspector.core.source import Source, SplicedSource
from inspector.core.span import Span, Spans
from inspector.core.verdict import Verdict
from inspector.formats.rca import codes
from inspector.formats.rca.blocks import (
    BLOB,
    HASH_SIZE,
    MAX_BLOCKS,
    MAX_IMPLAUSIBLE_SEGMENTS,
    MAX_VARINT_BYTES,
    NOT_OPENING,
    REST,
    Blocks,
    Convention,
)
from inspector.formats.rca.chunks import UNFINISHED, ChunkLayer, Layout, Tail, scan
from inspector.formats.rca.hashes import Hashes

FindingParts = tuple[FindingType, str, Spans]

_CAPPED = (
    (codes.RESET_HASH_MISMATCH, "wrong hashes"),
    (codes.RESET_HASH_SHORT, "reset blocks whose hash is cut off"),
    (codes.UNDECODABLE_AS_WRITTEN, "segments that were written so"),
)
"""Kinds that are only counted beyond MAX_FINDINGS_PER_KIND: making them all takes longer than reading the archive."""

_CONVENTIONS = {
    Convention.RCARCH: (
        "The hashes follow the convention of rcarch: they cover the reset blocks' hash bytes too. rcarch "
        "accepts the archive; a reader that follows the specification does not."
    ),
    Convention.SPECIFICATION: (
        "The hashes follow the convention of the specification: they leave out the reset blocks' hash bytes. "
        "A reader that follows the specification accepts the archive; rcarch does not."
    ),
}
_CONFIRMED_BY_CHUNK = (
    "The metadata of the chunk that the segment fills, which was the last chunk once, is the computed hash. So the "
    "segment is whole, and nothing is lost."
)


def report_hashes(hashes: Hashes, emitter: Emitter) -> None:
    """Emit findings about the hashes that were not emitted before."""
    said = {(finding.code, finding.message) for finding in emitter.archive.findings}
    for what, message, spans in _Explanation(hashes).findings():
        if (what.code, message) not in said:
            emitter.report(what, message, *spans)


def resumed_wrongly(hashes: Hashes, row: int) -> bool:
    """Whether a wrong hash looks like that of an append that resumed an interrupted one after a full chunk."""
    segment, layout = hashes.segment(row), hashes.layout
    if hashes.verdict(row) is not Verdict.MISMATCH or hashes.final(row) or segment in layout.damaged:
        return False
    return layout.filled_chunks().get(hashes.bounds(row)[1]) is not None


def is_undecided(hashes: Hashes, row: int) -> bool:
    """Whether a hash and its segment disagree, and nothing shows which of the two changed: all its blobs decode."""
    segment = hashes.segment(row)
    layout, is_wrong = hashes.layout, hashes.verdict(row) is Verdict.MISMATCH
    if not is_wrong or segment < 0 or segment in layout.damaged or not layout.blobs(*layout.blocks.segment(segment)):
        return False
    explained = hashes.hash_only(row) or row - 1 in hashes.repaired or resumed_wrongly(hashes, row)
    return not (explained or is_as_written(hashes, row))


def is_as_written(hashes: Hashes, row: int) -> bool:
    """Whether the next hash, which is right, covers this one, so that it is as it was written."""
    return not hashes.final(row) and hashes.matched(row + 1) is Convention.RCARCH


class _Explanation:
    """Findings about the hashes of one archive."""

    def __init__(self, hashes: Hashes) -> None:
        self._hashes = hashes
        self._layout = hashes.layout
        self._counted: Counter[FindingType] = Counter()
        # Blobs proved whole in the rows before each.
        proved = (self._proved(row) for row in range(len(hashes)))
        self._proved_before = list(accumulate(proved, initial=0))
        # A reset block is where it seems only if its hash is right: a byte changed further up may have shifted the
        # blocks. So the damage behind a wrong hash may lie as far back as the last right one: these rows begin there.
        self._last_segment_start = [0] * len(hashes)
        for row in range(1, len(hashes)):
            stands = hashes.proved(row - 1) or hashes.hash_only(row - 1)
            self._last_segment_start[row] = row if stands else self._last_segment_start[row - 1]

    def _blocks(self, row: int) -> tuple[int, int]:
        """The blocks of the segment that a hash is about."""
        segment = self._hashes.segment(row)
        return self._layout.blocks.segment(segment) if segment >= 0 else (0, 0)

    def _proved(self, row: int) -> int:
        """How many blobs of a segment are proved whole."""
        if not self._hashes.proved(row):
            return 0
        first, last = self._blocks(row)
        return self._layout.blobs(first, self._layout.damaged.get(self._hashes.segment(row), last))

    def _over_cap(self, what: FindingType) -> bool:
        """Count a finding of a kind; True if it is beyond the limit and only counted."""
        self._counted[what] += 1
        return self._counted[what] > MAX_FINDINGS_PER_KIND

    def findings(self) -> Iterator[FindingParts]:
        """All findings about hashes."""
        yield from self._each()
        for what, things in _CAPPED:
            more = self._counted[what] - MAX_FINDINGS_PER_KIND
            if more > 0:
                yield what, f"There are {grouped(more)} more {things}.", ()

    def _each(self) -> Iterator[FindingParts]:
        met: set[Convention] = set()
        for row in range(len(self._hashes)):
            held = self._hashes.matched(row)
            if held and self._hashes.conventions_differ(row):
                met.add(held)
            yield from self._as_written(row) if held else self._wrong(row)
        if len(met) > 1:
            message = (
                "Some segments are hashed as the specification says, others as rcarch does: no reader accepts both."
            )
            yield codes.HASH_CONVENTIONS, message, ()
        for convention in met if len(met) == 1 else ():
            yield codes.HASH_CONVENTION, _CONVENTIONS[convention], ()

    def _as_written(self, row: int) -> Iterator[FindingParts]:
        segment = self._hashes.segment(row)
        block = self._layout.damaged.get(segment)
        if block is None or segment in self._layout.refused or self._over_cap(codes.UNDECODABLE_AS_WRITTEN):
            return
        message = (
            f"The hash of segment {segment + 1} is right although its blob at byte "
            f"{grouped(self._layout.outer_start(block))} cannot be decoded. The bytes have not changed since they were "
            "hashed, so they were written wrong or damaged before that."
        )
        yield codes.UNDECODABLE_AS_WRITTEN, message, self._spans(block, block + 1)

    def _wrong(self, row: int) -> Iterator[FindingParts]:
        hashes = self._hashes
        if hashes.verdict(row) is Verdict.MISMATCH:
            # The hash before may explain this one.
            if row - 1 not in hashes.repaired and not self._over_cap(codes.RESET_HASH_MISMATCH):
                yield self._mismatch(row)
        elif not hashes.final(row) and not hashes.comparable(row) and not self._over_cap(codes.RESET_HASH_SHORT):
            message = (
                f"The reset block that ends {self._segment_name(row)} holds {len(hashes.stored(row))} of the "
                f"{HASH_SIZE} bytes of a hash. The segment cannot be verified."
            )
            yield codes.RESET_HASH_SHORT, message, self._suspects(row)

    def _segment_name(self, row: int) -> str:
        segment = self._hashes.segment(row)
        return f"segment {segment + 1}" if segment >= 0 else "the nothing before segment 1"

    def _mismatch(self, row: int) -> FindingParts:
        hashes, place = self._hashes, self._hashes.place(row)
        where = "chunk metadata" if hashes.final(row) else "reset block"
        computed = dict.fromkeys(digest for each in Convention if (digest := hashes.digest(row, each)))
        said = (
            f"Hash mismatch at the {where} of {self._segment_name(row)}. It hashes to {' or '.join(computed)}; "
            f"the hash stored at byte {grouped(place[0].start)} is {hashes.stored(row).hex()}."
        )
        what = codes.METADATA_HASH_MISMATCH if hashes.final(row) else codes.RESET_HASH_MISMATCH
        segment = hashes.segment(row)
        if self._resume_explains(row):
            what, why, spans = codes.HASH_RESUMED_WRONGLY, self._resumed(row), place
        elif segment < 0 or hashes.hash_only(row):
            why, spans = self._only_hash(row), place
        elif segment in self._layout.damaged and segment not in self._layout.refused:
            why, spans = self._undecodable(row)
        else:
            why, spans = self._decodable(row), self._suspects(row)
        return (
            what,
            " ".join(filter(None, (said, why, self._shifted(row, spans), self._neighbours(row)))),
            spans,
        )

    def _resume_explains(self, row: int) -> bool:
        """Whether a wrong resume explains a hash better than a change of it."""
        hashes = self._hashes
        if row in hashes.repaired or hashes.one_byte_off(row):
            return False
        # Without a segment before it this may have been no reset block once.
        return hashes.proved(row + 1) if hashes.segment(row) < 0 else resumed_wrongly(hashes, row)

    def _only_hash(self, row: int) -> str:
        if self._hashes.segment(row) < 0:
            return "It covers nothing, so the right hash is the computed one, unless this was no reset block once."
        if self._hashes.confirmed_by_chunk(row):
            return f"Only these {HASH_SIZE} bytes have changed: {_CONFIRMED_BY_CHUNK}"
        if row not in self._hashes.repaired:
            nearest = self._hashes.digest(row, self._hashes.convention_of(row))
            return (
                f"The stored hash differs from {nearest} in one byte only. A change of the segment would change nearly "
                "all bytes of a hash, so probably the hash changed and the segment is whole. No other hash proves it."
            )
        return (
            f"Only these {HASH_SIZE} bytes have changed: with the computed hash in their place the hash of "
            f"{self._segment_name(row + 1)}, which covers them, is right. So both segments are whole."
        )

    def _undecodable(self, row: int) -> tuple[str, Spans]:
        segment = self._hashes.segment(row)
        block = self._layout.damaged[segment]
        first, last = self._blocks(row)
        spans = self._spans(self._first(row), block + 1)
        before, blobs = self._layout.blobs(first, block), self._layout.blobs(first, last)
        at = grouped(self._layout.outer_start(block))
        if before < blobs:
            where = f"Decompression fails at the blob at byte {at}, blob {before + 1} of the segment's {grouped(blobs)}"
            why = f"{where}, so the damage lies in that blob or before it, in bytes {_byte_ranges(spans)}."
        else:
            why = f"No blob is found at byte {at}, so the damage lies there or before, in bytes {_byte_ranges(spans)}."
        if before:
            why += (
                f" The hash covers the segment as a whole, so the {count(before, 'blob')} before cannot be proved "
                f"whole, though {'it decodes' if before == 1 else 'they decode'}."
            )
        return why, (*spans, *self._place(row))

    def _decodable(self, row: int) -> str:
        first, last = self._blocks(row)
        blobs = self._layout.blobs(first, last)
        spans = self._spans(self._first(row), last)
        where = f"a byte of the segment ({_byte_ranges(spans)})" if spans else "what was archived"
        if is_as_written(self._hashes, row):
            why = f"The next hash covers this one and is right, so this one is as it was written and {where} is not"
        elif self._hashes.final(row):
            why = f"Either {where} has changed, or the hash or the size in the last chunk's header: nothing shows which"
        else:
            why = f"Either {where} has changed, or the hash has: nothing shows which"
        if not blobs:
            return why + "."
        decode = "Its blob decodes" if blobs == 1 else f"All of its {grouped(blobs)} blobs decode"
        prove = "it cannot" if blobs == 1 else "none of them can"
        return f"{why}. {decode}, but the hash covers the segment as a whole, so {prove} be proved whole."

    def _resumed(self, row: int) -> str:
        if self._hashes.segment(row) < 0:
            return (
                "It covers nothing, so the right hash is the computed one. Probably the first append "
                "was interrupted, and then resumed by a writer that copied the hash of the dead chunk header."
            )
        if self._hashes.confirmed_by_chunk(row):
            return (
                "The segment ends exactly where a full chunk does. Probably an interrupted append was resumed by a "
                "writer that copied the hash of the dead chunk header. "
                f"{_CONFIRMED_BY_CHUNK}"
            )
        proof = ""
        if is_as_written(self._hashes, row):
            proof = " The next hash covers this one and is right, so it was written so."
        return (
            "Yet every blob of the segment decodes, and it ends exactly where a full chunk does. Probably an "
            f"interrupted append was resumed by a writer that copied the hash of the dead chunk header.{proof} If so, "
            "nothing is lost, and the computed hash is the right one. No hash proves the segment's blobs whole."
        )

    def _first(self, row: int) -> int:
        """The first block that may hold the damage behind a wrong hash."""
        return self._blocks(self._last_segment_start[row])[0]

    def _shifted(self, row: int, spans: Spans) -> str:
        if self._first(row) == self._blocks(row)[0] or spans == self._hashes.place(row):
            return ""
        return "The hash before it is wrong too, so the segment may start elsewhere and the damage may lie before it."

    def _suspects(self, row: int) -> Spans:
        """Where the damage behind a wrong hash may lie: the bytes of the hash first, unless they are proved."""
        region = self._spans(self._first(row), self._blocks(row)[1])
        place = self._place(row)
        return (*region, *place) if is_as_written(self._hashes, row) else (*place, *region)

    def _place(self, row: int) -> Spans:
        """The stored hash; in a chunk header with the size beside it, which says where the end is."""
        return (self._layout.chunks.chunks[-1].header,) if self._hashes.final(row) else self._hashes.place(row)

    def _spans(self, first: int, last: int) -> Spans:
        """The file bytes of the blocks ``[first, last)``; none where there are none."""
        edges = self._layout.blocks.edges
        return self._layout.inner.outer(edges[first], edges[last]) if first < last else ()

    def _neighbours(self, row: int) -> str:
        """What is proved whole around a segment."""
        segments = len(self._proved_before) - 1
        own = row + 2 if row in self._hashes.repaired else row + 1
        before, after = self._proved_before[row], self._proved_before[segments] - self._proved_before[own]
        parts = [
            f"{count(number, 'blob')} {where}" for number, where in ((before, "before"), (after, "after")) if number
        ]
        if not parts:
            return ""
        verb = "is" if before + after == 1 else "are"
        return f"{' and '.join(parts)} {verb} proved whole by the hashes of other segments."


def _byte_ranges(spans: Spans) -> str:
    """Spans as text; last bytes are inclusive."""
    return " and ".join(f"{grouped(start)} to {grouped(stop - 1)}" for start, stop in map(Span._make, spans))


def report_structure(layout: Layout, source: Source, emitter: Emitter) -> None:
    """Report what is wrong with chunks and blocks."""
    _report_chunks(layout, scan(source, layout.chunks.start), source, emitter)
    _report_blocks(layout.blocks, layout.inner, emitter)
    for patch in layout.varints:
        emitter.report(
            codes.VARINT_WRONG,
            f"The varint at byte {grouped(patch.offset)} is wrong, as the hash of its segment proves. It reads "
            f"{patch.old.hex(' ')} and should read {patch.new.hex(' ')}, so it is read as that.",
            patch.span,
        )
    for gap in layout.lost:
        spans, resumed = layout.inner.outer(*gap), layout.inner.outer(gap.stop, gap.stop + 1)
        emitter.report(
            codes.BLOCKS_REGAINED,
            f"No block can be found in the {in_bytes(gap.stop - gap.start)} from byte {grouped(spans[0].start)} on. "
            f"A hash proves the segment that a reset block begins at byte {grouped(resumed[0].start)}, so the blobs "
            "from there on are read.",
            *spans,
        )


def _report_chunks(layout: Layout, stands: ChunkLayer, source: Source, emitter: Emitter) -> None:
    """Report what is wrong with the chain of chunks; ``stands`` is the chain as the file has it."""
    if front := stands.start:
        message = (
            f"{in_bytes(front)} {verb(front, 'precedes', 'precede')} the archive: its first chunk begins at byte "
            f"{grouped(front)}, and by the sizes of its chunks it ends with the file. Readers do not find it there."
        )
        emitter.report(codes.PREPENDED, message, (0, front))
    spans = [patch.span for patch in layout.sizes]
    if stands.problem is not None:
        what, message, span = stands.problem
        message += _instead(layout) if layout.sizes else " Nothing from here on can be read." * stands.corrupt
        emitter.report(what, message, span, *spans)
    elif layout.sizes:
        at, bits = stands.uncertain_header
        size = int.from_bytes(source.read(at, bits // 8), "big")
        message = f"The size {grouped(size)} in the chunk header at byte {grouped(at)} is wrong."
        emitter.report(codes.CHUNK_SIZE_WRONG, message + _instead(layout), *spans)
    if layout.chunks.tail and not layout.chunks.corrupt:
        start, chunks = layout.chunks.tail[0].spans[0].start, layout.chunks
        after = f"after chunk {len(chunks.chunks)}" if chunks.chunks else "without any chunk before"
        where = f"{in_bytes(source.size - start)} from byte {grouped(chunks.end)} on"
        garbage = f"There is trailing garbage {after}: {where}."
        message = " ".join((*_sentences(layout.behind), garbage, UNFINISHED))
        emitter.report(codes.TRAILING_GARBAGE, message, (start, source.size))


def _instead(layout: Layout) -> str:
    """How an archive with wrong sizes is read."""
    if layout.chunks.open:
        return (
            " Hashes prove segments after it, so everything up to the end of the file is read. Where the archive "
            "ended is no longer recorded."
        )
    return f" A hash proves that the archive ends at byte {grouped(layout.chunks.end)}, so it is read up to there."


def _sentences(behind: Tail | None) -> Iterator[str]:
    """Sentences about blobs after the end."""
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
        yield f"After that, {behind.unproved} can be read, but nothing proves {'it' if unproved == 1 else 'them'}."


def _report_blocks(blocks: Blocks, inner: SplicedSource, emitter: Emitter) -> None:
    """Report that the blocks end before the stream does, or reach past its end, and reset blocks that open nothing."""
    if more := blocks.types.count(NOT_OPENING):
        emitter.report(
            codes.TOO_MANY_SEGMENTS,
            f"{grouped(more)} reset blocks open no segment here: {grouped(MAX_IMPLAUSIBLE_SEGMENTS)} before them have "
            "no zstd frame after them. Their hashes are not compared.",
        )
    if not len(blocks) or (blocks.types[-1] != REST and blocks.claimed <= inner.size):
        return
    start, payload = blocks.edges[len(blocks) - 1], blocks.payloads[-1]
    span = inner.outer(start, inner.size)
    where, left = grouped(span[0].start), in_bytes(inner.size - start)
    if blocks.types[-1] != REST:
        kind, what = "blob" if blocks.types[-1] == BLOB else "control", codes.PAST_END
        message = (
            f"The {kind} block at byte {where} reaches past the end of the blob layer. Its varint states "
            f"{in_bytes(blocks.claimed - payload)} of payload, and {in_bytes(inner.size - payload)} are there."
        )
    elif blocks.incomplete:
        what = codes.TOO_MANY_BLOCKS
        message = f"There are more than {grouped(MAX_BLOCKS)} blocks. The {left} from byte {where} on are not decoded."
    else:
        cut, what = len(inner.read(start, MAX_VARINT_BYTES)) < MAX_VARINT_BYTES, codes.VARINT
        reason = "is cut off by the end of the blob layer" if cut else "does not end within 64 bits"
        message = f"The varint at byte {where} {reason}. No block can be found from there on, so {left} cannot be read."
    emitter.report(what, message, *span)
