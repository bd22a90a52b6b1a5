"""Backgrounds and outlines of the bytes of a row: tints by role, contours around spans. No Qt here."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inspector.core.field import Run
from inspector.core.kinds import Role
from inspector.core.span import Span, intersect, subtract

HATCHED = frozenset({Role.GAP, Role.GARBAGE})
"""Roles that are also hatched: bytes that no field claims."""


class Tint(NamedTuple):
    """Neighbouring bytes ``[start, stop)`` with the same background."""

    start: int
    stop: int
    role: Role
    shade: int


def tints(runs: Iterable[Run]) -> list[Tint]:
    """Tints for runs in file order; neighbours of the same colour are merged.

    Only member data has shades, to tell neighbouring members apart.
    """
    found: list[Tint] = []
    for run in runs:
        shade = run.shade if run.role is Role.DATA else 0
        if found:
            start, stop, role, last_shade = found[-1]
            if stop == run.start and role is run.role and last_shade == shade:
                found[-1] = Tint(start, run.stop, role, shade)
                continue
        found.append(Tint(run.start, run.stop, run.role, shade))
    return found


def clip_tints(sorted_tints: Sequence[Tint], start: int, stop: int) -> list[Tint]:
    """The parts of tints (in file order, disjoint) in ``[start, stop)``."""
    index = max(0, bisect_right(sorted_tints, start, key=lambda tint: tint.start) - 1)
    found: list[Tint] = []
    while index < len(sorted_tints) and sorted_tints[index].start < stop:
        first, end, role, shade = sorted_tints[index]
        if end > start:
            found.append(Tint(max(first, start), min(end, stop), role, shade))
        index += 1
    return found


def merged(spans: Iterable[tuple[int, int]], size: int) -> list[Span]:
    """Spans clipped to ``size`` bytes and sorted; spans that overlap or touch are merged.

    An empty span, where something is missing, becomes the byte at it (the last byte at the end of the file), so that it
    can be seen.
    """
    found: list[Span] = []
    for start, stop in sorted(spans):
        low = max(0, min(start, size - 1))
        high = min(max(stop, low + 1), size)
        if found and low <= found[-1].stop:
            found[-1] = Span(found[-1].start, max(found[-1].stop, high))
        elif low < high:
            found.append(Span(low, high))
    return found


class Contour(NamedTuple):
    """The outline of spans in one row: ``pieces`` have side lines, ``top`` and ``bottom`` have horizontal lines."""

    pieces: list[Span]
    top: list[Span]
    bottom: list[Span]


def contour(spans: Sequence[Span], row: Span, columns: int) -> Contour | None:
    """The contour of merged ``spans`` in a row, None if no span overlaps the row.

    A horizontal line runs only between a byte inside and a byte outside: a field of many rows has one outline.
    """
    low = bisect_right(spans, row.start - columns, key=lambda span: span.stop)
    high = bisect_left(spans, row.stop + columns, lo=low, key=lambda span: span.start)
    close = spans[low:high]
    pieces = intersect([row], close)
    if not pieces:
        return None
    above = [Span(start - columns, stop - columns) for start, stop in pieces]
    below = [Span(start + columns, stop + columns) for start, stop in pieces]
    top = [Span(start + columns, stop + columns) for start, stop in subtract(above, close)]
    bottom = [Span(start - columns, stop - columns) for start, stop in subtract(below, close)]
    return Contour(pieces, top, bottom)


def overlaps(spans: Sequence[Span], start: int, stop: int) -> bool:
    """Whether any of merged ``spans`` overlaps ``[start, stop)``."""
    return bool(overlapping(spans, start, stop))


def overlapping(spans: Sequence[Span], start: int, stop: int) -> Sequence[Span]:
    """The merged ``spans`` that overlap ``[start, stop)``."""
    low = bisect_right(spans, start, key=lambda span: span.stop)
    return spans[low : bisect_left(spans, stop, lo=low, key=lambda span: span.start)]
