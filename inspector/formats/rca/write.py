"""RCA's inner layer as it is written, and archives made of it (specification: "Inner Layer Format (Blob Layer)").

The size of a blob block stands before it and is hashed before it, so what a blob compresses to is kept until it is
whole: in memory, or where the caller has room for more (a temporary file) if it is large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2s
from itertools import islice
from typing import NamedTuple, Protocol

from msgspec import Struct

from inspector.core.edit import EditError
from inspector.core.names import visible
from inspector.core.numbers import grouped
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.formats._zstd import LEVEL, Compressor
from inspector.formats.rca.blocks import HASH_SIZE, RESET, Convention
from inspector.formats.rca.chunks import (
    FIRST_SIZE_BITS,
    METADATA_BYTES,
    Chunk,
    ChunkLayer,
    header_places,
    header_size,
)


class Storage(Source, Protocol):
    """Where bytes are kept until they are needed; raises SourceError where they do not fit."""

    def append(self, data: bytes) -> None:
        """Keep ``data`` after what is there."""


MakeStorage = Callable[[str], Storage]
"""Makes an empty room for what its argument names."""

MAX_BUFFERED_BYTES = 8 * 1024 * 1024
"""The most compressed bytes of a blob that are kept in memory."""


def varint(value: int) -> bytes:
    """A little-endian varint."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


class BlobLayer:
    """The blob layer from the start of an archive, or from where it is continued.

    ``before`` is the hash of the last segment of an archive that is continued: a reset block with it comes before the
    first blob. What its methods give is to be written in that order.
    """

    def __init__(self, convention: Convention, level: int = LEVEL, before: bytes | None = None) -> None:
        self._convention = convention
        self._level = level
        self._hash = blake2s(digest_size=HASH_SIZE)
        self._compressor = Compressor(level)
        self._due_hash = before
        self._started = False

    @property
    def digest(self) -> bytes:
        """The hash of the segment so far."""
        return self._hash.digest()

    def add(self, data: bytes) -> bytes:
        """Blocks, or a part of one, that are as they should be."""
        self._started = True
        self._hash.update(data)
        return data

    def reset(self) -> bytes:
        """A reset block, with which the next segment begins."""
        owed, self._due_hash = self._due_hash or self.digest, None
        head = varint(len(owed) << 6 | RESET << 1 | 1)
        self._compressor = Compressor(self._level)
        self._started = False
        self._hash = blake2s(head, digest_size=HASH_SIZE)
        if self._convention is Convention.RCARCH:
            self._hash.update(owed)
        return head + owed

    def blob(self, name: bytes, content: Iterable[bytes], room: MakeStorage) -> Iterator[bytes]:
        """A blob block, in pieces.

        What ``content`` raises passes through; nothing of the blob has been given then, and the next one shares no
        frame with those before it. Raises EditError for a name that the format cannot hold, SourceError where there
        is no room.
        """
        _check(name)
        if self._due_hash:
            yield self.reset()
        size, held, storage = 0, list[bytes](), None
        try:
            for piece in filter(None, self.packed(name, content)):
                size += len(piece)
                held.append(piece)
                if size > MAX_BUFFERED_BYTES:
                    storage = storage or room("a compressed blob")
                    storage.append(b"".join(held))
                    held.clear()
        except BaseException:
            self._abandon()
            raise
        yield from self.block(size, blocks(storage, 0, size) if storage is not None else held)

    def whole(self, name: bytes, content: bytes) -> bytes:
        """The block of a small blob, of the same bytes as ``blob`` gives. Raises EditError."""
        _check(name)
        before = self.reset() if self._due_hash else b""
        try:
            packed = self._compressor.add(b"%s\0%s" % (name, content)) + self._compressor.flush()
        except BaseException:
            self._abandon()
            raise
        return before + self.add(varint(len(packed) << 1) + packed)

    def packed(self, name: bytes, content: Iterable[bytes]) -> Iterator[bytes]:
        """What a blob compresses to, in pieces, some of them empty; all of them are to be taken."""
        yield self._compressor.add(name + b"\0")
        yield from map(self._compressor.add, content)
        yield self._compressor.flush()

    def block(self, size: int, packed: Iterable[bytes]) -> Iterator[bytes]:
        """The block of a blob that compresses to ``size`` bytes."""
        yield self.add(varint(size << 1))
        yield from map(self.add, packed)

    def _abandon(self) -> None:
        """Begin another frame: the compressor has seen what no reader will."""
        self._compressor = Compressor(self._level)
        if self._started:
            self._due_hash = self.digest


