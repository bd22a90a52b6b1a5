"""What a program that was killed has left is told from what another one is writing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.operations.jobs.unfinished import report_unfinished
from inspector.sources.local.atomic import NewFiles, Unfinished, remove, unfinished
from inspector.sources.local.member_writer import Destination
from tests.sources.kill_driver import KILLED, child, ended


def leave(work: Callable[[], object]) -> None:
    """Let a program of its own do this, and end in the middle of it."""

    def begin() -> None:
        work()
        os._exit(KILLED)

    assert ended(child(begin)) == KILLED


def archives(folder: Path, *names: str) -> NewFiles:
    """Archives that are written and have no places yet."""
    files = NewFiles()
    for name in names:
        files.add(folder / name).write(b"some bytes")
    return files


def sizes(found: list[Unfinished]) -> list[int]:
    return [each.size for each in found]


def test_new_files_of_a_killed_program_are_found_and_removed(tmp_path: Path) -> None:
    leave(lambda: archives(tmp_path, "one.caf", "one-0001.caf", "x" * 200))
    (tmp_path / "finished.caf").write_bytes(b"1")
    found = unfinished(tmp_path)
    assert sizes(found) == [10, 10, 10]
    assert [each.name[:6] for each in found] == [".one-0", ".one.c", ".xxxxx"]
    assert len(list(report_unfinished([tmp_path, tmp_path / "nothing", tmp_path]))) == 1
    assert all(remove(tmp_path, each) for each in found)
    assert [path.name for path in tmp_path.iterdir()] == ["finished.caf"]


def test_new_files_that_are_being_written_are_not_unfinished(tmp_path: Path) -> None:
    """Also those that are whole by now and wait for the others."""
    with NewFiles() as files:
        for name in ("a", "b", "c"):
            files.add(tmp_path / name).write(b"1")
        assert unfinished(tmp_path) == []
    assert unfinished(tmp_path) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_files_of_one_group_in_two_folders_hold_both(tmp_path: Path) -> None:
    (tmp_path / "beneath").mkdir()
    files = archives(tmp_path, "a", "beneath/b", "c", "beneath/d")
    assert [unfinished(tmp_path), unfinished(tmp_path / "beneath")] == [[], []]
    files.__exit__(ValueError, ValueError(), None)
    assert list(tmp_path.iterdir()) == [tmp_path / "beneath"]


def test_what_extracting_has_left_is_found_in_its_folder(tmp_path: Path) -> None:
    def extract() -> None:
        Destination(tmp_path).part((b"deep", b"er", b"name")).write(b"12345")

    leave(extract)
    with Destination(tmp_path) as destination:
        assert destination.unfinished(()) == destination.unfinished((b"none",)) == []
        (found,) = destination.unfinished((b"deep", b"er"))
        assert found.size == 5
        assert not destination.remove((b"deep",), found)
        assert destination.remove((b"deep", b"er"), found)
    assert list((tmp_path / "deep" / "er").iterdir()) == []


def test_what_is_being_extracted_is_not_unfinished(tmp_path: Path) -> None:
    with Destination(tmp_path) as destination:
        part = destination.part((b"name",))
        assert destination.unfinished(()) == unfinished(tmp_path) == []
        part.keep(b"name", replace=False)
    assert unfinished(tmp_path) == []


@pytest.mark.parametrize(
    "name", [".part-0123456789abcde", ".part-0123456789ABCDEF", "a.0123456789abcdef.part", ".a.part", ".a.x.part"]
)
def test_other_names_are_nobodys_business(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"1")
    assert unfinished(tmp_path) == []


def test_links_folders_and_pipes_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"1")
    (tmp_path / ".part-0123456789abcdef").symlink_to("precious")
    (tmp_path / ".a.0123456789abcdef.part").mkdir()
    os.mkfifo(tmp_path / ".part-1123456789abcdef")
    assert unfinished(tmp_path) == unfinished(tmp_path / "none") == []


def test_another_file_by_then_is_not_removed(tmp_path: Path) -> None:
    leave(lambda: archives(tmp_path, "a"))
    (found,) = unfinished(tmp_path)
    path = tmp_path / found.name
    (tmp_path / "other").write_bytes(b"another")
    (tmp_path / "other").replace(path)
    assert not remove(tmp_path, found)
    assert path.read_bytes() == b"another"
