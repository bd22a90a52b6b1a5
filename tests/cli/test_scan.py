"""``scan``: its lines, its files, its statuses, and what check says of the same bytes."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

from tests.cli.running import Run

Sample = Callable[[str], Path]


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def test_the_command_prints_writes_and_overwrites_nothing(run: Run, sample: Sample, tmp_path: Path) -> None:
    rca, caf = sample("two-resets-spec.rca").read_bytes(), sample("journey.caf").read_bytes()
    path, out = tmp_path / "disk.img", tmp_path / "out"
    path.write_bytes(noise(1_000) + rca + caf)
    stop = 1_000 + len(rca)
    status, text, err = run("scan", path, "--extract", out)
    assert (status, err) == (0, "")
    assert text.splitlines()[0] == f"{path}!/@1000-{stop}  rca  sound, 6 of 6  proved by hash"
    assert {each.name: each.read_bytes() for each in out.iterdir()} == {
        f"1000-{stop}.rca": rca,
        f"{stop}-{stop + len(caf)}.caf": caf,
    }
    (out / f"1000-{stop}.rca").write_bytes(b"mine")
    status, _, err = run("scan", path, "--extract", out)
    assert (status, (out / f"1000-{stop}.rca").read_bytes()) == (2, b"mine")
    assert f"1000-{stop}.rca" in err

    status, text, _ = run("scan", path, "--json")
    first = json.loads(text.splitlines()[0])
    assert list(first) == ["source", "path", "format", "span", "state", "members", "fine", "proved_by", "inside"]
    assert (first["source"], first["span"], first["proved_by"]) == (str(path), [1_000, stop], "hash")
    assert run("check", first["path"])[0] == 0


def test_nothing_found_and_what_cannot_be_read_are_statuses(run: Run, sample: Sample, tmp_path: Path) -> None:
    path, fifo = tmp_path / "noise.bin", tmp_path / "pipe"
    path.write_bytes(noise(5_000))
    os.mkfifo(fifo)
    status, text, err = run("scan", path)
    assert (status, text) == (1, "")
    assert "No archive was found in" in err
    for place, words in ((fifo, "pipe"), (tmp_path, "is a folder; scan reads one file"), (tmp_path / "no", "no")):
        status, text, err = run("scan", place, sample("plain.zip"))
        assert status == 2
        assert words in err
        assert "zip  sound" in text


def test_checking_and_listing_say_what_a_scan_finds(run: Run, sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    data = sample("plain.zip").read_bytes()
    path.write_bytes(noise(5_000) + data + noise(90_000, 2))
    words = f"In it is a ZIP archive at bytes 5,000 to {4_999 + len(data):,}: scan tells of each"
    assert words in run("check", path)[1]
    path.write_bytes(path.read_bytes() + bytes(17 << 20))
    assert "(its first 16,777,216 bytes were searched)" in run("check", path)[1]


def test_a_text_is_told_as_text(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "poem.zip"
    path.write_text("".join(f"Line {number}: the quick brown fox, and the dog.\n" for number in range(200)))
    text = run("check", path)[1]
    assert "This is text, not" in text
    assert "on the way" not in text
