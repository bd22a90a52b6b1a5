"""Datapoints whose tar header is hit: the metadata says where they are, and its hashes prove them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.core.verdict import Verdict
from inspector.operations.edit.apply_repairs import apply_plan, describe, save_salvage
from inspector.sources.local.file import FileSource
from tests.formats.archives import assert_covered, checked, codes, planned
from tests.formats.datas3t.range_building import hashed_rows, points, put, rows_frame
from tests.formats.datas3t.range_repairs import Range
from tests.formats.tar.tar_building import build, content
from tests.operations.extract.extracting import extract, files
from tests.sweeping import every

POINTS = points(1, 9, 700) | {f"{5:020d}.json": b"", f"{7:020d}.json": b"ends in zeros" + bytes(300)}
SOUND = build(POINTS.items())
ROWS = hashed_rows(SOUND)
BEGINS = [int(row["begin_offset"]) for row in ROWS]


def ranged(data: bytes) -> Range:
    return Range(data, rows_frame(ROWS), 1, 9)


def verified(data: bytes) -> set[str]:
    """The datapoints that verify and can be read; all else that is listed must not."""
    archive = checked(ranged(data))
    assert_covered(archive)
    found = set()
    for at in range(len(archive.members)):
        name = archive.members.path(at).decode("utf-8", "replace")
        if archive.verdict(at) is Verdict.VERIFIED:
            assert content(archive, at) == POINTS[name]
            found.add(name)
    return found


@pytest.mark.parametrize("member", range(9))
@pytest.mark.parametrize("new", [bytes(512), b"\xff" * 512, b"x" * 30 + bytes(90), b"\0" * 130 + b"7" * 20])
def test_a_datapoint_without_a_readable_header_is_proved(member: int, new: bytes) -> None:
    at = BEGINS[member]
    assert verified(SOUND[:at] + new + SOUND[at + len(new) :]) == set(POINTS)


def test_all_headers_are_gone() -> None:
    data = bytearray(SOUND)
    for at in BEGINS:
        data[at : at + 512] = bytes(512)
    archive = checked(ranged(bytes(data)))
    # No name is left to take the extension from.
    assert [archive.members.path(at) for at in range(9)] == [b"%020d" % key for key in range(1, 10)]
    assert {archive.verdict(at) for at in range(9)} == {Verdict.VERIFIED}


def test_what_is_recovered_is_said_and_extracted(tmp_path: Path) -> None:
    data = SOUND[: BEGINS[3]] + bytes(512) + SOUND[BEGINS[3] + 512 :]
    archive = checked(ranged(data))
    (info,) = (each for each in archive.findings if each.code == "datas3t-recovered")
    assert f"{4:020d}.json" in info.message
    assert codes(archive) == ["tar-zeros-inside"]
    path = put(tmp_path, data, rows_frame(ROWS), 1, 9)
    extract(path, tmp_path / "to")
    assert files(tmp_path / "to") == POINTS


@pytest.mark.parametrize("lost", [1, 100, 511, 700])
def test_datapoints_behind_lost_bytes_are_proved_and_are_one_finding(lost: int) -> None:
    at = BEGINS[3] + 600
    data = SOUND[:at] + SOUND[at + lost :]
    assert verified(data) >= set(POINTS) - {f"{4:020d}.json"}
    moved = [each for each in checked(ranged(data)).findings if each.code == "datas3t-metadata-offset"]
    assert len(moved) == 1
    assert "5 datapoints" in moved[0].message


@pytest.mark.parametrize("at", [BEGINS[3] + 40, BEGINS[3] + 480])
def test_a_header_that_lost_bytes_leaves_its_datapoint_whole(at: int) -> None:
    assert verified(SOUND[:at] + SOUND[at + 20 :]) == set(POINTS)
    assert verified(SOUND[:at] + b"+" * 20 + SOUND[at:]) == set(POINTS)


def test_a_name_that_is_hit_is_known_from_the_row() -> None:
    at = BEGINS[3] + 19
    assert verified(SOUND[:at] + b"9" + SOUND[at + 1 :]) == set(POINTS)


@every(5)
def test_by_seed_every_datapoint_that_is_whole_is_proved(step: int) -> None:
    for seed in range(0, 300, step):
        rng = random.Random(seed)
        low = rng.randrange(0, BEGINS[7])
        high = min(BEGINS[8], low + rng.choice((1, 100, 500, 4000)))
        kind = rng.choice(("zeros", "noise", "lost", "doubled"))
        new = {
            "zeros": bytes(high - low),
            "noise": bytes(rng.choices(range(1, 256), k=high - low)),
            "lost": b"",
            "doubled": SOUND[low:high] * 2,
        }[kind]
        data = SOUND[:low] + new + SOUND[high:]
        rows = zip(POINTS.items(), BEGINS, strict=True)
        change = low if kind != "doubled" else high
        whole = {
            name
            for (name, text), begin in rows
            if begin + 512 + len(text) <= change
            or (begin + 512 * (kind != "doubled") >= high and (text or kind in ("zeros", "noise")))
        }
        missed = whole - verified(data)
        assert not missed, (seed, kind, low, high)


def test_without_hashes_nothing_is_recovered() -> None:
    data = SOUND[: BEGINS[3]] + bytes(512) + SOUND[BEGINS[3] + 512 :]
    assert len(checked(Range(data, None, 1, 9)).members) == 8


def test_what_verifies_is_saved_in_a_new_range_with_its_metadata(tmp_path: Path) -> None:
    data = SOUND[: BEGINS[3]] + bytes(512) + SOUND[BEGINS[3] + 512 :]
    path = put(tmp_path / "damaged", data, rows_frame(ROWS), 1, 9)
    copy = tmp_path / path.name
    found = planned(FileSource(path))
    assert describe(found, str(copy)).beside == (f"{path.name}.metadata",)
    save_salvage(found, FileSource(path), str(copy), Progress())
    archive = checked(FileSource(copy))
    assert (archive.format, archive.findings) == ("datas3t", [])
    assert {archive.verdict(at) for at in range(9)} == {Verdict.VERIFIED}
    assert found.salvage is not None
    assert found.salvage.lossless
    with pytest.raises(SourceError):
        save_salvage(found, FileSource(path), str(tmp_path / copy.name), Progress())


def test_a_salvage_leaves_out_what_does_not_verify(tmp_path: Path) -> None:
    at = BEGINS[3] + 600
    path = put(tmp_path, SOUND[:at] + SOUND[at + 7 :], rows_frame(ROWS), 1, 9)
    found = planned(FileSource(path))
    assert found.salvage is not None
    assert f"{4:020d}.json" in found.salvage.loses[0]
    save_salvage(found, FileSource(path), str(tmp_path / "saved.tar"), Progress())
    archive = checked(FileSource(tmp_path / "saved.tar"))
    assert [archive.verdict(at) for at in range(len(archive.members))] == [Verdict.VERIFIED] * 8
    assert codes(archive) == ["datas3t-key-gap"]


def test_a_repaired_copy_has_the_metadata_beside_it(tmp_path: Path) -> None:
    path = put(tmp_path, SOUND[:-1024], rows_frame(ROWS), 1, 9)
    found = planned(FileSource(path))
    apply_plan(found, FileSource(path), str(tmp_path / "copy.tar"), Progress())
    archive = checked(FileSource(tmp_path / "copy.tar"))
    assert (archive.format, codes(archive)) == ("datas3t", [])
    assert {archive.verdict(at) for at in range(9)} == {Verdict.VERIFIED}
