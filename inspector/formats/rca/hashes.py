"""The hashes of RCA's segments, by both conventions (specification: "Reset blocks (block type 0)").

The specification's hash of a segment leaves out the hash bytes of the reset block that opens it; the published writer
(``rcarch``) hashes them too. The two agree on a segment that no reset block opens. Segments are independent, so they
are hashed in parallel.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2s
from queue import SimpleQueue
from threading import Event

from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK
from inspector.core.source import blocks as pieces
from inspector.core.span import Span, Spans
from inspector.core.verdict import Verdict
from inspector.formats.rca.blocks import HASH_SIZE, RESET, Convention
from inspector.formats.rca.chunks import METADATA_BYTES
from inspector.formats.rca.layout import READ_AHEAD_BYTES, Layout, ReadAhead

MAX_WORKERS = 8
_PIECE_BYTES = 1 << 20
"""Bytes hashed at a time; smaller pieces cost more memory management than they save cache."""
MAX_HASH_TRIALS = 1_000
"""Wrong hashes of which it is tried whether they alone are wrong."""
_WORKER_ENDED = -1
Ranges = tuple[tuple[int, int], ...]
"""Inner bytes ``[start, stop)``, in order."""


class Hashes:
    """One row a stored hash, in file order, and what comparing has found of it.

    The hash of a segment stands in the reset block that follows it, or in the last chunk's metadata. Where the stream
    begins with a reset block there is one row more: its hash covers nothing, and its segment is -1. ``convention`` is
    the one that has told itself by a hash, or None; ``repaired`` are the rows whose stored hash alone is wrong, as
    the hash after it proves.
    """

    def __init__(self, layout: Layout) -> None:
        blocks = layout.blocks
        self.layout = layout
        self.convention: Convention | None = None
        self.repaired: set[int] = set()
        self._lead = int(len(blocks) > 0 and blocks.types[0] == RESET)
        rows = self._lead + len(blocks.segments) if layout.chunks.chunks else 0
        self._last = rows - 1
        # What is asked of every row is kept in columns, for a small file may hold very many.
        self._cut_off = bytearray(
            blocks.edges[block + 1] - blocks.payloads[block] < HASH_SIZE for block in blocks.segments[1:]
        )
        if self._lead:
            self._cut_off.insert(0, blocks.edges[1] - blocks.payloads[0] < HASH_SIZE)
        self.inner = ReadAhead(layout.inner)
        self._filled = layout.filled_chunks()
        self._matched = bytearray(rows)
        self._known = bytearray(rows)
        self._digests = {convention: array("Q", bytes(8 * rows)) for convention in Convention}

    def __len__(self) -> int:
        return len(self._matched)

    def segment(self, row: int) -> int:
        """The number of the segment that a hash covers; -1 for nothing."""
        return row - self._lead

    def row(self, segment: int) -> int:
        """The row of a segment's hash."""
        return segment + self._lead

    def final(self, row: int) -> bool:
        """Whether the hash stands in the last chunk's metadata."""
        return row == self._last

    def place(self, row: int) -> Spans:
        """The file bytes of a stored hash."""
        if self.final(row):
            header = self.layout.chunks.chunks[-1].header
            return (Span(header.stop - METADATA_BYTES, header.stop),)
        return self.layout.inner.outer(*self._hash_bytes(self.segment(row) + 1))

    def stored(self, row: int) -> bytes:
        """A stored hash; shorter than HASH_SIZE where the reset block is."""
        if self.final(row):
            return self.layout.chunks.chunks[-1].metadata
        start, stop = self._hash_bytes(self.segment(row) + 1)
        return self.inner.read(start, stop)

    def _hash_bytes(self, segment: int) -> tuple[int, int]:
        """Where the hash stands in the reset block that opens a segment, as inner bytes."""
        block = self.layout.blocks.segments[segment]
        payload = self.layout.blocks.payloads[block]
        return payload, min(payload + HASH_SIZE, self.layout.blocks.edges[block + 1])

    def conventions_differ(self, row: int) -> bool:
        """Whether the conventions differ on a hash."""
        segment = self.segment(row)
        return segment > 0 or (segment == 0 and self._lead > 0)

    def bounds(self, row: int) -> tuple[int, int]:
        """The inner bytes ``[start, stop)`` that a hash is about."""
        segment, blocks = self.segment(row), self.layout.blocks
        if segment < 0 or not len(blocks):
            return 0, 0
        first, last = blocks.segment(segment)
        return blocks.edges[first], blocks.edges[last]

    def ranges(self, row: int, convention: Convention) -> Ranges:
        """The inner bytes that a hash covers."""
        start, stop = self.bounds(row)
        if convention is Convention.RCARCH or not self.conventions_differ(row):
            return ((start, stop),)
        cut, after = self._hash_bytes(self.segment(row))
        return ((start, cut), (after, stop))

    def omits(self, row: int, convention: Convention) -> Spans:
        """The file bytes between those that a hash covers and leaves out."""
        if convention is Convention.RCARCH or not self.conventions_differ(row):
            return ()
        return self.layout.inner.outer(*self._hash_bytes(self.segment(row)))

    def comparable(self, row: int) -> bool:
        """Whether the bytes that a hash covers and all of the hash itself are there."""
        chunks = self.layout.chunks
        return not (chunks.truncated or chunks.open) if self.final(row) else not self._cut_off[row]

    def certain(self, row: int) -> bool:
        """Whether it is certain that a stored hash is that of the segment: the end may not be where it seems."""
        return not self.final(row) or not (self.layout.chunks.corrupt or self.layout.blocks.incomplete)

    def matched(self, row: int) -> Convention | None:
        """The convention by which a stored hash is right, if there is one."""
        return Convention(self._matched[row]) if self._matched[row] else None

    def digest(self, row: int, convention: Convention) -> str:
        """The computed hash in hex; empty where it has not been computed."""
        known = self._known[row] & convention.value
        return f"{self._digests[convention][row]:0{2 * HASH_SIZE}x}" if known else ""

    def verdict(self, row: int) -> Verdict:
        """What comparing says of a stored hash."""
        if not self.comparable(row):
            return Verdict.NOT_CHECKABLE
        if not self._known[row]:
            return Verdict.NOT_CHECKED
        if self._matched[row]:
            return Verdict.VERIFIED
        return Verdict.MISMATCH if self.certain(row) else Verdict.NOT_CHECKABLE

    def mismatched(self) -> list[int]:
        """The rows whose stored hash is not the computed one, certain or not."""
        return [
            row for row, (known, held) in enumerate(zip(self._known, self._matched, strict=True)) if known and not held
        ]

    def one_byte_off(self, row: int) -> Convention | None:
        """The convention by which a wrong hash differs from the computed one in one byte only, if there is one.

        A change of the segment does that to a hash once in 2**53 times, so it is the hash that seems to have changed;
        but nothing in the archive proves it.
        """
        if self.verdict(row) is not Verdict.MISMATCH or self.segment(row) in self.layout.damaged:
            return None
        stored = int.from_bytes(self.stored(row), "big")
        for convention in Convention:
            if not self._known[row] & convention.value:
                continue
            changed = self._digests[convention][row] ^ stored
            if changed and (changed & -changed).bit_length() - 1 >> 3 == changed.bit_length() - 1 >> 3:
                return convention
        return None

    def confirmed_by_chunk(self, row: int) -> bool:
        """Whether the metadata of the chunk that a segment fills to its end is the computed hash, not the wrong one.

        Readers ignore it. But an append that ended there has left it, as the hash of what it had written.
        """
        segment = self.segment(row)
        if self.final(row) or segment < 0 or segment in self.layout.damaged or not self._known[row]:
            return False
        chunk = None if self._matched[row] else self._filled.get(self.bounds(row)[1])
        return chunk is not None and chunk.metadata.hex() in {self.digest(row, each) for each in Convention}

    def hash_only(self, row: int) -> bool:
        """Whether nothing but a stored hash seems to be wrong."""
        return row in self.repaired or self.one_byte_off(row) is not None or self.confirmed_by_chunk(row)

    def proved(self, row: int) -> bool:
        """Whether the bytes of a segment are proved to be those that were written."""
        return (
            bool(self._matched[row]) or row in self.repaired or row - 1 in self.repaired or self.confirmed_by_chunk(row)
        )

    def convention_of(self, row: int) -> Convention:
        """The convention that a hash follows, as far as it can be told."""
        return self.matched(row) or self.one_byte_off(row) or self.convention or Convention.SPECIFICATION

    def record(self, row: int, convention: Convention, digest: bytes) -> bool:
        """Keep a computed hash; says whether the stored one is the same."""
        conventions = (convention,) if self.conventions_differ(row) else tuple(Convention)
        for each in conventions:
            self._digests[each][row] = int.from_bytes(digest, "big")
            self._known[row] |= each.value
        if digest != self.stored(row):
            return False
        self._matched[row] = convention.value
        if self.conventions_differ(row):
            self.convention = convention
        return True


