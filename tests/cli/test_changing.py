"""``header`` and ``repair`` as they are typed: what they print, what they write, how they exit."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tacozip

from inspector.cli.output import write_lines, write_objects
from inspector.core.edit import Edit, EditError, Patch
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.file import FileSource
from tests.cli.running import Run
from tests.conftest import SAMPLES
from tests.sources.disks import Stopped, Watched, killing
from tests.sweeping import every

Copy = Callable[[str], Path]


@pytest.fixture
def copy(sample: Callable[[str], Path], tmp_path: Path) -> Copy:
    """A copy of a sample that may be changed."""

    def make(name: str) -> Path:
        path = tmp_path / name
        shutil.copyfile(sample(name), path)
        return path

    return make


def one(text: str) -> dict[str, Any]:
    (line,) = text.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_of_a_long_write_the_ends_are_shown_and_programs_have_all_of_it() -> None:
    edit = Edit("Change", (Patch(5, b"\1" * 129, b"\2" * 129), Patch(900, b"", b"\3" * 128)), 900, 1028)
    assert write_lines(edit) == [
        "at 5 (0x5), 129 bytes",
        f"  old  {'01' * 64}…{'01' * 64}",
        f"  new  {'02' * 64}…{'02' * 64}",
        "at 900 (0x384), 128 bytes",
        "  old  (after the end of the file)",
        f"  new  {'03' * 128}",
    ]
    assert [each["new"] for each in write_objects(edit)] == ["02" * 129, "03" * 128]


def test_header_shows_where_entries_lead(copy: Copy, run: Run) -> None:
    status, out, _ = run("header", copy("two-entries.tacozip"))
    assert status == 0
    assert out.splitlines()[0] == "count 2"
    assert "the data of COLLECTION.json" in out


def test_header_edits_what_tacozip_reads(copy: Copy, run: Run) -> None:
    path, twin = copy("two-entries.tacozip"), copy("two-entries.tacozip").with_name("twin.tacozip")
    shutil.copyfile(path, twin)
    status, out, _ = run("header", path, "--set", "0=0x10,7", "--set", "2=100,200", "--json")
    assert status == 0
    assert one(out)["written"] is True
    entries = [(16, 7), tacozip.read_header(str(twin))[1], (100, 200)]
    assert tacozip.read_header(str(path)) == entries
    tacozip.update_header(str(twin), entries)
    assert path.read_bytes() == twin.read_bytes()


def test_a_dry_run_prints_the_three_writes_and_makes_none(copy: Copy, run: Run) -> None:
    path = copy("two-entries.tacozip")
    before = path.read_bytes()
    _, out, _ = run("header", path, "--count", "1", "--dry-run", "--json")
    writes = one(out)["writes"]
    assert [(write["offset"], len(write["new"]) // 2) for write in writes][:2] == [(41, 116), (14, 4)]
    assert all(before[write["offset"] :].startswith(bytes.fromhex(write["old"])) for write in writes)
    _, text, _ = run("header", path, "--count", "1", "--dry-run")
    assert all(write["new"] in text for write in writes)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("two-entries.tacozip", ("--set", "7=1,2"), "no entry 7"),
        ("two-entries.tacozip", ("--set", "0=x,2"), "is no number"),
        ("two-entries.tacozip", ("--set", "0"), "has no ="),
        ("two-entries.tacozip", ("--set", "0=5,253,3,000"), "without commas"),
        ("two-entries.tacozip", ("--set", "0=5,2", "--set", "0=5,3"), "twice"),
        ("two-entries.tacozip", ("--set", "0=18446744073709551616,0"), "is too large"),
        ("two-entries.tacozip", ("--count", "8"), "0 to 7"),
        ("ghost.taco", ("--count", "1"), "cannot be edited"),
        ("plain.zip", (), "no TACO"),
        ("journey.caf", (), "no TACO"),
    ],
)
def test_what_cannot_be_edited_is_said_and_nothing_is_written(
    name: str, arguments: tuple[str, ...], words: str, copy: Copy, run: Run
) -> None:
    path = copy(name)
    before = path.read_bytes()
    status, _, said = run("header", path, *arguments)
    assert status == 2
    assert words in said
    assert path.read_bytes() == before


def test_repair_plans_then_fixes(copy: Copy, run: Run) -> None:
    path = copy("torn-at-boundary.rca")
    before = path.read_bytes()
    status, out, _ = run("repair", path, "--dry-run")
    assert (status, path.read_bytes()) == (0, before)
    assert "1 repair would make this torn archive sound" in out
    status, out, _ = run("repair", path)
    assert status == 0
    assert "cut off" in out
    assert run("check", path)[0] == 0
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_copy_that_leaves_a_member_out_exits_with_1(copy: Copy, run: Run) -> None:
    path = copy("plain.zip")
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"PK\1\2") - 1])
    saved = path.with_name("saved.zip")
    status, out, _ = run("repair", path, "--to", saved)
    assert (status, "Lost: " in out, saved.exists()) == (1, True, True)


def test_repair_says_as_json_what_it_did(copy: Copy, run: Run) -> None:
    path = copy("trailing-commas.caf")
    _, out, _ = run("repair", path, "--json")
    found = one(out)
    assert (found["before"], found["after"], found["written"]) == ("warning", "sound", True)
    assert [repair["code"] for repair in found["repairs"]] == ["caf-strict-json"]
    assert found["writes"][0]["old"] != found["writes"][0]["new"]


def test_a_sound_archive_is_left_alone(copy: Copy, run: Run) -> None:
    path = copy("two-chunks.rca")
    status, out, _ = run("repair", path)
    assert status == 0
    assert "nothing to repair" in out


def test_what_is_not_repaired_exits_with_1(copy: Copy, run: Run) -> None:
    path = copy("two-changed-bytes.rca")
    before = path.read_bytes()
    status, out, _ = run("repair", path)
    assert (status, path.read_bytes()) == (1, before)
    assert "Left: " in out
    status, out, _ = run("repair", path, "--to", path.with_name("saved.rca"))
    assert (status, "Lost: " in out) == (1, True)
    assert "\n  What is provably whole is saved in " in out
    assert "\n  Lost: 2 of 6 blobs: '" in out.partition("is saved in")[2]
    assert run("check", path.with_name("saved.rca"))[0] == 0
    status, _, said = run("repair", path, "--to", path.with_name("saved.rca"))
    assert status == 2
    assert "something is there already" in said


@pytest.mark.parametrize(("arguments", "words"), [(("--accept", "nosuch"), "nosuch"), (("--to", ""), "--to")])
def test_what_repair_does_not_know_changes_nothing(
    arguments: tuple[str, ...], words: str, copy: Copy, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    path = copy("trailing-commas.caf")
    before = path.read_bytes()
    try:
        status, _, said = run("repair", path, *arguments)
    except SystemExit as end:  # as argparse ends
        status, said = end.code, capfd.readouterr().err
    assert (status, words in said, path.read_bytes() == before) == (2, True, True)


def test_an_entry_that_leads_nowhere_is_said(copy: Copy, run: Run) -> None:
    _, _, said = run("header", copy("two-entries.tacozip"), "--set", "1=99999999,5")
    assert "Entry 1 leads outside this file" in said


def test_a_claim_is_accepted_by_its_code(copy: Copy, run: Run) -> None:
    path = copy("wrong-metadata.rca")
    assert run("repair", path)[0] == 1
    assert run("repair", path, "--accept", "rca-mend-metadata")[0] == 0
    assert run("check", path)[0] == 0


def kill_between_writes(path: Path, edit: Edit) -> None:
    """Write an edit and die before the second of its writes."""
    writes = 0

    def act(_: int, name: str, __: object) -> None:
        nonlocal writes
        writes += name == "write"
        if writes > 2 and name != "close":  # the journal and the first patch; a dead program holds no lock
            raise Stopped

    with pytest.raises(Stopped):
        write(path, edit, FileSource(path).identity, Watched(act))


@pytest.mark.parametrize(("option", "intended"), [((), True), (("--roll-back",), False)])
def test_an_interrupted_change_comes_first(option: tuple[str, ...], intended: bool, copy: Copy, run: Run) -> None:
    path = copy("two-entries.tacozip")
    before = path.read_bytes()
    edit = Edit("Change", (Patch(60, before[60:62], b"ab"), Patch(70, before[70:72], b"cd")), len(before), len(before))
    kill_between_writes(path, edit)
    assert path.with_name(f".{path.name}.aij").exists()
    assert "interrupted-change" in run("check", path, "--json")[1]
    status, out, _ = run("repair", path, "--dry-run", "--json")
    assert status == 1
    assert one(out)["interrupted"]["finish"]
    assert run("repair", path, "--to", path.with_name("copy"))[0] == 2
    assert not path.with_name("copy").exists()
    assert "--roll-back" in run("list", path)[2]
    run("repair", path, *option)
    assert not path.with_name(f".{path.name}.aij").exists()
    assert (path.read_bytes()[60:62] == b"ab", path.read_bytes()[70:72] == b"cd") == (intended, intended)
    assert intended or path.read_bytes() == before


@pytest.mark.parametrize("journal", [b'{"a":1}', bytes(300)])
def test_a_journal_that_cannot_be_read_stops_the_repair_until_it_is_set_aside_with_consent(
    journal: bytes, copy: Copy, run: Run
) -> None:
    path = copy("two-entries.tacozip")
    before = path.read_bytes()
    place = path.with_name(f".{path.name}.aij")
    place.write_bytes(journal)
    assert "cannot be read" in run("check", path)[1]
    status, _, err = run("repair", path)
    assert (status, "--accept drop-broken-journal" in err) == (2, True)
    assert "(repair --accept drop-broken-journal)" in run("header", path, "--set", "0=200,300")[2]
    assert (place.read_bytes(), path.read_bytes()) == (journal, before)
    status, _, err = run("repair", path, "--accept", "drop-broken-journal")
    assert status == 1
    assert f"{place.name}.kept" in err
    assert place.with_name(f"{place.name}.kept").read_bytes() == journal
    assert not place.exists()
    assert path.read_bytes() == before
    assert "is called drop-broken-journal" in run("repair", path, "--accept", "drop-broken-journal")[2]


@pytest.mark.parametrize("size", [0, 40, -1])
def test_a_journal_that_was_cut_off_after_the_change_began_is_not_one_that_never_began(
    size: int, copy: Copy, run: Run
) -> None:
    path = copy("two-entries.tacozip")
    place, before = path.with_name(f".{path.name}.aij"), path.read_bytes()
    edit = Edit("Three", (Patch(41, before[41:44], b"new"), Patch(52, before[52:54], b"!!")), len(before), len(before))
    with contextlib.suppress(Stopped):
        write(path, edit, None, Watched(killing(lambda _, name, arguments: name == "write" and arguments[2] == 52)))
    torn = path.read_bytes()
    assert torn != before
    place.write_bytes(place.read_bytes()[:size])
    assert "unchanged" not in run("check", path)[1]
    for option in ((), ("--finish",), ("--roll-back",)):
        status, _, err = run("repair", path, *option)
        assert (status, "drop-broken-journal" in err, "window" in err) == (2, True, False)
    assert path.read_bytes() == torn
    with pytest.raises(EditError, match="was interrupted"):
        write(path, Edit("Two", (Patch(0, torn[:1], b"?"),), len(torn), len(torn)), None)


def test_an_unfinished_journal_is_removed(copy: Copy, run: Run) -> None:
    path = copy("two-entries.tacozip")
    place = path.with_name(f".{path.name}.aij")
    place.touch()
    assert "before it started" in run("check", path)[1]
    assert run("repair", path)[0] == 0
    assert not place.exists()


def test_a_folder_in_the_place_of_a_journal_is_said_to_be_in_the_way(copy: Copy, run: Run) -> None:
    path = copy("two-entries.tacozip")
    path.with_name(f".{path.name}.aij").mkdir()
    assert "moved away" in run("check", path)[1]
    status, _, err = run("repair", path)
    assert status == 2
    assert "moved away" in err


@every(3)
def test_a_dry_run_says_all_that_the_run_does(run: Run, tmp_path: Path, step: int) -> None:
    for path in sorted(path for folder in SAMPLES for path in folder.iterdir() if path.is_file())[::step]:
        copy = tmp_path / path.name
        shutil.copyfile(path, copy)
        before = copy.read_bytes()
        _, shown, _ = run("repair", copy, "--dry-run", "--json")
        assert copy.read_bytes() == before
        _, done, _ = run("repair", copy, "--json")
        if not shown:
            continue
        plan_, result = json.loads(shown), json.loads(done)
        after = bytearray(before)
        for each in plan_["writes"]:
            old, new = bytes.fromhex(each["old"]), bytes.fromhex(each["new"])
            assert after[each["offset"] : each["offset"] + len(old)] == old
            if new:
                after[each["offset"] : each["offset"] + len(old)] = new
        assert copy.read_bytes() == bytes(after[: plan_["size"]])
        same = ("writes", "repairs", "waiting", "size", "before", "after")
        assert [plan_[key] for key in same] == [result[key] for key in same]


def test_what_was_cut_off_is_taken_back_and_programs_are_told_where_it_is(copy: Copy, run: Run) -> None:
    path = copy("truncated.tacozip")
    path.write_bytes(path.read_bytes()[:-1000] if path.stat().st_size > 5000 else path.read_bytes())
    before = path.read_bytes()
    _, out, _ = run("repair", path, "--accept", "zip-rebuild-end", "--json")
    found = one(out)
    assert found["written"]
    if found["kept"] is not None:
        place = Path(found["kept"]["path"]).read_bytes()
        cut = found["writes"][-1]
        start = found["kept"]["offset"]
        assert place[start : start + found["kept"]["length"]] == before[cut["offset"] :] == bytes.fromhex(cut["old"])
    assert path.read_bytes() != before
    assert "would be undone" in run("repair", path, "--take-back", "--dry-run")[1]
    assert path.read_bytes() != before
    status, out, _ = run("repair", path, "--take-back", "--json")
    assert (status, one(out)["source"]) == (0, str(path))
    assert path.read_bytes() == before
    status, _, said = run("repair", path, "--take-back")
    assert (status, "no change of it is stored" in said) == (2, True)


def test_the_history_is_listed_and_cleared(copy: Copy, run: Run) -> None:
    path = copy("two-entries.tacozip")
    assert run("repair", path, "--history") == (0, "", "")
    assert run("header", path, "--set", "0=157,10")[0] == 0
    content = path.read_bytes()
    status, out, _ = run("repair", path, "--history")
    assert status == 0
    line = r"  1  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC  .* written\); --take-back puts the old bytes back\n"
    assert re.fullmatch(line, out)
    found = one(run("repair", path, "--history", "--json")[1])
    assert (found["source"], found["can_take_back"], found["cut"]) == (str(path), True, 0)
    assert found["number"] == 1  # what `compare --before` counts
    assert run("header", path, "--set", "0=157,11")[0] == 0
    assert [line[:3] for line in run("repair", path, "--history")[1].splitlines()] == ["  1", "  2"]
    assert run("repair", path, "--take-back")[0] == 0
    assert run("repair", path, "--clear-history", "--dry-run")[1] == out
    assert "The old bytes of 1 change were removed" in run("repair", path, "--clear-history")[1]
    assert run("repair", path, "--history") == (0, "", "")
    assert run("repair", path, "--take-back")[0] == 2
    assert path.read_bytes() == content
    assert "nothing else" in run("repair", path, "--history", "--accept", "x")[2]


@pytest.mark.parametrize(("option", "intended"), [("--finish", True), ("--roll-back", False)])
def test_settling_an_interrupted_change_does_nothing_else(option: str, intended: bool, copy: Copy, run: Run) -> None:
    path = copy("trailing-commas.caf")
    before = path.read_bytes()
    edit = Edit("Change", (Patch(0, before[:1], b"x"), Patch(1, before[1:2], b"y")), len(before), len(before))
    kill_between_writes(path, edit)
    half = path.read_bytes()
    assert run("repair", path, option, "--dry-run")[0] == 1
    assert path.read_bytes() == half
    status, _, _ = run("repair", path, option)
    assert (status, path.read_bytes()) == (0, b"xy" + before[2:] if intended else before)
    assert not path.with_name(f".{path.name}.aij").exists()
    assert "No change" in run("repair", path, option)[1]
    assert path.read_bytes() == (b"xy" + before[2:] if intended else before)


@pytest.mark.parametrize("option", ["--finish", "--roll-back"])
def test_settling_removes_a_journal_that_was_never_finished_and_keeps_one_that_cannot_be_read(
    option: str, copy: Copy, run: Run
) -> None:
    path = copy("trailing-commas.caf")
    before, place = path.read_bytes(), path.with_name(".trailing-commas.caf.aij")
    place.touch()
    assert run("repair", path, option)[0] == 0
    assert not place.exists()
    place.write_bytes(bytes(300))
    status, _, said = run("repair", path, option)
    assert (status, "--accept drop-broken-journal" in said) == (2, True)
    assert place.read_bytes() == bytes(300)
    assert path.read_bytes() == before
    assert run("repair", path, option, "--accept", "caf-strict-json")[0] == 2


def test_a_read_only_archive_is_edited_as_a_copy(copy: Copy, run: Run, tmp_path: Path) -> None:
    path = copy("two-entries.tacozip")
    before = path.read_bytes()
    path.chmod(0o444)
    assert run("header", path, "--set", "0=157,5")[0] != 0

    status, out, _ = run("header", path, "--set", "0=157,5", "--to", tmp_path / "copy.taco")
    assert status == 0
    assert "copy.taco is the archive with this header." in out
    assert path.read_bytes() == before
    assert tacozip.read_header(str(tmp_path / "copy.taco"))[0] == (157, 5)
    assert run("header", path, "--to", tmp_path / "again.taco")[0] == 2
    assert run("header", path, "--set", "0=157,6", "--to", tmp_path / "copy.taco")[0] != 0


@pytest.mark.parametrize(("answer", "status", "changed"), [("y\n", 0, True), ("n\n", 1, False), ("", 1, False)])
def test_a_repair_that_asks_does_what_is_answered(
    run: Run,
    copy: Copy,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    status: int,
    changed: bool,
) -> None:
    path = copy("torn-after-write-2.tacozip")
    before = path.read_bytes()
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))

    found, out, err = run("repair", "--ask", path)

    assert found == status
    assert "Finish the update of the TACO header" in out
    assert "? [y/N] " in err
    assert (path.read_bytes() != before) is changed


def test_a_yes_never_stands_for_consent(run: Run, copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    path = copy("overlap.caf")
    before = path.read_bytes()
    waiting = [each["code"] for each in json.loads(run("repair", "--dry-run", "--json", path)[1])["waiting"]]
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 20))

    status, out, _ = run("repair", "--ask", path)

    assert status == 1
    assert waiting
    assert all(f"with --accept {code}: " in out for code in waiting)
    assert path.read_bytes() == before


@pytest.mark.parametrize("writes", [("repair",), ("experiment", "--flip", "0:1"), ("replay", "--set", "0=157,9")])
def test_what_a_user_made_is_replaced_only_when_that_is_said(
    run: Run, copy: Copy, tmp_path: Path, writes: tuple[str, ...]
) -> None:
    command, *steps = writes
    path, target = copy("torn-after-write-2.tacozip"), tmp_path / "made"
    if command == "replay":
        path = copy("two-entries.tacozip")
    target.write_text("mine")
    status, _, err = run(command, path, *steps, "--to", target)
    assert (status, target.read_text()) == (2, "mine")
    assert "already" in err

    run(command, path, *steps, "--to", target, "--overwrite")
    assert target.stat().st_size > 1000

    before = path.read_bytes()
    assert run(command, path, *steps, "--to", path, "--overwrite")[0] == 2
    assert path.read_bytes() == before
