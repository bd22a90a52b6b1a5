"""The block cache alone: any reads in any order give the bytes, within bounds."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from inspector.core.span import Span
from inspector.sources.s3.cache import BLOCK_BYTES, MAX_REQUEST_BYTES, BlockCache, Blocks, Take

DATA = Random(3).randbytes(3 * MAX_REQUEST_BYTES + 77)


class Fetched:
    """What was fetched."""

    def __init__(self, data: bytes = DATA) -> None:
        self.data = data
        self.asked: list[Span] = []

    def __call__(self, start: int, stop: int, take: Take) -> None:
        self.asked.append(Span(start, stop))
        take(self.data[start:stop])


reads = st.lists(
    st.tuples(st.integers(-2, len(DATA) + 2), st.sampled_from((0, 1, 512, BLOCK_BYTES, MAX_REQUEST_BYTES + 1))),
    max_size=12,
)


@given(
    reads=reads, max_bytes=st.sampled_from((BLOCK_BYTES, 4 * BLOCK_BYTES, 64 << 20)), expected=st.integers(0, len(DATA))
)
def test_any_reads_give_the_bytes(reads: list[tuple[int, int]], max_bytes: int, expected: int) -> None:
    fetched, blocks = Fetched(), Blocks(max_bytes, 0)
    cache = BlockCache(len(DATA), fetched, blocks)
    cache.expect(expected, expected + MAX_REQUEST_BYTES)
    for offset, length in reads:
        assert cache.read(offset, length) == (DATA[offset : offset + length] if offset >= 0 else b"")
        assert sum(span.size for span in cache.spans()) <= max_bytes
    assert all(0 <= start < stop <= len(DATA) and stop - start <= MAX_REQUEST_BYTES for start, stop in fetched.asked)
    assert all(
        start % BLOCK_BYTES == 0 and (stop % BLOCK_BYTES == 0 or stop == len(DATA)) for start, stop in fetched.asked
    )


@given(start=st.integers(0, 5 * BLOCK_BYTES), size=st.integers(0, 4 * BLOCK_BYTES))
def test_bytes_that_are_there_already_are_kept_as_far_as_they_fill_blocks(start: int, size: int) -> None:
    data = DATA[: 5 * BLOCK_BYTES + 99]
    cache = BlockCache(len(data), Fetched(data))
    cache.put(start, data[start : start + size])
    for low, high in cache.spans():
        assert start <= low < high <= start + size
    assert cache.read(0, len(data)) == data


def test_two_readers_that_take_turns_both_read_ahead() -> None:
    fetched = Fetched()
    cache = BlockCache(len(DATA), fetched)
    for step in range(0, 4 << 20, BLOCK_BYTES):
        cache.read(step, BLOCK_BYTES)
        cache.read((12 << 20) + step, BLOCK_BYTES)
    assert len(fetched.asked) < 14


def test_caches_share_what_is_kept() -> None:
    blocks = Blocks(4 * BLOCK_BYTES, 0)
    one, other = (BlockCache(len(DATA), Fetched(), blocks) for _ in range(2))
    one.read(0, 3 * BLOCK_BYTES)
    other.read(0, 2 * BLOCK_BYTES)
    assert one.spans() == (Span(BLOCK_BYTES, 3 * BLOCK_BYTES),)
    assert other.spans() == (Span(0, 2 * BLOCK_BYTES),)


def test_what_ends_early_is_given_short_and_not_kept() -> None:
    cache = BlockCache(len(DATA), Fetched(DATA[: BLOCK_BYTES + 5]))
    assert cache.read(10, 3 * BLOCK_BYTES) == DATA[10 : BLOCK_BYTES + 5]
    assert cache.spans() == (Span(0, BLOCK_BYTES),)
