"""Every reason not to change an archive where it stands; nothing is written then, and nothing left behind."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.core.edit import Edit, EditError, Patch
from inspector.sources.local.changes import journal
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.journal_paths import journal_paths
from inspector.sources.local.changes.old_bytes import stored_changes
from inspector.sources.local.changes.recovery import pending, roll_back
from inspector.sources.local.disk_calls import Disk
from inspector.sources.local.file import FileSource
from tests.sources.disks import CONTENT, EDITS, Watched, after, failing, names, refused, refusing

THREE = EDITS["three"]


def replaced(path: Path) -> None:
    path.with_name("new").write_bytes(CONTENT)
    path.with_name("new").replace(path)


def shortened(path: Path) -> None:
    os.truncate(path, 600)


def lengthened(path: Path) -> None:
    os.truncate(path, 800)


def touched(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def other_bytes(path: Path) -> None:
    """Though the time is the same: a clock may jump, and many are coarse."""
    status = path.stat()
    path.write_bytes(CONTENT[:15] + b"?" + CONTENT[16:])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def gone(path: Path) -> None:
    path.unlink()


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.with_name("copy").write_bytes(CONTENT)
    path.symlink_to("copy")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES = {
    replaced: "replaced by another file",
    shortened: "shorter since it was opened (700 bytes then, 600 now)",
    lengthened: "longer",
    touched: "written to since",
    other_bytes: "has other bytes in [14, 18)",
    gone: "no longer there",
    linked: "replaced by another file",
    a_folder: "not a regular file",
    a_pipe: "not a regular file",
}


@pytest.mark.parametrize(("change", "words"), CHANGES.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_a_file_that_changed_since_it_was_shown_is_left_alone(
    change: Callable[[Path], None], words: str, path: Path
) -> None:
    source = FileSource(path)
    change(path)
    assert words in refused(path, THREE, source=source)


def test_an_edit_for_a_file_of_another_size_is_not_made(path: Path) -> None:
    assert "has 700 bytes, not the 640" in refused(path, Edit("Set", (Patch(0, CONTENT[:1], b"?"),), 640, 640))


@pytest.mark.parametrize("change", [replaced, gone, linked], ids=lambda each: each.__name__)
def test_a_file_replaced_between_looking_and_opening_is_left_alone(change: Callable[[Path], None], path: Path) -> None:
    def act(_: int, name: str, *__: Any) -> None:
        if name == "open" and not disk.named("lock"):
            disk.act = None
            change(path)

    disk = Watched(act)
    with pytest.raises(EditError, match="replaced"):
        write(path, THREE, FileSource(path).identity, disk)
    assert not path.exists() or path.read_bytes() == CONTENT
    assert not list(path.parent.glob("*.aij"))


def test_a_file_replaced_before_it_is_locked_is_left_alone(path: Path) -> None:
    def act(_: int, name: str, *__: Any) -> None:
        if name == "lock":
            replaced(path)

    old = FileSource(path)
    with pytest.raises(EditError, match="removed or replaced"):
        write(path, THREE, None, Watched(act))
    assert old.read(0, 700) == path.read_bytes() == CONTENT
    assert names(path) == [path.name]


def test_a_file_replaced_while_it_is_changed_is_told(path: Path) -> None:
    def act(_: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "write" and arguments[2] == 14:
            replaced(path)

    with pytest.raises(EditError, match="replaced by another program while"):
        write(path, THREE, None, Watched(act))
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name]


def test_a_file_marked_read_only_is_left_alone_even_by_the_administrator(path: Path) -> None:
    path.chmod(0o444)
    assert "Save a patched copy" in refused(path, THREE)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY])
def test_a_file_that_cannot_be_opened_for_writing_is_left_alone(code: int, path: Path) -> None:
    assert "Save a patched copy" in refused(path, THREE, disk=Watched(refusing("open", code)))


def journal_beside(arguments: tuple[Any, ...]) -> bool:
    return str(arguments[0].name).startswith(".") and arguments[0].suffix == ".aij"


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENAMETOOLONG])
def test_where_the_folder_takes_no_journal_it_stands_among_the_users_own_files(code: int, path: Path) -> None:
    disk = Watched(refusing("open", code, where=journal_beside))
    write(path, THREE, None, disk)
    assert path.read_bytes() == after(THREE)
    (place,) = disk.named("unlink")[0]
    assert place == journal_paths(path)[1]
    assert place.parent.stat().st_mode & 0o777 == 0o700


def test_a_journal_among_the_users_own_files_is_found_again(path: Path) -> None:
    def act(_: int, name: str, arguments: tuple[Any, ...]) -> None:
        if (name == "open" and journal_beside(arguments)) or (name == "write" and arguments[2] == 14):
            raise OSError(errno.EACCES, "Permission denied")

    with pytest.raises(EditError, match="partly changed"):
        write(path, THREE, None, Watched(act))
    assert names(path) == [path.name]
    assert "interrupted" in refused(path, THREE)
    roll_back(path)
    assert path.read_bytes() == CONTENT
    assert pending(path) is None


def test_a_name_that_leaves_no_room_for_a_journals_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    path.write_bytes(CONTENT)
    write(path, THREE, None)
    assert path.read_bytes() == after(THREE)


def test_where_no_journal_can_be_kept_nothing_is_written(path: Path) -> None:
    """An administrator's folders take everything, so the disk says no here."""
    disk = Watched(refusing("open", errno.EACCES, where=lambda each: each[0].suffix == ".aij"))
    assert "its journal cannot be written (permission denied)" in refused(path, THREE, disk=disk)


