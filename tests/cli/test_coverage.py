"""``coverage``: which keys ranges have, and what the service's list adds to their names."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import Run

Sample = Callable[[str], Path]


@pytest.fixture
def live(sample: Sample, tmp_path: Path) -> Path:
    """A copy of the bucket as the later service leaves it, written in 1970."""
    for each in shutil.copytree(sample("weather-live"), tmp_path / "live").rglob("*-*"):
        os.utime(each, (0, 86_400))
    return tmp_path / "live"


def rows(text: str) -> dict[int, str]:
    found = [json.loads(line) for line in text.splitlines()]
    return {int(each["name"][-16:-4]): each["state"] for each in found if "name" in each}


def test_ranges_gaps_and_replaced_uploads(run: Run, live: Path) -> None:
    status, out, _ = run("coverage", live)
    assert status == 0
    assert "superseded by #3" in out
    assert "in progress or given up: written 1970-01-02 00:00 UTC, " in out
    assert "no range has the keys 9 to 10" in out
    assert "later uploads hold 12,288 bytes of it as well" in out
    *_, last = map(json.loads, run("coverage", "--json", live)[1].splitlines())
    assert (last["keys"], last["gaps"], last["overlaps"], last["wasted"]) == ([1, 12], [[9, 10]], [], 12_288)


def test_overlaps_that_are_errors_are_told_by_the_status(run: Run, sample: Sample) -> None:
    status, out, _ = run("coverage", sample("weather-overlap"))
    assert (status, "two ranges have key 3" in out) == (1, True)


def test_the_list_of_the_service_decides(run: Run, live: Path, tmp_path: Path) -> None:
    def listed(upload: int, first: int, last: int, size: int = 3_072) -> dict[str, object]:
        key = f"datas3t/weather/dataranges/{first:020d}-{last:020d}-{upload:012d}.tar"
        keys = {"min_datapoint_key": first, "max_datapoint_key": last}
        return {"datarange_id": upload, "data_object_key": key, "index_object_key": "", "size_bytes": size, **keys}

    answer = tmp_path / "live.json"
    there = [listed(3, 1, 4, 5_120), listed(4, 5, 6), listed(8, 11, 12, 9)]
    answer.write_text(json.dumps({"dataranges": [*there, listed(10, 13, 14)]}))
    status, out, _ = run("coverage", "--json", "--live", answer, live)
    assert status == 1
    assert rows(out) == {
        1: "superseded",
        2: "superseded",
        3: "live",
        4: "live",
        5: "orphan",
        6: "unfinished",
        8: "other size",
        9: "orphan",
        10: "missing",
    }
    answer.write_text("{}")
    assert "is no list of data ranges" in run("coverage", "--live", answer, live)[2]


def test_a_place_without_ranges_is_no_dataset(run: Run, sample: Sample) -> None:
    assert run("coverage", sample("journey.caf"))[0] == 2
