from __future__ import annotations

import pytest

from inspector.core.limits import ANSWERING, CACHE, Limit
from inspector.sources.s3.cache import BLOCK_BYTES, Blocks

NUMBER = Limit("ARCHIVE_INSPECTOR_TEST", 10, 2, 20, 3)


@pytest.mark.parametrize(
    ("said", "value"), [("", 30), ("7", 21), ("2", 6), ("20", 60), ("1", 30), ("21", 30), ("-5", 30), ("many", 30)]
)
def test_a_limit_is_what_the_environment_says_where_that_is_possible(
    monkeypatch: pytest.MonkeyPatch, said: str, value: int
) -> None:
    monkeypatch.setenv(NUMBER.variable, said)
    assert NUMBER.value == value


def test_nothing_said_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ANSWERING.variable, raising=False)
    assert ANSWERING.value == 30


def test_a_smaller_cache_keeps_less(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE.variable, "8")
    blocks, owner = Blocks(max_disk_bytes=0), object()
    for number in range(2 * (8 << 20) // BLOCK_BYTES):
        blocks.keep(owner, number, b"")
    assert len(blocks.numbers(owner)) == (8 << 20) // BLOCK_BYTES
