"""One progress for the work on several archives."""

from __future__ import annotations

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.operations.jobs.subprogress import SubProgress, subprogresses


def test_parts_make_the_whole_in_their_order() -> None:
    whole = Progress()
    seen = []
    for part in subprogresses(whole, "Reading", (100, 0, 300)):
        for label in ("one", "two"):
            part.begin(label, 10)
            part.advance(5)
            seen.append((whole.label, whole.done))
            part.advance(5)
    assert seen == [("one", 50), ("two", 100), ("one", 100), ("two", 100), ("one", 250), ("two", 400)]
    assert (whole.done, whole.total, whole.unit) == (400, 400, "bytes")


def test_a_part_whose_stages_count_other_things_is_filled_at_its_end() -> None:
    whole = Progress()
    parts = subprogresses(whole, "Checking", (100, 200))
    part = next(parts)
    part.begin("Comparing names", 10, "members")
    part.advance(10)
    assert whole.done == 0
    next(parts)
    assert whole.done == 100


def test_a_part_may_have_parts() -> None:
    whole = Progress()
    inner = next(subprogresses(whole, "Checking", (100, 300)))
    assert [whole.done for _ in subprogresses(inner, "Reading", (1, 1, 2))] == [0, 25, 50]
    assert whole.done == 100


def test_a_single_part_is_the_whole() -> None:
    whole = Progress("as before", 7)
    assert list(subprogresses(whole, "Reading", (100,))) == [whole]
    assert (whole.label, whole.total) == ("as before", 7)


def test_more_than_was_announced_stays_in_its_part() -> None:
    whole = Progress("", 200)
    part = SubProgress(whole, 0, 100)
    part.begin("Reading", 10)
    part.advance(1_000)
    assert whole.done == 100


def test_cancelling_the_whole_stops_a_part() -> None:
    whole = Progress()
    part = next(subprogresses(whole, "Reading", (1, 1)))
    whole.cancel()
    with pytest.raises(Cancelled):
        part.begin("Reading", 10)
    with pytest.raises(Cancelled):
        part.advance(0)
