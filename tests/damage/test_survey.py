"""What is looked for in all of a large file is found as a plain search finds it, at every place in its pieces."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import BytesSource
from inspector.formats._causes import blocks, looking
from tests.formats.archives import checked
from tests.formats.zip.zip_building import written

FILLINGS = (b"\0", b"\0", b"\xff", b"ab", b"\0\0\0\1", b"12345678")


def with_runs(seed: int) -> bytes:
    rng = random.Random(seed)
    data = bytearray(rng.randbytes(rng.randrange(20_000)))
    for _ in range(rng.randrange(5)):
        at, size = rng.randrange(len(data) + 1), rng.choice((100, 255, 256, 257, 511, 512, 513, 700, 5_000))
        data[at : at + size] = (rng.choice(FILLINGS) * size)[: len(data[at : at + size])]
    return bytes(data)


def test_runs_are_found_at_every_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "PIECE_BYTES", 4_096)
    for seed in range(200):
        data = with_runs(seed)
        zeros = [each.span() for each in re.finditer(rb"\0{256,}", data)]
        assert [(each.start, each.stop) for each in blocks.survey(BytesSource(data), Progress()).runs] == zeros, seed
        for size in blocks.PATTERN_SIZES:
            same = "".join("y" if data[at] == data[at - size] else "n" for at in range(size, len(data)))
            runs = [(each.start(), each.end() + size) for each in re.finditer(f"y{{{512 - size},}}", same)]
            found = {(each.start, each.stop) for each in blocks._patterns(np.frombuffer(data, np.uint8), size)}
            assert found == {each for each in runs if any(data[slice(*each)])}, (seed, size)


def test_what_was_compared_is_said_where_it_is_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(written({"a.bin": random.Random(1).randbytes(9_000)}, method=0))
    data[4_000:4_400] = random.Random(2).randbytes(400)
    said = checked(BytesSource(bytes(data), "x.zip")).findings[0].message
    assert "compared with their neighbours" not in said
    monkeypatch.setattr(looking, "MAX_COMPARED_BYTES", 4_096)
    said = checked(BytesSource(bytes(data), "x.zip")).findings[0].message
    assert "Of them, 4,096 bytes were compared with their neighbours." in said
