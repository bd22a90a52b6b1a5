"""What is dragged out of another program and dropped on the window."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.patience import until
from tests.screen.conftest import Start
from tests.screen.display import Display
from tests.screen.dragging import source
from tests.screen.program import Program

SIZE = 1_503
Sample = Callable[[str], Path]


@pytest.fixture
def empty(start: Start) -> Program:
    """A window that has nothing open."""
    program = start()
    program.appear()
    program.says("Drop files or a folder here")
    return program


@pytest.fixture
def archive(sample: Sample, tmp_path: Path) -> Path:
    """An archive that more can be added to."""
    return Path(shutil.copyfile(sample("two-resets-spec.rca"), tmp_path / "log.rca"))


@pytest.fixture
def note(tmp_path: Path) -> Path:
    """A file that is no archive."""
    path = tmp_path / "note.txt"
    path.write_text("dropped here", encoding="utf-8")
    return path


def test_a_file(empty: Program, screen: Display, sample: Sample) -> None:
    with source(screen, "uris", sample("journey.caf")) as other:
        other.drop_on(empty.part("frame", ""))
        until(lambda: empty.tabs() == ["journey.caf"], empty.texts)

    empty.says("Chunk Archive (CAF)")
    assert empty.title == "journey.caf – Archive Inspector"


@pytest.mark.sweep
def test_several_files_and_a_folder(empty: Program, screen: Display, sample: Sample) -> None:
    names = ["journey.caf", "plain.tar", "weather"]
    with source(screen, "uris", *map(sample, names)) as other:
        other.drop_on(empty.part("frame", ""))
        until(lambda: empty.tabs() == names, empty.texts)


@pytest.mark.sweep
def test_an_address_as_text(empty: Program, screen: Display) -> None:
    with source(screen, "text", "s3://bucket-of-nobody/archive.caf") as other:
        other.drop_on(empty.part("frame", ""))
        until(lambda: empty.tabs() == ["archive.caf"], empty.texts)


@pytest.mark.sweep
def test_other_text_is_refused_in_words(empty: Program, screen: Display) -> None:
    with source(screen, "text", "only some words") as other:
        other.drop_on(empty.part("frame", ""))
        empty.says("The dropped item is neither a file nor a folder that can be opened.")


@pytest.mark.sweep
@pytest.mark.parametrize("place", ["Bytes", "Members as a tree"])
def test_on_an_rca_archive_it_is_added(start: Start, screen: Display, archive: Path, note: Path, place: str) -> None:
    program = start(archive)
    program.appear("log.rca")
    program.says("6 members")

    with source(screen, "uris", note) as other:
        other.drop_on(program.part("", place))
        program.says("Open the dropped item, or add it to log.rca?")
        program.click(program.part("push button", "Add…"))
        add = program.enabled("push button", "Add")
    program.click(add)
    program.says("7 members")
    assert archive.stat().st_size > SIZE


@pytest.mark.sweep
def test_or_opened(start: Start, screen: Display, archive: Path, note: Path) -> None:
    program = start(archive)
    program.appear("log.rca")
    program.says("6 members")

    with source(screen, "uris", note) as other:
        other.drop_on(program.part("frame", ""))
        program.says("Open the dropped item, or add it to log.rca?")
        program.keys("Return")
        until(lambda: program.tabs() == ["log.rca", "note.txt"], program.texts)
    assert archive.stat().st_size == SIZE
