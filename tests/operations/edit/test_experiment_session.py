"""Experiments in a session: what is shown follows the steps, and whatever is asked for, the archive is not written."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.core.pieces import PieceSource, PieceTable
from inspector.core.program.progress import Cancelled, Progress
from inspector.core.source import BytesSource, Source
from inspector.core.span import Span
from inspector.core.verdict import State
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.experiment_views import Cut, Flip, Inline, Insert, Step
from inspector.operations.protocol.requests import ArchiveRequests, requests_of
from inspector.operations.session.archive_session import ArchiveSession
from inspector.operations.session.remote import cached_spans
from inspector.sources.s3.cache import BLOCK_BYTES, BlockCache
from inspector.sources.s3.source import RemoteSource

CHANGING = [name for name, traits in requests_of(ArchiveRequests).items() if traits.changes_archive]


class Watch:
    """Notes what this process does to a path and whatever lies in its folder under a name of it."""

    def __init__(self) -> None:
        self.path = ""
        self.opened = 0
        self.written: list[str] = []
        sys.addaudithook(self._note)

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.path or not args or not isinstance(args[0], (str, bytes, os.PathLike)):
            return
        if event == "open" and os.fspath(args[0]) == self.path:
            self.opened += 1
            if args[2] & (os.O_ACCMODE | os.O_TRUNC | os.O_CREAT) != os.O_RDONLY:
                self.written.append(event)
        elif event.startswith(("os.truncate", "os.rename", "os.remove", "os.chmod", "os.utime", "os.link", "shutil")):
            self.written += [event] * (self.path in map(str, args))


WATCH = Watch()


@pytest.fixture
def archive(tmp_path: Path, sample: Callable[[str], Path]) -> Iterator[Path]:
    """A copy of a sample, which nothing writes to: neither its bytes nor anything that is known of it changes."""
    path = tmp_path / "a.rca"
    shutil.copyfile(sample("two-resets-spec.rca"), path)
    data, before = path.read_bytes(), path.stat()
    WATCH.path, WATCH.opened, WATCH.written = str(path), 0, []
    yield path
    WATCH.path = ""
    after = path.stat()
    assert (WATCH.written, WATCH.opened > 0) == ([], True)
    assert path.read_bytes() == data
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )


@pytest.fixture
def session(archive: Path) -> ArchiveSession:
    session = ArchiveSession(str(archive))
    session.decode(Progress())
    return session


def test_everything_that_is_shown_follows_the_steps(session: ArchiveSession) -> None:
    session.check(Progress())
    assert session.status().state is State.SOUND
    steps = (Step(Insert(20, Inline(b"xy"))), Step(Cut(1_400)))
    view = session.show_experiment(Progress(), steps)

    assert (view.base_size, view.size) == (1_503, 1_400)
    status = session.status()
    assert (status.size, status.state) == (1_400, State.DAMAGED)
    assert session.read(0, 20, 2) == b"xy"
    assert session.status().layers[0].size == 1_400
    rows = session.compare_readers(Progress(), 0)
    assert {row.reader.name: row.outcome.accepts for row in rows}["spec"] is False
    assert session.plan_repairs(Progress(), ()).sentence

    assert session.preview(Progress(), None) is None
    assert session.status().state is State.SOUND
    assert session.read(0, 0, 2_000) == Path(session.name).read_bytes()


@pytest.mark.parametrize("name", CHANGING)
def test_nothing_that_changes_an_archive_is_done_to_an_experiment(session: ArchiveSession, name: str) -> None:
    session.show_experiment(Progress(), (Step(Flip(600, 1)),))
    ask = getattr(session, name)
    needed = [each for each in inspect.signature(ask).parameters.values() if each.default is each.empty][1:]
    with pytest.raises(OperationError, match="This is an experiment, so nothing is written to the archive"):
        ask(Progress(), *(None for _ in needed))


def test_nothing_of_an_experiment_is_written_over_the_archive(session: ArchiveSession, tmp_path: Path) -> None:
    session.show_experiment(Progress(), (Step(Flip(600, 1)),))
    with pytest.raises(OperationError, match="which is never written"):
        session.save_experiment(Progress(), (Step(Flip(600, 1)),), session.name, True)
    assert [each.name for each in tmp_path.iterdir()] == ["a.rca"]


def test_what_the_steps_leave_is_saved(session: ArchiveSession, tmp_path: Path) -> None:
    steps = (Step(Flip(600, 1)), session.damage_step(Progress(), (Step(Flip(600, 1)),), "lost-bytes", 4))
    session.save_experiment(Progress(), steps, str(tmp_path / "new.rca"), False)
    session.show_experiment(Progress(), steps)

    assert session.read(0, 0, 1 << 20) == (tmp_path / "new.rca").read_bytes()


def test_what_is_wrong_leaves_what_is_shown(session: ArchiveSession) -> None:
    session.show_experiment(Progress(), (Step(Cut(100)),))
    with pytest.raises(OperationError, match="Step 1"):
        session.show_experiment(Progress(), (Step(Cut(10_000)),))
    assert session.status().size == 100


def test_what_is_superseded_does_not_undo_what_came_after_it(session: ArchiveSession) -> None:
    session.show_experiment(Progress(), (Step(Cut(100)),))
    superseded = Progress()
    superseded.cancel()
    with pytest.raises(Cancelled):
        session.preview(superseded, None)
    assert session.status().size == 100


def test_a_folder_of_ranges_is_no_archive_to_experiment_on(sample: Callable[[str], Path]) -> None:
    session = ArchiveSession(str(sample("weather")))
    session.decode(Progress())
    with pytest.raises(OperationError, match="Open one of these files"):
        session.show_experiment(Progress(), ())


def test_programs_that_read_files_only_get_a_copy_of_the_experiment(
    sample: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    session = ArchiveSession(str(sample("two-entries.tacozip")))
    session.decode(Progress())
    before = session.follow_reader(Progress(), 0, "tacozip").outcome
    session.show_experiment(Progress(), (Step(Insert(157, Inline(b"x"))),))
    after = session.follow_reader(Progress(), 0, "tacozip").outcome
    session.show_experiment(Progress(), (Step(Cut(50)),))
    cut = session.follow_reader(Progress(), 0, "tacozip").outcome

    assert (before.accepts, after.accepts, cut.accepts) == (True, True, False)
    assert list(tmp_path.iterdir()) == []


class Fetched(RemoteSource):
    """An object of which some bytes were fetched."""

    def __init__(self) -> None:
        self.name, self.size, self.sparing = "s3://bucket/key", 3 * BLOCK_BYTES, False
        self.cache = BlockCache(self.size, lambda *_: None)
        for at in (0, 2 * BLOCK_BYTES):
            self.cache.put(at, bytes(BLOCK_BYTES))

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        raise NotImplementedError


def test_what_was_fetched_of_an_object_is_shown_where_the_experiment_has_it() -> None:
    base, size = Fetched(), BLOCK_BYTES
    table = PieceTable.whole(base).delete(3 * size - 5, 3 * size - 2).insert(size - 5, PieceTable.of_bytes(b"ab"))

    assert cached_spans(base) == (Span(0, size), Span(2 * size, 3 * size))
    assert cached_spans(PieceSource(base, table)) == (Span(0, size + 2), Span(2 * size + 2, 3 * size - 1))
    assert cached_spans(PieceSource(BytesSource(b"local"), table.delete(0, 99))) == ()
