from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.gui.hex.layout import MAX_BAR_VALUE, RowScroll


def scroll(rows: int, page: int, top: int = 0) -> RowScroll:
    made = RowScroll()
    made.resize(rows, page)
    made.to(top)
    return made


def test_the_position_stays_inside_and_tells_how_far_it_moved() -> None:
    made = scroll(100, 30)

    assert (made.to(50), made.top) == (50, 50)
    assert (made.to(1 << 80), made.top) == (20, 70)
    assert (made.to(-5), made.top) == (-70, 0)


def test_a_row_beside_the_page_comes_to_its_edge_and_a_far_one_well_inside() -> None:
    made = scroll(1000, 30, top=100)

    assert made.revealing(99) == 99
    assert made.revealing(130) == 101
    assert made.revealing(500) == 493
    assert made.revealing(0) == 0
    assert made.revealing(999) == 970


def test_a_stretch_that_fits_is_shown_whole() -> None:
    made = scroll(1000, 30, top=100)

    assert made.revealing(125, 135) == 105
    assert made.revealing(125, 500) == 100


@given(st.integers(0, 1 << 45), st.integers(1, 200), st.data())
def test_any_row_is_shown_after_revealing_it(rows: int, page: int, data: st.DataObject) -> None:
    made = scroll(rows, page, data.draw(st.integers(0, rows)))
    row = data.draw(st.integers(0, max(0, rows - 1)))

    made.to(made.revealing(row))

    assert made.top <= row < made.top + page


@given(st.integers(0, 1 << 45), st.integers(1, 200), st.data())
def test_the_bar_mirrors_the_position_within_a_page(rows: int, page: int, data: st.DataObject) -> None:
    made = scroll(rows, page, data.draw(st.integers(0, rows)))

    assert 0 <= made.bar_value <= made.bar_maximum <= MAX_BAR_VALUE
    assert abs(made.from_bar(made.bar_value) - made.top) <= max(0, made.last // MAX_BAR_VALUE + 1)
