"""``check`` as scripts meet it: objects, exit status, what is left out, and Ctrl+C."""

from __future__ import annotations

import os
import shutil
import signal
import traceback
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.core.archive import Emitter
from inspector.operations.audit import audit
from tests.cli.running import ROOT, Run, objects, started
from tests.patience import PATIENCE
from tests.sweeping import in_the_sweep

COMMAND, BENEATH = "cli/commands/check.py", ("core/archive.py", "tests/cli/test_check.py")
Sample = Callable[[str], Path]


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "check")


def test_json_says_what_scripts_expect(run: Run, sample: Sample) -> None:
    status, out, err = run("--json", sample("flipped-member-byte.tacozip"))
    (found,) = objects(out)
    assert (status, err) == (1, "")
    assert list(found) == ["source", "format", "state", "members", "bytes", "findings"]
    assert (found["format"], found["state"], found["members"]) == ("taco", "damaged", 5)
    assert found["source"] == str(sample("flipped-member-byte.tacozip"))
    assert found["bytes"] == sample("flipped-member-byte.tacozip").stat().st_size
    cause, finding = found["findings"]
    assert (cause["severity"], cause["code"]) == ("error", "cause-flipped-bit")
    assert list(finding) == ["severity", "code", "message", "spans", "member", "repair"]
    assert (finding["severity"], finding["code"]) == ("error", "zip-crc-mismatch")
    ((start, stop),) = finding["spans"]
    assert 0 <= start < stop <= found["bytes"]


@pytest.mark.parametrize(
    ("names", "strict", "status"),
    [
        (("journey.caf",), False, 0),
        (("journey.caf",), True, 0),
        (("gap.caf",), False, 0),
        (("gap.caf",), True, 1),
        (("torn-at-boundary.rca",), False, 1),
        (("overlap.caf",), False, 1),
        (("nothing.caf",), False, 2),
        (("overlap.caf", "nothing.caf", "journey.caf"), False, 2),
        (("journey.caf", "overlap.caf"), False, 1),
        (("weather",), True, 0),
        (("weather-missing-row",), False, 1),
    ],
)
def test_the_exit_status_is_that_of_the_worst(
    names: tuple[str, ...], strict: bool, status: int, run: Run, sample: Sample
) -> None:
    locations = [sample(name) if name != "nothing.caf" else ROOT / name for name in names]
    found, out, _ = run("--json", *["--strict"] * strict, *locations)
    assert found == status
    assert [each["source"] for each in objects(out)] == [str(location) for location in locations]


