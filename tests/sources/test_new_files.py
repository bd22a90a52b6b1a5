"""Files that take their places together: all of them, or none."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from inspector.core.program.progress import Cancelled
from inspector.core.source import SourceError
from inspector.sources.local.atomic import FolderObjects, NewFiles
from inspector.sources.local.disk_calls import Disk
from tests.sources.disks import Watched

LARGE = 40 << 20


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_they_are_there_when_the_block_has_ended(tmp_path: Path) -> None:
    with NewFiles() as files:
        for name in ("a", "b"):
            out = files.add(tmp_path / name)
            out.write(name.encode())
            out.write(b"12345")
            out.overwrite(2, b"xy")
            assert out.size == 6
        assert not {"a", "b"} & set(names(tmp_path))

    assert names(tmp_path) == ["a", "b"]
    assert (tmp_path / "b").read_bytes() == b"b1xy45"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Cancelled(), SourceError("it failed")])
def test_nothing_is_left_where_the_block_is_left_by_an_exception(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def make() -> None:
        with NewFiles(replace=True) as files:
            files.add(tmp_path / "a").write(b"new")
            files.add(tmp_path / "b").write(b"new")
            raise error

    with pytest.raises(type(error)):
        make()

    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_what_is_there_already_is_kept_and_the_earlier_ones_are_taken_away_again(tmp_path: Path) -> None:
    def make() -> None:
        with NewFiles() as files:
            files.add(tmp_path / "a").write(b"new")
            files.add(tmp_path / "b").write(b"new")
            (tmp_path / "b").write_bytes(b"old")

    with pytest.raises(SourceError, match="b cannot be written: something is there already"):
        make()

    assert names(tmp_path) == ["b"]
    assert (tmp_path / "b").read_bytes() == b"old"


def test_what_has_replaced_another_file_stays_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "c").mkdir()

    def make() -> None:
        with NewFiles(replace=True) as files:
            for name in "abc":
                files.add(tmp_path / name).write(b"new")

    with pytest.raises(SourceError, match=r"c cannot be written.*These files are replaced already: a\."):
        make()

    assert names(tmp_path) == ["a", "c"]
    assert (tmp_path / "a").read_bytes() == b"new"


def test_where_the_file_system_has_no_links_files_are_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    for name, replace in (("a", False), ("b", True), ("b", True)):
        with NewFiles(replace=replace) as files:
            files.add(tmp_path / name).write(b"new")
    with pytest.raises(SourceError, match="already"), NewFiles() as files:
        files.add(tmp_path / "a").write(b"newer")

    assert names(tmp_path) == ["a", "b"]


class Full(Disk):
    """A disk that takes so many bytes."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Write what there is room for."""
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.room -= (taken := min(self.room, len(data)))
        return super().write(descriptor, data[:taken], offset)


class NoSync(Disk):
    """A disk that fails when it has to keep what it was given."""

    def sync(self, descriptor: int) -> None:  # noqa: ARG002 - it fails for any
        """Fail."""
        raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize(("disk", "words"), [(Full(7), "no space left"), (NoSync(), "input/output error")])
def test_a_disk_that_fails_is_a_sentence_and_leaves_nothing(tmp_path: Path, disk: Disk, words: str) -> None:
    def make() -> None:
        with NewFiles(disk=disk) as files:
            files.add(tmp_path / "a").write(b"12345")
            files.add(tmp_path / "b").write(b"12345")

    with pytest.raises(SourceError, match=words):
        make()

    assert names(tmp_path) == []


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be written: there is no folder"), NewFiles() as files:
        files.add(tmp_path / "none" / "a")


def test_a_long_name_in_a_long_script_is_no_hindrance(tmp_path: Path) -> None:
    name = "報" * 85
    with NewFiles() as files:
        files.add(tmp_path / name)

    assert names(tmp_path) == [name]


class _Stuck(Disk):
    def unlink(self, path: Path) -> None:  # noqa: ARG002 - it removes nothing
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))


def test_a_temporary_name_that_stays_beside_the_file_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(SourceError, match=r"a is complete, but its temporary name .* could not be removed"),
        NewFiles(disk=_Stuck()) as files,
    ):
        files.add(tmp_path / "a").write(b"new")

    assert (tmp_path / "a").read_bytes() == b"new"


def test_all_temporary_names_that_stay_are_said(tmp_path: Path) -> None:
    files = NewFiles(disk=_Stuck())
    for name in ("a", "b"):
        files.add(tmp_path / name).write(b"new")
    with pytest.raises(SourceError, match=r" Remove what is left; it takes no room of its own\.$") as raised:
        files.__exit__(None, None, None)
    assert all(str(each) in str(raised.value) for each in tmp_path.glob(".*"))


def test_the_folders_of_new_objects_are_on_the_disk_too(tmp_path: Path) -> None:
    disk = Watched()
    with FolderObjects(tmp_path / "new", disk) as objects:
        objects.put("datas3t/n/dataranges/1.tar", [b"1"])

    synced = {str(folder.relative_to(tmp_path)) for (folder,) in disk.named("sync_folder")}
    assert synced == {".", "new", "new/datas3t", "new/datas3t/n", "new/datas3t/n/dataranges"}
