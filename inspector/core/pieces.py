"""A PieceTable is a sequence of bytes made of spans of sources; a PieceSource reads one. Nothing is copied or written.

A table never changes: what replaces, inserts or deletes makes another one. So to undo is to go back to the one before.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import itemgetter
from typing import NamedTuple

from inspector.core.source import BytesSource, Source, expect, is_sparing
from inspector.core.span import Span


class Piece(NamedTuple):
    """``size`` bytes of a source from ``start`` on."""

    source: Source
    start: int
    size: int

    @property
    def stop(self) -> int:
        """The end of the bytes in the source."""
        return self.start + self.size

    def part(self, start: int, stop: int) -> Piece:
        """The bytes ``[start, stop)`` of the piece, counted from its beginning."""
        return Piece(self.source, self.start + start, stop - start)


class RepeatedSource:
    """``size`` bytes that repeat a pattern, which may not be empty; they take no memory."""

    def __init__(self, pattern: bytes, size: int, name: str = "pattern") -> None:
        if not pattern:
            raise ValueError("A pattern has at least one byte.")
        self.name = name
        self.size = size
        self._pattern = pattern

    def read(self, offset: int, length: int) -> bytes:
        length = min(length, self.size - offset)
        if offset < 0 or length <= 0:
            return b""
        pattern, skipped = self._pattern, offset % len(self._pattern)
        return (pattern * (-(-(skipped + length) // len(pattern))))[skipped : skipped + length]

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - a pattern has no neighbours
        return None


class PieceTable:
    """Pieces one after another. Offsets that lie outside raise ValueError."""

    __slots__ = ("_pieces", "_stops", "size")

    def __init__(self, pieces: Iterable[Piece] = ()) -> None:
        self._pieces = _joined(pieces)
        self._stops = array("Q", accumulate(map(itemgetter(2), self._pieces)))
        self.size = self._stops[-1] if self._pieces else 0

    @classmethod
    def whole(cls, source: Source) -> PieceTable:
        return cls((Piece(source, 0, source.size),))

    @classmethod
    def of_bytes(cls, data: bytes) -> PieceTable:
        """Bytes held in memory."""
        return cls.whole(BytesSource(data))

    def __len__(self) -> int:
        """The number of pieces."""
        return len(self._pieces)

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[Piece]:
        """The pieces of the bytes ``[start, stop)``, to the end for None; the outer ones are cut to it."""
        stop = self.size if stop is None else min(stop, self.size)
        number = bisect_right(self._stops, start)
        while start < stop:
            piece, end = self._pieces[number], min(stop, self._stops[number])
            begin = self._stops[number] - piece.size
            yield piece.part(start - begin, end - begin)
            start, number = end, number + 1

    def read(self, offset: int, length: int) -> bytes:
        if offset < 0 or length <= 0:
            return b""
        pieces = tuple(self.pieces(offset, offset + length))
        if len(pieces) == 1:
            source, start, size = pieces[0]
            return source.read(start, size)
        held = _read_at_once(pieces)
        parts = []
        for source, start, size in pieces:
            first, data = held.get(id(source), (0, None))
            part = source.read(start, size) if data is None else data[start - first : start - first + size]
            parts.append(part)
            if len(part) < size:
                break  # the source has become shorter than the table knows it
        return b"".join(parts)

    # ---- other tables --------------------------------------------------------------------------------------------

    def slice(self, start: int, stop: int) -> PieceTable:
        self._require(start, stop)
        return PieceTable(self.pieces(start, stop))

    def replace(self, start: int, stop: int, content: PieceTable) -> PieceTable:
        """The table with ``content``, of any size, in the place of ``[start, stop)``."""
        self._require(start, stop)
        return PieceTable(chain(self.pieces(0, start), content._pieces, self.pieces(stop)))

    def insert(self, at: int, content: PieceTable) -> PieceTable:
        """The table with ``content`` before the byte ``at``."""
        return self.replace(at, at, content)

    def delete(self, start: int, stop: int) -> PieceTable:
        """The table without the bytes ``[start, stop)``."""
        return self.replace(start, stop, PieceTable())

    def _require(self, start: int, stop: int) -> None:
        if not 0 <= start <= stop <= self.size:
            raise ValueError(f"Bytes [{start}, {stop}) do not lie in {self.size}.")


class PieceSource:
    """The bytes of a table, under the name and beside the siblings of ``base``, from which most of them are."""

    def __init__(self, base: Source, table: PieceTable) -> None:
        self.name = base.name
        self.base = base
        self.table = table
        self.size = table.size
        self.sparing = is_sparing(base)

    def read(self, offset: int, length: int) -> bytes:
        return self.table.read(offset, length)

    def expect(self, start: int, stop: int) -> None:
        """The bytes ``[start, stop)`` are about to be read."""
        for piece in self.table.pieces(max(0, start), stop):
            expect(piece.source, piece.start, piece.stop)

    def from_base(self) -> Iterator[tuple[int, Span]]:
        """What is of the base: the position here and the bytes there, in the order here."""
        at = 0
        for piece in self.table.pieces():
            if piece.source is self.base:
                yield at, Span(piece.start, piece.stop)
            at += piece.size

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        return self.base.sibling(suffix, instead_of)


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces that own bytes; those that go on in each other as one."""
    joined: list[Piece] = []
    for piece in (each for each in pieces if each.size > 0):
        last = joined[-1] if joined else None
        if last is not None and last.source is piece.source and last.stop == piece.start:
            piece = Piece(piece.source, last.start, last.size + piece.size)  # noqa: PLW2901 - the two as one
            joined.pop()
        joined.append(piece)
    return joined


# ---- reading -------------------------------------------------------------------------------------------------------


def _read_at_once(pieces: Sequence[Piece]) -> dict[int, tuple[int, bytes]]:
    """Sources, by identity, of which several pieces lie near each other: where the bytes begin, and the bytes.

    So a stretch with many small changes is one read of the source beneath, and over a network one request.
    """
    wanted = sum(piece.size for piece in pieces)
    by_source: dict[int, list[Piece]] = defaultdict(list)
    for piece in pieces:
        by_source[id(piece.source)].append(piece)
    held = {}
    for key, own in by_source.items():
        first, stop = min(piece.start for piece in own), max(piece.stop for piece in own)
        if len(own) > 1 and stop - first <= 2 * wanted:
            held[key] = first, own[0].source.read(first, stop - first)
    return held
