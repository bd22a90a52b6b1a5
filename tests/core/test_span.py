from hypothesis import given
from hypothesis import strategies as st

from inspector.core.span import Span, intersect, subtract, total


def spans_of(positions: set[int]) -> list[Span]:
    ordered = sorted(positions)
    found: list[Span] = []
    for position in ordered:
        if found and found[-1].stop == position:
            found[-1] = Span(found[-1].start, position + 1)
        else:
            found.append(Span(position, position + 1))
    return found


def positions_of(spans: list[Span]) -> set[int]:
    return {position for span in spans for position in range(*span)}


sets = st.sets(st.integers(0, 60))


@given(sets, sets)
def test_set_operations_agree_with_sets_of_positions(some: set[int], others: set[int]) -> None:
    a, b = spans_of(some), spans_of(others)
    assert positions_of(intersect(a, b)) == some & others
    assert positions_of(subtract(a, b)) == some - others
    assert total(a) == len(some)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_a_clipped_span_never_leaves_its_bounds(start: int, size: int, low: int, room: int) -> None:
    clipped = Span(start, start + size).clipped(low, low + room)
    assert low <= clipped.start <= clipped.stop <= low + room
    assert set(range(*clipped)) == set(range(start, start + size)) & set(range(low, low + room))
