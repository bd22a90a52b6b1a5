"""What the columns of a band show, against looking at every key."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspector.gui.panels.coverage.bands import GAP, ORPHAN, OVERLAP, Band, Intervals, Keys, bit, limits_of, states_in
from inspector.operations.protocol.views import RANGE_STATES, RangeState

FAR = 10**20 - 1
"""The greatest key of 20 digits."""
_KEY = st.integers(0, 60)
_RANGES = st.lists(st.tuples(_KEY, st.integers(0, 20)), min_size=1, max_size=12).map(
    lambda found: sorted((first, first + more) for first, more in found)
)


def band_of(ranges: list[tuple[int, int]]) -> Band:
    return Band([first for first, _ in ranges], [last for _, last in ranges])


@given(_RANGES, st.data())
def test_a_column_shows_the_states_of_exactly_the_ranges_that_it_meets(
    ranges: list[tuple[int, int]], data: st.DataObject
) -> None:
    codes = data.draw(st.lists(st.integers(0, len(RANGE_STATES) - 1), min_size=len(ranges), max_size=len(ranges)))
    start = data.draw(st.integers(0, 70))
    keys = Keys(start, start + data.draw(st.integers(1, 90)), data.draw(st.integers(1, 50)))
    band = band_of(ranges)
    band.set_states(bytes(codes))
    covered = {key for first, last in ranges for key in range(first, last + 1)}
    least, greatest = min(covered), max(covered)
    for x, shown in enumerate(band.sets(keys)):
        column = range(*keys.column(x))
        met = {
            RANGE_STATES[code] for (first, last), code in zip(ranges, codes, strict=True) if meets(first, last, column)
        }
        assert set(states_in(shown)) == met
        assert bool(shown & GAP) == any(least < key < greatest and key not in covered for key in column)
        tally = band.tally(column.start, column.stop)
        assert sum(number for _, number in tally) == sum(meets(*each, column) for each in ranges)
        found = band.at(column.start, column.stop)
        assert (found is None) == (not met)
        assert found is None or meets(*ranges[found], column)


def meets(first: int, last: int, column: range) -> bool:
    return first < column.stop and last >= column.start


def test_a_single_damaged_range_among_100_000_is_seen_in_any_width() -> None:
    firsts = [FAR - 10**7 + at * 100 for at in range(100_000)]
    band = Band(firsts, [first + 99 for first in firsts])
    states = bytearray([RANGE_STATES.index(RangeState.VERIFIED)]) * len(firsts)
    states[77_777] = RANGE_STATES.index(RangeState.DAMAGED)
    band.set_states(bytes(states))
    for width in (1, 7, 1_000, 3_001):
        keys = limits_of(firsts[0], FAR, width)
        runs = band.runs(keys)
        damaged = [run for run in runs if run.shown & bit(RangeState.DAMAGED)]
        assert len(damaged) == 1
        assert damaged[0].left <= keys.x(firsts[77_777]) <= damaged[0].right
        assert len(runs) <= 3
        assert not any(run.shown & GAP for run in runs)
        assert band.at(*keys.column(keys.width - 1 if width == 1 else damaged[0].left)) is not None


def test_what_100_000_ranges_cost_depends_on_the_columns_alone() -> None:
    firsts = list(range(0, 1_000_000, 10))
    asked = Counting(firsts)
    band = Band(firsts, [first + 9 for first in firsts])
    band.firsts = asked
    band.runs(limits_of(0, 1_000_000, 500))
    assert 0 < asked.lookups <= 500 * 18  # a bisection each
    assert band.edges(limits_of(0, 1_000_000, 500), 5) == []


class Counting(list[int]):
    """Counts lookups by index."""

    lookups = 0

    def __getitem__(self, at):  # type: ignore[no-untyped-def, override]  # as list's
        self.lookups += 1
        return super().__getitem__(at)


def test_overlaps_and_orphans_are_marked_where_they_are() -> None:
    band = Band([1, 5], [6, 9], overlaps=[(5, 6)], orphans=[(12, 13)])
    sets = band.sets(Keys(0, 15, 15))
    assert [key for key, shown in enumerate(sets) if shown & OVERLAP] == [5, 6]
    assert [key for key, shown in enumerate(sets) if shown & ORPHAN] == [12, 13]
    assert [key for key, shown in enumerate(sets) if not shown] == [0, 10, 11, 14]


def test_a_range_that_ends_within_another_has_an_edge_there() -> None:
    band = Band([0, 10], [14, 29], [(10, 14)])
    assert band.edges(Keys(0, 30, 300), 5) == [0, 100, 150]


def test_edges_are_where_ranges_begin_if_there_is_room() -> None:
    band = band_of([(0, 4), (5, 9), (20, 29)])
    assert band.edges(Keys(0, 30, 300), 5) == [0, 50, 200]
    assert band.edges(Keys(0, 30, 10), 5) == []


@given(_RANGES)
def test_stretches_hold_what_they_were_made_of(ranges: list[tuple[int, int]]) -> None:
    intervals = Intervals(ranges)
    every = {key for first, last in ranges for key in range(first, last + 1)}
    for key in range(90):
        assert (intervals.first_in(key, key + 1) is not None) == (key in every)
    apart = [key for pair in zip(intervals.firsts, intervals.lasts, strict=True) for key in pair]
    assert apart == sorted(apart)
    assert all(first > last + 1 for last, first in zip(intervals.lasts, intervals.firsts[1:], strict=False))


# ---- keys ------------------------------------------------------------------------------------------------------

_SPAN = st.tuples(st.integers(0, FAR - 1), st.integers(1, FAR)).map(lambda each: (each[0], min(each[0] + each[1], FAR)))


@given(_SPAN, st.integers(1, 2_000))
def test_columns_leave_out_no_key(span: tuple[int, int], width: int) -> None:
    keys = Keys(*span, width)
    columns = [keys.column(x) for x in (*range(min(width, 20)), width - 1)]
    assert columns[0][0] == keys.start
    assert columns[-1][1] >= keys.stop
    for (_, stop), (first, _) in pairwise(columns[: min(width, 20)]):
        assert first <= stop


@given(_SPAN, st.integers(1, 2_000), st.data())
def test_a_key_is_in_the_column_that_it_is_painted_in(span: tuple[int, int], width: int, data: st.DataObject) -> None:
    keys = Keys(*span, width)
    key = data.draw(st.integers(keys.start, keys.stop - 1))
    x = min(keys.x(key), width - 1)
    first, stop = keys.column(x)
    assert first <= key < stop or keys.column(max(0, x - 1))[0] <= key < keys.column(max(0, x - 1))[1]


@given(_SPAN, st.integers(1, 2_000), st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 1_999)), max_size=20))
def test_zooming_and_panning_stay_within_the_dataset(
    span: tuple[int, int], width: int, steps: list[tuple[int, int]]
) -> None:
    limits = limits_of(*span, width)
    keys = limits
    for step, x in steps:
        keys = keys.zoomed(step, x % width, limits).moved(step * 100, limits)
        assert limits.start <= keys.start < keys.stop <= limits.stop
        assert keys.size >= min(4, limits.size)
    assert keys.zoomed(-70, 0, limits) == limits


def test_zooming_keeps_the_key_under_the_pointer() -> None:
    limits = limits_of(10**19, 2 * 10**19, 1_000)
    keys = limits.zoomed(3, 400, limits)
    assert keys.column(400)[0] <= limits.column(400)[0] < keys.column(400)[1]
    assert keys.size * 8 - limits.size in range(-8, 9)


def test_keys_are_brought_into_view_with_the_least_movement() -> None:
    limits = limits_of(0, 1_000, 100)
    keys = Keys(100, 200, 100)
    assert keys.showing(120, 130, limits) is keys
    assert keys.showing(190, 209, limits) == Keys(110, 210, 100)
    assert keys.showing(90, 95, limits) == Keys(90, 190, 100)
    assert keys.showing(500, 900, limits) == Keys(500, 600, 100)


def test_ticks_are_round_and_have_room() -> None:
    assert Keys(0, 1_000, 500).ticks(90) == [0, 200, 400, 600, 800]
    assert Keys(FAR - 10, FAR, 1_000).ticks(400) == [FAR - 9, FAR - 4]
