"""Small files that would make a careless reader take much memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sweeping import at_every_change

MEASURE = """
import sys
import numpy
from inspector.operations.check.checking import check_location
from inspector.core.program.progress import Progress
def peak():  # not ru_maxrss, which begins with that of the process that started this one
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
check_location(sys.argv[1], Progress())
before = peak()
report = check_location(sys.argv[2], Progress())
print(peak() - before, report.state)
"""
MAX_KIB_PER_MIB = 24 * 1024
"""Memory for each MiB of an index: it is held as bytes, as text and as a name."""


def index_of(files: str) -> bytes:
    text = f'{{"format_version": "1.0", "files": {{{files}}}}}'.encode()
    return text + len(text).to_bytes(4, "little")


BOMBS = {
    "a name of escapes": '"' + "\\u0041" * 350_000 + '": {"start_byte": 0, "end_byte": 0}',
    "a name of escaped quotes": '"' + '\\"' * 1_000_000 + '": {"start_byte": 0, "end_byte": 0}',
    "an entry of many keys": '"a": {"start_byte": 0, "end_byte": 0' + ', "x": 1' * 250_000 + "}",
}


@pytest.mark.parametrize("name", at_every_change(BOMBS, lambda name: name == "a name of escapes"))
def test_an_index_takes_little_more_than_its_size(name: str, tmp_path: Path, sample: Callable[[str], Path]) -> None:
    bomb = tmp_path / "bomb.caf"
    bomb.write_bytes(index_of(BOMBS[name]))
    command = [sys.executable, "-c", MEASURE, str(sample("journey.caf")), str(bomb)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, state = done.stdout.split()
    assert int(grown) < MAX_KIB_PER_MIB * bomb.stat().st_size / (1 << 20)
    assert state in ("warning", "sound")


def test_a_message_about_an_endless_name_is_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from inspector.__main__ import main

    path = tmp_path / "long.caf"
    path.write_bytes(index_of(BOMBS["a name of escapes"]))
    main(["check", str(path)])
    assert "bytes long" in (out := capsys.readouterr().out)
    assert len(out) < 10_000
