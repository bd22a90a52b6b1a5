"""RCA's outer layer as it is written (specification: "Outer Layer Format (Chunk Layer)")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from inspector.core.span import Span
from inspector.formats.rca.chunks import BITS, METADATA, Chunk, header_size

_WIDEST = 64
"""The width of the size field of the widest chunk that a file can reach, in bits."""


class Piece(NamedTuple):
    """Bytes to be written at an offset of the file."""

    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Commit:
    """What makes bytes that have been written part of the archive.

    In this order: write ``headers``, cut the file off at ``size``, flush it all to the disk, write ``last``, flush
    again. The archive is what it was until ``last`` stands there, which is None where nothing was added.
    """

    headers: tuple[Piece, ...]
    last: Piece | None
    size: int


def header(size: int, bits: int, metadata: bytes) -> bytes:
    """A chunk header."""
    return size.to_bytes(bits // 8, "big") + metadata


def heads() -> Iterator[Span]:
    """Where the chunk headers of an archive will be that is made from nothing, those it will not need included."""
    at, bits = 0, BITS
    while bits <= _WIDEST:
        yield Span(at, at + header_size(bits))
        at += 1 << bits - 1
        bits *= 2


class Chain:
    """Chunks that are filled one after another, behind ``last``, the last chunk of an archive, or in a new one.

    A chunk that is begun gets the size 0, which readers take for the end of the archive, until it is committed.
    """

    def __init__(self, last: Chunk | None = None) -> None:
        # A new archive is written as if behind a full chunk of no bytes, with a size field half as wide as the first.
        self._bits = last.bits if last else BITS // 2
        self._at = last.stop if last else 0
        self._limit = last.start + (1 << last.bits - 1) if last else 0
        self._open = [(last.start, last.bits)] if last and not last.full else []
        self._before = self._at

    def add(self, data: bytes) -> Iterator[Piece]:
        """Where ``data``, the next bytes of the blob layer, are to be written."""
        yield from self._add(data, 0, bytes(METADATA))

    def _add(self, data: bytes, left: int, metadata: bytes) -> Iterator[Piece]:
        """``left`` are the bytes of the blob layer from ``data`` on, where that is known, or 0."""
        done = 0
        while done < len(data):
            if self._at == self._limit:
                yield self._begin(left - done if left else 0, metadata)
            part = data[done : done + self._limit - self._at]
            yield Piece(self._at, part)
            self._at += len(part)
            done += len(part)

    def _begin(self, payload: int, metadata: bytes) -> Piece:
        """Begin the next chunk, for ``payload`` bytes or more; with the size 0 where that is 0."""
        start, self._bits = self._limit, self._bits * 2
        self._at = start + header_size(self._bits)
        self._limit = start + (1 << self._bits - 1)
        self._open.append((start, self._bits))
        size = min(self._at + payload, self._limit) - start if payload else 0
        return Piece(start, header(size, self._bits, metadata))

    def commit(self, metadata: bytes) -> Commit:
        """What is to be written now; ``metadata`` is the hash of the last segment. More may follow it."""
        if self._at == self._before:
            return Commit((), None, self._at)
        stops = [start for start, _ in self._open[1:]] + [self._at]
        headers = [
            Piece(start, header(stop - start, bits, metadata))
            for (start, bits), stop in zip(self._open, stops, strict=True)
        ]
        self._before = self._at
        self._open = self._open[-1:] if self._at < self._limit else []
        return Commit(tuple(headers[1:]), headers[0], self._at)

    def whole(self, inner: Iterable[bytes], size: int, metadata: bytes) -> Iterator[bytes]:
        """A new archive from its first byte to its last, of a blob layer of ``size`` bytes whose last hash is known."""
        for data in inner:
            for piece in self._add(data, size, metadata):
                yield piece.data
            size -= len(data)
