from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Run
from inspector.core.kinds import Kind, Role, role_of
from inspector.core.span import Span
from inspector.drawing.colouring import ColourBy, Paint
from inspector.gui.hex.highlights import Tint, clip_tints, contour, merged, outline_of, overlaps, tints


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


def test_a_field_of_three_rows_has_one_outline() -> None:
    field = [Span(12, 36)]

    first, second, third = (contour(field, Span(start, start + 16), 16) for start in (0, 16, 32))

    assert first == ([Span(12, 16)], [Span(12, 16)], [])
    assert second == ([Span(16, 32)], [Span(16, 28)], [Span(20, 32)])
    assert third == ([Span(32, 36)], [], [Span(32, 36)])
    assert contour(field, Span(48, 64), 16) is None


def test_two_fields_in_a_row_have_sides_each() -> None:
    found = contour([Span(2, 4), Span(6, 8)], Span(0, 16), 16)

    assert found is not None
    assert found.pieces == found.top == found.bottom == [Span(2, 4), Span(6, 8)]


@given(spans, st.integers(0, 6), st.sampled_from([8, 16]))
def test_lines_run_exactly_where_inside_and_outside_meet(some: list[tuple[int, int]], row: int, columns: int) -> None:
    inside = {byte for start, stop in merged(some, 100) for byte in range(start, stop)}
    span = Span(min(row * columns, 100), min((row + 1) * columns, 100))

    found = contour(merged(some, 100), span, columns)

    here = [byte for byte in range(*span) if byte in inside]
    if found is None:
        assert not here
        return
    assert [byte for piece in found.pieces for byte in range(*piece)] == here
    assert [byte for line in found.top for byte in range(*line)] == [b for b in here if b - columns not in inside]
    assert [byte for line in found.bottom for byte in range(*line)] == [b for b in here if b + columns not in inside]


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
