"""What very many blocks of bytes look like, by counting their bytes with numpy."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.core.span import Span
from inspector.drawing.byte_class import (
    CLASSES,
    MAX_PERIOD,
    MIN_REPEATED,
    SMALL_BLOCK,
    TEXT_BYTES,
    UTF8_BYTES,
    ByteClass,
    Look,
    is_repeated,
    is_utf8,
    look_of,
    random_entropy,
)
from inspector.operations.protocol.views import FULL, Bands

LARGE_BLOCK = 16 * 1024
"""Bytes that are judged together where a stretch covers so many."""
SMALL_FILE = 4 << 20
"""The size in bytes of a source from which on its blocks are large where all of it is looked at."""
MAX_EXACT_STRETCH = 1 << 20
"""The largest stretch, in bytes, that is read whole; of a larger one samples are."""
CHUNK = 1 << 20
"""Bytes whose blocks are judged at a time."""
READ_BYTES = 4 << 20
"""Bytes read between two chances to cancel."""
SAMPLES, SAMPLE_BYTES = 4, 16 * 1024
"""How many samples of a large stretch are read, and the size of each."""

_NUMBER = {each: number for number, each in enumerate(CLASSES)}
Array = NDArray[Any]


def looks(data: bytes, block: int) -> tuple[Array, Array]:
    """The number of the class and the entropy of each block of ``data``, as ``look_of`` has them; the last is short."""
    whole = len(data) // block
    classes = np.empty(-(-len(data) // block), np.uint8)
    entropies = np.empty(len(classes), np.float32)
    step = max(1, CHUNK // block)
    view = memoryview(data)
    for first in range(0, whole, step):
        stop = min(whole, first + step)
        classes[first:stop], entropies[first:stop] = _blocks(view[first * block : stop * block], block)
    if whole < len(classes):
        last = look_of(data[whole * block :])
        classes[whole], entropies[whole] = _NUMBER[last.byte_class], last.entropy
    return classes, entropies


@cache
def _tables(block: int) -> tuple[Array, Array]:
    """``n log2 n`` for each count; and for each byte, whether it is zero, text or possible in UTF-8 text."""
    counts = np.arange(block + 1, dtype=np.float32)
    counts[1:] *= np.log2(counts[1:])
    kinds = np.zeros((256, 3), np.float32)
    kinds[0, 0] = 1
    kinds[list(TEXT_BYTES), 1] = 1
    kinds[list(TEXT_BYTES + UTF8_BYTES), 2] = 1
    return counts, kinds


def _blocks(data: memoryview, block: int) -> tuple[Array, Array]:
    """``looks`` of whole blocks."""
    rows = len(data) // block
    logs, kinds = _tables(block)
    counts = _counts(np.frombuffer(data, np.uint8).reshape(rows, block))
    entropies = np.log2(block) - logs[counts].sum(axis=1) / block
    np.maximum(entropies, 0, out=entropies)
    kind_counts = counts.astype(np.float32) @ kinds
    zeros, text, utf8 = np.equal(kind_counts.T, block)
    classes = np.where(entropies >= random_entropy(block), _NUMBER[ByteClass.RANDOM], _NUMBER[ByteClass.OTHER])
    classes = classes.astype(np.uint8)
    for row in np.flatnonzero(utf8 & ~text):
        if is_utf8(bytes(data[row * block : (row + 1) * block])):
            classes[row] = _NUMBER[ByteClass.UTF8]
    classes[text] = _NUMBER[ByteClass.TEXT]
    if block >= MIN_REPEATED:
        # In a repetition, a byte that is in the pattern once occurs at least as often as the pattern does, less one.
        few = np.where(counts == 0, block, counts).min(axis=1)
        for row in np.flatnonzero((few >= block // MAX_PERIOD - 1) & ~zeros & (few > 0)):
            if is_repeated(bytes(data[row * block : (row + 1) * block])):
                classes[row] = _NUMBER[ByteClass.REPEATED]
    classes[zeros] = _NUMBER[ByteClass.ZEROS]
    return classes, entropies


def _counts(blocks: Array) -> Array:
    """How often each byte occurs in each block."""
    rows, size = blocks.shape
    if size == LARGE_BLOCK:
        # One call for each is faster than numbers that tell the blocks apart, as it counts bytes as they are.
        counts = np.empty((rows, 256), np.intp)
        for row in range(rows):
            counts[row] = np.bincount(blocks[row], minlength=256)
        return counts
    places = np.add(blocks, (np.arange(rows, dtype=np.intp) << 8)[:, None], dtype=np.intp)
    return np.bincount(places.ravel(), minlength=rows << 8).reshape(rows, 256)


def alike(source: Source, progress: Progress) -> Iterator[tuple[Span, Look]]:
    """All of a source: stretches of blocks of one class, with their mean entropy. Raises SourceError and Cancelled."""
    block = SMALL_BLOCK if source.size < SMALL_FILE else LARGE_BLOCK
    progress.begin("Measuring entropy", source.size)
    number, start, sizes, weighed = -1, 0, 0, 0.0
    for at in range(0, source.size, READ_BYTES):
        data = source.read(at, READ_BYTES)
        for row, (each, bits) in enumerate(zip(*(found.tolist() for found in looks(data, block)), strict=True)):
            size = min(block, len(data) - row * block)
            if each != number and sizes:
                yield Span(start, start + sizes), Look(CLASSES[number], weighed / sizes)
                start, sizes, weighed = start + sizes, 0, 0.0
            number, sizes, weighed = each, sizes + size, weighed + bits * size
        progress.advance(len(data))
    if sizes:
        yield Span(start, start + sizes), Look(CLASSES[number], weighed / sizes)


# ---- bands -----------------------------------------------------------------------------------------------------------


def bands(source: Source, span: Span, rows: int, progress: Progress, known: Sequence[Span] | None = None) -> Bands:
    """What ``rows`` equal stretches of a span look like.

    A stretch of more than ``MAX_EXACT_STRETCH`` bytes is sampled. ``known``: only what lies in these ascending spans is
    read. Raises SourceError and Cancelled.
    """
    start, stop = max(0, span.start), min(span.stop, source.size)
    rows = max(1, rows)
    size = max(0, stop - start)
    painter = _Painter(start, max(start, stop), rows)
    exact = size <= MAX_EXACT_STRETCH * rows
    if not size:
        return painter.bands(exact)
    block = LARGE_BLOCK if size >= LARGE_BLOCK * rows else SMALL_BLOCK
    step = READ_BYTES if known is None else LARGE_BLOCK
    # Pieces begin at whole blocks of the source, so that zooming in changes no block.
    low, high = start // block * block, min(source.size, -(-stop // block) * block)
    whole = (Span(at, min(high, at + step)) for at in range(low, high, step))
    pieces = list(whole) if exact else _samples(start, stop, rows)
    progress.begin("Measuring entropy", sum(piece.size for piece in pieces))
    for piece in pieces:
        near = known and known[max(0, bisect_right(known, piece.start, key=lambda each: each.start) - 1)]
        if known is None or (near and near.start <= piece.start and piece.stop <= near.stop):
            data = source.read(piece.start, piece.size)
            painter.add(piece.start, block, *looks(data, block))
        progress.advance(piece.size)
    return painter.bands(exact)


def _samples(start: int, stop: int, rows: int) -> list[Span]:
    size = stop - start
    found = []
    for row in range(rows):
        low, high = start + row * size // rows, start + (row + 1) * size // rows
        for at in range(SAMPLES):
            place = (low + (high - low) * at // SAMPLES + LARGE_BLOCK - 1) // LARGE_BLOCK * LARGE_BLOCK
            found.append(Span(place, min(high, place + SAMPLE_BYTES)))
    return found


class _Painter:
    """Adds blocks up to rows: the blocks that begin in a row, or else the one that a row begins in."""

    def __init__(self, start: int, stop: int, rows: int) -> None:
        size = stop - start
        self._start, self._stop, self._rows = start, stop, rows
        # In Python's numbers: a product of two sizes may be more than 64 bits hold.
        self._edges = np.array([start + row * size // rows for row in range(rows + 1)], np.int64)
        self._counts = np.zeros((rows, len(CLASSES)), np.int64)
        self._entropies = np.zeros(rows)

    def add(self, start: int, block: int, classes: Array, entropies: Array) -> None:
        """Add consecutive blocks from ``start``."""
        if not len(classes):
            return
        if self._stop - self._start >= block * self._rows:
            at = np.arange(len(classes), dtype=np.int64) * block + start
            rows = np.maximum(np.searchsorted(self._edges, at, "right") - 1, 0)
            blocks = np.flatnonzero(at < self._stop)
            rows = rows[blocks]
        else:
            inside = (self._edges[:-1] >= start) & (self._edges[:-1] < start + len(classes) * block)
            rows = np.flatnonzero(inside)
            blocks = (self._edges[rows] - start) // block
        flat = np.bincount(rows * len(CLASSES) + classes[blocks], minlength=self._counts.size)
        self._counts += flat.reshape(self._counts.shape)
        self._entropies += np.bincount(rows, entropies[blocks], self._rows)

    def bands(self, exact: bool) -> Bands:
        """What was added, as shares."""
        total = np.maximum(self._counts.sum(axis=1), 1)
        # What is there at all is seen, if as the least share.
        shares = -(-self._counts * FULL // total[:, None])
        entropies = np.rint(self._entropies / total * FULL / 8)
        return Bands(
            self._start,
            self._stop,
            self._rows,
            shares.astype(np.uint8).tobytes(),
            np.clip(entropies, 0, FULL).astype(np.uint8).tobytes(),
            exact,
        )
