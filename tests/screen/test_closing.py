"""The window manager closes the window and changes its size."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import until
from tests.screen.conftest import Start
from tests.screen.display import SIZE, Display
from tests.screen.program import Program

Sample = Callable[[str], Path]
MUCH = 64 << 30
"""Bytes of a member that take much longer to check than a test takes."""
PLACED = ("menu bar", "tool bar", "panel", "status bar", "push button")
"""Roles of what has to be seen whole."""
ASKED = "There is still"


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A CAF archive of one member and much nothing, with a digest of it beside."""
    path = tmp_path / "endless.caf"
    index = json.dumps({"format_version": "1.0", "files": {"a.bin": {"start_byte": 0, "end_byte": MUCH}}}).encode()
    with path.open("wb") as file:
        file.seek(MUCH)
        file.write(index + len(index).to_bytes(4, "little"))
    Path(f"{path}.sha256").write_text(f"{'0' * 64}  a.bin\n", encoding="utf-8")
    return path


def opened(start: Start, path: Path) -> Program:
    program = start(path)
    program.appear(path.name)
    program.says("Chunk Archive (CAF)" if path.suffix == ".caf" else "RCA archive")
    return program


@pytest.mark.sweep
def test_work_under_way_asks(start: Start, endless: Path) -> None:
    program = opened(start, endless)
    program.keys("ctrl+k")
    program.enabled("push button", "Cancel this job")

    program.close()
    program.says(f"{ASKED} a running job on endless.caf.")
    program.keys("Escape")
    until(lambda: ASKED not in " ".join(program.texts()), program.texts)
    assert program.process.poll() is None

    program.close()
    program.says(ASKED)
    program.click(program.enabled("push button", "Close"))
    assert program.ended() == 0


@pytest.mark.sweep
@pytest.mark.parametrize("size", [(1024, 700), SIZE])
def test_it_fits_into_the_size_it_is_given(
    start: Start, screen: Display, sample: Sample, size: tuple[int, int]
) -> None:
    program = opened(start, sample("two-chunks.rca"))

    screen.xdotool("windowmove", "--sync", program.window, 0, 0)
    screen.xdotool("windowsize", program.window, *size)
    frame = until(lambda: (found := program.part("frame", "two-chunks.rca")).box()[2:] == size and found, program.texts)

    left, top, width, height = frame.box()
    for part in program.parts():
        if part.role in PLACED and part.name:
            x, y, wide, high = part.box()
            assert left <= x, part
            assert x + wide <= left + width, part
            assert top <= y, part
            assert y + high <= top + height, part
