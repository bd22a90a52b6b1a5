"""A program killed while it changes a file leaves the old one or the new one, or a journal that leads to either."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sweeping import every, in_the_sweep

KILLS, SWEPT_KILLS = 10, 30
"""How many programs are killed at random moments."""


def driven(root: Path, *arguments: str) -> list[int]:
    command = [sys.executable, "-m", "tests.sources.kill_driver", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [int(number) for number in done.stdout.split()]


@every(11)
def test_a_program_may_end_at_any_call(tmp_path: Path, root: Path, step: int) -> None:
    ends, waiting = driven(root, "every", str(tmp_path), str(step))
    assert ends > 80 // step
    assert waiting > 20 // step


@pytest.mark.parametrize("times", [KILLS, in_the_sweep(int(os.environ.get("INSPECTOR_KILLS", SWEPT_KILLS)))])
def test_a_program_may_be_killed_at_any_moment(tmp_path: Path, root: Path, times: int) -> None:
    kills, _ = driven(root, "random", str(tmp_path), str(times), "11")
    assert kills == times
