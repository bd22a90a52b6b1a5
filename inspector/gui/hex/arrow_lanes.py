"""Which arrow runs in which lane beside the rows. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from inspector.operations.protocol.views import Arrow


@dataclass(frozen=True, slots=True)
class Stroke:
    """How an arrow is drawn: along ``lane``, counted from the rows outwards, between two of the rows shown.

    ``source`` and ``target`` are the rows of its ends, counted from the first row shown, None where an end is not
    shown; the line then ends at the row ``leaves``, above or below the one that is. An arrow from beside the archive
    has its ``target`` alone and leaves for no row. ``lit`` tells whether the caret is at one of its ends.
    """

    arrow: Arrow
    lane: int
    source: int | None
    target: int | None
    leaves: int | None
    lit: bool

    @property
    def rows(self) -> tuple[int, int]:
        """The first and the last row that the line is beside."""
        ends = [row for row in (self.source, self.target, self.leaves) if row is not None]
        return min(ends), max(ends)


def strokes(arrows: Sequence[Arrow], columns: int, top: int, rows: int, lanes: int, caret: int) -> list[Stroke]:
    """The arrows that can be seen beside the rows ``[top, top + rows)`` of ``columns`` bytes, each with its lane.

    The one at the caret comes first, then short ones; what finds no lane free is left out.
    """
    seen = [stroke for arrow in arrows if (stroke := _stroke(arrow, columns, top, rows, caret)) is not None]
    seen.sort(key=lambda stroke: (not stroke.lit, stroke.rows[1] - stroke.rows[0], stroke.rows[0]))
    free: list[set[int]] = [set(range(-1, rows + 1)) for _ in range(lanes)]
    laid = []
    for stroke in seen:
        low, high = stroke.rows
        wanted = set(range(low, high + 1))
        lane = next((at for at, left in enumerate(free) if wanted <= left), None)
        if lane is not None:
            free[lane] -= wanted
            laid.append(Stroke(stroke.arrow, lane, stroke.source, stroke.target, stroke.leaves, stroke.lit))
    return laid


def _stroke(arrow: Arrow, columns: int, top: int, rows: int, caret: int) -> Stroke | None:
    source = None if arrow.source is None else _row(arrow.source.start, columns, top)
    target = _row(arrow.target.start, columns, top)
    lit = (arrow.source is not None and arrow.source.start <= caret < arrow.source.stop) or _leads_to(arrow, caret)
    shown = [row for row in (source, target) if row is not None and 0 <= row < rows]
    if source == target or not shown:
        return None
    if len(shown) == 2 or source is None:
        return Stroke(arrow, 0, source, target, None, lit)
    here = shown[0]
    there = target if here == source else source
    leaves = here + (1 if there > here else -1)
    return Stroke(arrow, 0, source if here == source else None, target if here == target else None, leaves, lit)


def _leads_to(arrow: Arrow, caret: int) -> bool:
    """Whether the caret is where an arrow ends. What it leads to may be long: then its beginning counts."""
    return arrow.target.start == caret


def _row(offset: int, columns: int, top: int) -> int:
    return offset // columns - top
