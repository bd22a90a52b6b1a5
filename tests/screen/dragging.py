"""Dragging out of another program onto what is on the screen, with the pointer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

from tests.patience import PATIENCE
from tests.screen.accessible import Part
from tests.screen.display import SIZE, Display

SQUARE = 60
"""Pixels: the width and height of what is dragged from, in the corner at the foot on the right."""
PLACE = (SIZE[0] - SQUARE, SIZE[1] - SQUARE)
NEAR = 12
"""Pixels the pointer moves at a time close to its aim."""


class Source:
    """Another program that has something to give."""

    def __init__(self, display: Display, process: subprocess.Popen[str]) -> None:
        self._display = display
        self._process = process

    def heard(self) -> str:
        """The next word it prints; none where it says nothing for long."""
        assert self._process.stdout is not None
        ending = Timer(PATIENCE, self._process.kill)
        ending.start()
        try:
            return self._process.stdout.readline().strip()
        finally:
            ending.cancel()

    def drop_on(self, part: Part) -> None:
        """Drag what it has onto the middle of something, and let go there when that takes it."""
        x, y, width, height = part.box()
        x, y = x + width // 2, y + height // 2
        grip = [each + SQUARE // 2 for each in PLACE]
        self._display.xdotool("mousemove", "--sync", *grip, "mousedown", 1)
        for step in range(1, 4):  # a press becomes a drag after some way
            self._display.xdotool("mousemove", "--sync", grip[0] - step * 8, grip[1])
        self._display.xdotool("mousemove", "--sync", x - NEAR, y, "mousemove", "--sync", x, y)
        assert self.heard() == "accepted"
        self._display.xdotool("mousemove", x, y, "mouseup", 1)
        assert self.heard() == "dropped"


@contextmanager
def source(display: Display, kind: str, *lines: object) -> Iterator[Source]:
    """Start a program from which "uris" or "text" can be dragged, and that has it in the clipboard."""
    command = [sys.executable, Path(__file__).with_name("drag_source.py"), *PLACE, SQUARE, SQUARE, kind, *lines]
    with subprocess.Popen(
        list(map(str, command)), env=display.environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            made = Source(display, process)
            assert made.heard() == "ready"
            yield made
        finally:
            process.terminate()
