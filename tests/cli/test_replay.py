"""``replay``: what scripts read of it, the file it writes, and that it never writes the archive."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import Run, objects


@pytest.fixture
def taco(tmp_path: Path, sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "a.tacozip"
    path.write_bytes(sample("two-entries.tacozip").read_bytes())
    monkeypatch.chdir(tmp_path)
    return path


SET = ("--set", "0=157,1000")


def test_writes_a_point_and_every_crash_are_told_and_nothing_is_written(run: Run, taco: Path) -> None:
    data, stamp = taco.read_bytes(), taco.stat()
    status, out, err = run("replay", taco, *SET, "--at", "1.2", "--matrix", "--json")
    *found, end = objects(out)
    writes, (checked,), crashes = found[:3], found[3:4], [*found[4:], end]

    assert (status, err) == (1, "")
    assert [(each["write"], each["kind"], each["offset"], each["size"], each["synced"]) for each in writes] == [
        (1, "write", 41, 116, False),
        (2, "write", 14, 4, False),
        (3, "write", 5_555, 4, True),
    ]
    assert writes[0]["what"] == "TACO payload"
    assert bytes.fromhex(writes[0]["old"]) == data[41:157]
    assert bytes.fromhex(writes[0]["new"])[4:20] == (157).to_bytes(8, "little") + (1_000).to_bytes(8, "little")
    assert (checked["at"], checked["state"], checked["size"]) == ("1.2", "damaged", len(data))
    assert [each["crash"] for each in crashes] == ["0", "0.58", "1", "1.2", "2", "2.2", "3"]
    assert [each["state"] for each in crashes] == ["sound", "torn", "torn", "damaged", "torn", "torn", "sound"]
    assert [each["repair"] for each in crashes] == ["none", *["new"] * 5, "none"]
    assert [each["accept"] for each in crashes] == [None, *["taco-finish-update"] * 3, *[None] * 3]
    zipfile = [each["readers"]["zipfile"]["verdict"] for each in crashes]
    assert zipfile == ["old", *["recoverable"] * 5, "new"]
    assert "Bad CRC-32" in crashes[2]["readers"]["zipfile"]["message"]
    assert (taco.read_bytes(), taco.stat().st_ctime_ns) == (data, stamp.st_ctime_ns)
    assert list(taco.parent.iterdir()) == [taco]


def test_a_state_is_written_to_a_new_file(run: Run, taco: Path) -> None:
    status, out, err = run("replay", taco, *SET, "--at", "2", "--to", "new.tacozip", "--readers")
    digest = hashlib.sha256(Path("new.tacozip").read_bytes()).hexdigest()

    assert (status, err) == (1, "")
    assert "  2 of 3: CRC-32 of local file header, 4 bytes at 14 (0xe)\n      old  47 06 6c 4d\n" in out
    assert "\nAfter write 2 of 3: Torn: " in out
    assert "    zipfile     rejects at step " in out
    assert out.endswith(f"Written to new.tacozip: 5,876 bytes, SHA-256 {digest}.\n")
    assert run("check", "new.tacozip")[0] == 1
    # What was left there is what the repair finishes, write by write.
    status, out, _ = run("replay", "new.tacozip", "--repair", "--json")
    assert (status, [each["offset"] for each in objects(out)]) == (0, [5_555])
    assert run("replay", taco, *SET, "--to", "new.tacozip")[0] == 2


def test_the_history_of_an_rca_archive(run: Run, sample: Callable[[str], Path]) -> None:
    status, out, _ = run("replay", sample("two-chunks.rca"), "--segments", "--at", "1", "--json")
    assert status == 0
    assert [(each.get("what"), each["size"]) for each in objects(out)] == [
        ("segment 1, 5 blobs", 36_743),
        ("segment 2, 2 blobs", 505),
        (None, 36_743),
    ]


def test_a_patch_and_an_earlier_write_are_replayed(run: Run, taco: Path) -> None:
    assert run("experiment", taco, "--flip", "200:1", "--save-patch", "patch.json")[0] == 1
    patched = objects(run("replay", taco, "--patch", "patch.json", "--json")[1])
    assert [(each["offset"], each["size"]) for each in patched] == [(200, 1)]
    assert run("header", taco, *SET)[0] == 0
    status, out, _ = run("replay", taco, "--past", "1")
    assert (status, out.count("      old  ")) == (0, 3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Say what is written with one of --append, --set, --repair, --patch, --past, --segments."),
        ([*SET, "--repair"], "Say what is written with one of "),
        ([*SET, "--at", "4"], "There is no point 4: the replay has 3 steps."),
        ([*SET, "--at", "0.116"], "There is no point 0.116: write 1 has 116 bytes."),
        ([*SET, "--to", "a.tacozip"], "a.tacozip exists already, and --overwrite is not given."),
        ([*SET, "--to", "s3://bucket/key"], "to a local file only"),
        ([*SET, "--readers"], "give --at too, or --matrix for all"),
        ([*SET, "--accept", "x"], "--accept consents to a repair"),
        (["--segments"], "Only an RCA archive keeps its history"),
        (["--append", "patch.json"], "patch.json does not exist"),
        (["--past", "1"], "There is no write 1"),
        (["--repair"], "No repair writes to"),
    ],
)
def test_what_cannot_be_done_is_2_and_writes_nothing(run: Run, taco: Path, arguments: list[str], sentence: str) -> None:
    before = taco.stat()
    status, out, err = run("replay", "a.tacozip", *arguments)

    assert (status, out) == (2, "")
    assert sentence in err
    assert taco.stat().st_ctime_ns == before.st_ctime_ns
    assert list(taco.parent.iterdir()) == [taco]


def test_a_folder_and_a_member_of_an_archive(run: Run, sample: Callable[[str], Path]) -> None:
    assert "this is a folder" in run("replay", sample("weather"), "--repair")[2]
    member = f"{sample('plain.tar')}!/journey/readme.txt"
    assert "is no file of this machine" in run("replay", member, "--repair")[2]
