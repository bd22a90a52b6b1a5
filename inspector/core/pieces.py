"""A PieceTable is a sequence of bytes made of spans of sources; a PieceSource reads one. Nothing is copied or written.

A table never changes: what replaces, inserts or deletes makes another one that shares its tree with this one. So to
undo is to go back to the table before, and each step takes memory and time that grow with the logarithm of the pieces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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

    def goes_on_in(self, later: Piece) -> bool:
        """Whether ``later`` begins in the same source where this piece ends."""
        return self.source is later.source and self.stop == later.start


class RepeatedSource:
    """``size`` bytes that repeat a pattern, which may not be empty; they take no memory."""

    def __init__(self, pattern: bytes, size: int, name: str = "pattern") -> None:
        if not pattern:
            raise ValueError("A pattern has at least one byte.")
        self.name = name
        self.size = size
        self._pattern = pattern

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        length = min(length, self.size - offset)
        if offset < 0 or length <= 0:
            return b""
        pattern, skipped = self._pattern, offset % len(self._pattern)
        return (pattern * (-(-(skipped + length) // len(pattern))))[skipped : skipped + length]

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - a pattern has no neighbours
        """See Source.sibling."""
        return None


class _Node(NamedTuple):
    """A node of a balanced tree: the heights of its two sides differ by at most two."""

    left: _Node | None
    piece: Piece
    right: _Node | None
    bytes: int
    height: int
    pieces: int


class PieceTable:
    """Pieces one after another. Offsets that lie outside raise ValueError."""

    __slots__ = ("_root", "size")

    def __init__(self, root: _Node | None = None) -> None:
        self._root = root
        self.size = _size(root)

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> PieceTable:
        """These pieces in order; those that go on in each other become one."""
        joined: list[Piece] = []
        for piece in pieces:
            if piece.size <= 0:
                continue
            if joined and joined[-1].goes_on_in(piece):
                joined[-1] = Piece(piece.source, joined[-1].start, joined[-1].size + piece.size)
            else:
                joined.append(piece)
        return cls(_built(joined, 0, len(joined)))

    @classmethod
    def whole(cls, source: Source) -> PieceTable:
        """All of a source."""
        return cls.of((Piece(source, 0, source.size),))

    @classmethod
    def of_bytes(cls, data: bytes) -> PieceTable:
        """Bytes held in memory."""
        return cls.whole(BytesSource(data))

    def __len__(self) -> int:
        """The number of pieces."""
        return self._root.pieces if self._root is not None else 0

    def pieces(self, start: int = 0, stop: int | None = None) -> Iterator[Piece]:
        """The pieces of the bytes ``[start, stop)``, to the end for None; the outer ones are cut to it."""
        stop = self.size if stop is None else min(stop, self.size)
        path: list[tuple[_Node, int]] = []
        node, at = self._root, 0
        while start < stop:
            while node is not None:
                begin = at + _size(node.left)
                if start < begin:
                    path.append((node, begin))
                    node = node.left
                elif start < begin + node.piece.size:
                    path.append((node, begin))
                    break
                else:
                    at = begin + node.piece.size
                    node = node.right
            found, begin = path.pop()
            end = min(stop, begin + found.piece.size)
            yield found.piece.part(start - begin, end - begin)
            start, at, node = end, begin + found.piece.size, found.right

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
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
        """The bytes ``[start, stop)``."""
        self._require(start, stop)
        return PieceTable(_split(_split(self._root, stop)[0], start)[1])

    def replace(self, start: int, stop: int, content: PieceTable) -> PieceTable:
        """The table with ``content``, of any size, in the place of ``[start, stop)``."""
        self._require(start, stop)
        before, rest = _split(self._root, start)
        return PieceTable(_concatenated(_concatenated(before, content._root), _split(rest, stop - start)[1]))

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
        """See Source.read."""
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
        """See Source.sibling."""
        return self.base.sibling(suffix, instead_of)


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


# ---- the tree ------------------------------------------------------------------------------------------------------


def _size(node: _Node | None) -> int:
    return node.bytes if node is not None else 0


def _height(node: _Node | None) -> int:
    return node.height if node is not None else 0


def _node(left: _Node | None, piece: Piece, right: _Node | None) -> _Node:
    size = _size(left) + piece.size + _size(right)
    pieces = (left.pieces if left is not None else 0) + 1 + (right.pieces if right is not None else 0)
    return _Node(left, piece, right, size, max(_height(left), _height(right)) + 1, pieces)


def _built(pieces: Sequence[Piece], first: int, stop: int) -> _Node | None:
    """A balanced tree of ``pieces[first:stop]``."""
    if first >= stop:
        return None
    middle = (first + stop) // 2
    return _node(_built(pieces, first, middle), pieces[middle], _built(pieces, middle + 1, stop))


def _balanced(left: _Node | None, piece: Piece, right: _Node | None) -> _Node:
    """A node of sides whose heights differ by at most three, turned until they differ by at most two."""
    if left is not None and left.height > _height(right) + 2:
        inner = left.right
        if inner is None or _height(left.left) >= inner.height:
            return _node(left.left, left.piece, _node(inner, piece, right))
        return _node(_node(left.left, left.piece, inner.left), inner.piece, _node(inner.right, piece, right))
    if right is not None and right.height > _height(left) + 2:
        inner = right.left
        if inner is None or _height(right.right) >= inner.height:
            return _node(_node(left, piece, inner), right.piece, right.right)
        return _node(_node(left, piece, inner.left), inner.piece, _node(inner.right, right.piece, right.right))
    return _node(left, piece, right)


def _joined(left: _Node | None, piece: Piece, right: _Node | None) -> _Node:
    """Two trees of any heights with a piece between them."""
    if left is not None and left.height > _height(right) + 2:
        return _balanced(left.left, left.piece, _joined(left.right, piece, right))
    if right is not None and right.height > _height(left) + 2:
        return _balanced(_joined(left, piece, right.left), right.piece, right.right)
    return _node(left, piece, right)


def _concatenated(left: _Node | None, right: _Node | None) -> _Node | None:
    """Two trees as one; where the first goes on in the second, those two pieces become one."""
    if left is None or right is None:
        return left or right
    rest, last = _without_last(left)
    first, others = _without_first(right)
    if last.goes_on_in(first):
        return _joined(rest, Piece(last.source, last.start, last.size + first.size), others)
    return _joined(rest, last, right)


def _without_last(node: _Node) -> tuple[_Node | None, Piece]:
    if node.right is None:
        return node.left, node.piece
    rest, last = _without_last(node.right)
    return _balanced(node.left, node.piece, rest), last


def _without_first(node: _Node) -> tuple[Piece, _Node | None]:
    if node.left is None:
        return node.piece, node.right
    first, rest = _without_first(node.left)
    return first, _balanced(rest, node.piece, node.right)


def _split(node: _Node | None, at: int) -> tuple[_Node | None, _Node | None]:
    """The trees of what stands before the byte ``at`` and of the rest."""
    if node is None:
        return None, None
    begin = _size(node.left)
    if at <= begin:
        before, after = _split(node.left, at)
        return before, _joined(after, node.piece, node.right)
    if at >= begin + node.piece.size:
        before, after = _split(node.right, at - begin - node.piece.size)
        return _joined(node.left, node.piece, before), after
    first, rest = node.piece.part(0, at - begin), node.piece.part(at - begin, node.piece.size)
    return _joined(node.left, first, None), _joined(None, rest, node.right)
