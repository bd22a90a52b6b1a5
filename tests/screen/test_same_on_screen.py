"""Tests of the window that otherwise run without a screen, run on one: what is said there is no accident of that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.screen.display import Display

STORIES = ("app/test_close_confirmation.py", "hex/test_hex_view.py")
LONG = 1_200
"""Seconds after which a story hangs; a busy machine takes minutes for one."""


@pytest.mark.sweep
@pytest.mark.parametrize("story", STORIES)
def test_a_story_holds_on_a_screen(story: str, screen: Display, root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'own'}"]
    done = subprocess.run(
        [*command, f"tests/gui/{story}"],
        cwd=root,
        env={**screen.environment, "TESTS_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Qt platform: xcb" in done.stdout
