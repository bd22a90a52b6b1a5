"""Models of rows that come by the page: any number of them, asked for when they are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from inspector.gui.kit.item_views import MAX_GROUP_ROWS, PagedTree
from inspector.gui.kit.table_models import MAX_PENDING_PAGES, PAGE_ROWS, Column, PagedTable
from inspector.operations.protocol.views import Page

NUMBERS = (Column("Number", str), Column("Square", lambda row: str(row * row)))


@dataclass
class Numbers:
    """A table of numbers; answers wait until they are let go."""

    total: int

    def __post_init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []
        self.asked: list[int] = []

    def fetch(self, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        self.asked.append(first)
        total = self.total
        rows = tuple(range(first, min(first + count, total)))
        self.waiting.append(lambda: deliver(Page(total, first, rows)))

    def answer(self) -> None:
        waiting, self.waiting = self.waiting, []
        for one in waiting:
            one()


def filled(qtbot: QtBot, total: int) -> tuple[Numbers, PagedTable]:
    numbers = Numbers(total)
    model = PagedTable(NUMBERS, numbers.fetch)
    model.refetch()
    qtbot.waitUntil(lambda: bool(numbers.waiting))
    numbers.answer()
    return numbers, model


def test_a_table_grows_to_its_total_and_shows_an_ellipsis_first(qtbot: QtBot, qtmodeltester: ModelTester) -> None:
    numbers, model = filled(qtbot, 1_000)
    assert model.rowCount() == 1_000
    assert model.index(3, 1).data() == "9"
    assert model.index(PAGE_ROWS * 2, 0).data() == "…"
    qtbot.waitUntil(lambda: bool(numbers.waiting))
    numbers.answer()
    assert model.index(PAGE_ROWS * 2, 0).data() == str(PAGE_ROWS * 2)
    qtmodeltester.check(model)


def test_a_fast_scroll_asks_for_the_last_pages_first(qtbot: QtBot) -> None:
    numbers, model = filled(qtbot, 1_000_000)
    numbers.asked.clear()
    for page in range(1, 100):
        model.index(page * PAGE_ROWS, 0).data()
    qtbot.waitUntil(lambda: bool(numbers.waiting))
    assert numbers.asked == [page * PAGE_ROWS for page in range(99, 99 - MAX_PENDING_PAGES, -1)]


def test_answers_to_stale_questions_are_dropped(qtbot: QtBot) -> None:
    numbers, model = filled(qtbot, 10)
    model.refetch()
    qtbot.waitUntil(lambda: bool(numbers.waiting))
    numbers.total = 4
    model.refetch()
    qtbot.waitUntil(lambda: len(numbers.waiting) == 2)
    numbers.waiting.pop(0)()
    assert model.rowCount() == 10
    numbers.answer()
    assert model.rowCount() == 4


class Deep(PagedTree):
    """A tree in which every row has ``counts[level]`` rows."""

    def __init__(self, counts: tuple[int, ...]) -> None:
        super().__init__((Column("Path", lambda row: ".".join(map(str, row))),), ())
        self.counts = counts
        self.asked: list[tuple[Any, int, int]] = []

    def fetch(self, key: Any, first: int, count: int, deliver: Callable[[Page[Any]], None]) -> None:
        self.asked.append((key, first, count))
        total = self.counts[len(key)]
        rows = tuple((*key, i) for i in range(first, min(first + count, total)))
        deliver(Page(total, first, rows))

    def key(self, row: Any) -> Any | None:
        return row if len(row) < len(self.counts) else None


def test_a_small_tree_has_its_rows_under_their_parents(qtmodeltester: ModelTester) -> None:
    model = Deep((3, 2))
    assert model.canFetchMore(QModelIndex())
    model.fetchMore(QModelIndex())
    assert [model.index(i, 0).data() for i in range(model.rowCount())] == ["0", "1", "2"]
    second = model.index(1, 0)
    assert model.hasChildren(second)
    assert model.rowCount(second) == 0
    model.fetchMore(second)
    assert model.index(1, 0, second).data() == "1.1"
    assert not model.hasChildren(model.index(1, 0, second))
    qtmodeltester.check(model)


def test_many_rows_are_gathered_in_ranges(qtmodeltester: ModelTester) -> None:
    model = deep = Deep((1_234,))
    model.fetchMore(QModelIndex())
    assert [model.index(i, 0).data() for i in range(model.rowCount())] == ["1 – 500", "501 – 1,000", "1,001 – 1,234"]
    assert model.row(model.index(2, 0)) is None
    model.fetchMore(model.index(2, 0))
    assert model.index(3, 0, model.index(2, 0)).data() == "1003"
    assert deep.asked[-1] == ((), 1_000, 234)
    qtmodeltester.check(model)


@pytest.mark.parametrize("path", [(0,), (MAX_GROUP_ROWS**2 + 7,), (3_000_000 - 1,), (77_777, 1, 1_999)])
def test_any_row_of_millions_is_revealed_by_a_few_questions(qtbot: QtBot, path: tuple[int, ...]) -> None:
    model = deep = Deep((3_000_000, 2, 2_000))
    with qtbot.waitSignal(model.revealed) as revealed:
        model.reveal(path)
    assert revealed.args is not None
    assert model.row(revealed.args[0]) == path
    assert len(deep.asked) <= 2 * len(path)


@pytest.mark.parametrize(("path", "shown"), [((1, 9), (1,)), ((1, 1, 4, 2), (1, 1))])
def test_a_place_that_is_not_there_reveals_what_is_around_it(
    qtbot: QtBot, path: tuple[int, ...], shown: tuple[int, ...]
) -> None:
    model = Deep((3, 2))
    with qtbot.waitSignal(model.revealed) as revealed:
        model.reveal(path)
    assert revealed.args is not None
    assert model.row(revealed.args[0]) == shown


def test_a_tree_forgets_what_is_stale(qtbot: QtBot) -> None:
    model = deep = Deep((3, 2))
    model.fetchMore(QModelIndex())
    with qtbot.waitSignal(model.modelReset):
        model.refetch()
    assert model.rowCount() == 0
    deep.counts = (5,)
    model.fetchMore(QModelIndex())
    assert model.rowCount() == 5