def test_what_cannot_be_read_is_an_object_too(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no archive")
    status, out, _ = run("--json", tmp_path / "notes", tmp_path / "missing.rca")
    assert status == 2
    assert [(each["format"], each["state"]) for each in objects(out)] == [(None, "unreadable")] * 2


def test_in_a_folder_only_archives_count(run: Run, tmp_path: Path, sample: Sample) -> None:
    shutil.copy(sample("journey.caf"), tmp_path / "b.caf")
    (tmp_path / "README").write_text("About these archives.")
    (tmp_path / "notes.txt").write_text("Notes.")
    status, out, err = run(tmp_path)
    assert (status, out.count("Sound")) == (0, 1)
    assert err == "archive-inspector: 2 files of no known format in these folders were left out.\n"
    # A suffix says what a file should be, though nothing of it is left.
    (tmp_path / "a.caf").write_bytes(b"rubbish")
    status, out, _ = run("--json", tmp_path)
    assert (status, [each["state"] for each in objects(out)]) == (1, ["damaged", "sound"])
    # Named by the user it counts, whatever it is.
    assert run(tmp_path / "README")[0] == 2


def test_a_folder_without_archives_is_not_fine(run: Run, tmp_path: Path) -> None:
    status, out, err = run(tmp_path)
    assert (status, out) == (2, "")
    assert "nothing was checked" in err


def test_text_names_what_and_where(run: Run, sample: Sample) -> None:
    status, out, _ = run(sample("flipped-member-byte.tacozip"), sample("journey.caf"))
    assert status == 1
    lines = out.splitlines()
    assert "4 verified, 1 mismatch" in lines[1]
    assert lines[2] == "  mismatch: DATA/tile_0001.png"
    assert lines[3].startswith("  error: One bit of DATA/tile_0001.png flipped: ")
    assert "[cause-flipped-bit, bytes 0xdf..0xe0, member DATA/tile_0001.png]" in lines[3]
    assert lines[4] == "    repair: restore-likely-bits answers this"
    assert "[zip-crc-mismatch, bytes 0xcd..0x9f6, member DATA/tile_0001.png]" in lines[5]
    assert lines[6].startswith("  1 finding can be repaired: ")
    assert lines[7].startswith(f"{sample('journey.caf')}: Sound")


def test_text_names_the_members_that_are_not_verified(run: Run, sample: Sample, tmp_path: Path) -> None:
    _, out, _ = run(sample("weather-missing-row"))
    ranged = f"dataset/weather/datapoints/{1:020d}-{4:020d}.tar"
    lines = out.splitlines()
    assert lines[2] == f"  not checkable: {ranged}/{3:020d}.json"
    assert lines[3].startswith(f"  error: {ranged}: "), "findings name the range in the same way"
    # Where nothing at all is recorded, there is nobody to be told from the others.
    assert "not checkable: " not in run(sample("journey.caf"))[1]
    many = tmp_path / "many.zip"
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(30):
            archive.writestr(f"{number:02d}", b"content")
    many.write_bytes(many.read_bytes().replace(b"content", b"spoiled", 25))
    lines = run(many)[1].splitlines()
    assert lines[2:22] == [f"  mismatch: {number:02d}" for number in range(20)]
    assert lines[22] == "  ... and 5 more"


def test_several_files_are_checked_in_their_order_by_processes(
    run: Run, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MIN_BYTES_FOR_PROCESSES", 0)
    names = ["overlap.caf", "journey.caf", "two-chunks.rca", "plain.zip"]
    status, out, err = run("--json", *map(sample, names))
    assert (status, err) == (1, "")
    assert [(Path(each["source"]).name, each["state"]) for each in objects(out)] == [
        *zip(names, ["damaged", "sound", "sound", "sound"], strict=True)
    ]


@pytest.mark.parametrize("count", [in_the_sweep(1), 3])
def test_an_interrupt_ends_with_status_130_and_leaves_nobody_behind(count: int, tmp_path: Path) -> None:
    # No header stands in these files, so that every block of them is looked at for one.
    paths = []
    for number in range(count):
        path = tmp_path / f"{number}.tar"
        with path.open("wb") as file:
            file.write(b"rubbish" * 100)
            file.truncate(1 << 42)
        paths.append(str(path))
    with started("check", ROOT / "resources/samples/journey.caf", *paths, start_new_session=True) as running:
        assert running.stdout is not None
        assert b"Sound" in running.stdout.readline()  # the others are being checked by now
        os.killpg(running.pid, signal.SIGINT)
        # Both ends come only when no process holds the pipes any more.
        _, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, err) == (130, b"archive-inspector: Interrupted.\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("command", ["check", "audit"])
def test_what_is_no_regular_file_in_a_folder_is_counted(
    command: str, tmp_path: Path, sample: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(sample("journey.caf"), tmp_path)
    os.mkfifo(tmp_path / "pipe.caf")
    (tmp_path / "nowhere.caf").symlink_to("missing")
    (tmp_path / "circle.caf").symlink_to("circle.caf")

    assert main([command, str(tmp_path)]) == 0
    names = ", ".join(str(tmp_path / name) for name in ("circle.caf", "nowhere.caf", "pipe.caf"))
    said = f"3 entries in these folders were left out, being no regular files: {names}."
    assert capfd.readouterr().err == f"archive-inspector: {said}\n"


def test_few_frames_lie_between_the_command_and_the_first_finding(
    run: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What looks for a cause of a wrong answer has to step through each of them."""
    deepest: dict[str, int] = {}
    report = Emitter.report

    def measured(*given: Any, **named: Any) -> None:
        if name not in deepest:
            frames = [frame.filename for frame in traceback.extract_stack() if not frame.filename.endswith(BENEATH)]
            deepest[name] = len(frames) - next(at for at, each in enumerate(frames) if each.endswith(COMMAND)) - 1
        report(*given, **named)

    monkeypatch.setattr(Emitter, "report", measured)
    for path in sorted((root / "tests" / "samples").iterdir())[::2]:
        name = path.name
        run(path)
    assert len(deepest) > 15
    assert {name: depth for name, depth in deepest.items() if depth > 16} == {}
