"""Writing into a folder when calls fail, others meddle, the disk is full, or the program is killed."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from inspector.core.source import SourceError
from inspector.operations.protocol.extraction_views import ExtractionOptions, ExtractionResult, OnConflict
from inspector.sources.local.member_writer import Destination, Existing, FolderCalls, FullError, PlaceError, TakenError
from tests.operations.extract.extracting import archive, extract, files, tree
from tests.sweeping import every, in_the_sweep

KILLS, SWEPT_KILLS = 2, int(os.environ.get("INSPECTOR_KILLS", "30")) // 5
CONTENTS = {"a.txt": b"first", "f/b.bin": bytes(range(256)) * 20, "f/g/c": b"", "z.txt": b"last"}

Act = Callable[[int, str, tuple[Any, ...]], None]


class Watched(FolderCalls):
    """Calls that are written down, before each of which ``act`` is called: it may raise, or meddle."""

    def __init__(self, act: Act | None = None) -> None:
        self.log: list[tuple[str, tuple[Any, ...]]] = []
        self.act = act

    def __call__(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
        name = call.__name__
        if call is os.open:
            name = "create" if arguments[1] & os.O_CREAT else "open"
        self.log.append((name, arguments))
        if self.act:
            self.act(len(self.log) - 1, name, arguments)
        return call(*arguments, **words)


def whole(folder: Path) -> bool:
    """Whether all that stands under a name of its own is as it was archived, and nothing else is there."""
    return files(folder).items() <= CONTENTS.items()


def run(
    tmp_path: Path, to: Path, calls: FolderCalls, options: ExtractionOptions | None = None
) -> ExtractionResult | None:
    path = tmp_path / "archive.zip"
    if not path.exists():
        archive(tmp_path, "zip", list(CONTENTS.items()))
    try:
        return extract(path, to, options, calls=calls)
    except SourceError:
        return None


@pytest.mark.parametrize("chosen", [OnConflict.REFUSE, OnConflict.OVERWRITE])
@every(3)
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EACCES, errno.EINTR, errno.ELOOP])
def test_any_call_may_fail(tmp_path: Path, code: int, chosen: OnConflict, step: int) -> None:
    clean = Watched()
    run(tmp_path, tmp_path / "clean", clean)
    assert files(tmp_path / "clean") == CONTENTS
    assert len(clean.log) > 30
    for at in range(0, len(clean.log), step):
        failed = []

        def act(number: int, name: str, _: tuple[Any, ...], at: int = at, failed: list[str] = failed) -> None:
            if number == at:
                failed.append(name)
                raise OSError(code, os.strerror(code))

        to = tmp_path / f"{at}"
        result = run(tmp_path, to, Watched(act), ExtractionOptions(chosen))
        assert failed
        found = {name: data for name, data in files(to).items() if ".part-" not in name}
        assert found.items() <= CONTENTS.items()
        if failed != ["unlink"]:
            assert whole(to)
        if result is not None and result.whole:
            assert found == CONTENTS


def test_a_write_may_be_short(tmp_path: Path) -> None:
    class Stingy(FolderCalls):
        def __call__(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
            if call is os.write:
                file, data = arguments
                arguments = file, data[: max(1, len(data) // 3)]
            return call(*arguments, **words)

    run(tmp_path, tmp_path / "to", Stingy())
    assert files(tmp_path / "to") == CONTENTS


@pytest.mark.parametrize("room", [0, 1, 4, 5, 6, 3000, 5125])
@pytest.mark.parametrize("late", [False, True])
def test_a_full_disk_stops_the_work_and_leaves_whole_files(tmp_path: Path, room: int, late: bool) -> None:
    class Full(FolderCalls):
        left = room

        def __call__(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
            if call is not os.write:
                return call(*arguments, **words)
            file, data = arguments
            written = os.write(file, data[: self.left])
            self.left -= written
            if not written:
                raise OSError(errno.ENOSPC, "No space left on device") if late else OSError(errno.EDQUOT, "Quota")
            return written

    result = run(tmp_path, tmp_path / "to", Full())
    assert result is not None
    assert whole(tmp_path / "to")
    assert not result.whole
    assert "no room left" in result.stopped
    assert f"{result.files} of 4 files" in result.stopped
    assert files(tmp_path / "to").keys() == set(list(CONTENTS)[: result.files])


def test_a_disk_that_is_full_stops_all_threads(tmp_path: Path) -> None:
    class Full(FolderCalls):
        written = 0

        def __call__(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
            self.written += len(arguments[1]) if call is os.write else 0
            if self.written > 200_000 and call is os.write:
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*arguments, **words)

    contents = {f"{number}.bin": random.Random(number).randbytes(20_000) for number in range(40)}
    result = extract(archive(tmp_path, "rca", list(contents.items())), tmp_path / "to", calls=Full())
    assert "no room left" in result.stopped
    assert files(tmp_path / "to").items() <= contents.items()
    assert result.files == len(files(tmp_path / "to")) < 40


def test_a_real_limit_of_the_system_is_met_in_the_same_way(tmp_path: Path, root: Path) -> None:
    archive(tmp_path, "caf", [("small", b"1"), ("large", bytes(100_000)), ("after", b"2")])
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)); "
        "from inspector.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-B", "-c", code, "extract", str(tmp_path / "archive.caf"), "--to", str(tmp_path / "to")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "large is not extracted" in done.stderr
    assert files(tmp_path / "to") == {"small": b"1", "after": b"2"}


@pytest.mark.parametrize("name", ["open", "mkdir", "create", "write", "link", "replace"])
@pytest.mark.parametrize("chosen", [OnConflict.REFUSE, OnConflict.OVERWRITE])
def test_a_folder_that_becomes_a_link_leads_nowhere(tmp_path: Path, name: str, chosen: OnConflict) -> None:
    outside, to = tmp_path / "outside", tmp_path / "to"
    outside.mkdir()
    (outside / "b.bin").write_bytes(b"precious")
    (outside / "g").mkdir()
    for wanted in range(1, 5):
        seen = 0

        def act(_: int, called: str, __: tuple[Any, ...], wanted: int = wanted) -> None:
            nonlocal seen
            seen += called == name
            if called == name and seen == wanted and not (to / "f").is_symlink():
                if (to / "f").exists():
                    (to / "f").rename(to / f"moved{wanted}")
                to.mkdir(exist_ok=True)
                (to / "f").symlink_to(outside)

        run(tmp_path, to, Watched(act), ExtractionOptions(chosen))
        assert tree(outside) == {b"b.bin": b"precious", b"g": None}
        if (to / "f").is_symlink():
            (to / "f").unlink()


def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    to = tmp_path / "to"

    def act(_: int, called: str, arguments: tuple[Any, ...]) -> None:
        if called == "link" and arguments[1] == b"a.txt":
            (to / "a.txt").write_bytes(b"theirs")

    result = run(tmp_path, to, Watched(act))
    assert result is not None
    assert files(to) == CONTENTS | {"a.txt": b"theirs"}
    assert (result.conflicts.count, result.whole) == (1, False)


def test_a_file_system_without_hard_links_will_do(tmp_path: Path) -> None:
    def act(_: int, called: str, __: tuple[Any, ...]) -> None:
        if called == "link":
            raise OSError(errno.EPERM, "Operation not permitted")

    to = tmp_path / "to"
    run(tmp_path, to, Watched(act))
    assert files(to) == CONTENTS
    (to / "a.txt").write_bytes(b"old")
    with Destination(to, Watched(act)) as destination:
        part = destination.part((b"a.txt",))
        part.write(b"new")
        with pytest.raises(TakenError):
            part.keep(b"a.txt", replace=False)
        part.drop()
    assert files(to) == CONTENTS | {"a.txt": b"old"}


def test_what_stands_at_a_place(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("folder")
    os.mkfifo(tmp_path / "pipe")
    status = (tmp_path / "file").stat()
    with Destination(tmp_path, protected=frozenset({(status.st_dev, status.st_ino)})) as destination:
        found = {name: destination.look((name,)) for name in (b"folder", b"file", b"link", b"pipe", b"none")}
        assert list(found.values()) == [
            *(Existing.FOLDER, Existing.PROTECTED, Existing.OTHER, Existing.OTHER, Existing.NOTHING)
        ]
        assert destination.look((b"link", b"x")) is Existing.BLOCKED
        assert destination.look((b"file", b"x")) is Existing.BLOCKED
        assert destination.look((b"none", b"x")) is Existing.NOTHING
        with pytest.raises(PlaceError, match="not followed"):
            destination.make_folder((b"link", b"x"))
    with Destination(tmp_path / "file" / "x") as destination, pytest.raises(SourceError):
        destination.make_folder(())


def test_a_full_disk_is_said_so(tmp_path: Path) -> None:
    def act(_: int, called: str, __: tuple[Any, ...]) -> None:
        if called == "create":
            raise OSError(errno.ENOSPC, "No space left on device")

    with Destination(tmp_path, Watched(act)) as destination, pytest.raises(FullError, match="no room"):
        destination.part((b"x",))
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    ("kind", "kills"), [("caf", KILLS), in_the_sweep("caf", SWEPT_KILLS), in_the_sweep("rca", SWEPT_KILLS)]
)
def test_a_program_that_is_killed_leaves_no_part_under_a_final_name(
    tmp_path: Path, root: Path, kind: str, kills: int
) -> None:
    contents = {f"{number % 5}/{number}.bin": random.Random(number).randbytes(30_000) for number in range(150)}
    path = archive(tmp_path, kind, list(contents.items()))
    chance = random.Random(7)
    for number in range(kills):
        to = tmp_path / f"to{number}"
        command = [sys.executable, "-m", "inspector", "extract", str(path), "--to", str(to)]
        program = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wanted = chance.randrange(150)
        while len(list(to.glob("*/*.bin"))) < wanted:
            with suppress(subprocess.TimeoutExpired):
                program.wait(0.002)  # rather than take from it the time that it needs
                break
        program.send_signal(signal.SIGKILL)
        program.wait()
        found = {name: data for name, data in files(to).items() if ".part-" not in name}
        assert found.items() <= contents.items()
        assert len(found) >= min(wanted, 1)
        result = extract(path, to, ExtractionOptions(OnConflict.SKIP))
        assert result.whole
        assert contents.items() <= files(to).items()


@pytest.mark.parametrize("wanted", [None, False, True])
@pytest.mark.parametrize("contents", [{"f/one": b"1"}, {"f/one": b"1", "two": b"2"}])
def test_a_single_file_is_on_the_disk_before_it_is_called_extracted(
    tmp_path: Path, contents: dict[str, bytes], wanted: bool | None
) -> None:
    path, calls = archive(tmp_path, "zip", list(contents.items())), Watched()
    extract(path, tmp_path / "to", ExtractionOptions(sync=wanted), calls=calls)

    names = [name for name, _ in calls.log if name in ("mkdir", "sync", "link")]
    one = ["sync", "link", "sync"]
    synced = ["mkdir", "sync", "mkdir", "sync", *(one * len(contents))]  # at first of what holds the new folder "to"
    assert names == (
        synced if wanted or (wanted is None and len(contents) == 1) else ["mkdir", "mkdir", *(["link"] * len(contents))]
    )


@pytest.mark.parametrize("wanted", [True, False])
def test_the_disk_holds_the_names_of_new_folders_above_the_files(tmp_path: Path, wanted: bool) -> None:
    synced: list[int] = []

    class Noting(FolderCalls):
        def __call__(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
            if call.__name__ == "sync":
                synced.append(os.fstat(arguments[0]).st_ino)
            return call(*arguments, **words)

    path = archive(tmp_path, "zip", [("one", b"1")])
    new = tmp_path / "new"
    extract(path, new / "deep", ExtractionOptions(sync=wanted), calls=Noting())

    folders = [each.stat().st_ino for each in (tmp_path, new, new / "deep")]
    assert [each for each in synced if each in folders] == (folders if wanted else [])


@pytest.mark.parametrize("change", ["written", "longer", "shorter", "replaced"])
def test_an_archive_that_changes_while_it_is_read_is_said(tmp_path: Path, change: str) -> None:
    path = archive(tmp_path, "zip", list(CONTENTS.items()))

    def meddle(_: int, name: str, arguments: tuple[Any, ...]) -> None:
        if name != "link" or arguments[1] != b"a.txt":
            return
        if change == "written":
            os.utime(path, (5, 5))
        elif change == "replaced":
            archive(tmp_path, "tar", [("other", b"2")]).replace(path)
        else:
            os.truncate(path, path.stat().st_size + (100 if change == "longer" else -1))

    result = extract(path, tmp_path / "to", calls=Watched(meddle))

    said = [sentence for sentence in result.warnings if "may mix old and new bytes" in sentence]
    assert (len(said), result.whole) == ((0, True) if change == "replaced" else (1, False))


def test_a_temporary_name_that_stays_is_said(tmp_path: Path) -> None:
    def act(_: int, called: str, __: tuple[Any, ...]) -> None:
        if called == "unlink":
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    path = archive(tmp_path, "zip", [("a", b"1")])
    result = extract(path, tmp_path / "to", calls=Watched(act))

    (second,) = (name for name in files(tmp_path / "to") if name != "a")
    assert any(f"The temporary file {second} could not be removed" in each for each in result.warnings)
