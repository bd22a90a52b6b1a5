"""What is behind and around the bytes of a row: tints by role, contours of spans. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inspector.core.field import Run
from inspector.core.kinds import Role
from inspector.core.span import Span, intersect, subtract

HATCHED = frozenset({Role.GAP, Role.GARBAGE})
"""Roles that are drawn with strokes as well: bytes that nothing claims."""


class Tint(NamedTuple):
    """Neighbouring bytes ``[start, stop)`` with the same background."""

    start: int
    stop: int
    role: Role
    shade: int


def tints(runs: Iterable[Run]) -> list[Tint]:
    """Runs in file order as tints, neighbours that look the same made one.

    Only member data has shades: everything else of two members looks alike.
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


def within(some: Sequence[Tint], start: int, stop: int) -> list[Tint]:
    """The parts of tints (in file order, disjoint) inside ``[start, stop)``."""
    index = max(0, bisect_right(some, start, key=lambda tint: tint.start) - 1)
    found: list[Tint] = []
    while index < len(some) and some[index].start < stop:
        first, end, role, shade = some[index]
        if end > start:
            found.append(Tint(max(first, start), min(end, stop), role, shade))
        index += 1
    return found


def joined(spans: Iterable[tuple[int, int]], size: int) -> list[Span]:
    """Spans inside ``size`` bytes, sorted, those that overlap or touch made one.

    An empty span stands for the byte at it, at the end of the file for the last byte: also the place where
    something is missing can be seen.
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
    """The lines around spans in one row: ``pieces`` have sides, ``top`` and ``bottom`` are where lines run."""

    pieces: list[Span]
    top: list[Span]
    bottom: list[Span]


def contour(spans: Sequence[Span], row: Span, columns: int) -> Contour | None:
    """The contour of ``spans`` (joined) in a row, or None where they do not meet it.

    Between two rows runs a line only where one is inside and the other is not: a field of many rows has one outline.
    """
    low = bisect_right(spans, row.start - columns, key=lambda span: span.stop)
    high = bisect_left(spans, row.stop + columns, lo=low, key=lambda span: span.start)
    near = spans[low:high]
    pieces = intersect([row], near)
    if not pieces:
        return None
    above = [Span(start - columns, stop - columns) for start, stop in pieces]
    below = [Span(start + columns, stop + columns) for start, stop in pieces]
    top = [Span(start + columns, stop + columns) for start, stop in subtract(above, near)]
    bottom = [Span(start - columns, stop - columns) for start, stop in subtract(below, near)]
    return Contour(pieces, top, bottom)


def meets(spans: Sequence[Span], start: int, stop: int) -> bool:
    """Whether any of ``spans`` (joined) meets ``[start, stop)``."""
    return bool(near(spans, start, stop))


def near(spans: Sequence[Span], start: int, stop: int) -> Sequence[Span]:
    """Those of ``spans`` (joined) that meet ``[start, stop)``."""
    low = bisect_right(spans, start, key=lambda span: span.stop)
    return spans[low : bisect_left(spans, stop, lo=low, key=lambda span: span.start)]
