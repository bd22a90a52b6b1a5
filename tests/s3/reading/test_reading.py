"""Objects as sources: the right bytes, few requests, and never the bytes of two objects."""

from __future__ import annotations

from random import Random

import pytest

from inspector.core.source import SourceError, expect
from inspector.core.span import Span
from inspector.sources.s3.cache import BLOCK_BYTES, MAX_REQUEST_BYTES
from inspector.sources.s3.request_log import Why
from inspector.sources.s3.source import TAIL_BYTES
from tests.s3.conftest import Store

DATA = Random(6).randbytes(5 * TAIL_BYTES // 2 + 1234)


def test_reads_are_those_of_a_file(store: Store) -> None:
    source = store.open(store.put("reads.bin", DATA))
    random = Random(1)
    assert source.size == len(DATA)
    for _ in range(60):
        offset, length = (
            random.randrange(-5, len(DATA) + 5),
            random.choice((0, 1, 70, BLOCK_BYTES, 5 * BLOCK_BYTES, 3 * TAIL_BYTES)),
        )
        assert source.read(offset, length) == (DATA[offset : offset + length] if offset >= 0 else b"")


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES, TAIL_BYTES - 1, TAIL_BYTES, TAIL_BYTES + 1])
@pytest.mark.parametrize("name", ["size.caf", "size.tar"])
def test_objects_of_every_size(store: Store, size: int, name: str) -> None:
    source = store.open(store.put(name, DATA[:size]))
    assert source.size == size
    assert source.read(0, size + 1) == DATA[:size]
    assert source.read(size, 1) == b""


def test_a_small_object_takes_one_request(store: Store) -> None:
    source = store.open(store.put("small.caf", DATA[:70_000]))
    assert source.read(0, 70_000) == DATA[:70_000]
    assert store.proxy.asked() == ["GET /archives/small.caf bytes=-1048576"]


def test_every_read_carries_the_etag(store: Store) -> None:
    source = store.open(store.put("etag.caf", DATA))
    source.read(0, 1)
    assert [seen.if_match for seen in store.proxy.log] == ["", source.etag]


def test_what_was_read_is_not_asked_for_again(store: Store) -> None:
    source = store.open(store.put("again.caf", DATA))
    for _ in range(3):
        assert source.read(10, 100) == DATA[10:110]
    assert len(store.proxy.log) == 2
    assert source.cache.spans() == (
        Span(0, BLOCK_BYTES),
        Span(-(-(len(DATA) - TAIL_BYTES) // BLOCK_BYTES) * BLOCK_BYTES, len(DATA)),
    )


def test_neighbouring_misses_are_one_request(store: Store) -> None:
    source = store.open(store.put("merged.caf", DATA))
    source.read(2 * BLOCK_BYTES, 1)
    source.read(0, 5 * BLOCK_BYTES)
    assert store.proxy.asked()[1:] == [
        f"GET /archives/merged.caf bytes={2 * BLOCK_BYTES}-{3 * BLOCK_BYTES - 1}",
        f"GET /archives/merged.caf bytes=0-{5 * BLOCK_BYTES - 1}",
    ]


def test_reading_on_and_on_reads_ahead(store: Store) -> None:
    data = Random(2).randbytes(12 << 20)
    source = store.open(store.put("ahead.caf", data))
    got = b"".join(source.read(at, 4096) for at in range(0, len(data), 4096))
    assert got == data
    opening, *asked = [request.stop - request.start for request in source.log.requests()]
    assert opening == TAIL_BYTES
    assert len(asked) < 12
    assert max(asked) <= MAX_REQUEST_BYTES


def test_reading_on_and_on_from_the_start_goes_on_with_the_opening_request(store: Store) -> None:
    data = Random(2).randbytes(12 << 20)
    source = store.open(store.put("ahead.tar", data))
    assert b"".join(source.read(at, 4096) for at in range(0, len(data), 4096)) == data
    assert store.proxy.asked() == ["GET /archives/ahead.tar bytes=0-"]


def test_what_is_expected_is_asked_for_at_once(store: Store) -> None:
    source = store.open(store.put("expected.caf", DATA))
    expect(source, 100, 6 * BLOCK_BYTES)
    assert source.read(100, 10) == DATA[100:110]
    assert source.read(5 * BLOCK_BYTES, 10) == DATA[5 * BLOCK_BYTES : 5 * BLOCK_BYTES + 10]
    assert len(store.proxy.log) == 2


def test_the_ledger_says_what_was_asked_and_what_it_cost(store: Store) -> None:
    location = store.put("log.caf", DATA)
    source = store.open(location)
    source.read(0, 10)
    first, second = source.log.requests()
    assert (first.method, first.location, first.start, first.stop) == ("GET", location, -TAIL_BYTES, 0)
    assert (first.received, first.status, first.why, first.attempts) == (TAIL_BYTES, 206, Why.OPENING, 1)
    assert (second.start, second.stop, second.received, second.why) == (0, BLOCK_BYTES, BLOCK_BYTES, Why.READING)
    assert 0 < first.when <= second.when
    totals = source.log.totals
    assert (totals.requests, totals.received) == (2, TAIL_BYTES + BLOCK_BYTES)
    assert totals.milliseconds == pytest.approx(first.milliseconds + second.milliseconds)


def test_siblings_take_one_listing_for_all_names(store: Store) -> None:
    location = store.put("beside/x.tar", DATA[:1000])
    store.put("beside/x.tar.metadata", b"rows")
    source = store.open(location)
    metadata = source.sibling(".metadata")
    assert metadata is not None
    assert (metadata.name, metadata.size) == (f"{location}.metadata", 4)
    assert metadata.read(0, 9) == b"rows"
    assert source.sibling(".index", ".tar") is None
    assert source.sibling(".sha256") is None
    assert source.sibling("", ".caf") is None
    assert [request.why for request in source.log.requests()] == [Why.OPENING, Why.LISTING, Why.READING]


def test_an_object_that_was_replaced_is_a_sentence_and_no_byte_of_it_is_given(store: Store) -> None:
    location = store.put("replaced.caf", DATA)
    source = store.open(location)
    store.put("replaced.caf", DATA[::-1])
    for _ in range(2):
        with pytest.raises(SourceError, match="was replaced while it was open"):
            source.read(0, 10)
    assert source.replaced
    assert source.read(len(DATA) - 10, 10) == DATA[-10:]
    assert len(store.proxy.log) == 2


def test_an_object_that_was_deleted_is_a_sentence(store: Store) -> None:
    source = store.open(store.put("deleted.caf", DATA))
    store.client.delete_object(Bucket="archives", Key="deleted.caf")
    with pytest.raises(SourceError, match=r"s3://archives/deleted\.caf does not exist"):
        source.read(0, 10)


@pytest.mark.parametrize("key", ["a b/ü+%20?#.caf", "naïve/報告.tar", "x//y.caf"])
def test_keys_are_any_text(store: Store, key: str) -> None:
    assert store.open(store.put(key, b"there")).read(0, 9) == b"there"
