from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from inspector.core.field import Field, FieldTable, Unread, at_path, locate, parent, runs, tile
from inspector.core.kinds import Kind, Role, role_bit
from inspector.core.span import Span
from inspector.formats._kinds import DATA_SECTION, INDEX
from inspector.formats.caf import FOOTER
from inspector.formats.datas3t import METADATA_ROW
from tests.formats.archives import leaves

SIZE = 80


@st.composite
def fields(draw: st.DrawFn, depth: int = 2) -> list[Field]:
    found = []
    for number in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, SIZE))
        span = Span(start, start + draw(st.integers(0, 30)))
        children = draw(fields(depth=depth - 1)) if depth else []
        kind = draw(st.sampled_from([Kind.DATA, Kind.NUMBER, INDEX, Kind.PADDING]))
        name = f"{kind} {number}"
        found.append(parent(name, kind, (span,), children) if children else Field(name, kind, (span,)))
    return found


def owners(tree: tuple[Field, ...]) -> list[int]:
    count = [0] * SIZE
    for leaf in leaves(tree):
        for start, stop in leaf.spans:
            for position in range(start, stop):
                count[position] += 1
    return count


@given(fields())
def test_leaves_own_every_byte_exactly_once(given_fields: list[Field]) -> None:
    assert owners(tile(given_fields, (Span(0, SIZE),))) == [1] * SIZE


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 4)), max_size=6), st.integers(-1, 1))
def test_fields_that_tile_already_are_kept_as_they_are(steps: list[tuple[int, int]], more: int) -> None:
    at, given_fields = 2, []
    for gap, size in steps:
        start = at + gap * (size == 4)  # most follow the one before
        at = start + size
        given_fields.append(Field(f"{start}", Kind.NUMBER, (Span(start, at),)))
    span = Span(2, max(2, at + more))
    assert tile(given_fields, (span,)) == tile(given_fields, (span, Span(span.stop, span.stop)))


@given(fields())
def test_runs_and_locate_agree_with_the_leaves(given_fields: list[Field]) -> None:
    tree = tile(given_fields, (Span(0, SIZE),))
    found = runs(tree, 0, SIZE)
    assert [run.start for run in found[1:]] == [run.stop for run in found[:-1]]
    assert (found[0].start, found[-1].stop) == (0, SIZE)
    for run in found:
        leaf = at_path(tree, run.path)
        assert leaf is not None
        assert leaf.kind is run.kind
        chain = locate(tree, run.start)
        assert tuple(position for position, _ in chain) == run.path
        assert chain[-1][1] == leaf


@given(fields(), st.integers(0, SIZE), st.integers(0, SIZE))
def test_part_of_the_runs_is_the_runs_of_the_part(given_fields: list[Field], start: int, stop: int) -> None:
    tree = tile(given_fields, (Span(0, SIZE),))
    whole = [run for run in runs(tree, 0, SIZE) if run.start < stop and start < run.stop]
    part = runs(tree, start, stop)
    assert [run.path for run in part] == ([run.path for run in whole] if start < stop else [])


def starts_of(rows: tuple[Field, ...]) -> list[int]:
    return [row.start for row in rows]


def rows_of(bounds: list[int]) -> tuple[Field, ...]:
    pairs = pairwise(bounds)
    return tuple(Field(f"row {i}", Kind.DATA, (Span(a, b),), member=i) for i, (a, b) in enumerate(pairs))


@given(st.lists(st.integers(0, SIZE), min_size=2, max_size=12), st.integers(0, SIZE), st.integers(0, SIZE))
def test_a_table_is_a_sequence_that_reads_like_the_tuple_it_stands_for(cuts: list[int], low: int, high: int) -> None:
    bounds = sorted([0, *cuts, SIZE])
    plain = rows_of(bounds)
    table = FieldTable(starts_of(plain), plain.__getitem__, role_bit(Role.DATA))
    assert list(table) == list(plain)
    assert table[-1] == plain[-1]
    assert table[1:3] == list(plain[1:3])
    assert runs(table, low, high) == runs(plain, low, high)
    if low < SIZE:
        assert locate(table, low) == locate(plain, low)


def test_what_two_fields_claim_belongs_to_the_first() -> None:
    first, second = Field("a", Kind.DATA, (Span(0, 10),)), Field("b", Kind.DATA, (Span(5, 20),))
    tree = tile([first, second], (Span(0, 30),))
    assert [(field.name, field.spans) for field in tree] == [
        ("a", (Span(0, 10),)),
        ("b", (Span(10, 20),)),
        ("gap", (Span(20, 30),)),
    ]


def test_a_table_that_is_cut_still_owns_only_what_is_left() -> None:
    rows = rows_of([0, 10, 20, 30])
    whole = Field("rows", DATA_SECTION, (Span(0, 30),), children=FieldTable(starts_of(rows), rows.__getitem__, 0))
    tree = tile([Field("first", FOOTER, (Span(12, 15),)), whole], (Span(0, 30),))
    data = next(field for field in tree if field.name == "rows")
    assert data.spans == (Span(0, 12), Span(15, 30))
    assert [row.spans for row in data.children] == [(Span(0, 10),), (Span(10, 12), Span(15, 20)), (Span(20, 30),)]


def test_facts_from_outside_the_file_own_nothing_and_come_last() -> None:
    fact = Field("metadata row", METADATA_ROW, ())
    tree = tile([fact, Field("data", Kind.DATA, (Span(0, 4),))], (Span(0, 4),))
    assert [field.name for field in tree] == ["data", "metadata row"]


def test_an_empty_field_comes_before_what_begins_where_it_stands() -> None:
    fields = [Field(name, Kind.DATA, (Span(*span),)) for name, span in (("b", (2, 4)), ("a", (0, 2)), ("", (2, 2)))]
    assert [field.name for field in tile(fields, (Span(0, 4),))] == ["a", "", "b"]


def test_neighbouring_members_have_different_shades() -> None:
    tree = tile(rows_of([0, 10, 20, 30]), (Span(0, 30),))
    assert [run.shade for run in runs(tree, 0, 30)] == [0, 1, 0]


def test_a_path_that_leads_nowhere_gives_nothing() -> None:
    tree = tile([], (Span(0, 4),))
    assert at_path(tree, (0,)) == tree[0]
    assert at_path(tree, (1,)) is None
    assert at_path(tree, (0, 0)) is None
    assert at_path(tree, (-1,)) is None


def test_children_that_take_reading_are_made_once_and_when_they_are_looked_at() -> None:
    made: list[int] = []

    def make() -> tuple[Field, ...]:
        made.append(1)
        return rows_of([0, 10, 20, 30])

    children = Unread(make)
    assert (bool(children), children.known, made) == (True, 1, [])
    assert list(children) == list(rows_of([0, 10, 20, 30]))
    assert (children.known, made) == (3, [1])
