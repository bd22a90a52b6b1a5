"""What was open comes back: after the window manager has closed the window, and after the program was killed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import until
from tests.screen.conftest import Start
from tests.screen.program import Program

Sample = Callable[[str], Path]
NAMES = ["journey.caf", "two-chunks.rca"]


@pytest.fixture
def used(start: Start, sample: Sample) -> Program:
    """Two archives are open."""
    program = start(*map(sample, NAMES))
    program.appear("two-chunks.rca")
    program.says("RCA archive")
    return program


def reopened(program: Program) -> None:
    program.click(program.enabled("push button", "Reopen the Last Session"))
    until(lambda: program.tabs() == NAMES, program.texts)
    assert program.title.startswith("two-chunks.rca")


@pytest.mark.sweep
def test_so_is_one_that_was_killed(used: Program, start: Start, home: dict[str, str]) -> None:
    def kept() -> bool:
        settings = [path for path in Path(home["XDG_CONFIG_HOME"]).rglob("*.ini") if path.is_file()]
        return any(re.search(rb"session=.*two-chunks\.rca", path.read_bytes()) for path in settings)

    until(kept, lambda: list(Path(home["XDG_CONFIG_HOME"]).rglob("*")))
    used.process.kill()
    used.process.wait()

    again = start()
    again.appear()
    reopened(again)