def own_convention(hashes: Hashes) -> Convention:
    """The convention to write hashes by: the archive's own, or that of the published writer where none is told."""
    return hashes.convention or Convention.RCARCH


def compare(layout: Layout, progress: Progress, rows: Sequence[int] | None = None) -> Hashes:
    """Compute and compare all hashes, which reads the whole inner stream, or those of some rows."""
    hashes = Hashes(layout)
    wanted = range(len(hashes)) if rows is None else rows
    total = layout.inner.size if rows is None else sum(stop - start for start, stop in map(hashes.bounds, rows))
    progress.begin("Comparing hashes", total)
    _Comparison(hashes, progress).run(wanted)
    progress.advance(max(0, progress.total - progress.done))  # what no hash that can be compared covers
    for row in hashes.mismatched()[:MAX_HASH_TRIALS]:
        if _only_the_hash_is_wrong(hashes, row, progress):
            hashes.repaired.add(row)
    return hashes


class _Comparison:
    """Threads that take one row after another. What they have read they say in a queue: progress has one writer."""

    def __init__(self, hashes: Hashes, progress: Progress) -> None:
        self._hashes = hashes
        self._progress = progress
        self._guess = Convention.RCARCH  # of the published writer: the one that is met most
        self._rows: Iterator[int] = iter(())
        self._read: SimpleQueue[int] = SimpleQueue()
        self._report_read: Callable[[int], None] = self._read.put
        self._stop = Event()

    def _order(self, rows: list[int]) -> list[int]:
        """The rows, largest first so that no thread is left with a large one at the end.

        Before them the smallest that tells the convention, and one that needs none: a wrong guess costs reading a
        segment twice.
        """
        hashes = self._hashes
        sizes = {row: stop - start for row in rows for start, stop in (hashes.bounds(row),)}
        order = sorted(rows, key=lambda row: (hashes.conventions_differ(row), -sizes[row]))
        if order and hashes.conventions_differ(order[-1]):
            order.insert(0, order.pop())
        return order

    def run(self, wanted: Iterable[int]) -> None:
        """Compare those that can be; raises Cancelled, after all threads have ended."""
        hashes, size = self._hashes, self._hashes.layout.inner.size
        rows = [row for row in wanted if hashes.comparable(row)]
        # Threads help only where a segment is some pieces long.
        workers = min(MAX_WORKERS, os.cpu_count() or 1, len(rows)) if size > len(hashes) * BLOCK else 1
        self._rows = iter(self._order(rows) if workers > 1 else rows)
        if workers > 1:
            self._share(workers)
            return
        self._report_read = self._progress.advance
        for row in self._rows:
            self._compare(row)

    def _share(self, workers: int) -> None:
        with ThreadPoolExecutor(workers) as pool:
            running = [pool.submit(self._work) for _ in range(workers)]
            left = workers
            try:
                while left:
                    read = self._read.get()
                    left -= read == _WORKER_ENDED
                    self._progress.advance(max(read, 0))
            finally:
                self._stop.set()
        for work in running:
            work.result()

    def _work(self) -> None:
        try:
            for row in self._rows:
                self._compare(row)
                if self._stop.is_set():
                    return
        finally:
            self._read.put(_WORKER_ENDED)

    def _compare(self, row: int) -> None:
        hashes = self._hashes
        guess = self._guess
        other = next(convention for convention in Convention if convention is not guess)
        for convention, following in ((guess, other), (other, guess)):
            digest = self._digest(hashes.ranges(row, convention), counted=convention is guess)
            if digest is None or hashes.record(row, convention, digest) or not hashes.conventions_differ(row):
                return
            self._guess = following

    def _digest(self, ranges: Ranges, *, counted: bool) -> bytes | None:
        """The hash of inner bytes; None where comparing has been stopped."""
        digest = blake2s(digest_size=HASH_SIZE)
        for piece in _pieces(self._hashes, ranges):
            if self._stop.is_set():
                return None
            digest.update(piece)
            self._progress.wait()
            self._report_read(len(piece) if counted else 0)
        return digest.digest()


def _pieces(hashes: Hashes, ranges: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    for start, stop in ranges:
        if stop - start > READ_AHEAD_BYTES // 2:
            yield from pieces(hashes.layout.inner, start, stop, _PIECE_BYTES)
        else:
            yield hashes.inner.read(start, stop)


def _only_the_hash_is_wrong(hashes: Hashes, row: int, progress: Progress) -> bool:
    """Whether the next hash, which by rcarch's convention covers this one, is right with the computed hash in place."""
    following = row + 1
    if hashes.final(row) or not all(hashes.verdict(each) is Verdict.MISMATCH for each in (row, following)):
        return False
    if any(hashes.segment(each) in hashes.layout.damaged for each in (row, following)):
        return False
    before, after = hashes.ranges(following, Convention.SPECIFICATION)
    digest = blake2s(digest_size=HASH_SIZE)
    for piece in _pieces(hashes, (before,)):
        digest.update(piece)
    digest.update(bytes.fromhex(hashes.digest(row, Convention.RCARCH)))
    for piece in _pieces(hashes, (after,)):
        digest.update(piece)
        progress.advance(0)
    return digest.digest() == hashes.stored(following)