def _check(name: bytes) -> None:
    if 0 in name:
        shown = visible(name[:80])
        raise EditError(f"{shown} cannot be the name of a blob: in an RCA archive a 0 byte ends a name.")
    try:
        name.decode()
    except UnicodeDecodeError as error:
        raise EditError(
            f"{visible(name[:80])} cannot be the name of a blob: an RCA archive holds names in UTF-8, and from byte "
            f"{grouped(error.start)} on this is none."
        ) from error


class Writer:
    """Blobs appended to an archive in place, or to an empty file.

    Pieces are written as they come; all of them lie behind the end of the archive, so it stays as it is until what
    ``commit`` gives has been written. Whatever stood there before is garbage of an interrupted append.
    """

    def __init__(self, chunks: ChunkLayer, convention: Convention, room: MakeStorage, level: int = LEVEL) -> None:
        """Raises EditError where the end of the archive cannot be told."""
        if chunks.corrupt or chunks.truncated:
            raise EditError(
                "Nothing can be appended to this archive, for its end is missing or cannot be told; repair it first."
            )
        last = chunks.chunks[-1] if chunks.chunks else None
        self._chain = Chain(last)
        # The last chunk with a size counts, not a dead header behind it.
        before = last.metadata if last and any(chunk.payload.size for chunk in chunks.chunks) else None
        self._layer = BlobLayer(convention, level, before)
        self._storage = room

    @property
    def digest(self) -> bytes:
        """The hash of the last segment, which identifies the archive."""
        return self._layer.digest

    def blob(self, name: bytes, content: Iterable[bytes]) -> Iterator[Piece]:
        for data in self._layer.blob(name, content, self._storage):
            yield from self._chain.add(data)

    def small(self, blobs: Iterable[tuple[bytes, bytes]], most: int) -> Iterator[Piece]:
        """Small blobs, as name and content, in pieces of about ``most`` bytes; see BlobLayer.whole."""
        held, size = [], 0
        for name, content in blobs:
            held.append(block := self._layer.whole(name, content))
            size += len(block)
            if size >= most:
                yield from self._chain.add(b"".join(held))
                held, size = [], 0
        yield from self._chain.add(b"".join(held))

    def commit(self) -> Commit:
        """What makes the blobs part of the archive; more may follow it, with another commit."""
        return self._chain.commit(self._layer.digest)


class Piece(NamedTuple):
    """Bytes to be written at an offset of the file."""

    offset: int
    data: bytes


class Commit(Struct, frozen=True):
    """What makes bytes that have been written part of the archive.

    In this order: write ``headers``, cut the file off at ``size``, flush it all to the disk, write ``last``, flush
    again. The archive is what it was until ``last`` stands there, which is None where nothing was added.
    """

    headers: tuple[Piece, ...]
    last: Piece | None
    size: int


def header(size: int, bits: int, metadata: bytes) -> bytes:
    return size.to_bytes(bits // 8, "big") + metadata


def heads() -> Iterator[Span]:
    """Where the chunk headers of an archive will be that is made from nothing, those it will not need included."""
    places = islice(header_places(0, FIRST_SIZE_BITS), 3)  # no file reaches a size field of more than 64 bits
    return (Span(at, at + header_size(bits)) for at, bits in places)


class Chain:
    """Chunks that are filled one after another, behind ``last``, the last chunk of an archive, or in a new one.

    A chunk that is begun gets the size 0, which readers take for the end of the archive, until it is committed.
    """

    def __init__(self, last: Chunk | None = None) -> None:
        # A new archive is written as if behind a full chunk of no bytes, with a size field half as wide as the first.
        self._bits = last.bits if last else FIRST_SIZE_BITS // 2
        self._at = last.stop if last else 0
        self._limit = last.start + (1 << last.bits - 1) if last else 0
        self._open = [(last.start, last.bits)] if last and not last.full else []
        self._before = self._at

    def add(self, data: bytes) -> Iterator[Piece]:
        """Where ``data``, the next bytes of the blob layer, are to be written."""
        yield from self._add(data, 0, bytes(METADATA_BYTES))

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
