"""Sources, and where zeros end and begin in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource, SplicedSource, blocks, zeros_start, zeros_stop
from inspector.core.span import Span

DATA = bytes(range(200))


@st.composite
def disjoint(draw: st.DrawFn) -> list[Span]:
    cuts = sorted(draw(st.sets(st.integers(0, 200), max_size=10)))
    return [Span(start, stop) for start, stop in zip(cuts[::2], cuts[1::2], strict=False)]


@given(disjoint(), st.integers(-3, 210), st.integers(-3, 210))
def test_a_splice_reads_like_its_pieces_joined(spans: list[Span], offset: int, length: int) -> None:
    spliced = SplicedSource(BytesSource(DATA), spans, "splice")
    joined = b"".join(DATA[start:stop] for start, stop in spans)
    assert spliced.size == len(joined)
    expected = joined[offset : offset + length] if offset >= 0 and length > 0 else b""
    assert spliced.read(offset, length) == expected


@given(disjoint(), st.integers(0, 210), st.integers(0, 210))
def test_inner_and_outer_positions_lead_to_the_same_bytes(spans: list[Span], start: int, length: int) -> None:
    spliced = SplicedSource(BytesSource(DATA), spans, "splice")
    outer = spliced.outer(start, start + length)
    assert b"".join(DATA[a:b] for a, b in outer) == spliced.read(start, length)
    for a, b in outer:
        for position in range(a, b):
            inner = spliced.inner(position)
            assert inner is not None
            assert spliced.read(inner, 1) == DATA[position : position + 1]


def test_bytes_outside_the_splice_have_no_inner_position() -> None:
    spliced = SplicedSource(BytesSource(DATA), [Span(10, 20), Span(30, 40)], "splice")
    assert [spliced.inner(position) for position in (9, 10, 19, 20, 29, 30, 39, 40)] == [
        None, 0, 9, None, None, 10, 19, None,
    ]  # fmt: skip


def test_an_empty_range_is_where_its_bytes_would_begin() -> None:
    spliced = SplicedSource(BytesSource(DATA), [Span(10, 20), Span(30, 40)], "splice")
    assert [spliced.outer(at, at) for at in (0, 10, 15, 20)] == [
        (Span(10, 10),), (Span(30, 30),), (Span(35, 35),), (Span(40, 40),),
    ]  # fmt: skip


def test_what_is_short_ends_the_splice_there() -> None:
    spliced = SplicedSource(BytesSource(DATA), [Span(0, 2), Span(199, 204), Span(5, 7)], "splice")
    assert spliced.read(0, spliced.size) == DATA[:2] + DATA[199:]


def test_before_the_first_byte_there_is_nothing() -> None:
    assert BytesSource(DATA).read(-5, 3) == b""


@given(st.integers(0, 220), st.integers(0, 220), st.integers(1, 50))
def test_blocks_give_every_byte_once(start: int, stop: int, size: int) -> None:
    pieces = list(blocks(BytesSource(DATA), start, stop, size))
    assert b"".join(pieces) == DATA[start : max(start, stop)]
    assert all(0 < len(piece) <= size for piece in pieces)


# ---- zeros -----------------------------------------------------------------------------------------------------------

SIZES = st.sampled_from((0, 1, 7, 4_095, 4_096, 50_000))
PIECES = st.lists(st.tuples(st.sampled_from((b"\0", b"\1")), SIZES), max_size=6)


@given(PIECES, st.integers(0), st.integers(0))
def test_they_end_and_begin_where_the_bytes_say(pieces: list[tuple[bytes, int]], one: int, other: int) -> None:
    data = b"".join(byte * count for byte, count in pieces)
    at, limit = sorted(each % (len(data) + 1) for each in (one, other))
    source = BytesSource(data, "made")

    rest = data[at:limit]
    assert zeros_stop(source, at, limit, Progress()) == limit - len(rest.lstrip(b"\0"))
    assert zeros_start(source, limit, Progress()) == len(data[:limit].rstrip(b"\0"))
