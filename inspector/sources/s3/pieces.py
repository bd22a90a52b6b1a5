"""Which bytes of a changed object are sent, and which the server copies from the object that is there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from inspector.core.edit import Edit
from inspector.core.span import Span

LEAST = 5 << 20
"""The least bytes of a part, other than the last one: a rule of S3."""
SENT = 16 << 20
"""Bytes of a part that is sent, which is held in memory."""
COPIED = 512 << 20
"""Bytes of a part that the server copies; S3 allows ten times that, and answers late."""
_MOST_PARTS = 9_000
"""S3 allows 10,000."""


class Piece(NamedTuple):
    """The bytes ``[start, stop)`` of an object as it will be; ``copied`` by the server from the one that is there."""

    start: int
    stop: int
    copied: bool

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self.stop - self.start


def pieces_of(edit: Edit, *, whole: bool = False) -> list[Piece]:
    """The parts that a changed object is made of, in order: as many bytes copied as the rule for parts lets be.

    ``whole``: the server cannot copy. An empty object has no piece.
    """
    size = edit.new_size
    runs = [Span(0, size)] if whole and size else _runs(edit)
    found: list[Piece] = []
    at = 0
    for run in runs:
        found += _split(at, run.start, size, copied=True)
        found += _split(run.start, run.stop, size, copied=False)
        at = run.stop
    found += _split(at, size, size, copied=True)
    return found


def _runs(edit: Edit) -> list[Span]:
    """The stretches that are sent: what changes, and around it what would be too small a part by itself."""
    found: list[Span] = []
    for span in edit.spans:
        if not span.size:
            continue
        before = found[-1].stop if found else 0
        start = span.start
        if start - before < LEAST:
            start = found.pop().start if found else 0
        found.append(Span(start, min(max(span.stop, before, start + LEAST), edit.new_size)))
    return found


def _split(start: int, stop: int, size: int, *, copied: bool) -> Iterator[Piece]:
    """A stretch as parts that are neither too large nor, unless they end the object, too small."""
    step = max(COPIED if copied else SENT, size // _MOST_PARTS + 1)
    while start < stop:
        end = stop if stop - start < step + LEAST else start + step
        yield Piece(start, end, copied)
        start = end


def moved(pieces: Sequence[Piece]) -> int:
    """How many bytes of the object are sent."""
    return sum(piece.size for piece in pieces if not piece.copied)


def joined(pieces: Sequence[Piece]) -> list[Piece]:
    """Neighbours that are made in the same way as one."""
    found: list[Piece] = []
    for piece in pieces:
        if found and found[-1].copied == piece.copied:
            found[-1] = Piece(found[-1].start, piece.stop, piece.copied)
        else:
            found.append(piece)
    return found