@pytest.mark.parametrize("name", ["open", "write", "sync", "sync_folder"])
@pytest.mark.parametrize("suffix", [".aij", ".old"])
def test_what_does_not_get_onto_the_disk_before_the_change_is_not_left_there(
    name: str, suffix: str, path: Path
) -> None:
    def act(_: int, called: str, __: object) -> None:
        if called == name and any(opened[0].suffix == suffix for opened in disk.named("open")):
            disk.act = None
            raise OSError(errno.ENOSPC, "No space left on device")

    disk, kept = Watched(act), list(stored_changes(path, Disk()))
    said = refused(path, THREE, disk)
    assert ("its journal cannot be written" if suffix == ".aij" else "cannot be kept") in said
    assert "(no space left on device)" in said
    assert list(stored_changes(path, Disk())) == kept


def test_a_change_too_large_for_a_journal_is_for_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_JOURNAL_BYTES", 300)
    assert "Save a patched copy" in refused(path, THREE)


class _Full(Watched):
    """A disk with room for 89 bytes."""

    def call(self, name: str, *arguments: Any) -> Any:
        return 89 if name == "free" else super().call(name, *arguments)


def test_a_disk_without_room_is_seen_before_anything_is_written(path: Path) -> None:
    disk = _Full()
    assert "grow by 90 bytes, and the disk has room for 89" in refused(path, EDITS["growing"], disk)
    assert not disk.named("write")
    write(path, EDITS["three"], None, disk)


LIMITED = """
import resource, signal, sys
from pathlib import Path
from inspector.core.edit import EditError
from inspector.sources.local.changes.in_place import write
from tests.sources.disks import EDITS

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (710, 710))
try:
    write(Path(sys.argv[1]), EDITS["growing"], None)
except EditError as error:
    print(error)
"""


def test_a_file_that_the_system_does_not_let_grow_is_put_back(path: Path, root: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, path], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == (
        "archive.tacozip was not changed: writing failed (file too large), and the old bytes were restored.\n"
    )
    assert path.read_bytes() == CONTENT
    assert names(path) == [path.name]


def test_a_journal_that_cannot_be_removed_is_a_warning(path: Path) -> None:
    written = write(path, THREE, None, Watched(refusing("unlink", errno.EIO)))
    assert path.read_bytes() == after(THREE)
    assert "could not be removed" in written.warnings[0]


def test_what_reads_back_otherwise_is_put_back(path: Path) -> None:
    class Lying(Watched):
        def call(self, name: str, *arguments: Any) -> Any:
            if name == "write" and arguments[1:] == (THREE.patches[1].new, 14):
                return len(arguments[1])
            return super().call(name, *arguments)

    assert "bytes read back are not those written" in refused(path, THREE, disk=Lying())


def test_every_refusal_is_one_that_a_person_can_read(path: Path) -> None:
    calls = Watched()
    write(path, THREE, None, calls)
    path.write_bytes(CONTENT)
    said = set()
    for at in range(len(calls.log)):
        try:
            write(path, THREE, None, Watched(failing(at, errno.EIO)))
        except EditError as error:
            said.add(str(error))
        path.write_bytes(CONTENT)
        path.with_name(".archive.tacozip.aij").unlink(missing_ok=True)
    assert len(said) > 4
    assert all(one.startswith("archive.tacozip was not changed: ") and one.endswith(".") for one in said)
