"""``entropy``: what scripts read of it."""

from __future__ import annotations

import random
import zipfile
from collections.abc import Callable
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


def test_a_stretch_is_named_by_the_field_that_owns_most_of_it(run: Run, sample: Callable[[str], Path]) -> None:
    first, *_, last = run("entropy", sample("two-chunks.rca"))[1].splitlines()[1:]

    assert first.endswith("  blob layer > segment 1 > photos/noise.bin > payload, and 6 others")
    assert last.endswith("  blob layer > segment 2, and 3 others")


def test_one_of_very_many_rows_is_found_by_the_middle_of_the_stretch(run: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(2_000):
            archive.writestr(f"{number}.txt", b"")
        archive.writestr("large.bin", NOISE * 50)
        for number in range(2_000, 4_000):
            archive.writestr(f"{number}.txt", b"")

    (line,) = run("entropy", "--blocks", "1", tmp_path / "many.zip")[1].splitlines()[1:]
    assert " > large.bin" in line
    assert line.endswith(" others")
