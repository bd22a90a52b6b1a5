"""``trace``: what scripts read of it, and its exit status."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import Run, objects

STEP = ["source", "n", "depth", "action", "span", "value", "decision", "ok"]
END = ["reader", "accepts", "members", "stopped_at", "message"]


def test_json_has_the_steps_and_then_the_end(run: Run, sample: Callable[[str], Path]) -> None:
    status, out, err = run("trace", "--json", "--reader", "rcarch", sample("two-resets-spec.rca"))

    *steps, end = objects(out)
    assert (status, err) == (1, "")
    assert all(list(step) == STEP for step in steps)
    assert list(end)[:6] == ["source", *END]
    assert [step["n"] for step in steps] == list(range(1, len(steps) + 1))
    assert (end["reader"], end["accepts"], end["members"]) == ("rcarch", False, 4)
    assert (end["stopped_at"], end["message"]) == (len(steps), "final checksum mismatch")
    assert (steps[-1]["ok"], steps[-1]["span"]) == (False, [0x3E7, 0x3EF])


def test_a_reader_that_accepts_is_0_and_one_member_can_be_followed(run: Run, sample: Callable[[str], Path]) -> None:
    status, out, err = run("trace", "--json", "--reader=zipfile", "--member=DATA/tile_0001.png", sample("plain.zip"))

    *_, end = objects(out)
    assert (status, err, end["accepts"], end["members"], end["stopped_at"]) == (0, "", True, 1, None)


def test_the_table_is_a_line_for_each_reader(run: Run, sample: Callable[[str], Path]) -> None:
    status, out, _ = run("trace", "--json", sample("two-resets-rcarch.rca"))

    spec, rcarch = objects(out)
    assert (status, spec["reader"], rcarch["reader"]) == (1, "spec", "rcarch")
    assert (spec["accepts"], rcarch["accepts"], spec["verdict"], rcarch["verdict"]) == (
        False,
        True,
        "rejects",
        "accepts",
    )
    assert run("trace", sample("journey.caf"))[0] == 0


def test_each_range_of_a_folder_is_named(run: Run, sample: Callable[[str], Path]) -> None:
    status, out, err = run("trace", "--json", "--reader", "spec", sample("weather"))

    ends = [each for each in objects(out) if "reader" in each]
    assert (status, err, len(ends)) == (0, "", 2)
    assert ends[0]["source"].endswith("00000000000000000001-00000000000000000004.tar")


def test_standard_input_can_be_traced(run: Run, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    class Piped(io.TextIOWrapper):
        def isatty(self) -> bool:
            return False

    monkeypatch.setattr("sys.stdin", Piped(io.BytesIO(sample("plain.zip").read_bytes())))
    status, out, _ = run("trace", "--json", "--reader", "zipfile", "-")
    assert (status, objects(out)[-1]["members"]) == (0, 4)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--reader", "zipfile", "two-resets-spec.rca"], "zipfile does not read this file (RCA archive)"),
        (["--member", "x", "plain.zip"], "--member says what one reader reads"),
        (["library.a"], "No other reader of Unix ar archive is known"),
    ],
)
def test_what_cannot_be_traced_is_2(
    run: Run, sample: Callable[[str], Path], arguments: list[str], sentence: str
) -> None:
    *options, name = arguments
    status, out, err = run("trace", *options, sample(name))

    assert (status, out) == (2, "")
    assert sentence in err


def test_check_says_what_the_readers_make_of_it_when_asked(run: Run, sample: Callable[[str], Path]) -> None:
    path = sample("two-resets-spec.rca")
    status, out, _ = run("check", "--json", "--readers", path)
    (found,) = objects(out)
    assert status == 0  # what one reader rejects can be sound
    assert [(each["reader"], each["accepts"]) for each in found["readers"]] == [("spec", True), ("rcarch", False)]
    assert "readers" not in objects(run("check", "--json", path)[1])[0]
    text = run("check", "--readers", path)[1]
    assert "    rcarch  rejects at step 16: final checksum mismatch (simulated)" in text
    assert "readers of dataset/weather/" in run("check", "--readers", sample("weather"))[1]
