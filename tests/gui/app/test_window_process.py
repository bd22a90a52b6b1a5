"""What the process of the window holds: nothing that decodes, and nothing that reaches S3."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.sweeping import in_the_sweep

SAMPLES = ("journey.caf", "two-chunks.rca", "two-entries.tacozip", "plain.tar", "plain.zip", "weather")
"""One of each format; the last is a collection."""
FEW = ("two-chunks.rca", "weather")
"""An archive with other bytes within, and a collection."""
MAP = "weather: numpy "
"""The map of a collection is drawn from arrays."""


@pytest.mark.parametrize("names", [pytest.param(FEW, id="few"), in_the_sweep(SAMPLES, name="all")])
def test_the_process_of_the_window_imports_no_format(
    root: Path, sample: Callable[[str], Path], tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        (shutil.copytree if sample(name).is_dir() else shutil.copyfile)(sample(name), tmp_path / name)
    profiles = tmp_path / "aws"
    profiles.write_text("[profile work]\nregion = eu-west-1\n")

    done = subprocess.run(
        [sys.executable, "-m", "tests.gui.app.window_story", tmp_path, *(tmp_path / name for name in names)],
        cwd=root,
        env=os.environ | {"AWS_CONFIG_FILE": str(profiles)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line and not line.startswith(MAP)] == []
