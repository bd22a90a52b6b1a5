"""``audit`` as scripts meet it: objects, exit status, what is kept when it is killed, and Ctrl+C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from inspector.cli.commands import audit
from inspector.cli.output import ProgressBar
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Job, Plan, lost
from inspector.operations.audit.results import Results
from inspector.operations.protocol.audit_views import Result
from tests.cli.running import Run, objects, started
from tests.operations.archives import caf
from tests.patience import PATIENCE

Sample = Callable[[str], Path]


@pytest.fixture
def run(run: Run, in_this_process: None) -> Run:  # noqa: ARG001
    """Without other processes; those that are killed and interrupted have them."""
    return partial(run, "audit")


@pytest.fixture
def place(tmp_path: Path, sample: Sample) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    for name in ("journey.caf", "gap.caf", "flipped-member-byte.tacozip"):
        shutil.copy(sample(name), folder)
    return folder


def test_text_sums_up_and_names_the_worst(run: Run, place: Path) -> None:
    status, out, err = run(place)
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith("3 archives, ")
    assert lines[0].endswith(": 1 sound, 1 warning, 1 damaged")
    assert "  error in 1 archive: cause-flipped-bit" in lines
    assert lines[-2].startswith(f"{place / 'flipped-member-byte.tacozip'}: Damaged: ")
    assert lines[-1].startswith(f"{place / 'gap.caf'}: Warning: ")
    assert sorted(path.name for path in place.iterdir()) == ["flipped-member-byte.tacozip", "gap.caf", "journey.caf"]


def test_json_has_the_archives_and_then_the_summary(run: Run, place: Path, tmp_path: Path) -> None:
    arguments = ("--json", "--results", tmp_path / "results.sqlite", place)
    status, out, err = run(*arguments)
    assert (status, err) == (1, "")
    *archives, last = objects(out)
    assert {(Path(each["source"]).name, each["format"], each["state"]) for each in archives} == {
        ("journey.caf", "caf", "sound"),
        ("gap.caf", "caf", "warning"),
        ("flipped-member-byte.tacozip", "taco", "damaged"),
    }
    plain = ["source", "format", "state", "members", "bytes", "findings"]
    assert [list(each) for each in archives] == [[*plain, "counts", "quick", "seconds", "finished"]] * 3
    assert list(last) == ["summary"]
    assert last["summary"]["archives"] == 3
    assert (last["summary"]["earlier"]["archives"], last["summary"]["done"]["archives"]) == (0, 3)
    # What was finished earlier is told all the same, in the order of the locations.
    *again, last = objects(run(*arguments)[1])
    assert again == sorted(archives, key=lambda each: str(each["source"]))
    assert (last["summary"]["earlier"]["archives"], last["summary"]["done"]["archives"]) == (3, 0)


@pytest.mark.parametrize(
    ("names", "options", "status"),
    [
        (["journey.caf"], [], 0),
        (["gap.caf"], [], 0),
        (["gap.caf"], ["--strict"], 1),
        (["flipped-member-byte.tacozip"], [], 1),
        (["flipped-member-byte.tacozip"], ["--quick"], 0),
        ([], [], 2),
    ],
)
def test_the_exit_status_is_that_of_the_worst(
    names: list[str], options: list[str], status: int, run: Run, tmp_path: Path, sample: Sample
) -> None:
    folder = tmp_path / "place"
    folder.mkdir()
    for name in names:
        shutil.copy(sample(name), folder)
    found, _, err = run(folder, *options)
    assert found == status
    assert ("nothing was checked" in err) == (status == 2)


def test_what_cannot_be_is_wrong_usage(run: Run, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        run(tmp_path, "--workers", "0")
    assert ended.value.code == 2


def test_a_place_that_is_not_there_is_a_sentence(run: Run, tmp_path: Path) -> None:
    status, out, err = run(tmp_path / "nothing")
    assert (status, out) == (2, "")
    assert "does not exist" in err


def test_results_are_never_written_over_an_archive(run: Run, place: Path) -> None:
    before = (place / "journey.caf").read_bytes()
    status, _, err = run(place, "--results", place / "journey.caf")
    assert (status, (place / "journey.caf").read_bytes()) == (2, before)
    assert "journey.caf" in err


def test_results_in_the_folder_are_no_part_of_it(run: Run, place: Path) -> None:
    for _ in range(2):
        *archives, last = objects(run(place, "--json", "--results", place / "results.sqlite")[1])
        assert len(archives) == 3
        assert last["summary"]["left_out"] == 0


def start(place: Path, results: Path, workers: int = 1) -> subprocess.Popen[bytes]:
    """An audit of its own, which writes a line for each archive that is done."""
    options = ("--json", "--workers", workers, "--results", results)
    return started("audit", *options, place, start_new_session=True)


def endless(path: Path) -> Path:
    """A file that takes very long: every block of it is looked at for a header."""
    with path.open("wb") as file:
        file.write(b"rubbish" * 100)
        file.truncate(1 << 42)
    return path


def table(results: Path) -> dict[str, tuple[int, float]]:
    """How often each archive was audited, and when it was finished."""
    with closing(sqlite3.connect(results)) as connection:
        rows = connection.execute("SELECT location, attempts, finished FROM results")
        return {Path(location).name: (attempts, finished) for location, attempts, finished in rows}


def test_a_killed_audit_goes_on_without_doing_anything_twice(tmp_path: Path) -> None:
    place, results = tmp_path / "place", tmp_path / "results.sqlite"
    place.mkdir()
    for number in range(20):
        caf(place / f"{number:02}.caf")
    slow = endless(place / "10.tar")
    with start(place, results) as running:
        assert running.stdout is not None
        first = [json.loads(running.stdout.readline())["source"] for _ in range(11)]
        os.kill(running.pid, signal.SIGKILL)
        running.communicate(timeout=PATIENCE)  # ends only when its worker has ended too
    assert [Path(each).name for each in first] == [f"{number:02}.caf" for number in range(11)]
    before = table(results)
    assert sorted(before) == [f"{number:02}.caf" for number in range(11)]
    slow.unlink()
    with start(place, results, workers=2) as running:
        out, _ = running.communicate(timeout=PATIENCE)
    *archives, last = objects(out.decode())
    assert running.returncode == 0
    assert len(archives) == 20
    assert last["summary"]["earlier"]["archives"] == 11
    after = table(results)
    assert {attempts for attempts, _ in after.values()} == {1}
    assert {name: after[name] for name in before} == before


def test_an_interrupt_stops_at_once_and_keeps_what_is_finished(tmp_path: Path) -> None:
    place, results = tmp_path / "place", tmp_path / "results.sqlite"
    place.mkdir()
    caf(place / "a.caf")
    endless(place / "b.tar")
    with start(place, results, workers=2) as running:
        assert running.stdout is not None
        running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert b"1 result is stored" in err
    assert b"Traceback" not in err
    assert set(table(results)) == {"a.caf"}


def test_where_there_is_no_terminal_lines_say_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    twice = threading.Semaphore(0)

    def line(progress: Progress) -> str:
        twice.release()
        return f"so far {progress.done}"

    with ProgressBar(Progress(), line, log_interval_s=0.001):
        assert twice.acquire(timeout=PATIENCE)
        assert twice.acquire(timeout=PATIENCE)
    first, *_ = capsys.readouterr().err.splitlines()
    assert first == "so far 0"


def test_what_could_not_be_read_is_not_counted_as_read(run: Run, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(plan: Plan, results: Results, *_: object) -> Iterator[Result]:
        for found in list(results.pending()):
            result = lost(Job(found, plan.quick), "The server cannot be reached.").result
            results.keep(result)
            yield result

    monkeypatch.setattr(audit, "run_audit", gone)
    status, out, _ = run(place)
    *_, last = objects(run("--json", place)[1])

    assert status == 2
    assert "  3 files, 0 B read in " in out
    assert "  unreadable, or of no known format: 3, " in out
    assert last["summary"]["done"]["bytes"] == 0


@pytest.mark.usefixtures("in_this_process")
def test_keys_that_no_range_of_a_dataset_has_are_told(run: Run, sample: Callable[[str], Path]) -> None:
    status, out, _ = run(sample("weather-gap"))
    assert (status, "No range of the dataset weather has the keys 3 to 6." in out) == (0, True)
