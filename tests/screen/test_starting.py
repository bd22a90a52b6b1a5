"""Further starts of the program beside a window that is open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import until
from tests.screen.conftest import Start
from tests.screen.display import Display
from tests.screen.program import TITLE

Sample = Callable[[str], Path]


def test_a_later_start_hands_over_its_file_and_the_window_comes_to_the_front(
    start: Start, sample: Sample, screen: Display
) -> None:
    first = start(sample("journey.caf"))
    first.appear("journey.caf")
    own = start("--new-window", sample("plain.tar"))
    own.appear("plain.tar")

    later = start(sample("two-chunks.rca"))

    assert later.ended() == 0
    first.appear("two-chunks.rca")
    assert first.tabs() == ["journey.caf", "two-chunks.rca"]
    assert own.tabs() == ["plain.tar"]
    assert len(screen.windows(TITLE)) == 2


@pytest.mark.sweep
def test_a_hidden_window_comes_back_for_what_it_is_given(start: Start, screen: Display, sample: Sample) -> None:
    program = start(sample("two-chunks.rca"))
    program.appear("two-chunks.rca")
    screen.xdotool("windowminimize", program.window)
    until(lambda: screen.active() != program.window, screen.windows)

    assert start(sample("journey.caf")).ended() == 0

    program.appear("journey.caf")
    assert program.tabs() == ["two-chunks.rca", "journey.caf"]


@pytest.mark.sweep
def test_when_the_first_has_gone_the_next_takes_its_place(start: Start, sample: Sample) -> None:
    first = start(sample("journey.caf"))
    first.appear("journey.caf")
    first.process.kill()
    first.process.wait()
    second = start(sample("plain.tar"))
    second.appear("plain.tar")

    assert start(sample("two-chunks.rca")).ended() == 0

    second.appear("two-chunks.rca")
