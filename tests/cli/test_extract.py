"""``extract`` as scripts meet it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.__main__ import main
from tests.operations.extracting import archive, files

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the program in this process: exit status, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return status, out, err

    return call


def test_all_members_are_extracted(run: Run, sample: Callable[[str], Path], tmp_path: Path) -> None:
    status, out, err = run("extract", sample("journey.caf"), "--to", tmp_path / "new" / "folder")
    assert (status, err) == (0, "")
    assert out == f"8 files, 9.8 KiB, were extracted to {tmp_path}/new/folder.\n"
    assert len(files(tmp_path / "new" / "folder")) == 8


def test_what_is_refused_is_said_by_name_and_the_rest_is_extracted(run: Run, tmp_path: Path) -> None:
    path = archive(tmp_path, "zip", [("../evil", b"1"), ("a\x1b[31m", b"2"), ("good", b"3")])
    status, out, err = run("extract", path, "--to", tmp_path / "to")
    assert status == 1
    assert out.startswith("1 file, 1 B, was extracted")
    assert err.splitlines() == [
        "archive-inspector: ../evil is not extracted: its name has a component '..', which leads out of its folder.",
        "archive-inspector: a␛[31m is not extracted: its name holds control characters.",
    ]
    assert files(tmp_path / "to") == {"good": b"3"}


@pytest.mark.parametrize(
    ("given", "status", "there"),
    [
        ([], 1, {"a": b"old"}),
        (["--on-conflict", "skip"], 0, {"a": b"old"}),
        (["--on-conflict", "rename"], 0, {"a": b"old", "a (2)": b"new"}),
        (["--on-conflict", "overwrite"], 0, {"a": b"new"}),
    ],
)
def test_what_is_there_is_left_alone_unless_it_is_said(
    run: Run, tmp_path: Path, given: list[str], status: int, there: dict[str, bytes]
) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "a").write_bytes(b"old")
    path = archive(tmp_path, "caf", [("a", b"new"), ("b", b"b")])
    found, _, err = run("extract", path, "--to", tmp_path / "to", *given)
    assert found == status
    assert files(tmp_path / "to") == {**there, "b": b"b"}
    assert ("a " in err, "--on-conflict" in err) == (True, not given)


def test_members_are_named_as_list_shows_them(run: Run, sample: Callable[[str], Path], tmp_path: Path) -> None:
    status, _, err = run("extract", sample("journey.caf"), "photos", "readme.txt", "--to", tmp_path)
    assert (status, err) == (0, "")
    assert sorted(files(tmp_path)) == ["photos/tile_0001.png", "photos/tile_0002.png", "readme.txt"]
    status, out, err = run("extract", sample("journey.caf"), "readme.tx", "--to", tmp_path / "to")
    assert (status, out) == (2, "")
    assert "Names like it: readme.txt" in err
    assert not (tmp_path / "to").exists()


def test_names_that_are_doubtful_and_what_is_damaged_need_a_word(
    run: Run, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    path = archive(tmp_path, "rca", [("\u202egpj.exe", b"1")])
    status, _, err = run("extract", path, "--to", tmp_path / "to")
    assert (status, "--doubtful" in err, "‹U+202E›gpj.exe" in err) == (1, True, True)
    assert run("extract", path, "--to", tmp_path / "to", "--doubtful")[0] == 0

    path = sample("flipped-member-byte.tacozip")
    status, _, err = run("extract", path, "DATA", "--to", tmp_path / "taco", "--keep-damaged")
    assert (status, "CRC-32" in err) == (1, True)
    assert sorted(files(tmp_path / "taco")) == ["DATA/tile_0001.png.damaged", "DATA/tile_0002.png"]


def test_what_is_no_archive_or_no_folder_is_not_extracted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"nothing")
    assert run("extract", tmp_path / "x", "--to", tmp_path / "to")[0] == 2
    path = archive(tmp_path, "caf", [("a", b"1")])
    status, _, err = run("extract", path, "--to", tmp_path / "x")
    assert (status, "cannot be written to" in err) == (2, True)
    with pytest.raises(SystemExit):
        main(["extract", str(path)])
