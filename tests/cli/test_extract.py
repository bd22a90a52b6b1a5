"""``extract`` as scripts meet it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from inspector.__main__ import main
from inspector.operations.open.reading import Reading
from inspector.sources.s3.sentences import S3Error
from tests.cli.running import Run
from tests.operations.extract.extracting import archive, files


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


def test_members_may_be_patterns_and_options_stand_anywhere(
    run: Run, sample: Callable[[str], Path], tmp_path: Path
) -> None:
    status, _, err = run(
        "extract", sample("journey.caf"), "--to", tmp_path / "to", "photos/*1.png", "*.txt", "readme.txt"
    )
    assert (status, err) == (0, "")
    assert set(files(tmp_path / "to")) == {
        "readme.txt",
        "photos/tile_0001.png",
        "notes/zażółć gęślą.txt",
        "notes/報告.txt",
    }


def test_a_name_with_an_asterisk_is_that_name_before_it_is_a_pattern(run: Run, tmp_path: Path) -> None:
    path = archive(tmp_path, "caf", [("a*", b"1"), ("ab", b"2")])
    assert run("extract", path, "a*", "--to", tmp_path / "to")[0] == 0
    assert files(tmp_path / "to") == {"a*": b"1"}


def test_a_pattern_that_nothing_matches_is_no_member(run: Run, sample: Callable[[str], Path], tmp_path: Path) -> None:
    status, _, err = run("extract", sample("journey.caf"), "*.nothing", "--to", tmp_path / "to")
    assert status == 2
    assert "There is no member called *.nothing." in err


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


@pytest.mark.parametrize("kind", ["cut", "flipped"])
def test_what_nothing_proves_is_written_on_a_word_only(run: Run, tmp_path: Path, kind: str) -> None:
    """Whether the hash of a segment cannot be compared or does not fit is one."""
    entries = [(f"{number}.bin", Random(number).randbytes(4000)) for number in range(6)]
    path = archive(tmp_path, "rca", entries)
    data = bytearray(path.read_bytes())
    if kind == "cut":
        path.write_bytes(data[:-3])
    else:
        data[data.index(entries[5][1][100:200]) + 50] ^= 1
        path.write_bytes(data)

    status, _, err = run("extract", path, "--to", tmp_path / "to")
    assert (status, sorted(files(tmp_path / "to"))) == (1, ["0.bin", "1.bin", "2.bin"])
    assert "3.bin is not extracted" in err
    assert "of them anyway: nothing proves their content wrong." in err
    assert max(map(len, err.splitlines())) < 400
    _, _, err = run("extract", path, "--to", tmp_path / "all", "--doubtful")
    assert sorted(files(tmp_path / "all"))[:5] == [name for name, _ in entries[:5]]
    assert "3.bin is not proved to be what was archived: " in err


def test_content_of_a_format_without_digests_needs_no_word(run: Run, tmp_path: Path) -> None:
    path = archive(tmp_path, "caf", [("a", b"1")])
    assert run("extract", path, "--to", tmp_path / "to")[::2] == (0, "")


def test_what_is_no_archive_or_no_folder_is_not_extracted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"nothing")
    assert run("extract", tmp_path / "x", "--to", tmp_path / "to")[0] == 2
    path = archive(tmp_path, "caf", [("a", b"1")])
    status, _, err = run("extract", path, "--to", tmp_path / "x")
    assert (status, "cannot be written to" in err) == (2, True)
    with pytest.raises(SystemExit):
        main(["extract", str(path)])


def test_what_a_killed_run_has_left_is_said_and_removed_on_the_users_word(run: Run, tmp_path: Path) -> None:
    path = archive(tmp_path, "zip", [("deep/one", b"1"), ("two", b"2")])
    left = tmp_path / "to" / "deep" / ".part-0123456789abcdef"
    left.parent.mkdir(parents=True)
    left.write_bytes(bytes(2000))

    status, _, err = run("extract", path, "--to", tmp_path / "to")

    assert status == 0
    assert "1 unfinished file of a run that was killed is in" in err
    assert "'.part-0123456789abcdef', 2.0 KiB." in err
    assert left.exists()
    status, _, err = run("extract", path, "--to", tmp_path / "to", "--on-conflict", "skip", "--remove-unfinished")
    assert status == 0
    assert "was removed in" in err
    assert not left.exists()


def test_what_could_not_be_read_on_is_status_2(
    run: Run, sample: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> None:
        raise S3Error("The server cannot be reached.")

    monkeypatch.setattr(Reading, "pieces", gone)
    status, _, err = run("extract", sample("journey.caf"), "--to", tmp_path / "out")

    assert status == 2
    assert "The server cannot be reached." in err


@pytest.mark.parametrize(
    ("name", "shown"),
    [("new\nline.txt", r"new\nline.txt"), ("a\u200bb", "a‹U+200B›b"), ("bell\a", "bell␇")],
)
def test_a_name_may_be_given_as_list_shows_it(run: Run, tmp_path: Path, name: str, shown: str) -> None:
    path = archive(tmp_path, "caf", [(name, b"escaped"), ("other", b"o")])
    assert shown in run("list", path)[1]

    assert run("cat", path, shown) == (0, "escaped", "")
    assert run("cat", path, name)[:2] == (0, "escaped")
    status, _, err = run("extract", path, shown, "--to", tmp_path / "to", "--doubtful")
    if status:  # some names are never those of files
        assert shown in err
        assert "There is no member" not in err
    else:
        assert files(tmp_path / "to") == {name: b"escaped"}


def test_a_member_that_is_called_so_goes_before_one_that_is_shown_so(run: Run, tmp_path: Path) -> None:
    path = archive(tmp_path, "caf", [("a\nb", b"escaped"), (r"a\nb", b"itself")])

    assert run("cat", path, r"a\nb")[:2] == (0, "itself")


def test_of_several_that_are_shown_alike_none_is_taken(run: Run, tmp_path: Path) -> None:
    path = archive(tmp_path, "caf", [("\na\\n", b"one"), ("\\na\n", b"two")])
    for command in (("cat", path, r"\na\n"), ("extract", path, r"\na\n", "--to", tmp_path / "to")):
        status, out, err = run(*command)
        assert (status, out) == (2, "")
        assert r"There are 2 members that are shown as \na\n. Give the exact name" in err
        assert "list --json prints as path" in err
