"""Several pieces of work at a time: in order, bounded, and over as soon as nobody wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from threading import Barrier, Event, Lock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.map_ordered import map_ordered
from inspector.core.program.progress import Cancelled, Progress
from tests.patience import PATIENCE


def unseen(_: Sequence[Progress]) -> None:
    pass


@given(st.lists(st.integers(), max_size=40), st.integers(1, 9))
def test_answers_come_in_the_order_of_the_tasks(tasks: list[int], most: int) -> None:
    assert list(map_ordered(tasks, lambda task, _: -task, most, unseen)) == [-task for task in tasks]


def test_as_many_as_allowed_are_done_at_a_time() -> None:
    meeting, lock, most = Barrier(3), Lock(), 0
    running: set[int] = set()

    def work(task: int, _: Progress) -> int:
        nonlocal most
        with lock:
            running.add(task)
            most = max(most, len(running))
        meeting.wait(PATIENCE)  # which all three have to reach
        with lock:
            running.discard(task)
        return task

    assert list(map_ordered(range(9), work, 3, unseen)) == list(range(9))
    assert most == 3


def test_no_more_is_begun_than_a_few_pieces_ahead() -> None:
    begun: list[int] = []

    def tasks() -> Iterator[int]:
        for task in range(100):
            begun.append(task)
            yield task

    for answer in map_ordered(tasks(), lambda task, _: task, 2, unseen):
        assert len(begun) <= answer + 6


def test_an_error_is_raised_in_its_turn_and_ends_the_others() -> None:
    ended = Event()

    def work(task: int, progress: Progress) -> int:
        if task == 1:
            raise ValueError(task)
        if task > 1:
            _run(progress, ended)
        return task

    came = map_ordered(range(3), work, 3, unseen)
    assert next(came) == 0
    with pytest.raises(ValueError, match="1"):
        next(came)
    assert ended.is_set()


def _run(progress: Progress, ended: Event) -> None:
    """Work that only ends when it is cancelled."""
    try:
        while True:
            progress.advance(1)
    except Cancelled:
        ended.set()
        raise


def test_who_looks_may_end_it() -> None:
    ended = Event()

    def look(running: Sequence[Progress]) -> None:
        assert running
        raise Cancelled

    with pytest.raises(Cancelled):
        list(map_ordered([1], lambda _, progress: _run(progress, ended), 1, look))
    assert ended.is_set()


def test_closing_ends_what_is_running_and_begins_nothing_more() -> None:
    ended, begun = Event(), []

    def work(task: int, progress: Progress) -> int:
        begun.append(task)
        if task:
            _run(progress, ended)
        return task

    with closing(map_ordered(range(50), work, 1, unseen)) as came:
        assert next(came) == 0
    assert len(begun) <= 2
