from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.formats import _extents
from inspector.formats._extents import GAP, Overlap, lay_out, shared_extents

extents = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=12)


def columns(pairs: list[tuple[int, int]]) -> tuple[array[int], array[int]]:
    return array("Q", (start for start, _ in pairs)), array("Q", (stop for _, stop in pairs))


@given(extents, st.integers(0, 12), st.integers(12, 32))
def test_every_byte_belongs_to_one_row(pairs: list[tuple[int, int]], low: int, high: int) -> None:
    rows = lay_out(*columns(pairs), low, high)
    owner = {}
    for row in range(len(rows.starts)):
        start, stop = rows.starts[row], rows.row_stop(row)
        assert low <= start <= stop <= high
        assert (rows.owners[row] == GAP) == (row in rows.gaps)
        for byte in range(start, stop):
            assert byte not in owner
            owner[byte] = rows.owners[row]
    assert set(owner) == set(range(low, high))
    for byte, holder in owner.items():
        claimants = [i for i, (start, stop) in enumerate(pairs) if start <= byte < stop]
        assert holder in claimants or (holder == GAP and not claimants)
        if claimants:
            assert pairs[holder][0] == min(pairs[i][0] for i in claimants) or byte >= pairs[claimants[0]][0]


@given(extents)
def test_extents_that_overlap_are_named(pairs: list[tuple[int, int]]) -> None:
    rows = lay_out(*columns(pairs), 0, 40)
    crowded = {b for b in range(40) if sum(start <= b < stop for start, stop in pairs) > 1}
    named = {byte for overlap in rows.overlaps for byte in range(overlap.start, overlap.stop)}
    assert named == crowded
    for earlier, later, start, stop in rows.overlaps:
        assert start < stop
        for extent in (earlier, later):
            assert pairs[extent][0] <= start < pairs[extent][1]


@given(extents)
def test_all_extents_that_share_bytes_are_found(pairs: list[tuple[int, int]]) -> None:
    claimed = [set(range(*pair)) for pair in pairs]
    expected = {
        one
        for one, ours in enumerate(claimed)
        for other, theirs in enumerate(claimed)
        if one != other and ours & theirs
    }
    found = shared_extents(*columns(pairs))
    assert set(found) == expected
    assert len(found) == len(expected)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_what_is_tiled_already_is_taken_as_it_is(sizes: list[int]) -> None:
    stops = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    starts, ends = array("Q", [0, *stops[:-1]]), array("Q", stops)
    rows = lay_out(starts, ends, 0, stops[-1])
    assert rows.starts is starts
    longer = lay_out(starts, ends, 0, stops[-1] + 1)
    assert (list(rows.starts), list(rows.owners)) == (list(longer.starts)[:-1], list(longer.owners)[:-1])


def test_overlaps_are_counted_beyond_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_extents, "MAX_OVERLAPS", 2)
    rows = lay_out(*columns([(0, 9), (1, 2), (2, 3), (3, 4)]), 0, 9)
    assert rows.overlaps == [Overlap(0, 1, 1, 2), Overlap(0, 2, 2, 3)]
    assert rows.overlap_count == 3


def test_numbers_of_any_size_are_cut_off() -> None:
    rows = lay_out(*columns([(0, 2**64 - 1), (2**64 - 1, 2**64 - 1), (5, 4)]), 2, 10)
    assert (list(rows.starts), list(rows.owners)) == ([2], [0])
