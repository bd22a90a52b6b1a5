"""``entropy``: what scripts read of it."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

from tests.cli.running import Run, objects

NOISE = random.Random(5).randbytes(20_000)


def test_stretches_that_look_alike_are_one_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mixed.bin"
    path.write_bytes(NOISE[:8_192] + bytes(8_192) + b"plain text, no two lines the same: 0123456789\n" * 200)

    status, out, err = run("entropy", "--json", path)
    found = objects(out)
    assert (status, err) == (0, "")
    assert [list(each["classes"]) for each in found][:2] == [["random"], ["zeros"]]
    assert all(list(each) == ["source", "span", "entropy", "classes", "exact"] for each in found)
    assert [found[0]["span"][0], found[-1]["span"][1]] == [0, path.stat().st_size]
    assert all(one["span"][1] == other["span"][0] for one, other in pairwise(found))
    assert found[0]["entropy"] > 7 > 5 > found[1]["entropy"] == 0

    blocks = objects(run("entropy", "--json", "--blocks", "10", path)[1])
    assert len(blocks) == 10
    assert " bits/byte  compressed or random" in run("entropy", path)[1]
