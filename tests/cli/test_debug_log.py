"""``--debug``: what each process does, in a log without secrets."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core.program.log import VARIABLE
from tests.cli.running import Run, process

Sample = Callable[[str], Path]
SECRETS = ("SECRETKEY", "hunter2", "AKIAABCDEFGHIJKLMNOP")


def test_a_location_after_debug_is_a_location(run: Run, sample: Sample) -> None:
    status, out, err = run("list", "--names", "--debug", sample("journey.caf"))
    assert status == 0
    assert "readme.txt" in out
    assert " terminal " in err
    assert "inspector.operations.open.opening: " in err


def test_a_log_is_a_file_that_grows(run: Run, sample: Sample, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    for _ in range(2):
        assert run("list", f"--debug={log}", sample("journey.caf"))[2] == ""
    text = log.read_text()
    assert text.count("# Archive Inspector's log\n") == 1
    assert text.count("list ended with status 0") == 2
    assert log.stat().st_mode & 0o077 == 0
    assert VARIABLE not in os.environ
    before = log.read_text()
    run("list", sample("journey.caf"))
    assert log.read_text() == before


def test_a_log_is_never_appended_to_an_archive(run: Run, sample: Sample, tmp_path: Path) -> None:
    archive = tmp_path / "mine.caf"
    archive.write_bytes(sample("journey.caf").read_bytes())
    status, out, err = run("list", f"--debug={archive}", sample("journey.caf"))
    assert (status, out) == (2, "")
    assert "is no log of this program" in err
    assert archive.read_bytes() == sample("journey.caf").read_bytes()


def test_a_log_that_cannot_be_is_a_sentence(run: Run, tmp_path: Path, sample: Sample) -> None:
    status, _, err = run("list", f"--debug={tmp_path}/none/log", sample("journey.caf"))
    assert status == 2
    assert "The log cannot be written to" in err


@pytest.mark.parametrize(
    "location",
    [
        "https://user:hunter2@host.invalid/a.caf?token=SECRETKEY",
        "s3://AKIAABCDEFGHIJKLMNOP:hunter2@bucket/a.caf",
        "https://host.invalid/a.caf?X-Amz-Signature=SECRETKEY&x=AKIAABCDEFGHIJKLMNOP",
    ],
)
def test_no_secret_and_no_query_is_in_a_log(location: str, run: Run) -> None:
    status, _, err = run("dump", "--debug", location)
    assert status == 2
    assert "Traceback" in err  # where it was raised is what a log is for
    assert [each for each in SECRETS if each in err] == []
    assert "token=" not in err


def test_a_name_cannot_write_lines_of_its_own_into_a_log(run: Run, tmp_path: Path) -> None:
    location = tmp_path / "a\x1b[31m\n2026-01-01 forged"
    err = run("dump", "--debug", location)[2]
    assert "\x1b" not in err
    assert not [line for line in err.splitlines() if line.startswith("2026-01-01 forged")]


def test_window_and_worker_log_into_one_file(sample: Sample, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    done = process("--screenshot", tmp_path / "out.png", f"--debug={log}", sample("journey.caf"))
    assert done.returncode == 0
    text = log.read_text()
    assert " window " in text
    assert " worker " in text
    assert ": decode\n" in text
    assert " started: ArchiveRequests\n" in text


def test_processes_of_a_pool_log_too(run: Run, sample: Sample, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    archive = tmp_path / "one.caf"
    archive.write_bytes(sample("journey.caf").read_bytes())
    assert run("audit", "--workers", "1", f"--debug={log}", tmp_path)[0] == 0
    assert " pool " in log.read_text()
