from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.span import Span
from inspector.gui.hex.layout import MOVES, Cursor

SIZE = 100


def at(offset: int, size: int = SIZE) -> Cursor:
    cursor = Cursor(size)
    cursor.place(offset)
    return cursor


@pytest.mark.parametrize(
    ("start", "move", "there"),
    [
        (5, "PreviousChar", 4),
        (0, "PreviousChar", 0),
        (5, "NextChar", 6),
        (99, "NextChar", 99),
        (20, "PreviousLine", 4),
        (5, "PreviousLine", 5),
        (5, "NextLine", 21),
        (90, "NextLine", 99),  # the last row is shorter
        (98, "NextLine", 98),
        (70, "PreviousPage", 22),
        (20, "PreviousPage", 4),
        (5, "NextPage", 53),
        (50, "NextPage", 98),
        (37, "StartOfLine", 32),
        (37, "EndOfLine", 47),
        (97, "EndOfLine", 99),
        (37, "StartOfDocument", 0),
        (37, "EndOfDocument", 99),
    ],
)
def test_moves_in_rows_of_sixteen_and_pages_of_three(start: int, move: str, there: int) -> None:
    cursor = at(start)

    cursor.move(move, columns=16, page=3)

    assert cursor.caret == there
    assert cursor.selected is None


def test_extending_selects_from_where_it_began_both_ends_included() -> None:
    cursor = at(10)

    cursor.move("NextChar", 16, 3, extend=True)
    cursor.move("NextChar", 16, 3, extend=True)
    assert cursor.selected == Span(10, 13)

    cursor.move("StartOfLine", 16, 3, extend=True)
    assert cursor.selected == Span(0, 11)

    cursor.move("NextLine", 16, 3)
    assert cursor.selected is None
    assert cursor.selection == Span(16, 16)


@given(st.integers(-(1 << 70), 1 << 70), st.integers(-(1 << 70), 1 << 70))
def test_selecting_anything_stays_inside(start: int, stop: int) -> None:
    cursor = Cursor(SIZE)

    cursor.select(start, stop)

    assert 0 <= cursor.selection.start <= cursor.selection.stop <= SIZE
    assert 0 <= cursor.caret < SIZE


@pytest.mark.parametrize("move", MOVES)
def test_without_bytes_there_is_nowhere_to_go(move: str) -> None:
    cursor = Cursor(0)

    cursor.move(move, 16, 3, extend=True)

    assert (cursor.caret, cursor.selected) == (0, None)


def test_fewer_bytes_draw_caret_and_selection_in() -> None:
    cursor = at(50)
    cursor.place(90, extend=True)

    cursor.resize(60)
    assert (cursor.caret, cursor.selected) == (59, Span(50, 60))

    cursor.resize(0)
    assert (cursor.caret, cursor.selected) == (0, None)
