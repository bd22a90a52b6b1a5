"""Plan the parts of a changed object: bytes to send, and bytes that the server copies from the old object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from inspector.core.edit import Edit
from inspector.core.span import Span

MIN_PART_BYTES = 5 << 20
"""The minimum of S3 for all parts but the last."""
SENT_PART_BYTES = 16 << 20
"""Parts to send are held in memory."""
COPIED_PART_BYTES = 512 << 20
"""S3 allows copying ten times as much, but then answers late."""
_MAX_PARTS = 9_000
"""S3 allows 10,000."""


class Piece(NamedTuple):
    """The bytes ``[start, stop)`` of the new object; ``copied`` by the server from the old one, or sent."""

    start: int
    stop: int
    copied: bool

    @property
    def size(self) -> int:
        """In bytes."""
        return self.stop - self.start


def pieces_of(edit: Edit, *, whole: bool = False) -> list[Piece]:
    """The parts of a changed object, in order, copying as much as the minimum size of parts allows.

    ``whole``: the server cannot copy. An empty object has no parts.
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
    """The spans to send: the changes, extended to the minimum size of parts."""
    found: list[Span] = []
    for span in edit.spans:
        if not span.size:
            continue
        before = found[-1].stop if found else 0
        start = span.start
        if start - before < MIN_PART_BYTES:
            start = found.pop().start if found else 0
        found.append(Span(start, min(max(span.stop, before, start + MIN_PART_BYTES), edit.new_size)))
    return found


def _split(start: int, stop: int, size: int, *, copied: bool) -> Iterator[Piece]:
    """Split a span into parts of allowed sizes."""
    step = max(COPIED_PART_BYTES if copied else SENT_PART_BYTES, size // _MAX_PARTS + 1)
    while start < stop:
        end = stop if stop - start < step + MIN_PART_BYTES else start + step
        yield Piece(start, end, copied)
        start = end


def bytes_sent(pieces: Sequence[Piece]) -> int:
    return sum(piece.size for piece in pieces if not piece.copied)


def merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Adjacent pieces of the same kind, merged."""
    groups = (list(group) for _, group in groupby(pieces, key=lambda piece: piece.copied))
    return [Piece(group[0].start, group[-1].stop, group[0].copied) for group in groups]
