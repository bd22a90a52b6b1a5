"""What can be done with the keyboard alone, by keys that the X server sends; and what another program has copied."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import tacozip

from tests.patience import until
from tests.screen.accessible import FOCUSED
from tests.screen.conftest import Start
from tests.screen.display import Display
from tests.screen.dragging import source
from tests.screen.program import Program

CHOSEN = ("page tab", "list item")
"""Roles of which Qt says that they have the keyboard when they are chosen."""
Sample = Callable[[str], Path]


def pane(program: Program) -> str:
    """What has the keyboard; where that has no name, the dock around it."""
    dock, found = "", ""
    for part in program.parts():
        dock = part.name if part.role == "panel" and part.name else dock
        if part.role not in CHOSEN and part.is_in(FOCUSED):
            found = part.name or found or dock
    return found


@pytest.mark.sweep
def test_an_archive_is_opened_repaired_and_written_without_a_mouse(
    start: Start, sample: Sample, tmp_path: Path
) -> None:
    path = Path(shutil.copyfile(sample("torn-after-write-2.tacozip"), tmp_path / "mine.tacozip"))
    program = start()
    program.appear()
    program.says("Samples to try")

    program.keys("ctrl+l")
    program.appear("Open Location")
    program.keys("ctrl+a")
    program.write(str(path))
    program.keys("Return")
    program.appear("mine.tacozip")
    program.says("Torn:")
    program.keys("ctrl+m")
    program.says("1 repair would make this torn archive sound.")
    program.keys("alt+r")
    program.says("Sound: 5 of 5 members are verified.")
    program.keys("ctrl+q")

    assert program.ended() == 0
    assert tacozip.read_header(str(path))


@pytest.mark.sweep
def test_panes_are_reached_in_turn(start: Start, sample: Sample) -> None:
    program = start(sample("two-chunks.rca"))
    program.appear("two-chunks.rca")
    program.says("7 members")
    until(lambda: pane(program) == "Bytes", lambda: pane(program))

    there = round_of_panes(program, "F6")
    back = round_of_panes(program, "shift+F6")

    assert len(set(there)) == len(there) == 5
    assert {"Bytes", "Members as a tree", "Fields"} <= set(there)
    assert back == [*reversed(there[:-1]), "Bytes"]


def round_of_panes(program: Program, key: str) -> list[str]:
    """What has the keyboard after each press of a key, until it is the bytes again."""
    seen = ["Bytes"]
    while len(seen) == 1 or seen[-1] != "Bytes":
        program.keys(key)
        seen.append(until(lambda: (now := pane(program)) != seen[-1] and now, lambda: pane(program)))
    return seen[1:]


@pytest.mark.sweep
def test_what_another_program_has_copied_is_opened(start: Start, screen: Display, sample: Sample) -> None:
    program = start()
    program.appear()
    program.says("Samples to try")
    with source(screen, "uris", sample("journey.caf"), sample("plain.tar")):
        program.keys("ctrl+v")
        until(lambda: program.tabs() == ["journey.caf", "plain.tar"], program.texts)
    with source(screen, "text", sample("two-chunks.rca")):
        program.keys("ctrl+v")
        until(lambda: program.tabs() == ["journey.caf", "plain.tar", "two-chunks.rca"], program.texts)
