"""The hashes of RCA's segments, by both conventions (specification: "Reset blocks (block type 0)").

The specification's hash of a segment leaves out the hash bytes of the reset block that opens it; the published writer
(``rcarch``) hashes them too. The two agree on a segment that no reset block opens. Segments are independent, so they
are hashed in parallel.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import closing
from hashlib import blake2s
from itertools import chain, starmap
from operator import ne

from inspector.core.program.map_ordered import map_ordered
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK
from inspector.core.span import Span, Spans
from inspector.core.verdict import Verdict
from inspector.formats.rca.blocks import HASH_SIZE, RESET, Convention
from inspector.formats.rca.chunks import METADATA_BYTES, Layout, ReadAhead

MAX_WORKERS = 8

MAX_HASH_TRIALS = 1_000
"""Wrong hashes of which it is tried whether they alone are wrong."""
Ranges = tuple[tuple[int, int], ...]
"""Inner bytes ``[start, stop)``, in order."""


class Hashes:
    """One row a stored hash, in file order, and what comparing has found of it.

    The hash of a segment stands in the reset block that follows it, or in the last chunk's metadata. Where the stream
    begins with a reset block there is one row more: its hash covers nothing, and its segment is -1. ``convention`` is
    the one that has told itself by a hash, or None; ``repaired`` are the rows whose stored hash alone is wrong, as
    the hash after it proves. ``compared``: all are, or some.
    """

    def __init__(self, layout: Layout) -> None:
        blocks = layout.blocks
        self.layout = layout
        self.convention: Convention | None = None
        self.repaired: set[int] = set()
        self.compared = False
        self._lead = int(len(blocks) > 0 and blocks.types[0] == RESET)
        rows = self._lead + len(blocks.segments) if layout.chunks.chunks else 0
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
        return row == len(self) - 1

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
        """Whether the conventions differ on a hash: not on the first, before which no reset block has one."""
        return row > 0

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
        known = (each for each in Convention if self._known[row] & each.value)
        stored = self.stored(row)
        return next((each for each in known if sum(map(ne, bytes.fromhex(self.digest(row, each)), stored)) == 1), None)

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

    @property
    def ends(self) -> bool:
        """Whether the last hash proves that the archive ends where it seems."""
        return not self.layout.chunks.corrupt and len(self) > 0 and bool(self.matched(len(self) - 1))

    @property
    def proved_to(self) -> int:
        """Where the last segment ends that is proved, as an inner position."""
        return next((self.bounds(row)[1] for row in range(len(self) - 1, -1, -1) if self.proved(row)), 0)

    def holds(self, place: int) -> bool:
        """Whether a byte of the file is inside a segment that is proved."""
        blocks, at = self.layout.blocks, self.layout.inner.inner(place)
        if at is None or not len(blocks):
            return False
        row = self.row(blocks.segment_of(bisect_right(blocks.edges, at) - 1))
        return self.proved(row) and self.bounds(row)[0] < at

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


def compare(layout: Layout, progress: Progress, rows: Sequence[int] | None = None, since: int = 0) -> Hashes:
    """Compute and compare all hashes, which reads the whole inner stream, or some.

    These are given ``rows``, or those about bytes behind the inner position ``since``.
    """
    hashes = Hashes(layout)
    hashes.compared = True
    every = range(len(hashes)) if rows is None else rows
    wanted = [row for row in every if not since or hashes.bounds(row)[1] > since]
    progress.begin("Comparing hashes", sum(stop - start for start, stop in map(hashes.bounds, wanted)))
    _compare_all(hashes, [row for row in wanted if hashes.comparable(row)], progress)
    progress.advance(max(0, progress.total - progress.done))  # what no hash that can be compared covers
    for row in hashes.mismatched()[:MAX_HASH_TRIALS]:
        if _only_the_hash_is_wrong(hashes, row, progress):
            hashes.repaired.add(row)
    return hashes


def _compare_all(hashes: Hashes, rows: Sequence[int], progress: Progress) -> None:
    """Compare those rows, in threads where a segment is some pieces long; progress has one writer."""
    workers = min(MAX_WORKERS, os.cpu_count() or 1, len(rows))
    if workers < 2 or hashes.layout.inner.size <= len(hashes) * BLOCK:
        for row in rows:
            _compare(hashes, row, progress, progress)
        return
    sizes = {row: stop - start for row in rows for start, stop in (hashes.bounds(row),)}
    # Largest first, so that no thread is left with a large one at the end. Before them the smallest that tells the
    # convention, and one that needs none: a wrong guess costs reading a segment twice.
    order = sorted(rows, key=lambda row: (hashes.conventions_differ(row), -sizes[row]))
    if hashes.conventions_differ(order[-1]):
        order.insert(0, order.pop())
    finished = 0

    def show(running: Iterable[Progress]) -> None:
        progress.advance(max(0, finished + sum(each.done for each in running) - progress.done))

    compared = map_ordered(order, lambda row, own: _compare(hashes, row, progress, own), workers, show)
    with closing(compared):
        for row, _ in zip(order, compared, strict=True):
            finished += sizes[row]
            show(())


def _compare(hashes: Hashes, row: int, shared: Progress, own: Progress) -> None:
    """Compare one row by the convention that is likely, then by the other; only ``own`` counts what is read."""
    guess = hashes.convention or Convention.RCARCH  # of the published writer: the one that is met most
    for convention in sorted(Convention, key=lambda each: each is not guess):
        digest = blake2s(digest_size=HASH_SIZE)
        for piece in chain.from_iterable(starmap(hashes.inner.pieces, hashes.ranges(row, convention))):
            digest.update(piece)
            shared.wait()
            own.advance(len(piece) if convention is guess else 0)
        if hashes.record(row, convention, digest.digest()) or not hashes.conventions_differ(row):
            return


def _only_the_hash_is_wrong(hashes: Hashes, row: int, progress: Progress) -> bool:
    """Whether the next hash, which by rcarch's convention covers this one, is right with the computed hash in place."""
    following, damaged = row + 1, hashes.layout.damaged
    if hashes.final(row) or not all(
        hashes.verdict(each) is Verdict.MISMATCH and hashes.segment(each) not in damaged for each in (row, following)
    ):
        return False
    right = bytes.fromhex(hashes.digest(row, Convention.RCARCH))
    return digest_of(hashes, following, Convention.RCARCH, progress, instead=right) == hashes.stored(following)


def digest_of(
    hashes: Hashes,
    row: int,
    convention: Convention,
    progress: Progress,
    *,
    stop: int | None = None,
    instead: bytes = b"",
    counted: bool = False,
) -> bytes:
    """The hash of a segment, or of it up to the inner position ``stop``.

    Where the convention covers the hash in the reset block, ``instead`` may take its place. ``counted``: for progress.
    """
    digest = blake2s(digest_size=HASH_SIZE)
    ranges = hashes.ranges(row, Convention.SPECIFICATION if instead else convention)
    for number, (first, last) in enumerate(ranges):
        digest.update(instead if number else b"")
        for piece in hashes.inner.pieces(first, max(first, last if stop is None else min(last, stop))):
            digest.update(piece)
            progress.advance(len(piece) if counted else 0)
    return digest.digest()
