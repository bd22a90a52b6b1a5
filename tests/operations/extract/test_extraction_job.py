"""Extracting as long work: room on the disk, dates, where a file comes from, cancelling, progress, the window."""

from __future__ import annotations

import errno
import os
import shutil
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from inspector.core.program.progress import Cancelled, Progress
from inspector.operations.extract.extraction import Extraction
from inspector.operations.extract.extraction_plan import Planner
from inspector.operations.extract.selection import all_members, members_named
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.listing import load
from inspector.operations.protocol.extraction_views import ExtractionOptions
from inspector.operations.session.archive_session import ArchiveSession
from inspector.sources.local.member_writer import Destination, FolderCalls
from tests.operations.extract.extracting import BUILD, archive, extract, files, linked_tar
from tests.patience import PATIENCE

ENTRIES = [("one.txt", b"one"), ("deep/er/two.bin", bytes(range(256))), ("deep/empty", b""), ("three.txt", b"three")]


class Crowded(FolderCalls):
    """A disk with little room."""

    def __call__(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
        return call(*arguments, **words)._replace(free=1000) if call is shutil.disk_usage else call(*arguments, **words)


def test_without_room_for_all_nothing_is_begun(tmp_path: Path) -> None:
    path = archive(tmp_path, "caf", [("a", bytes(600)), ("b", bytes(600))])
    with pytest.raises(OperationError, match="Nothing was extracted"):
        extract(path, tmp_path / "to", calls=Crowded())
    assert not (tmp_path / "to").exists()
    assert extract(path, tmp_path / "to", names=["a"], calls=Crowded()).whole


@pytest.mark.parametrize(("size", "enough"), [(991, True), (992, False)])
def test_a_hundredth_of_the_room_is_kept_free(tmp_path: Path, size: int, enough: bool) -> None:
    path = archive(tmp_path, "caf", [("a", bytes(size))])
    (wanted,) = all_members(str(path), load(str(path), Progress()))
    plan = Extraction([wanted], tmp_path / "to", ExtractionOptions(), Crowded()).plan(Progress())
    assert (not plan.obstacle) is enough


def test_much_more_than_the_archive_has_is_said(tmp_path: Path) -> None:
    links = [(f"{number}", tarfile.LNKTYPE, "0") for number in range(1, 600)]
    path = linked_tar(tmp_path, [("0", tarfile.REGTYPE, "x" * (2 << 20)), *links])
    (wanted,) = all_members(str(path), load(str(path), Progress()))
    plan = Extraction([wanted], tmp_path / "to", ExtractionOptions()).plan(Progress())
    assert plan.warnings == ("The members need 1.2 GiB, although the archive has only 2.3 MiB.",)
    few = Extraction(members_named([wanted], ["0", "1", "2"]), tmp_path / "to", ExtractionOptions()).plan(Progress())
    assert (few.files, few.warnings) == (3, ())


def test_dates_are_given_where_they_are_known(tmp_path: Path) -> None:
    extract(archive(tmp_path, "tar", ENTRIES), tmp_path / "tar")
    assert (tmp_path / "tar" / "one.txt").stat().st_mtime == 1_700_000_000
    extract(archive(tmp_path, "zip", ENTRIES), tmp_path / "zip")
    assert 981_000_000 < (tmp_path / "zip" / "one.txt").stat().st_mtime < 981_300_000


def test_an_extended_timestamp_goes_before_the_date_of_dos(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as out:
        info = zipfile.ZipInfo("one.txt", (1980, 1, 1, 0, 0, 0))
        info.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_600_000_000)
        out.writestr(info, b"")
        info = zipfile.ZipInfo("two.txt", (1980, 0, 0, 0, 0, 0))
        out.writestr(info, b"")
    assert extract(tmp_path / "x.zip", tmp_path / "to").whole
    assert (tmp_path / "to" / "one.txt").stat().st_mtime == 1_600_000_000
    assert (tmp_path / "to" / "two.txt").stat().st_mtime > 1_700_000_000


@pytest.mark.parametrize("mtime", ["-5", "1e400", "nan", "99999999999999", "x"])
def test_a_date_that_cannot_be_true_is_not_given(tmp_path: Path, mtime: str) -> None:
    with tarfile.open(tmp_path / "x.tar", "w", format=tarfile.PAX_FORMAT) as out:
        info = tarfile.TarInfo("one.txt")
        info.pax_headers = {"mtime": mtime}
        out.addfile(info)
    assert extract(tmp_path / "x.tar", tmp_path / "to").whole
    assert (tmp_path / "to" / "one.txt").stat().st_mtime > 1_700_000_000


def test_where_an_archive_comes_from_goes_with_its_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's two calls are stood in for, because not every file system has attributes."""
    path = archive(tmp_path, "caf", ENTRIES)
    given: list[tuple[str, bytes]] = []

    def known(of: Path, name: str) -> bytes:
        if (of, name) != (path, "user.xdg.origin.url"):
            raise OSError(errno.ENODATA, "No data available")
        return b"https://example.org/"

    def give(file: int, name: str, value: bytes) -> None:
        assert os.fstat(file).st_size in map(len, dict(ENTRIES).values())
        given.append((name, value))

    monkeypatch.setattr(os, "getxattr", known, raising=False)
    monkeypatch.setattr(os, "setxattr", give, raising=False)
    extract(path, tmp_path / "to")
    assert given == [("user.xdg.origin.url", b"https://example.org/")] * len(ENTRIES)


class Impatient(Progress):
    """Cancelled after so many bytes."""

    def __init__(self, after: int) -> None:
        self._after = after
        self.over = Event()
        super().__init__()

    def advance(self, count: int) -> None:
        super().advance(count)
        if self.label.startswith("Extracting") and self.done >= self._after:
            self.over.set()
            raise Cancelled


@pytest.mark.parametrize("kind", ["caf", "zip", "tar"])
def test_cancelling_leaves_whole_files_only(tmp_path: Path, kind: str) -> None:
    entries = [(f"{number}.bin", os.urandom(700_000)) for number in range(6)]
    path = archive(tmp_path, kind, entries)
    for after in (1, 800_000, 2_500_000):
        to = tmp_path / f"to{after}"
        with pytest.raises(Cancelled):
            extract(path, to, progress=Impatient(after))
        assert files(to).items() <= dict(entries).items()
        assert len(files(to)) < 6


def test_cancelling_stops_all_threads(tmp_path: Path) -> None:
    progress = Impatient(1)

    class Slow(FolderCalls):
        written = 0

        def __call__(self, call: Callable[..., Any], *arguments: Any, **words: Any) -> Any:
            self.written += call is os.write
            if self.written > 4 and call is os.write:
                progress.over.wait(PATIENCE)
            return call(*arguments, **words)

    entries = [(f"{number}.bin", os.urandom(700_000)) for number in range(20)]
    with pytest.raises(Cancelled):
        extract(archive(tmp_path, "rca", entries), tmp_path / "to", calls=Slow(), progress=progress)
    assert files(tmp_path / "to").items() <= dict(entries).items()
    assert len(files(tmp_path / "to")) < 20


def test_the_progress_counts_the_bytes_that_are_written(tmp_path: Path) -> None:
    for kind in BUILD:
        progress = Progress()
        extract(archive(tmp_path, kind, ENTRIES), tmp_path / kind, progress=progress)
        assert (progress.done, progress.total, progress.unit) == (264, 264, "bytes")
        assert progress.label == "Extracting: 4 of 4"


def test_a_workbench_plans_and_extracts_members_by_number(tmp_path: Path) -> None:
    path = archive(tmp_path, "rca", ENTRIES)
    bench = ArchiveSession(str(path))
    with pytest.raises(OperationError):
        bench.extract(Progress(), None, str(tmp_path / "to"))
    bench.decode(Progress())
    plan = bench.plan_extraction(Progress(), None, str(tmp_path / "to"))
    assert (plan.files, plan.size, plan.obstacle, plan.conflicts.count) == (4, 264, "", 0)
    assert plan.free > 0
    assert not (tmp_path / "to").exists()
    assert bench.extract(Progress(), [1, 3], str(tmp_path / "to")).whole
    assert sorted(files(tmp_path / "to")) == ["deep/er/two.bin", "three.txt"]
    plan = bench.plan_extraction(Progress(), None, str(tmp_path / "to"))
    assert [problem.member for problem in plan.conflicts.listed] == [1, 3]
    with pytest.raises(OperationError):
        bench.extract(Progress(), [4], str(tmp_path / "to"))


def test_a_bomb_is_warned_of(tmp_path: Path) -> None:
    path = archive(tmp_path, "rca", [("zeros", bytes(4 << 20)), ("too few to matter", bytes(1 << 20))])
    wanted = all_members(str(path), load(str(path), Progress()))
    planner = Planner(wanted, Destination(tmp_path / "to"), ExtractionOptions())
    planner.run(Progress())
    assert planner.plan().warnings[0].startswith("1 member will expand to more than 200 times ")
