"""What a double-click does after ``--install-desktop``, by the command that asks any desktop: ``xdg-open``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.patience import PATIENCE, until
from tests.screen.display import Display
from tests.screen.program import TITLE

Sample = Callable[[str], Path]
NAMES = (
    "two-entries.tacozip",
    "ghost.taco",
    "two-chunks.rca",
    "journey.caf",
    "weather/dataset/weather/datapoints/00000000000000000001-00000000000000000004.tar.metadata",
)
DESKTOPS = ("GNOME", "")
"""What xdg-open asks for the type of a file: GIO, and where there is no desktop libfile-mimeinfo-perl."""


@pytest.fixture(params=DESKTOPS, ids=lambda name: name or "no desktop")
def user(request: pytest.FixtureRequest, screen: Display, home: dict[str, str]) -> Iterator[dict[str, str]]:
    """The environment of a user of a desktop for whom the program was installed."""
    environment = {**screen.environment, **home, "XDG_CURRENT_DESKTOP": request.param}
    environment.pop("DESKTOP_SESSION", None)
    command = [sys.executable, "-m", "inspector", "--install-desktop"]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=PATIENCE)
    yield environment
    for window in screen.windows(TITLE):
        os.kill(process_of(screen, window), signal.SIGTERM)


def process_of(screen: Display, window: int) -> int:
    """The process that has a window."""
    return int(screen.property("-id", str(window), "_NET_WM_PID").partition("= ")[2])


@pytest.mark.sweep
def test_what_is_double_clicked_opens_in_one_window(user: dict[str, str], screen: Display, sample: Sample) -> None:
    with ExitStack() as asked:
        for path in map(sample, NAMES):
            # Without a desktop xdg-open ends with the program that it has started.
            asked.callback(asked.enter_context(subprocess.Popen(["xdg-open", path], env=user)).terminate)
            until(lambda path=path: screen.windows(f"{path.name} – {TITLE}"), screen.windows)
        (window,) = screen.windows(TITLE)
        process = process_of(screen, window)
        screen.close(window)
        # It keeps things in the user's home until its end, and what has ended has no program.
        until(lambda: not Path(f"/proc/{process}/exe").exists(), screen.windows)
