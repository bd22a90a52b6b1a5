from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Run
from inspector.core.kinds import Kind, Role, role_of
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy, Paint
from inspector.gui.hex.pages import Tint, clip_tints, merged, outline_of, overlaps, tints


def run(start: int, stop: int, kind: Kind, shade: int = 0) -> Run:
    return Run(start, stop, kind, role_of(kind), shade, (start,))


def tint(start: int, stop: int, role: Role, shade: int) -> Tint:
    return Tint(start, stop, Paint(ColourBy.KIND, role, shade))


def test_neighbours_of_one_role_become_one_and_members_take_turns() -> None:
    runs = [
        run(0, 4, Kind.LENGTH),
        run(4, 8, Kind.OFFSET, 1),
        run(8, 20, Kind.DATA, 0),
        run(20, 30, Kind.DATA, 1),
        run(30, 31, Kind.GAP, 1),
    ]

    assert tints(runs) == [
        tint(0, 8, Role.EXTENT, 0),
        tint(8, 20, Role.DATA, 0),
        tint(20, 30, Role.DATA, 1),
        tint(30, 31, Role.GAP, 0),
    ]


def test_runs_that_do_not_touch_stay_apart() -> None:
    assert len(tints([run(0, 4, Kind.NAME), run(5, 8, Kind.NAME)])) == 2


def test_the_parts_inside_a_row() -> None:
    some = [tint(0, 8, Role.EXTENT, 0), tint(8, 40, Role.DATA, 1), tint(50, 60, Role.NAME, 0)]

    assert clip_tints(some, 4, 12) == [tint(4, 8, Role.EXTENT, 0), tint(8, 12, Role.DATA, 1)]
    assert clip_tints(some, 40, 50) == []
    assert clip_tints(some, 45, 99) == [tint(50, 60, Role.NAME, 0)]
    assert clip_tints([], 0, 16) == []


spans = st.lists(st.tuples(st.integers(-10, 120), st.integers(-10, 120)), max_size=8)


@given(spans)
def test_joined_spans_are_sorted_apart_and_inside(some: list[tuple[int, int]]) -> None:
    found = merged(some, 100)

    assert all(0 <= start < stop <= 100 for start, stop in found)
    assert all(one.stop < other.start for one, other in pairwise(found))
    for start, stop in some:
        assert all(overlaps(found, byte, byte + 1) for byte in range(max(start, 0), min(stop, 100)))


def test_an_empty_span_marks_its_byte_or_the_last_one() -> None:
    assert merged([(5, 5), (100, 100)], 100) == [Span(5, 6), Span(99, 100)]
    assert merged([(0, 0)], 0) == []


COLUMNS = 4


@given(st.integers(0, 20), st.integers(1, 20), st.sampled_from([range(8), range(1, 4), range(2, 3)]))
def test_the_outline_of_a_structure_runs_wherever_it_ends(start: int, size: int, rows: range) -> None:
    def inside(row: int, column: int) -> bool:
        return 0 <= column < COLUMNS and start <= row * COLUMNS + column < start + size

    sides, edges = outline_of(start, start + size, COLUMNS, rows)

    drawn = {(column if column >= 0 else ~column + 1, row) for column, *lines in sides for row in range(*lines)}
    across = {(row if row >= 0 else ~row + 1, column) for row, *lines in edges for column in range(*lines)}
    columns = range(COLUMNS + 1)
    assert drawn == {(at, row) for row in rows for at in columns if inside(row, at) != inside(row, at - 1)}
    assert across == {
        (row, at)
        for row in range(rows.start, rows.stop + 1)
        for at in range(COLUMNS)
        if inside(row, at) != inside(row - 1, at)
        and ((inside(row, at) and row in rows) or (not inside(row, at) and row - 1 in rows))
    }
