"""What other systems do not have: their calls are taken away, and their names are asked about."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.creating import create_caf
from inspector.operations.extract.selection import refusal
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.file import FileSource, TemporarySource
from inspector.sources.local.member_writer import Destination
from tests.sources.disks import CONTENT, EDITS, after

NOT_THERE = ("pread", "pwrite", "copy_file_range", "SEEK_DATA", "O_NOFOLLOW", "O_NONBLOCK", "getxattr")


@pytest.fixture(autouse=True)
def _few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The calls that Windows has."""
    for name in NOT_THERE:
        monkeypatch.delattr(os, name, raising=False)


def test_threads_read_one_file_by_position(tmp_path: Path) -> None:
    data = os.urandom(1 << 18)
    (tmp_path / "x").write_bytes(data)
    kept = TemporarySource("kept")
    for at in range(0, len(data), 1 << 16):
        kept.append(data[at : at + (1 << 16)])
        assert kept.read(0, 10) == data[:10]
    for source in (FileSource(tmp_path / "x"), kept):
        with ThreadPoolExecutor(8) as pool:
            pieces = pool.map(lambda at, source=source: source.read(at, 64), range(0, len(data), 64))
            assert b"".join(pieces) == data


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_is_changed_in_place(tmp_path: Path, edit: str) -> None:
    path = tmp_path / "archive.tacozip"
    path.write_bytes(CONTENT)
    write(path, EDITS[edit], None)
    assert path.read_bytes() == after(EDITS[edit])


def test_an_archive_is_made_and_takes_the_place_of_another(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").write_bytes(bytes(3 << 20))
    for _ in range(2):
        create_caf(Progress(), str(tmp_path / "new.caf"), [str(tmp_path / "in")], overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "new.caf"]


def test_no_file_is_renamed_or_removed_while_it_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows does neither."""
    rename, unlink = Path.replace, Path.unlink

    def is_open(path: Path) -> bool:
        place = path.stat()
        for each in Path("/dev/fd").iterdir():
            try:
                status = os.fstat(int(each.name))
            except OSError:
                continue
            if (status.st_dev, status.st_ino) == (place.st_dev, place.st_ino):
                return True
        return False

    def checked_rename(self: Path, target: Path) -> Path:
        assert not is_open(self)
        return rename(self, target)

    def checked_unlink(self: Path, missing_ok: bool = False) -> None:
        assert not (self.exists() and is_open(self))
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "replace", checked_rename)
    monkeypatch.setattr(Path, "unlink", checked_unlink)
    (tmp_path / "in").write_bytes(b"1")
    for _ in range(2):
        create_caf(Progress(), str(tmp_path / "new.caf"), [str(tmp_path / "in")], overwrite=True)
    assert (tmp_path / "new.caf").read_bytes()[:1] == b"1"


def test_where_folders_cannot_be_held_nothing_is_extracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "supports_dir_fd", set())
    with pytest.raises(SourceError, match="cannot be extracted safely on this system"):
        Destination(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "CON",
        "a/nul.txt",
        "com1",
        "LPT9.x",
        "conin$",
        "a.",
        "a /b",
        "a:b",
        "C:x",
        "x~1",
        'q"',
        "a?b",
        "a*",
        "a\\b",
        "<a>",
    ],
)
def test_names_that_windows_takes_for_something_else_are_refused_there(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert refusal(name.encode())
    assert not refusal(b"plain/name.txt")
