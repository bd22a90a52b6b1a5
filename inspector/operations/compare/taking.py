"""Taking one difference from the other side by hand: into a pending change, or into a new archive."""

from __future__ import annotations

from inspector.core.edit import Edit, Patch
from inspector.core.names import visible
from inspector.core.numbers import in_bytes
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError
from inspector.core.span import Span
from inspector.operations.compare.combined import NOTHING, Combination, CombinedSource
from inspector.operations.compare.combining import checked, planned, source_of
from inspector.operations.compare.comparing import Comparison
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.compare_views import A, Difference, Ground, Step

MAX_TAKEN_BYTES = 16 << 20
"""Bytes taken into a pending change; more go into a new archive."""


def taken(comparison: Comparison, side: str, difference: Difference) -> Edit | None:
    """The change of one side's file that takes a difference from the other side; None where sizes differ.

    Raises OperationError where there is nothing to take, and SourceError.
    """
    own, other, pairs = _hand(comparison, side, difference)
    if any(mine.size != theirs.size for mine, theirs in pairs) or sum(own.size for own, _ in pairs) > MAX_TAKEN_BYTES:
        return None
    patches = []
    for mine, theirs in pairs:
        old, new = own.read(mine.start, mine.size), other.read(theirs.start, theirs.size)
        if len(old) < mine.size or len(new) < theirs.size:
            raise SourceError("A file became shorter since it was compared. Compare again.")
        patches.append(Patch(mine.start, old, new))
    letter = "B" if side == A else "A"
    size = sum(mine.size for mine, _ in pairs)
    return Edit(f"Take {in_bytes(size)} from {letter}", tuple(patches), own.size, own.size)


def combine_by_hand(
    comparison: Comparison, side: str, difference: Difference, progress: Progress, number: int = 0
) -> Combination:
    """One side as it would be with a difference taken from the other. Raises as ``combine`` does."""
    own, other, pairs = _hand(comparison, side, difference)
    pieces: list[tuple[int, Span]] = []
    at = 0
    for mine, theirs in sorted(pairs):
        if mine.start < at:
            raise OperationError(f"Its bytes overlap, so it cannot be taken. {NOTHING}")
        pieces += ((0, Span(at, mine.start)), (1, theirs))
        at = mine.stop
    archive = checked(CombinedSource((own, other), [*pieces, (0, Span(at, own.size))], 0), progress)
    letter = "B" if side == A else "A"
    span = Span(pairs[0][0].start, pairs[0][0].start + pairs[0][1].size)
    step = Step(letter, Ground.HAND, span, f"{visible(difference.message)} Taken by hand from {letter}.")
    names = comparison.summary.a, comparison.summary.b
    return Combination(source_of(archive), planned(archive, [step], names, number))


def _hand(comparison: Comparison, side: str, difference: Difference) -> tuple[Source, Source, list[tuple[Span, Span]]]:
    """Both sources, the one to change first, and which bytes take the place of which."""
    if comparison.alignment is None:
        raise OperationError(f"Bytes can only be taken between two files that were compared as such. {NOTHING}")
    own, other = (each.archives[0].source for each in (comparison.a, comparison.b))
    mine, theirs = difference.a, difference.b
    if side != A:
        own, other, mine, theirs = other, own, theirs, mine
    if mine is None or theirs is None or not mine.spans or len(mine.spans) != len(theirs.spans):
        raise OperationError(
            "Only what both sides have can be taken. Take the bytes that differ instead, or combine the two. " + NOTHING
        )
    return own, other, [(Span(*x), Span(*y)) for x, y in zip(mine.spans, theirs.spans, strict=True)]
