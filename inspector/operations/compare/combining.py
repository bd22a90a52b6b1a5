"""One good archive out of two damaged copies: every difference from the side whose digest proves it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from inspector.core.names import visible
from inspector.core.numbers import count, grouped, in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.core.span import Span
from inspector.operations.check.checking import check_archive, state_of
from inspector.operations.compare.comparing import Comparison
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import decode, start
from inspector.operations.protocol.compare_views import A, Alignment, Difference, Level, Side
from inspector.sources.local.atomic import AtomicFile
from inspector.sources.s3.address import is_s3

_NOTHING = "Nothing was written."


class CombinedSource:
    """Pieces of two sources read as one; what stands beside the first stands beside it."""

    def __init__(self, a: Source, b: Source, pieces: Sequence[tuple[str, Span]]) -> None:
        self.name = a.name
        self._sides = {A: a}
        self._other = b
        self._pieces = pieces
        self._stops = list(accumulate(span.size for _, span in pieces))
        self.size = self._stops[-1] if self._stops else 0

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        found = bytearray()
        at = bisect_right(self._stops, offset)
        while offset >= 0 and len(found) < length and at < len(self._pieces):
            side, span = self._pieces[at]
            ahead = offset + len(found) - (self._stops[at] - span.size)
            wanted = min(span.size - ahead, length - len(found))
            piece = self._sides.get(side, self._other).read(span.start + ahead, wanted)
            found += piece
            if len(piece) < wanted:
                break
            at += 1
        return bytes(found)

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        return self._sides[A].sibling(suffix, instead_of) or self._other.sibling(suffix, instead_of)


@dataclass(frozen=True, slots=True)
class Combination:
    """An archive that can be written; ``plan`` says in lines what comes from where."""

    source: CombinedSource
    plan: tuple[str, ...]


def combine(comparison: Comparison, progress: Progress) -> Combination:
    """The archive that takes each difference from the side that is right.

    It is decoded and checked before anything is written. Raises OperationError where a digest does not prove every
    difference, or where the result would not be whole; also SourceError and Cancelled.
    """
    alignment = comparison.alignment
    runs = [each for each in comparison.differences if each.level is Level.BYTES]
    if alignment is None:
        raise OperationError(f"Only two copies of one archive can be combined. {_NOTHING}")
    if not runs:
        raise OperationError(f"There is nothing to combine: the bytes are equal. {_NOTHING}")
    unproved = [each for each in runs if each.right is None]
    if len(runs) != len(alignment) or unproved:
        places = f" The first: {unproved[0].message}" if unproved else ""
        raise OperationError(
            f"Of {count(len(alignment), 'difference')} {grouped(len(unproved))} cannot be decided: no digest proves "
            f"either side.{places} {_NOTHING}"
        )
    a, b = (side.archives[0].source for side in (comparison.a, comparison.b))
    source = CombinedSource(a, b, _pieces(alignment, runs))
    archive = start(source)
    decode(archive, progress)
    check_archive(archive, progress)
    state = state_of((archive,))
    if not state.fine:
        raise OperationError(f"Put together, the archive would still be {state}. {_NOTHING}")
    return Combination(source, tuple(f"from {(each.right or '').upper()}: {each.message}" for each in runs))


def _pieces(alignment: Alignment, runs: Sequence[Difference]) -> list[tuple[str, Span]]:
    """What comes from where, in order; what is equal comes from A."""
    found: list[tuple[str, Span]] = []
    at = 0
    for number, each in enumerate(runs):
        found.append((A, Span(at, alignment.a_starts[number])))
        taken: Side | None = each.a if each.right == A else each.b
        assert taken is not None
        found.append((each.right or A, taken.spans[0]))
        at = alignment.a_stops[number]
    found.append((A, Span(at, alignment.a_size)))
    return [(side, span) for side, span in found if span.size]


def write_combination(combination: Combination, target: str, progress: Progress) -> str:
    """Write it to a new file, whole or not at all, and return the sentence that says so.

    Raises OperationError for a target on S3, SourceError if the file exists or cannot be written, and Cancelled.
    """
    if is_s3(target):
        raise OperationError(f"A combined archive can be written to a file of this machine only. {_NOTHING}")
    source, path = combination.source, Path(target)
    if path.exists():
        raise SourceError(f"{visible(target)} is there already. {_NOTHING}")
    progress.begin("Writing", source.size)
    with AtomicFile(path) as file:
        written = 0
        for piece in blocks(source, 0, source.size):
            file.write(piece)
            written += len(piece)
            progress.advance(len(piece))
        if written < source.size:
            raise SourceError(f"A source became shorter while it was read. {_NOTHING}")
    taken = count(len(combination.plan), "difference")
    return f"{visible(target)} was written: {in_bytes(source.size)}, {taken} decided by digests; it is whole."
