"""Which arrows are drawn beside which rows, and in which lane."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.core.span import Span
from inspector.gui.hex.gutter import strokes
from inspector.operations.protocol.views import Arrow


def arrow(source: int | None, target: int) -> Arrow:
    return Arrow(None if source is None else Span(source, source + 4), Span(target, target + 4), "from", "to")


def test_an_arrow_runs_from_row_to_row() -> None:
    (stroke,) = strokes([arrow(0, 80)], 16, 0, 10, 3, -1)
    assert (stroke.source, stroke.target, stroke.leaves, stroke.lane, stroke.lit) == (0, 5, None, 0, False)


def test_an_arrow_with_one_end_away_leaves_towards_it() -> None:
    away = strokes([arrow(32, 16_000), arrow(64, 0), arrow(0, 96)], 16, 2, 10, 3, -1)
    assert {(s.source, s.target, s.leaves) for s in away} == {(0, None, 1), (None, 4, 3), (2, None, 1)}


def test_an_arrow_within_a_row_or_wholly_away_is_not_drawn() -> None:
    assert strokes([arrow(0, 8), arrow(16_000, 32_000)], 16, 0, 10, 3, -1) == []


def test_an_arrow_from_beside_the_archive_has_its_target_alone() -> None:
    (stroke,) = strokes([arrow(None, 48)], 16, 0, 10, 3, -1)
    assert (stroke.source, stroke.target, stroke.leaves, stroke.rows) == (None, 3, None, (3, 3))


def test_the_one_at_the_caret_comes_first_even_if_it_is_the_longest() -> None:
    found = strokes([arrow(16, 32), arrow(0, 144)], 16, 0, 10, 1, 2)
    assert [(s.source, s.lit) for s in found] == [(0, True)]


def test_short_arrows_run_next_to_the_bytes() -> None:
    found = {s.source: s.lane for s in strokes([arrow(0, 144), arrow(32, 64)], 16, 0, 10, 3, -1)}
    assert found == {2: 0, 0: 1}


@given(
    st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 999)), st.integers(0, 999)), max_size=40),
    st.sampled_from((8, 16, 32)),
    st.integers(0, 60),
    st.integers(1, 30),
    st.integers(0, 6),
)
def test_no_two_lines_of_a_lane_meet(
    pairs: list[tuple[int | None, int]], columns: int, top: int, rows: int, lanes: int
) -> None:
    found = strokes([arrow(*pair) for pair in pairs], columns, top, rows, lanes, 5)
    taken = [(stroke.lane, row) for stroke in found for row in range(stroke.rows[0], stroke.rows[1] + 1)]
    assert len(taken) == len(set(taken))
    assert all(stroke.lane < lanes for stroke in found)
    assert all(-1 <= row <= rows for _, row in taken)
