"""Two damaged copies make one good archive, or nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.core.verdict import State
from inspector.operations.check.checking import check_location
from inspector.operations.compare.combining import combine, write_combination
from inspector.operations.compare.comparing import compare
from inspector.operations.jobs.operation_error import OperationError
from tests.operations.archives import caf

Sample = Callable[[str], Path]
Edit = Callable[[bytes], bytes]


def flip(at: int) -> Edit:
    return lambda data: data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :]


def cut(start: int, stop: int) -> Edit:
    return lambda data: data[:start] + data[stop:]


def put(at: int, more: bytes) -> Edit:
    return lambda data: data[:at] + more + data[at:]


def copies(folder: Path, original: Path, *edits: Edit) -> tuple[str, str]:
    found = []
    for number, edit in enumerate(edits):
        path = folder / f"{number}{original.suffix}"
        path.write_bytes(edit(original.read_bytes()))
        found.append(str(path))
    return found[0], found[1]


def combined(a: str, b: str, target: Path) -> str:
    return write_combination(combine(compare(a, b, Progress()), Progress()), str(target), Progress())


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("two-entries.tacozip", flip(1_000), flip(3_000)),
        ("two-entries.tacozip", flip(3_000), cut(1_024, 1_536)),
        ("plain.zip", flip(4_000), put(1_000, bytes(300))),
        ("two-resets-spec.rca", flip(300), flip(700)),
        ("two-resets-rcarch.rca", flip(1_200), flip(100)),
        ("two-chunks.rca", flip(36_950), flip(20_000)),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_two_damaged_copies_make_the_original(
    sample: Sample, tmp_path: Path, name: str, one: Edit, other: Edit, swapped: bool
) -> None:
    a, b = copies(tmp_path, sample(name), *((other, one) if swapped else (one, other)))
    target = tmp_path / f"good{sample(name).suffix}"

    sentence = combined(a, b, target)

    assert target.read_bytes() == sample(name).read_bytes()
    assert check_location(str(target), Progress()).state is State.SOUND
    assert (
        sentence
        == f"{target} was written: {target.stat().st_size:,} bytes, 2 differences decided by digests; it is whole."
    )


def test_the_plan_says_what_comes_from_where(sample: Sample, tmp_path: Path) -> None:
    a, b = copies(tmp_path, sample("plain.zip"), flip(1_000), flip(4_000))

    plan = combine(compare(a, b, Progress()), Progress()).plan

    assert [line.split(" at ")[0] for line in plan] == ["from B: One bit differs", "from A: One bit differs"]
    assert "B is right: CRC-32 of DATA/tile_0001.png fits B, not A." in plan[0]


def test_what_no_digest_proves_is_not_chosen(tmp_path: Path) -> None:
    a, b = copies(tmp_path, caf(tmp_path / "good.caf"), flip(3), flip(100))

    with pytest.raises(OperationError, match=r"Of 2 differences 2 cannot be decided: .* Nothing was written\."):
        combined(a, b, tmp_path / "new.caf")
    assert not (tmp_path / "new.caf").exists()


def test_the_same_member_damaged_twice_stays_lost(sample: Sample, tmp_path: Path) -> None:
    a, b = copies(tmp_path, sample("plain.zip"), flip(1_000), flip(1_100))

    with pytest.raises(OperationError, match="cannot be decided"):
        combined(a, b, tmp_path / "new.zip")
    assert not (tmp_path / "new.zip").exists()


def test_damage_that_both_share_is_not_hidden(sample: Sample, tmp_path: Path) -> None:
    both = flip(1_000)
    a, b = copies(tmp_path, sample("plain.zip"), both, lambda data: flip(4_000)(both(data)))

    with pytest.raises(OperationError, match="would still be damaged"):
        combined(a, b, tmp_path / "new.zip")


def test_nothing_is_replaced_and_nothing_is_left_of_what_was_cancelled(sample: Sample, tmp_path: Path) -> None:
    a, b = copies(tmp_path, sample("plain.zip"), flip(1_000), flip(4_000))
    (tmp_path / "there.zip").write_bytes(b"mine")
    combination = combine(compare(a, b, Progress()), Progress())
    before = sorted(tmp_path.iterdir())

    with pytest.raises(SourceError, match="is there already"):
        write_combination(combination, str(tmp_path / "there.zip"), Progress())
    cancelled = Progress()
    cancelled.cancel()
    with pytest.raises(Cancelled):
        write_combination(combination, str(tmp_path / "new.zip"), cancelled)
    with pytest.raises(OperationError, match="file of this machine"):
        write_combination(combination, "s3://bucket/new.zip", Progress())
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "there.zip").read_bytes() == b"mine"


def test_equal_copies_and_folders_have_nothing_to_combine(sample: Sample, tmp_path: Path) -> None:
    a, b = copies(tmp_path, sample("plain.zip"), bytes, bytes)

    with pytest.raises(OperationError, match="nothing to combine"):
        combined(a, b, tmp_path / "new.zip")
    with pytest.raises(OperationError, match="two copies of one archive"):
        combined(str(sample("weather")), str(sample("weather-later")), tmp_path / "new")
