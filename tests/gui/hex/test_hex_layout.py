from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.span import Span
from inspector.gui.hex.layout import Layout, fitting

layouts = st.builds(Layout, st.integers(1, 1 << 40), st.sampled_from([8, 16, 24, 32, 112]))


@pytest.mark.parametrize(
    ("size", "digits"), [(0, 8), (1, 8), (1 << 32, 8), ((1 << 32) + 1, 10), (1 << 36, 10), (1 << 44, 12)]
)
def test_offsets_have_an_even_number_of_digits_enough_for_the_last_byte(size: int, digits: int) -> None:
    assert Layout(size, 16).digits == digits


def test_a_row_of_sixteen_is_offset_hex_in_two_groups_and_text() -> None:
    layout = Layout(100, 16)

    assert [layout.hex_cell(column) for column in (0, 1, 7, 8, 15)] == [10, 13, 31, 35, 56]
    assert [layout.text_cell(column) for column in (0, 15)] == [60, 75]
    assert (layout.hex_start, layout.text_start, layout.cells) == (10, 60, 76)


def test_rows_end_with_the_bytes() -> None:
    layout = Layout(20, 8)

    assert layout.rows == 3
    assert [layout.span_of(row) for row in range(-1, 4)] == [
        Span(0, 8),
        Span(0, 8),
        Span(8, 16),
        Span(16, 20),
        Span(20, 20),
    ]


@given(layouts, st.data())
def test_each_byte_is_found_where_it_stands(layout: Layout, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, layout.size - 1))
    row, column = divmod(offset, layout.columns)
    places = ((layout.hex_cell(column) + 0.5, False), (layout.text_cell(column) + 0.5, True))

    assert offset // layout.columns == row
    for cell, in_text in places:
        assert layout.in_text(cell) is in_text
        assert layout.byte_at(row, cell, in_text) == offset


@given(layouts, st.integers(-5, 1 << 40), st.floats(-100, 1000), st.booleans())
def test_the_nearest_byte_always_exists(layout: Layout, row: int, cell: float, in_text: bool) -> None:
    assert 0 <= layout.byte_at(row, cell, in_text) < layout.size


@given(st.integers(0, 1 << 36), st.integers(0, 600))
def test_fitting_takes_the_most_groups_that_have_room(size: int, cells: int) -> None:
    layout = fitting(size, cells)

    assert layout.columns.bit_count() == 1
    assert layout.columns >= 8
    assert layout.cells <= cells or layout.columns == 8
    assert Layout(size, 2 * layout.columns).cells > cells


@given(st.integers(1, 1 << 60), st.sampled_from([8, 16, 32, 64]), st.integers(0, 1 << 60))
def test_offsets_in_decimal_are_the_numbers_and_all_of_one_width(size: int, columns: int, row: int) -> None:
    layout = Layout(size, columns, 10)
    text = layout.number_text(row % layout.rows * layout.columns)

    assert int(text) == row % layout.rows * columns
    assert len(text) == layout.digits
    assert layout.digits >= len(str(size - 1))


@pytest.mark.parametrize(
    ("columns", "base", "last"), [(16, 16, "0f"), (16, 10, "15"), (64, 10, "63"), (128, 10, "7f"), (8, 10, "07")]
)
def test_the_heads_of_columns_have_two_digits(columns: int, base: int, last: str) -> None:
    heads = Layout(1000, columns, base).column_labels

    assert len(heads) == columns
    assert {len(head) for head in heads} == {2}
    assert heads[-1] == last
