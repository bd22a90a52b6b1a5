"""``entropy`` and ``dump --decoded``: what scripts read of them."""

from __future__ import annotations

import random
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


def test_runs_of_zeros_and_repeats_are_listed_with_their_fields(
    run: Run, tmp_path: Path, sample: Callable[[str], Path]
) -> None:
    path = tmp_path / "runs.bin"
    path.write_bytes(NOISE[:1_000] + bytes(100) + NOISE[:1_000] + b"." + bytes(63) + b".")

    found = objects(run("entropy", "--json", "--runs", path)[1])
    assert [(each["kind"], each["span"], each["earlier"]) for each in found] == [
        ("zeros", [1_000, 1_100], None),
        ("repeat", [1_100, 2_100], 0),
    ]
    assert "as at 0x00000000" in run("entropy", "--runs", path)[1]
    taco = objects(run("entropy", "--json", "--runs", sample("two-entries.tacozip"))[1])
    assert taco[0]["field"].startswith("local files > TACO_HEADER")

    path.write_bytes(NOISE[:1_000])
    assert run("entropy", "--json", "--runs", path)[1] == ""
    assert "No run of 64 zeros and no repeat of 256 bytes was found." in run("entropy", "--runs", path)[1]


def test_dump_lists_which_bytes_of_a_member_decode_to_which(run: Run, sample: Callable[[str], Path]) -> None:
    path = sample("two-resets-spec.rca")
    status, out, err = run("dump", "--json", "--decoded", "station-1/2024-05.log", path)

    assert (status, err) == (0, "")
    assert objects(out) == [
        {
            "stored": [[12, 18]],
            "decoded": [0, 0],
            "what": "zstd frame header: window 2.0 MiB, no content size, no checksum",
        },
        {"stored": [[18, 280]], "decoded": [0, 1605], "what": "zstd block 1, compressed"},
    ]
    assert "->" in run("dump", "--decoded", "station-1/2024-05.log", path)[1]
    assert run("dump", "--decoded", "readme.txt", sample("plain.zip"))[0] == 2
