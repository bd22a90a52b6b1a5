"""``compare``: what scripts read of it, and its exit status."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.cli.running import Run, objects

SUMMARY = ["a", "b", "equal", "members", "bytes", "better"]
DIFFERENCE = ["kind", "change", "a", "b", "right", "message"]
SIDE = ["path", "spans", "value"]


@pytest.fixture
def damaged(sample: Callable[[str], Path], tmp_path: Path) -> Path:
    """A copy of plain.zip with a flipped bit in its first member."""
    path = tmp_path / "damaged.zip"
    data = bytearray(sample("plain.zip").read_bytes())
    data[1_000] ^= 1
    path.write_bytes(data)
    return path


def test_equal_is_0(run: Run, sample: Callable[[str], Path], tmp_path: Path) -> None:
    shutil.copyfile(sample("plain.zip"), tmp_path / "b.zip")

    assert run("compare", sample("plain.zip"), tmp_path / "b.zip") == (0, "Equal.\n", "")
    status, out, _ = run("compare", "--json", sample("plain.zip"), tmp_path / "b.zip")
    (summary,) = objects(out)
    assert (status, list(summary), summary["equal"], summary["better"]) == (0, SUMMARY, True, None)
    assert summary["bytes"] == {"equal": 5657, "changed": 0, "added": 0, "removed": 0}


def test_different_is_1_and_json_has_the_summary_first(run: Run, sample: Callable[[str], Path], damaged: Path) -> None:
    status, out, err = run("compare", "--json", sample("plain.zip"), damaged)

    summary, member, flipped = objects(out)
    assert (status, err) == (1, "")
    assert (summary["a"], summary["b"]) == (str(sample("plain.zip")), str(damaged))
    assert (summary["equal"], summary["better"], summary["bytes"]["changed"]) == (False, "a", 1)
    assert summary["members"] == {"same": 3, "changed": 1, "added": 0, "removed": 0, "moved": 0, "renamed": 0}
    assert list(member) == list(flipped) == DIFFERENCE
    assert list(member["a"]) == list(flipped["b"]) == SIDE
    assert (member["kind"], member["change"], member["right"]) == ("member", "changed", "a")
    assert member["a"]["path"] == "DATA/tile_0001.png"
    assert (flipped["kind"], flipped["a"]) == ("bytes", {"path": None, "spans": [[1000, 1001]], "value": None})


def test_only_what_is_asked_for_is_compared(run: Run, sample: Callable[[str], Path], damaged: Path) -> None:
    def kinds(option: str) -> tuple[int, list[str]]:
        status, out, _ = run("compare", "--json", option, sample("plain.zip"), damaged)
        return status, [each["kind"] for each in objects(out)[1:]]

    assert kinds("--members") == (1, ["member"])
    assert kinds("--bytes") == (1, ["bytes"])
    assert kinds("--fields") == (0, [])


def test_a_quick_look_says_that_it_read_no_content(run: Run, sample: Callable[[str], Path], damaged: Path) -> None:
    status, out, err = run("compare", "--json", "--quick", sample("plain.zip"), damaged)

    (summary,) = objects(out)
    assert (status, summary["equal"], summary["bytes"]) == (0, None, {})
    assert "Recorded digests equal; contents not read." in err


def test_text_is_a_line_for_each_difference(run: Run, sample: Callable[[str], Path], damaged: Path) -> None:
    status, out, _ = run("compare", sample("plain.zip"), damaged)

    lines = out.splitlines()
    assert status == 1
    assert lines[0] == "Different: members: 3 same, 1 changed; 1 run of bytes differs (1 byte); A is right."
    assert lines[1].startswith("≠ DATA/tile_0001.png changed: its content differs from byte 952 of 2,345 on.")
    assert "A is right: CRC-32 of DATA/tile_0001.png fits A, not B." in lines[2]


@pytest.mark.parametrize("missing", [0, 1])
def test_unreadable_is_2(run: Run, sample: Callable[[str], Path], tmp_path: Path, missing: int) -> None:
    places = [sample("plain.zip"), sample("plain.zip")]
    places[missing] = tmp_path / "nothing"

    status, out, err = run("compare", "--json", *places)

    assert (status, out) == (2, "")
    assert "does not exist" in err
    assert run("compare", places[0], "")[0] == 2


def test_two_damaged_copies_are_combined(
    run: Run, sample: Callable[[str], Path], damaged: Path, tmp_path: Path
) -> None:
    data = bytearray(sample("plain.zip").read_bytes())
    data[4_000] ^= 1
    (tmp_path / "other.zip").write_bytes(data)
    target = tmp_path / "good.zip"

    status, out, err = run("compare", "--json", damaged, tmp_path / "other.zip", "--to", target)

    assert (status, objects(out)[0]["better"]) == (1, "neither")
    assert target.read_bytes() == sample("plain.zip").read_bytes()
    assert [line.split(": ")[1] for line in err.splitlines()[:2]] == ["from B", "from A"]
    assert "2 differences decided by digests; it is whole." in err
    assert run("compare", damaged, tmp_path / "other.zip", "--to", target)[0] == 2
    assert run("compare", "--quick", damaged, tmp_path / "other.zip", "--to", tmp_path / "new.zip")[0] == 2


def test_more_than_two_copies_are_combined_by_majority_with_consent(
    run: Run, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    copies = []
    for at in (300, 5_000, 9_000):
        data = bytearray(sample("journey.caf").read_bytes())
        data[at] ^= 8
        copies.append(tmp_path / f"{at}.caf")
        copies[-1].write_bytes(data)
    target = tmp_path / "good.caf"

    status, out, err = run("compare", *copies, "--to", target)

    assert status == 2
    assert [line.split(": ")[0] for line in out.splitlines() if line.startswith("A ")] == [
        f"A {copies[0]}, B {copies[1]}",
        f"A {copies[0]}, B {copies[2]}",
    ]
    assert "3 differences chosen by majority, not proved; it is whole. It is written only if you accept that." in err
    assert not target.exists()
    assert run("compare", "--accept", *copies)[0] == 2
    status, out, err = run("compare", "--json", *copies, "--to", target, "--accept")
    assert (status, [each["b"] for each in objects(out) if "equal" in each]) == (1, list(map(str, copies[1:])))
    assert err.count("Chosen, not proved: 2 of 3 copies agree.") == 3
    assert target.read_bytes() == sample("journey.caf").read_bytes()


def test_the_state_before_an_earlier_write_is_compared_with_what_is(
    run: Run, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    path = tmp_path / "two-entries.tacozip"
    shutil.copyfile(sample(path.name), path)
    states = [path.read_bytes()]
    for value in ("0=157,10", "0=157,20"):
        assert run("header", path, "--set", value)[0] == 0
        states.append(path.read_bytes())
    for number, before in ((1, states[1]), (2, states[0])):
        (tmp_path / "before").write_bytes(before)
        expected = run("compare", "--json", "--bytes", tmp_path / "before", path)
        status, out, _ = run("compare", "--json", "--bytes", "--before", number, path)
        assert (status, expected[0]) == (1, 1)
        assert objects(out)[1:] == objects(expected[1])[1:] != []
    assert path.read_bytes() == states[2]

    assert "There is no write 3: old bytes of 2 writes" in run("compare", "--before", 3, path)[2]
    path.write_bytes(states[2][:-1] + b"?")  # by another program, elsewhere
    assert run("compare", "--before", 1, path)[0] == 1
    path.write_bytes(states[2][:60] + b"??" + states[2][62:])
    status, out, said = run("compare", "--before", 1, path)
    assert (status, out) == (2, "")
    assert "the bytes are not those that this program wrote" in said


@pytest.mark.parametrize("wrong", [(), ("--before", 1, "other")])
def test_two_locations_are_named_or_one_with_before(
    run: Run, sample: Callable[[str], Path], wrong: Sequence[object]
) -> None:
    status, _, said = run("compare", sample("plain.zip"), *wrong)
    assert (status, "Name two locations" in said) == (2, True)


def test_an_empty_folder_is_not_said_to_be_none(run: Run, sample: Callable[[str], Path], tmp_path: Path) -> None:
    status, out, err = run("compare", tmp_path, sample("gap.caf"))
    assert (status, out) == (2, "")
    assert "neither a known archive nor a folder with files." in err
