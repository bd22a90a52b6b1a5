"""Backgrounds and outlines of bytes: tints, contours around spans, outlines of structures. No Qt here."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from inspector.core.field import Run, Structure
from inspector.core.span import Span, united
from inspector.drawing.byte_class import SMALL_BLOCK, look_of
from inspector.drawing.colouring import PAINTS, ColourBy, Paint, paint_of_look


class Tint(NamedTuple):
    """Neighbouring bytes ``[start, stop)`` with the same background."""

    start: int
    stop: int
    paint: Paint


def tints(runs: Iterable[Run], by: ColourBy = ColourBy.KIND) -> list[Tint]:
    """Tints for runs in file order; neighbours of the same colour are merged."""
    paint_of = PAINTS[by]
    return _joined(Tint(run.start, run.stop, paint) for run in runs if (paint := paint_of(run)) is not None)


def _joined(found: Iterable[Tint]) -> list[Tint]:
    joined: list[Tint] = []
    for each in found:
        if joined and joined[-1].stop == each.start and joined[-1].paint == each.paint:
            each = joined.pop()._replace(stop=each.stop)  # noqa: PLW2901 - the two are one
        joined.append(each)
    return joined


def look_tints(start: int, data: bytes) -> list[Tint]:
    """Tints by what bytes look like, in whole blocks; ``start`` is the first byte of a block."""
    blocks = ((start + at, data[at : at + SMALL_BLOCK]) for at in range(0, len(data), SMALL_BLOCK))
    return _joined(Tint(at, at + len(block), paint_of_look(look_of(block).byte_class)) for at, block in blocks)


def structures_of(runs: Iterable[Run]) -> list[Structure]:
    """The structures around runs in file order, each piece once, outer ones before those inside."""
    found: dict[tuple[int, tuple[int, ...]], Structure] = {}
    for run in runs:
        chain = []
        structure = run.structure
        while structure is not None and (structure.start, structure.path) not in found:
            chain.append(structure)
            structure = structure.outer
        for each in reversed(chain):
            found[each.start, each.path] = each
    return list(found.values())


def clip_tints(sorted_tints: Sequence[Tint], start: int, stop: int) -> list[Tint]:
    """The parts of tints (in file order, disjoint) in ``[start, stop)``."""
    first = max(0, bisect_right(sorted_tints, start, key=lambda tint: tint.start) - 1)
    inside = takewhile(lambda tint: tint.start < stop, sorted_tints[first:])
    return [Tint(max(low, start), min(high, stop), paint) for low, high, paint in inside if high > start]


def merged(spans: Iterable[tuple[int, int]], size: int) -> list[Span]:
    """Spans clipped to ``size`` bytes and sorted; spans that overlap or touch are merged.

    An empty span, where something is missing, becomes the byte at it (the last byte at the end of the file), so that it
    can be seen.
    """
    lows = ((max(0, min(start, size - 1)), stop) for start, stop in spans)
    clipped = (Span(low, min(max(stop, low + 1), size)) for low, stop in lows)
    return united(span for span in clipped if span.size)


def overlaps(spans: Sequence[Span], start: int, stop: int) -> bool:
    """Whether any of merged ``spans`` overlaps ``[start, stop)``."""
    return bool(overlapping(spans, start, stop))


def overlapping(spans: Sequence[Span], start: int, stop: int) -> Sequence[Span]:
    """The merged ``spans`` that overlap ``[start, stop)``."""
    low = bisect_right(spans, start, key=lambda span: span.stop)
    return spans[low : bisect_left(spans, stop, lo=low, key=lambda span: span.start)]


class Outline(NamedTuple):
    """The lines around a structure in columns and rows.

    ``sides`` are vertical lines ``(column, first row, row after)``, left of a column, or (column negative, ``~column``)
    right of it; ``edges`` are horizontal lines ``(row, first column, column after)``, above a row, or (``~row``) below.
    """

    sides: list[tuple[int, int, int]]
    edges: list[tuple[int, int, int]]


def outline_of(start: int, stop: int, columns: int, rows: range) -> Outline:
    """The outline of the bytes ``[start, stop)`` in ``rows`` of ``columns`` bytes; open where it leaves them."""
    (first, left), (last, right) = divmod(start, columns), divmod(stop - 1, columns)
    if first == last:
        sides = [(left, first, first + 1), (~right, first, first + 1)]
        edges = [(first, left, right + 1), (~first, left, right + 1)]
    else:
        sides = [(left, first, first + 1), (~(columns - 1), first, last)]
        sides += [(0, first + 1, last + 1), (~right, last, last + 1)]
        edges = [(first, left, columns), (~last, 0, right + 1)]
        if first + 1 == last and right < left:  # the end of one row and the start of the next: two pieces
            edges += [(~first, left, columns), (last, 0, right + 1)]
        else:
            edges += [(first + 1, 0, left), (~(last - 1), right + 1, columns)]
    clipped = [(column, max(low, rows.start), min(high, rows.stop)) for column, low, high in sides]
    return Outline(
        [side for side in clipped if side[1] < side[2]],
        [edge for edge in edges if edge[1] < edge[2] and max(edge[0], ~edge[0]) in rows],
    )
