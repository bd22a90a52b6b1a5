"""``experiment``: what scripts read of it, the files it writes, and that it never writes the archive."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.running import Run, objects


@pytest.fixture
def archive(tmp_path: Path, sample: Callable[[str], Path]) -> Path:
    path = tmp_path / "a.rca"
    path.write_bytes(sample("two-chunks.rca").read_bytes())
    return path


def test_steps_apply_in_the_order_given_and_nothing_is_written(run: Run, archive: Path) -> None:
    data, stamp = archive.read_bytes(), archive.stat()
    steps = ["--cut", "200", "--flip", "0:0", "--insert=end:ff", "--zero", "end-3-", "--damage", "trailing-text"]
    status, out, err = run("experiment", archive, "--json", *steps)

    *shown, end = objects(out)
    assert (status, err) == (1, "")
    assert [each["sentence"] for each in shown] == [
        "Cut off everything from 0xc8 on",
        "Flip bit 0 of the byte at 0x0",
        "Insert FF at 0xc8",
        "Zero 3 bytes at 0xc6",
        "Insert 31 bytes (43 6F 6E 6E 65 63 74 69 …) at 0xc9 (trailing-text)",
    ]
    assert [each["step"] for each in shown] == [1, 2, 3, 4, 5]
    assert (end["base_size"], end["size"], end["state"]) == (len(data), 232, "damaged")
    assert (archive.read_bytes(), archive.stat().st_ctime_ns) == (data, stamp.st_ctime_ns)
    assert list(archive.parent.iterdir()) == [archive]


def test_the_steps_are_told_as_json_and_what_they_leave_is_written(run: Run, archive: Path) -> None:
    data, new = archive.with_name("data"), archive.with_name("new")
    data.write_bytes(bytes(range(256)) * 300)
    steps = [
        *(f"--insert=100:@{data}", "--delete=0x10-0x20", "--duplicate=5-50", "--swap=0-10,end-10-"),
        *("--copy=0-4,end-4", "--random=30-40:7", "--replace=1-3:aabbccdd", "--damage=lost-bytes:3", "--zero=1-3"),
    ]
    status, out, _ = run("experiment", archive, "--json", "--to", new, *steps)
    *shown, _, written = objects(out)

    assert status == 1
    digest = hashlib.sha256(new.read_bytes()).hexdigest()
    assert written == {"source": str(archive), "written": str(new), "sha256": digest}
    told = [{key: value for key, value in each.items() if key not in ("source", "step", "sentence")} for each in shown]
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    assert told[0] == {"do": "insert", "offset": 100, "file": "data", "size": 76_800, "sha256": digest}
    assert told[1:3] == [{"do": "delete", "start": 16, "stop": 32}, {"do": "duplicate", "start": 5, "stop": 50}]
    assert (told[3]["do"], told[3]["first"], len(told[3]["second"])) == ("swap", [0, 10], 2)
    assert told[5:7] == [
        {"do": "replace", "start": 30, "stop": 40, "random": 7, "size": 10},
        {"do": "replace", "start": 1, "stop": 3, "bytes": "aabbccdd"},
    ]
    assert (told[7]["do"], told[7]["damage"]) == ("delete", "lost-bytes")
    assert told[8] == {"do": "replace", "start": 1, "stop": 3, "fill": "00", "size": 2}

    patch = archive.with_name("patch.json")
    assert run("experiment", archive, "--flip=9:0", "--save-patch", patch)[1].endswith(f"Written to {patch}.\n")
    old = archive.read_bytes()[9]
    changed = {"offset": 9, "old": f"{old:02x}", "new": f"{old ^ 1:02x}"}
    assert json.loads(patch.read_text())["patches"] == [changed]

    status, out, err = run("experiment", archive, "--to", new, "--flip", "1:1")
    assert (status, "exists already" in err, out) == (2, True, "")


def test_what_is_left_sound_is_0_and_readers_are_told(run: Run, archive: Path) -> None:
    status, out, err = run("experiment", archive, "--flip=0:0", "--flip=0:0", "--readers")

    assert (status, err) == (0, "")
    assert out.startswith(
        f"{archive}: 2 steps, 37,248 bytes become 37,248; nothing is written to it.\n    1  Flip bit 0"
    )
    assert "\nWith these 2 steps: Sound: " in out
    assert "    spec    accepts" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "An experiment needs a step"),
        (["--delete", "20-10"], "20-10 is no range: it begins at 20 and ends at 10."),
        (["--cut", "40000"], "does not fit: the archive has 37,248 bytes there."),
        (["--insert", "0:abc"], "no sequence of bytes in hex"),
        (["--insert", "0:@nowhere"], "nowhere cannot be opened"),
        (["--damage", "fire"], "fire is no known damage"),
        (["--flip", "0:1", "--to", "a.rca"], "a.rca is what the experiment reads, which is never written."),
        (["--flip", "0:1", "--to", "s3://bucket/key"], "to a local file only"),
        (["--swap", "0-10,5-20"], "does not fit: the bytes it swaps overlap."),
        (["--cut", "9", "--to", "new", "--save-patch", "./new"], "give each its own name"),
    ],
)
def test_what_cannot_be_done_is_2_and_writes_nothing(
    run: Run, archive: Path, arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(archive.parent)
    before = archive.stat()
    status, out, err = run("experiment", "a.rca", *arguments)

    assert (status, out) == (2, "")
    assert sentence in err
    assert archive.stat().st_ctime_ns == before.st_ctime_ns
    assert list(archive.parent.iterdir()) == [archive]


@pytest.mark.parametrize("wrong", ["--flip=1", "--flip=1:8", "--zero=5", "--swap=1-2", "--damage=A B", "--cut=-1"])
def test_a_step_of_another_form_is_wrong_usage(run: Run, archive: Path, wrong: str) -> None:
    with pytest.raises(SystemExit) as error:
        run("experiment", archive, wrong)
    assert error.value.code == 2


def test_a_folder_and_a_member_of_an_archive(run: Run, sample: Callable[[str], Path]) -> None:
    assert "this is a folder" in run("experiment", sample("weather"), "--cut=1")[2]
    status, out, _ = run("experiment", f"{sample('plain.tar')}!/journey/readme.txt", "--cut=3", "--json")
    assert (status, objects(out)[-1]["size"]) == (2, 3)


def test_a_file_of_no_known_format_is_not_called_unreadable(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.bin"
    path.write_bytes(bytes(range(1, 200)))
    status, out, _ = run("experiment", path, "--flip", "100:3")
    assert "With this 1 step: Not an archive that this program knows.\n" in out
    assert "Unreadable" not in out
    assert status == run("check", path)[0]
