"""Comparing objects on S3: by ranges, and not at all where their ETags are equal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.compare.combining import combine, write_combination
from inspector.operations.compare.comparing import compare
from inspector.operations.protocol.compare_views import Level
from tests.s3.conftest import Store
from tests.s3.proxy import answering


def test_an_object_is_compared_with_a_file(store: Store, sample: Callable[[str], Path], tmp_path: Path) -> None:
    data = bytearray(sample("plain.zip").read_bytes())
    location = store.put("plain.zip", bytes(data))
    data[1_000] ^= 1
    (tmp_path / "b.zip").write_bytes(data)

    comparison = compare(location, str(tmp_path / "b.zip"), Progress(), store.connection)
    same = compare(str(sample("plain.zip")), location, Progress(), other=store.connection)

    assert comparison.summary.better == "a"
    assert [each.a and each.a.spans for each in comparison.differences if each.level is Level.BYTES] == [
        ((1000, 1001),)
    ]
    assert same.summary.equal is True


@pytest.mark.parametrize("size", [3 << 20, 40 << 20])
def test_equal_etags_are_not_read(store: Store, size: int) -> None:
    data = bytes(range(1, 256)) * (size // 255)
    one, two = store.put("one.bin", data), store.put("two.bin", data)
    before = store.proxy.moved

    comparison = compare(one, two, Progress(), store.connection)

    assert comparison.summary.equal is True
    assert comparison.summary.notes == ("Their ETags are equal, so they were not read.",)
    assert store.proxy.moved - before < len(data) * 3 // 4


@pytest.mark.parametrize("etag", ['"1"', '"another"', 'W/"00000000000000000000000000000000"'])
def test_objects_are_read_whose_equal_etags_are_not_made_of_their_content(store: Store, etag: str) -> None:
    one, two = store.put("one.bin", b"a" * 700), store.put("two.bin", b"b" * 700)
    with store.proxy.failing(answering(ETag=etag)):
        assert compare(one, two, Progress(), store.connection).summary.equal is False


def test_damaged_objects_are_combined_into_a_file(store: Store, sample: Callable[[str], Path], tmp_path: Path) -> None:
    data = sample("plain.zip").read_bytes()
    places = [store.put(f"{at}.zip", data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]) for at in (1_000, 4_000)]

    comparison = compare(places[0], places[1], Progress(), store.connection)
    sentence = write_combination(combine([comparison], Progress()), str(tmp_path / "good.zip"), Progress())

    assert sentence.endswith("2 differences decided by digests; it is whole. Read back and checked: sound.")
    assert (tmp_path / "good.zip").read_bytes() == data
