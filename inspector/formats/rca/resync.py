"""Finding the blocks again behind damage in which they were lost (RCA: "Reset blocks (block type 0)").

A block says only how long it is, so behind a varint that is wrong nothing is where it seems. But segments are
independent, and how a reset block begins is known: where one does whose segment hashes to what is recorded of it,
there the blocks go on. Nothing is taken for a segment that no hash proves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from hashlib import blake2s
from itertools import groupby

from inspector.core.archive import Archive, Emitter
from inspector.core.edit import Edit, OverlaySource, Patch
from inspector.core.progress import Progress
from inspector.core.source import blocks as pieces
from inspector.core.verdict import Verdict
from inspector.formats.rca.blobs import Decoding
from inspector.formats.rca.blocks import HASH, RESET, VARINT, typed, varint
from inspector.formats.rca.hashes import Hashes, compare
from inspector.formats.rca.layers import layers
from inspector.formats.rca.layout import Layout, Lost, Near
from inspector.formats.rca.repair_end import whole_blocks

_RESET = b"\x81\x04"
"""How a reset block begins whose payload is a hash and nothing more."""
_SKIPPED = 31
"""The type of the control block that stands for lost bytes where they are read over: one that readers skip."""
_TIMES = 16
"""The most stretches of lost blocks that are looked behind."""

SEARCHED = 1 << 30
"""Bytes that are searched at most for a reset block."""


def lost(hashes: Hashes, progress: Progress) -> Lost | None:
    """The first stretch in which the blocks were lost, if a segment behind it is proved whole; None before a check."""
    layout = hashes.layout
    for row, following in _in_doubt(hashes):
        first = layout.blocks.segments[max(hashes.segment(row), 0)]
        stop = hashes.bounds(following)[0] if following < len(hashes) else layout.inner.size
        # Where blocks seem to follow one another to the end, what looks like a segment may be one of an archive in a
        # blob. But the last of those is not what is recorded here.
        wanted = stop if following - row == 1 and whole_blocks(layout.blocks) == len(layout.blocks) else 0
        progress.begin("Searching for reset blocks", stop - layout.blocks.edges[first])
        for at in _candidates(layout, layout.blocks.edges[first] + 1, stop, progress):
            start = _end_of_sense(layout, first, at)
            if start < at and _proved(layout, at, wanted, progress):
                return Lost(start, at)
    return None


def _in_doubt(hashes: Hashes) -> Iterator[tuple[int, int]]:
    """Rows ``[row, following)`` that are not right, in whose segments a further one may be hidden."""
    rows = range(len(hashes))
    if not len(hashes.layout.blocks) or any(hashes.verdict(row) is Verdict.NOT_CHECKED for row in rows):
        return
    for stands, run in groupby(rows, lambda row: hashes.proved(row) or hashes.hash_only(row)):
        if not stands:
            wrong = list(run)
            yield wrong[0], wrong[-1] + 1


def _candidates(layout: Layout, start: int, stop: int, progress: Progress) -> Iterator[int]:
    """Where reset blocks may begin before ``stop``, as inner positions."""
    at, before = start, b""
    for piece in pieces(layout.inner, start, min(stop, start + SEARCHED)):
        window = before + piece
        found = window.find(_RESET)
        while found >= 0:
            yield at - len(before) + found
            found = window.find(_RESET, found + 1)
        at += len(piece)
        before = piece[-1:]
        progress.advance(len(piece))


def _proved(layout: Layout, at: int, wanted: int, progress: Progress) -> bool:
    """Whether hashes prove the segment that a reset block at ``at`` would open, and all behind it up to ``wanted``."""
    while True:
        stop, stored = _recorded(layout, at, progress)
        if not stored or stored not in _digests(layout, at, stop, progress):
            return False
        if stop >= wanted:
            return True
        at = stop


def _digests(layout: Layout, at: int, stop: int, progress: Progress) -> list[bytes]:
    """What the segment ``[at, stop)`` hashes to by each convention."""
    _, size = varint(layout.inner.read(at, VARINT), 0)
    head = layout.inner.read(at, size + HASH)
    digests = [blake2s(begun, digest_size=HASH) for begun in (head, head[:size])]
    for piece in pieces(layout.inner, at + len(head), stop):
        progress.advance(0)
        for digest in digests:
            digest.update(piece)
    return [digest.digest() for digest in digests]


def _recorded(layout: Layout, at: int, progress: Progress) -> tuple[int, bytes]:
    """Where the segment ends that a reset block at ``at`` would open, and its hash; no hash if it has no end."""
    near, size, first = Near(layout.inner), layout.inner.size, at
    while at < size:
        progress.advance(0)
        value, payload = varint(near.read(at, min(at + VARINT, size)), 0)
        kind, length = typed(value)
        payload += at
        if payload == at or payload + length > size:
            return 0, b""
        if kind == RESET and at > first:
            return at, near.read(payload, payload + min(HASH, length))
        at = payload + length
    ends = not (layout.chunks.truncated or layout.chunks.corrupt)
    return (at, layout.chunks.chunks[-1].metadata) if ends else (0, b"")


def _end_of_sense(layout: Layout, first: int, at: int) -> int:
    """Where the blocks from ``first`` on cease to make sense: one cannot be decoded there, or reaches past ``at``."""
    last = bisect_right(layout.blocks.edges, at) - 1
    return layout.blocks.edges[min([last, *(block for block in layout.damaged.values() if block >= first)])]


def regained(archive: Archive, hashes: Hashes, progress: Progress) -> tuple[Archive, Hashes]:
    """The archive as it reads where lost blocks are left out, with its hashes compared."""
    for _ in range(_TIMES):
        gap = lost(hashes, progress)
        if gap is None:
            break
        archive, hashes = _without(archive, hashes.layout, gap, progress)
    return archive, hashes


def _without(archive: Archive, layout: Layout, gap: Lost, progress: Progress) -> tuple[Archive, Hashes]:
    """The archive with a control block, which is skipped, in the place of lost blocks."""
    source = OverlaySource(archive.source, _edit(archive, layout, gap))
    after = Archive(source, archive.format, archive.title, ())
    emitter = Emitter(after)
    read = layers(source, emitter, progress)
    Decoding(read, emitter, progress).run()
    for start, _ in (*layout.lost, gap):
        # The blobs before can be had, and the segment ends with them.
        block = bisect_left(read.blocks.edges, start)
        segment = read.blocks.segment_of(block)
        read.damaged[segment] = min(block, read.damaged.get(segment, block))
    read.lost = (*layout.lost, gap)
    return after, compare(read, progress)


def _edit(archive: Archive, layout: Layout, gap: Lost) -> Edit:
    head = _head(gap.stop - gap.start)
    patches: list[Patch] = []
    for span in layout.inner.outer(gap.start, gap.start + len(head)):  # two where a chunk boundary lies between
        patches.append(Patch(span.start, archive.source.read(span.start, span.size), head[: span.size]))
        head = head[span.size :]
    return Edit("", tuple(patches), archive.source.size, archive.source.size)


def _head(size: int) -> bytes:
    """The varint of a control block of ``size`` bytes in all."""
    for length in range(1, VARINT + 1):
        value = max(size - length, 0) << 6 | _SKIPPED << 1 | 1
        if value < 1 << 7 * length:
            digits = [value >> 7 * place & 0x7F | 0x80 for place in range(length)]
            return bytes([*digits[:-1], digits[-1] & 0x7F])
    raise ValueError(size)  # more than a file can hold
