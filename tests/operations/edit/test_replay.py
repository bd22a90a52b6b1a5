"""Replayed writes are those that the real writers make, and a crash there is what files really cut there are."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.formats import recognise
from inspector.formats.rca.blocks import Convention
from inspector.operations.check.checking import check_location
from inspector.operations.check.tracing import readers_of, trace
from inspector.operations.create.creating_rca import RcaOptions
from inspector.operations.create.inputs import gather
from inspector.operations.create.rca_writing import grow
from inspector.operations.edit.edits import header_draft, preview
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened, decode, start
from inspector.operations.protocol.header_draft import with_changes
from inspector.operations.protocol.replay_views import CrashState, Point, RepairEnd, StepKind
from inspector.operations.trials.matrix import crash_matrix
from inspector.operations.trials.replay import Replay
from inspector.operations.trials.writers import (
    replay_append,
    replay_edit,
    replay_past,
    replay_repair,
    replay_segments,
)
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.changes.recovery import finish, roll_back
from inspector.sources.local.disk_calls import Disk
from inspector.sources.local.file import FileSource
from tests.formats.rca.checking import FULL
from tests.operations.create.rca_appends import create
from tests.sources.disks import Stopped
from tests.sweeping import every

Change = Callable[[Path, Disk], object]
"""What changes the file at a path through a disk."""


class Killed(Disk):
    """A disk on which the writer of a file is killed after so many writes to it, and bytes of the next one."""

    def __init__(self, path: Path, point: Point) -> None:
        self.path, self.left, self.part = path, point.done, point.part
        self.own: set[int] = set()
        self.dead = False

    def open(self, path: Path, flags: int) -> int:
        descriptor = super().open(path, flags)
        self.own |= {descriptor} if path == self.path else set()
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        self._live()
        if descriptor in self.own and not self.left:
            self.dead = True
            if self.part:
                super().write(descriptor, data[: self.part], offset)
            raise Stopped
        self.left -= descriptor in self.own
        return super().write(descriptor, data, offset)

    def truncate(self, descriptor: int, size: int) -> None:
        self._live()
        super().truncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        self._live()
        super().sync(descriptor)

    def unlink(self, path: Path) -> None:
        self._live()
        super().unlink(path)

    def sync_folder(self, folder: Path) -> None:
        self._live()
        super().sync_folder(folder)

    def _live(self) -> None:
        if self.dead:
            raise Stopped


def cut(original: Path, folder: Path, point: Point, run: Change) -> Path:
    """The file as a writer leaves it that is really killed at a point; its journal is beside it, if it has one."""
    folder.mkdir(parents=True)
    path = folder.resolve() / original.name
    shutil.copyfile(original, path)
    with suppress(Stopped):
        run(path, Killed(path, point))
    return path


def read(source: Source) -> bytes:
    return source.read(0, source.size)


def opened(path: Path) -> Opened:
    archive = start(FileSource(path))
    decode(archive, Progress())
    return archive


def names_read(path: Path) -> dict[str, tuple[bool | None, tuple[str, ...]]]:
    """Whether each reader accepts a file, and what it gives."""
    source = FileSource(path)
    found = {}
    for reader in readers_of(recognise(source)):
        if not reader.present():
            outcome = trace(source, reader, lambda _: None, Progress()).outcome
            found[reader.name] = (outcome.accepts, outcome.names)
    return found


def agree(replay: Replay, original: Path, folder: Path, more: Sequence[Point], run: Change) -> set[str]:
    """Assert that the matrix says what really cut files are; returns the words met."""
    matrix = crash_matrix(replay, Progress(), more)
    before = names_read(original)
    done = cut(original, folder / "done", replay.view.end, run)
    after = names_read(done)
    ends = {RepairEnd.OLD: original.read_bytes(), RepairEnd.NEW: done.read_bytes()}
    assert read(replay.source(replay.view.end)) == ends[RepairEnd.NEW]
    assert [row.point for row in matrix.rows] == sorted({*more, *(row.point for row in matrix.rows)})
    met = set()
    for row in matrix.rows:
        path = cut(original, folder / f"at-{row.point}", row.point, run)
        assert path.read_bytes() == read(replay.source(row.point)), row
        alone = folder / f"alone-{row.point}" / path.name  # as others see it: without the journal
        alone.parent.mkdir()
        shutil.copyfile(path, alone)
        assert check_location(str(alone), Progress()).state is row.state, row
        now = names_read(alone)
        accept = ["--accept", row.accept] if row.accept else []
        if row.repair in ends:
            assert main(["repair", *accept, str(alone)]) == 0
            assert alone.read_bytes() == ends[row.repair], row
        for reader, cell in zip(matrix.readers, row.cells, strict=True):
            accepts, names = now[reader.name]
            then, later = before[reader.name], after[reader.name]
            led = {RepairEnd.OLD: then, RepairEnd.NEW: later}.get(row.repair, (False, ()))
            if accepts is None:
                assert cell is CrashState.UNKNOWN
            elif not accepts:
                assert cell is (CrashState.RECOVERABLE if led[0] else CrashState.REJECTED), (row, reader.name)
            elif then == later == (True, names):
                assert cell in (CrashState.OLD, CrashState.NEW, CrashState.ALIKE)
            elif (True, names) in (then, later):
                assert cell is (CrashState.OLD if (True, names) == then else CrashState.NEW), (row, reader.name)
            else:
                assert cell is CrashState.WRONG, (row, reader.name)
            met.add(cell)
    return met


# ---- RCA -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def near_the_boundary(tmp_path: Path) -> Path:
    """An RCA archive whose first chunk has room for some bytes more."""
    path = tmp_path / "a.rca"
    create(path, [(b"one", b"first " * 30), (b"noise", Random(3).randbytes(FULL - 300))])
    assert FULL - 300 < path.stat().st_size < FULL
    return path


@pytest.fixture
def added(tmp_path: Path) -> list[str]:
    """What is appended: more than the first chunk has room for."""
    found = []
    for number in range(2):
        path = tmp_path / f"new-{number}.bin"
        path.write_bytes(Random(number).randbytes(300))
        found.append(str(path))
    return found


@pytest.mark.parametrize("convention", Convention)
@every(3)
def test_crashes_of_an_append_over_a_chunk_boundary_are_as_files_really_cut_there(
    tmp_path: Path, near_the_boundary: Path, added: list[str], convention: Convention, step: int
) -> None:
    options = RcaOptions(convention=convention)

    def append(path: Path, disk: Disk) -> None:
        grow(path, gather(added, Progress()), options, Progress(), disk)

    replay = replay_append(FileSource(near_the_boundary), added, options, Progress())
    room = FULL - near_the_boundary.stat().st_size
    payload, *headers = replay.view.steps
    inside = [1, room - 1, room, room + 1, room + 3, room + 4, room + 12, room + 13, payload.size - 1]
    more = [Point(0, at) for at in inside]
    more += [Point(done, part) for done, step in enumerate(headers, 1) for part in (1, 2, 5, step.size - 1)]

    assert [step.kind for step in replay.view.steps] == [StepKind.WRITE] * 3
    assert [(step.offset, step.size, step.synced) for step in headers] == [(FULL, 12, True), (0, 10, True)]
    assert headers[1].what == "chunk 1 header"
    # "No journal is kept: ... It lies in one sector"
    assert headers[1].offset // 512 == (headers[1].offset + headers[1].size - 1) // 512
    assert "lies in one sector" in replay.view.notes[-1]
    met = agree(replay, near_the_boundary, tmp_path / "cut", more[::step], append)
    assert {CrashState.OLD, CrashState.NEW} <= met


@pytest.mark.parametrize("name", ["torn-at-boundary.rca", "torn-in-chunk.rca"])
def test_an_append_after_an_interrupted_one_is_the_one_that_is_made(
    tmp_path: Path, sample: Callable[[str], Path], added: list[str], name: str
) -> None:
    path = tmp_path / name
    shutil.copyfile(sample(name), path)
    options = RcaOptions(accept=frozenset({"rca-discard-tail"}))
    replay = replay_append(FileSource(path), added, options, Progress())
    assert read(replay.source(Point(0))) == path.read_bytes()
    left = read(replay.source(replay.view.end))
    grow(path, gather(added, Progress()), options, Progress())

    assert left == path.read_bytes()


@pytest.mark.parametrize("convention", Convention)
def test_each_segment_of_a_history_is_the_file_that_its_append_left(tmp_path: Path, convention: Convention) -> None:
    path = tmp_path / "a.rca"
    states = [b""]
    for number in range(4):
        data = [(b"%d" % number, Random(number).randbytes(FULL // 2 + 700))]
        if number:
            file = tmp_path / str(number)
            file.write_bytes(data[0][1])
            grow(path, gather([str(file)], Progress()), RcaOptions(convention=convention), Progress())
        else:
            create(path, data, RcaOptions(convention=convention))
        states.append(path.read_bytes())
    replay = replay_segments(opened(path))

    assert len(replay.steps) == 4
    assert [read(replay.source(Point(number))) for number in range(5)] == states
    with pytest.raises(OperationError, match="no crash points"):
        crash_matrix(replay, Progress())
    with pytest.raises(OperationError, match="no point"):
        replay.source(Point(1, 5))


# ---- TACO ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def taco(tmp_path: Path, sample: Callable[[str], Path]) -> Path:
    path = tmp_path / "a.tacozip"
    shutil.copyfile(sample("two-entries.tacozip"), path)
    return path


def update(path: Path) -> Replay:
    archive = opened(path)
    draft = with_changes(header_draft(archive), {0: (157, 2_345), 3: (1 << 40, 7)}, 4)
    return replay_edit(archive.source, preview(archive, draft), Progress())


@every(3)
def test_crashes_of_a_header_update_are_as_files_really_cut_there(tmp_path: Path, taco: Path, step: int) -> None:
    replay = update(taco)
    archive = opened(taco)
    draft = with_changes(header_draft(archive), {0: (157, 2_345), 3: (1 << 40, 7)}, 4)
    edit = preview(archive, draft)
    more = [Point(0, part) for part in (1, 4, 5, 12, 60, 115)] + [Point(1, 1), Point(1, 3), Point(2, 1), Point(2, 3)]

    assert replay.view.titles() == [
        "1 of 3: TACO payload, 116 bytes at 41 (0x29)",
        "2 of 3: CRC-32 of local file header, 4 bytes at 14 (0xe)",
        "3 of 3: crc-32 of central directory header, 4 bytes at 5,555 (0x15b3)",
    ]
    assert [step.synced for step in replay.view.steps] == [False, False, True]
    met = agree(replay, taco, tmp_path / "cut", more[::step], lambda path, disk: write(path, edit, None, disk))
    assert {CrashState.OLD, CrashState.NEW, CrashState.WRONG, CrashState.RECOVERABLE, CrashState.REJECTED} <= met


def test_the_journal_leads_from_every_crash_to_the_state_before_or_after(tmp_path: Path, taco: Path) -> None:
    replay, old = update(taco), taco.read_bytes()
    archive = opened(taco)
    edit = preview(archive, with_changes(header_draft(archive), {0: (157, 2_345), 3: (1 << 40, 7)}, 4))
    assert "a journal beside the archive" in replay.view.notes[0]
    for way, wanted in ((roll_back, old), (finish, read(replay.source(replay.view.end)))):
        for point in (Point(0), Point(0, 50), Point(1), Point(1, 2), Point(2, 1)):
            folder = tmp_path / f"{way.__name__}-{point}"
            path = cut(taco, folder, point, lambda path, disk: write(path, edit, None, disk))
            assert list(folder.glob(".*.aij"))
            way(path)
            assert path.read_bytes() == wanted


def test_earlier_writes_are_replayed_out_of_the_history(taco: Path) -> None:
    states = [taco.read_bytes()]
    for offset in (157, 200):
        archive = opened(taco)
        write(taco, preview(archive, with_changes(header_draft(archive), {0: (offset, 9)}, None)), None)
        states.append(taco.read_bytes())
    for number, (before, after) in enumerate([(1, 2), (0, 1)]):
        replay = replay_past(str(taco), number, FileSource(taco), Progress())
        assert len(replay.steps) == 3
        assert read(replay.source(Point(0))) == states[before]
        assert read(replay.source(replay.view.end)) == states[after]
    with pytest.raises(OperationError, match="There is no write 3"):
        replay_past(str(taco), 2, FileSource(taco), Progress())


# ---- repairs ---------------------------------------------------------------------------------------------------------


def test_a_repair_that_cuts_off_is_replayed_as_it_is_made(tmp_path: Path, sample: Callable[[str], Path]) -> None:
    path = tmp_path / "a.rca"
    path.write_bytes(sample("two-chunks.rca").read_bytes() + b"\0" * 77)
    replay = replay_repair(opened(path), Progress(), ("rca-drop-garbage",))

    assert [step.kind for step in replay.view.steps] == [StepKind.CUT]
    assert replay.view.titles() == ["1 of 1: cut off 77 bytes from 37,248 (0x9180) on"]
    assert read(replay.source(Point(1))) == sample("two-chunks.rca").read_bytes()
    with pytest.raises(OperationError, match="no write of several bytes begins there"):
        replay.source(Point(0, 5))


def test_a_sound_archive_has_no_repair_to_replay(taco: Path) -> None:
    with pytest.raises(OperationError, match=r"^No repair writes to "):
        replay_repair(opened(taco), Progress())


# ---- nothing is written ----------------------------------------------------------------------------------------------


def test_a_replay_opens_the_archive_for_reading_only_and_makes_nothing_beside_it(
    tmp_path: Path, near_the_boundary: Path, added: list[str], taco: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    opens: list[int] = []
    others: list[str] = []
    archives = (str(near_the_boundary), str(taco))
    watched = {"os.truncate", "os.rename", "os.remove", "os.link", "os.chmod", "os.utime", "fcntl.flock"}

    def note(event: str, args: tuple[Any, ...]) -> None:
        if watching and event == "open" and str(args[0]) in archives:
            opens.append(args[2])
        elif watching and event in watched:
            others.append(f"{event} {args}")

    before = {path: (path.read_bytes(), path.stat()) for path in tmp_path.iterdir()}
    watching = True
    sys.addaudithook(note)
    appended = replay_append(FileSource(near_the_boundary), added, RcaOptions(), Progress())
    crash_matrix(appended, Progress())
    history = replay_segments(opened(near_the_boundary))
    check_location(str(near_the_boundary), Progress(), place=history.source(Point(1)))
    crash_matrix(update(taco), Progress())
    watching = False

    assert opens
    assert {flags & (os.O_ACCMODE | os.O_TRUNC | os.O_CREAT) for flags in opens} == {os.O_RDONLY}
    assert not [each for each in others if any(name in each for name in archives)]
    assert not [each for each in others if each.startswith("fcntl.flock")]
    after = {path: (path.read_bytes(), path.stat()) for path in tmp_path.iterdir()}
    assert {path: (data, found.st_ctime_ns) for path, (data, found) in before.items()} == {
        path: (data, found.st_ctime_ns) for path, (data, found) in after.items()
    }
    assert not state.exists()


def test_a_read_only_archive_is_replayed_too(taco: Path) -> None:
    taco.chmod(0o444)
    assert len(update(taco).steps) == 3


def test_a_state_is_saved_as_a_new_file_and_never_over_the_archive(taco: Path) -> None:
    replay, data = update(taco), taco.read_bytes()
    with pytest.raises(OperationError, match="which is never written"):
        replay.save(Point(1), taco, Progress(), replace=True)
    replay.save(Point(0, 58), taco.with_name("new"), Progress())
    new = read(replay.source(replay.view.end))
    assert taco.with_name("new").read_bytes() == data[:41] + new[41 : 41 + 58] + data[99:]
    assert taco.read_bytes() == data
