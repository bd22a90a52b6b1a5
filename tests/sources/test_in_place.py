"""Changing an archive where it stands: which writes are made, in which order, and who else is there."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Any

import pytest

from inspector.core.edit import EditError
from inspector.sources.local.changes import in_place
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.recovery import pending, roll_back
from inspector.sources.local.file import FileSource
from tests.sources.disks import CONTENT, EDITS, Watched, after, names, refused, refusing

THREE = EDITS["three"]


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_on_the_disk_and_can_be_taken_back(name: str, path: Path) -> None:
    edit, inode = EDITS[name], path.stat().st_ino
    written = write(path, edit, FileSource(path).identity)
    assert path.read_bytes() == after(edit)
    assert path.stat().st_ino == inode
    assert written.warnings == ()
    assert written.identity == FileSource(path).identity
    assert written.undo is not None
    write(path, written.undo, written.identity)
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name]


def test_three_patches_are_three_writes_in_their_order_between_journal_and_reading_back(path: Path) -> None:
    disk = Watched()
    write(path, THREE, None, disk)
    archive = disk.named("lock")[0][0]
    changing = [
        (name, *arguments) for name, arguments in disk.log if name in ("write", "sync", "sync_folder", "unlink")
    ]
    for first in (changing[:3], changing[3:6]):  # the store of old bytes, and the journal
        assert [each[0] for each in first] == ["write", "sync", "sync_folder"]
        assert first[0][1] == first[1][1] != archive
    assert changing[6:] == [
        *(("write", archive, patch.new, patch.offset) for patch in THREE.patches),
        ("sync", archive),
        ("unlink", path.with_name(".archive.tacozip.aij")),
        ("sync_folder", path.parent),
    ]
    last_write = max(at for at, (name, _) in enumerate(disk.log) if name == "write")
    read_back = [arguments[2] for name, arguments in disk.log[last_write:] if name == "read"]
    assert read_back == [patch.offset for patch in THREE.patches]


def test_the_end_is_cut_off_when_all_else_is_safe(path: Path) -> None:
    disk = Watched()
    write(path, EDITS["shrinking"], None, disk)
    archive = disk.named("lock")[0][0]
    names = [name for name, arguments in disk.log if arguments[0] == archive and name in ("write", "sync", "truncate")]
    assert names == ["write", "sync", "truncate", "sync"]


def test_an_end_too_long_to_be_kept_cannot_be_put_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place, "MAX_DROPPED_BYTES", 79)
    assert write(path, EDITS["shrinking"], None).undo is None
    assert path.read_bytes() == after(EDITS["shrinking"])


def test_a_second_editor_is_kept_out(path: Path) -> None:
    said = []

    def act(_: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "write" and arguments[2] == 14:
            said.append(refused(path, THREE))
            found = pending(path)
            assert found is not None
            said.append(found.story)

    write(path, THREE, None, Watched(act))
    assert path.read_bytes() == after(THREE)
    assert "another program has locked it" in said[0]
    assert "Another program is changing" in said[1]


def test_a_program_that_locks_the_file_is_respected(path: Path) -> None:
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert "locked" in refused(path, THREE)


def test_an_interrupted_change_comes_first(path: Path) -> None:
    with pytest.raises(EditError):
        write(path, THREE, None, Watched(refusing("write", errno.EIO, where=lambda each: each[2] == 14)))
    assert "earlier change was interrupted" in refused(path, THREE)
    roll_back(path)
    write(path, THREE, None)


def test_a_file_system_without_locks_is_a_warning(path: Path) -> None:
    written = write(path, THREE, None, Watched(refusing("lock", errno.ENOLCK)))
    assert path.read_bytes() == after(THREE)
    assert "cannot lock archive.tacozip" in written.warnings[0]


def test_hard_links_and_symbolic_links_are_warnings(path: Path) -> None:
    os.link(path, path.with_name("other name"))
    link = path.with_name("link")
    link.symlink_to(path.name)
    written = write(link, THREE, FileSource(link).identity)
    assert link.is_symlink()
    assert path.read_bytes() == path.with_name("other name").read_bytes() == after(THREE)
    assert written.warnings == (
        f"link is a symbolic link; the file that changes is {path.resolve()}.",
        "archive.tacozip has 2 names (hard links); the change affects all of them.",
    )


def test_links_in_a_circle_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(EditError, match="no longer there"):
        write(tmp_path / "a", THREE, None)
