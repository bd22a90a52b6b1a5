"""The main states of the window look as they did; ``pytest tests/pictures --pictures`` keeps how they look now."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage, QPainter

from tests.patience import PATIENCE
from tests.pictures.comparing import difference, keep
from tests.pictures.drawing import SIZE, STATES
from tests.sweeping import at_every_change

Sample = Callable[[str], Path]
HERE = Path(__file__).parent
ATTEMPTS = 4
"""How often a picture is drawn that differs."""
SHOWN = {
    "two-chunks.png": "two-chunks.rca",
    "findings.png": "flipped-blob-byte.rca",
    "coverage.png": "weather-overlap",
}
"""The pictures of the README and the manual, and the samples that they show."""
SELDOM = ("archive", "archive-dark", "archive-contrast-light", "archive-fine", "torn-and-findings", "header")
"""States whose theme or sample others show too, the picture of findings among them, and one with smaller pixels."""


def drawn(root: Path, scale: float, *arguments: object) -> None:
    """Let a process of its own draw, with as many pixels for a point as wanted."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": str(scale)}
    command = [sys.executable, "-m", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr


def compare(
    request: pytest.FixtureRequest,
    kept: Path,
    made: Path,
    draw: Callable[[], None],
    how: Callable[[Path, Path], object] = keep,
) -> None:
    marks = made.with_name(f"{made.stem}-marked.png")
    # A machine without a moment to spare may draw before the last layout; a fault is there each time.
    for attempt in range(ATTEMPTS):
        if attempt or not made.exists():
            draw()
        if not difference(kept, made, marks):
            break
    if request.config.getoption("--pictures") and difference(kept, made, marks):
        how(made, kept)
    assert difference(kept, made, marks) == ""


@pytest.fixture(scope="module")
def pictures(
    root: Path, sample: Sample, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The folder with a picture of each state that is tested in this run; those of one scale share a process."""
    folder = tmp_path_factory.mktemp("pictures")
    items = [each for each in request.session.items if isinstance(each, pytest.Function)]
    here = [each for each in items if each.function is test_a_state_looks_as_it_did]
    names = [str(each.callspec.params["name"]) for each in here]
    for scale in {STATES[name].scale for name in names}:
        together = [name for name in names if STATES[name].scale == scale]
        drawn(root, scale, "tests.pictures.drawing", folder, *(argument(name, sample) for name in together))
    return folder


def argument(name: str, sample: Sample) -> str:
    return f"{name}={sample(STATES[name].sample) if STATES[name].sample else ''}"


@pytest.mark.parametrize("name", at_every_change(STATES, lambda name: name not in SELDOM))
def test_a_state_looks_as_it_did(
    name: str, root: Path, sample: Sample, pictures: Path, request: pytest.FixtureRequest
) -> None:
    draw = partial(drawn, root, STATES[name].scale, "tests.pictures.drawing", pictures, argument(name, sample))
    compare(request, HERE / f"{name}.png", pictures / f"{name}.png", draw)


@pytest.mark.parametrize("name", at_every_change(SHOWN, lambda name: name == "findings.png"))
def test_what_users_read_shows_the_program_as_it_is(
    name: str, root: Path, sample: Sample, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    made = tmp_path / name
    draw = partial(drawn, root, 1, "inspector", "--screenshot", made, sample(SHOWN[name]))
    compare(request, root / "resources" / "screenshots" / name, made, draw, shutil.copyfile)
    pages = [root / "README.md", *(root / "resources" / "manual").glob("*.md")]
    assert any(f"screenshots/{name})" in page.read_text(encoding="utf-8") for page in pages)


def test_users_are_shown_no_other_pictures(root: Path) -> None:
    assert {path.name for path in (root / "resources" / "screenshots").iterdir()} == set(SHOWN)


def test_there_are_no_other_pictures_and_they_are_small() -> None:
    pictures = list(HERE.glob("*.png"))
    assert sorted(path.stem for path in pictures) == sorted(STATES)
    assert sum(path.stat().st_size for path in pictures) < 1 << 20


# ---- what counts as a difference ---------------------------------------------------------------------------------


def changed(tmp_path: Path, rectangles: Sequence[tuple[int, int, int, int]], colour: str) -> str:
    """What is said of a kept picture in which these rectangles have another colour."""
    picture = QImage(str(HERE / "archive.png"))
    painter = QPainter(picture)
    for rectangle in rectangles:
        painter.fillRect(*rectangle, QColor(colour))
    painter.end()
    path = tmp_path / "changed.png"
    picture.save(str(path))
    return difference(HERE / "archive.png", path, tmp_path / "marks.png")


def test_a_lost_icon_is_seen(tmp_path: Path) -> None:
    assert "marks.png" in changed(tmp_path, [(14, 30, 18, 18)], "#F3F4F6")
    assert (tmp_path / "marks.png").exists()


def test_what_moved_is_seen(tmp_path: Path) -> None:
    picture = QImage(str(HERE / "archive.png"))
    moved = picture.copy()
    painter = QPainter(moved)
    painter.drawImage(0, 203, picture, 0, 200, SIZE[0], 300)
    painter.end()
    moved.save(str(tmp_path / "moved.png"))
    assert difference(HERE / "archive.png", tmp_path / "moved.png", tmp_path / "marks.png")


def test_faint_edges_are_no_difference(tmp_path: Path) -> None:
    picture = QImage(str(HERE / "archive.png"))
    for x in range(0, SIZE[0], 2):
        for y in range(0, SIZE[1], 3):
            picture.setPixelColor(x, y, picture.pixelColor(x, y).darker(112))
    picture.save(str(tmp_path / "rough.png"))
    assert difference(HERE / "archive.png", tmp_path / "rough.png", tmp_path / "marks.png") == ""


def test_a_picture_of_another_size_is_told(tmp_path: Path) -> None:
    QImage(str(HERE / "archive.png")).copy(0, 0, 1000, 700).save(str(tmp_path / "cut.png"))
    assert "1000 x 700" in difference(HERE / "archive.png", tmp_path / "cut.png", tmp_path / "marks.png")
