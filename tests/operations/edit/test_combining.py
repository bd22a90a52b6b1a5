"""Two damaged copies make one good archive, or nothing is written."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import SourceError
from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.operations.check.checking import check_location
from inspector.operations.compare.combining import Combination, combine, write_combination
from inspector.operations.compare.comparing import compare
from inspector.operations.create.creating import create_taco
from inspector.operations.create.creating_rca import RcaOptions, create_rca
from inspector.operations.create.rca_writing import append_rca
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.compare_views import Ground
from tests.operations.archives import caf
from tests.operations.create.creations import plant

Sample = Callable[[str], Path]
Edit = Callable[[bytes], bytes]


def flip(at: int) -> Edit:
    return lambda data: data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :]


def cut(start: int, stop: int) -> Edit:
    return lambda data: data[:start] + data[stop:]


def put(at: int, more: bytes) -> Edit:
    return lambda data: data[:at] + more + data[at:]


def copies(folder: Path, original: Path, *edits: Edit) -> list[str]:
    found = []
    for number, edit in enumerate(edits):
        path = folder / f"{number}{original.suffix}"
        path.write_bytes(edit(original.read_bytes()))
        found.append(str(path))
    return found


def planned(*locations: str) -> Combination:
    return combine([compare(locations[0], other, Progress()) for other in locations[1:]], Progress())


def combined(*locations: str, target: Path, accept: bool = False) -> str:
    return write_combination(planned(*locations), str(target), Progress(), accept=accept)


def from_where(combination: Combination) -> list[tuple[str, Ground]]:
    return [(step.copy, step.ground) for step in combination.plan.steps]


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

    sentence = combined(a, b, target=target)

    assert target.read_bytes() == sample(name).read_bytes()
    assert check_location(str(target), Progress()).state is State.SOUND
    assert (
        sentence
        == f"{target} was written: {target.stat().st_size:,} bytes, 2 differences decided by digests; it is whole. "
        "Read back and checked: sound."
    )


def test_the_plan_says_what_comes_from_where(sample: Sample, tmp_path: Path) -> None:
    a, b = copies(tmp_path, sample("plain.zip"), flip(1_000), flip(4_000))

    plan = planned(a, b).plan

    assert [(step.copy, step.ground, step.span) for step in plan.steps] == [
        ("B", Ground.PROVED, Span(1_000, 1_001)),
        ("A", Ground.PROVED, Span(4_000, 4_001)),
    ]
    assert plan.steps[0].message == (
        "1 byte at byte 1,000 of B, in DATA/tile_0001.png, byte 952 of 2,345. "
        "Proved: CRC-32 of DATA/tile_0001.png fits B."
    )
    assert (plan.needs_consent, plan.state, plan.lost) == (False, "sound", ())


def test_what_no_digest_proves_is_written_only_with_consent(tmp_path: Path) -> None:
    a, b = copies(tmp_path, caf(tmp_path / "good.caf"), flip(3), flip(100))
    target = tmp_path / "new.caf"

    with pytest.raises(OperationError, match=r"^2 differences not decided and as in A.* if you accept .* written\."):
        combined(a, b, target=target)
    assert not target.exists()
    assert "2 differences not decided and as in A; it is whole." in combined(a, b, target=target, accept=True)
    assert target.read_bytes() == Path(a).read_bytes()


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("plain.zip", flip(1_000), flip(1_100)),
        ("two-entries.tacozip", flip(1_000), cut(1_100, 1_200)),
        ("two-resets-spec.rca", flip(300), flip(310)),
    ],
)
def test_a_member_damaged_in_both_is_proved_by_what_they_make_together(
    sample: Sample, tmp_path: Path, name: str, one: Edit, other: Edit
) -> None:
    a, b = copies(tmp_path, sample(name), one, other)
    target = tmp_path / f"new{sample(name).suffix}"

    assert "2 differences decided by digests; it is whole." in combined(a, b, target=target)
    assert target.read_bytes() == sample(name).read_bytes()
    assert "fits what the copies make together" in planned(a, b).plan.steps[0].message


def test_structure_chooses_where_no_digest_covers(sample: Sample, tmp_path: Path) -> None:
    at = sample("plain.zip").read_bytes().index(b"DATA/") + 1
    a, b = copies(tmp_path, sample("plain.zip"), flip(at), bytes)

    combination = planned(a, b)

    assert from_where(combination) == [("B", Ground.STRUCTURE)]
    assert "Chosen, not proved: more of the archive's structure is right with what B has." in (
        combination.plan.steps[0].message
    )
    assert combination.plan.needs_consent
    assert from_where(planned(b, a)) == [("A", Ground.STRUCTURE)]
    combined(a, b, target=tmp_path / "new.zip", accept=True)
    assert (tmp_path / "new.zip").read_bytes() == sample("plain.zip").read_bytes()


def test_damage_that_both_share_is_not_hidden(sample: Sample, tmp_path: Path) -> None:
    both = flip(1_000)
    a, b = copies(tmp_path, sample("plain.zip"), both, lambda data: flip(4_000)(both(data)))

    assert any("DATA/tile_0001.png" in sentence for sentence in planned(a, b).plan.lost)
    with pytest.raises(OperationError, match=r"it is still damaged\. It is written only if you accept"):
        combined(a, b, target=tmp_path / "new.zip")
    assert "1 difference decided by digests; it is still damaged." in combined(
        a, b, target=tmp_path / "new.zip", accept=True
    )
    assert (tmp_path / "new.zip").read_bytes() == both(sample("plain.zip").read_bytes())


def test_versions_that_are_both_whole_are_not_mixed_as_if_proved(tmp_path: Path) -> None:
    for name, text in (("a.zip", "one"), ("b.zip", "two")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(zipfile.ZipInfo("same.txt"), "x" * 500)
            archive.writestr(zipfile.ZipInfo("other.txt"), text)

    combination = planned(str(tmp_path / "a.zip"), str(tmp_path / "b.zip"))

    assert {ground for _, ground in from_where(combination)} == {Ground.UNDECIDED}
    assert combination.plan.needs_consent


# ---- more than two copies ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_most_copies_are_followed_where_nothing_proves(
    sample: Sample, tmp_path: Path, order: tuple[int, int, int]
) -> None:
    found = copies(tmp_path, sample("journey.caf"), flip(300), cut(9_000, 9_004), put(5_000, b"more"))
    locations = [found[at] for at in order]
    target = tmp_path / "new.caf"

    combination = planned(*locations)

    assert {ground for _, ground in from_where(combination)} == {Ground.MAJORITY}
    assert "Chosen, not proved: 2 of 3 copies agree." in combination.plan.steps[0].message
    with pytest.raises(OperationError, match="3 differences chosen by majority, not proved; it is whole"):
        combined(*locations, target=target)
    sentence = combined(*locations, target=target, accept=True)
    assert "3 differences chosen by majority, not proved; it is whole." in sentence
    assert target.read_bytes() == sample("journey.caf").read_bytes()


def test_three_copies_prove_what_two_cannot(sample: Sample, tmp_path: Path) -> None:
    a, b, c = copies(
        tmp_path,
        sample("plain.zip"),
        lambda data: flip(1_000)(flip(4_000)(data)),
        flip(1_000),
        lambda data: flip(4_000)(cut(4_010, 4_020)(data)),
    )
    target = tmp_path / "new.zip"

    assert planned(a, b).plan.state == planned(a, c).plan.state == "damaged"
    assert "3 differences decided by digests; it is whole" in combined(a, b, c, target=target)
    assert target.read_bytes() == sample("plain.zip").read_bytes()


def test_a_member_hit_in_every_copy_is_proved_by_the_majority(sample: Sample, tmp_path: Path) -> None:
    locations = copies(tmp_path, sample("plain.zip"), flip(1_000), flip(1_100), flip(1_200))

    assert "3 differences decided by digests; it is whole" in combined(*locations, target=tmp_path / "new.zip")
    assert (tmp_path / "new.zip").read_bytes() == sample("plain.zip").read_bytes()


def test_how_a_file_begins_chooses_between_two(sample: Sample, tmp_path: Path) -> None:
    at = sample("journey.caf").read_bytes().index(b"\x89PNG")
    a, b = copies(tmp_path, sample("journey.caf"), flip(at + 1), bytes)

    combination = planned(a, b)

    assert from_where(combination) == [("B", Ground.SIGNATURE)]
    assert "Chosen, not proved: " in combination.plan.steps[0].message
    assert "begins like a well-known kind of file in B alone." in combination.plan.steps[0].message
    assert "chosen by how files begin, not proved" in combined(a, b, target=tmp_path / "new.caf", accept=True)
    assert (tmp_path / "new.caf").read_bytes() == sample("journey.caf").read_bytes()


def test_too_many_copies_are_refused(sample: Sample) -> None:
    one = compare(str(sample("plain.zip")), str(sample("plain.zip")), Progress())

    with pytest.raises(OperationError, match="At most 26 copies"):
        combine([one] * 26, Progress())


# ---- large archives ------------------------------------------------------------------------------------------------

MANY_BYTES = 200 << 20


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["rca", "tacozip"])
def test_two_copies_of_a_large_archive_make_the_original(tmp_path: Path, kind: str) -> None:
    random = Random(16)
    roots = [
        plant(tmp_path / f"{part}", {f"{part}/{at}.bin": random.randbytes(MANY_BYTES // 50) for at in range(5)})
        for part in range(10)
    ]
    original = tmp_path / f"original.{kind}"
    if kind == "rca":
        create_rca(Progress(), str(original), [str(roots[0])], RcaOptions())
        for root in roots[1:]:
            append_rca(Progress(), str(original), [str(root)], RcaOptions())
    else:
        create_taco(Progress(), str(original), list(map(str, roots)))
    data = original.read_bytes()
    places = sorted(random.sample(range(1_000, len(data) - 100_000), 6))
    a, b = copies(
        tmp_path,
        original,
        lambda data: flip(places[0])(flip(places[2])(cut(places[4], places[4] + 4_096)(data))),
        lambda data: flip(places[1])(put(places[3], bytes(512))(flip(places[5])(data))),
    )
    target = tmp_path / f"good.{kind}"

    sentence = combined(a, b, target=target)

    assert sentence.endswith("decided by digests; it is whole. Read back and checked: sound.")
    assert target.read_bytes() == data


# ---- ranges of a dataset -------------------------------------------------------------------------------------------


def datas3t_copies(sample: Sample, folder: Path, *edits: tuple[Edit, Edit]) -> list[Path]:
    """Copies of the first range of a dataset, edits of its tar and of its metadata."""
    original = min(sample("weather").rglob("*.tar"))
    found = []
    for number, (edit, described) in enumerate(edits):
        path = folder / str(number) / original.name
        path.parent.mkdir()
        path.write_bytes(edit(original.read_bytes()))
        beside = original.with_name(f"{original.name}.metadata").read_bytes()
        path.with_name(f"{original.name}.metadata").write_bytes(described(beside))
        found.append(path)
    return found


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("kind", ["members", "metadata", "metadata alone"])
def test_ranges_of_a_dataset_are_combined_with_what_stands_beside_them(
    sample: Sample, tmp_path: Path, kind: str, swapped: bool
) -> None:
    one, other = {
        "members": ((flip(520), bytes), (flip(1_600), bytes)),
        "metadata": ((flip(520), bytes), (bytes, cut(10, 40))),
        "metadata alone": ((bytes, cut(10, 40)), (bytes, bytes)),
    }[kind]
    paths = datas3t_copies(sample, tmp_path, *((other, one) if swapped else (one, other)))
    original = min(sample("weather").rglob("*.tar"))
    target = tmp_path / "new" / original.name
    target.parent.mkdir()

    sentence = combined(*map(str, paths), target=target)

    assert sentence.endswith("decided by digests; it is whole. Read back and checked: sound.")
    assert target.read_bytes() == original.read_bytes()
    metadata = f"{original.name}.metadata"
    assert target.with_name(metadata).read_bytes() == original.with_name(metadata).read_bytes()
    assert check_location(str(target), Progress()).state is State.SOUND
    with pytest.raises(SourceError, match="is there already"):
        combined(*map(str, paths), target=target)


# ---- refusals ------------------------------------------------------------------------------------------------------


def test_nothing_is_replaced_and_nothing_is_left_of_what_was_cancelled(sample: Sample, tmp_path: Path) -> None:
    a, b = copies(tmp_path, sample("plain.zip"), flip(1_000), flip(4_000))
    (tmp_path / "there.zip").write_bytes(b"mine")
    combination = planned(a, b)
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
        combined(a, b, target=tmp_path / "new.zip")
    with pytest.raises(OperationError, match="Only copies of one archive"):
        combined(str(sample("weather")), str(sample("weather-later")), target=tmp_path / "new")
