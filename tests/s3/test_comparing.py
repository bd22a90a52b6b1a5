"""Comparing objects on S3: by ranges, and not at all where their ETags are equal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from inspector.core.progress import Progress
from inspector.operations.compare.comparing import compare
from inspector.operations.protocol.compare_views import Level
from tests.s3.conftest import Store


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


def test_equal_etags_are_not_read_again(store: Store) -> None:
    data = bytes(range(1, 256)) * (40 << 12)  # larger than what is read as a whole on opening
    one, two = store.put("one.bin", data), store.put("two.bin", data)
    before = store.proxy.moved

    comparison = compare(one, two, Progress(), store.connection)

    assert comparison.summary.equal is True
    assert comparison.summary.notes == ("Their ETags are equal, so they were not read.",)
    assert store.proxy.moved - before < len(data)
