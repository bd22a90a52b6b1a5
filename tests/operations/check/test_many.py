"""Many locations: in their order, in processes of their own where that pays, and ended when nobody wants them."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from inspector.core.program.progress import Progress
from inspector.core.verdict import State
from inspector.operations.audit import audit
from inspector.operations.audit.audit import check_many
from inspector.operations.audit.targets import expanded
from inspector.operations.protocol.audit_views import NO_ARCHIVE
from inspector.operations.protocol.check_views import CheckTarget, ReportKind
from tests.operations.archives import caf
from tests.operations.jobs import bad_workers
from tests.sweeping import in_the_sweep

Sample = Callable[[str], Path]


def found(*locations: object) -> list[str]:
    return [each.location for each in expanded(map(str, locations))]


def test_a_folder_stands_for_the_files_in_it(tmp_path: Path, sample: Sample) -> None:
    caf(tmp_path / "b.caf")
    (tmp_path / "b.caf.sha256").write_text("")
    (tmp_path / "sub").mkdir()
    caf(tmp_path / "sub" / "a.caf")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    assert found(tmp_path) == [str(tmp_path / "b.caf"), str(tmp_path / "sub" / "a.caf")]
    for name in ("x.tar", "x.index", "x.tar.metadata", "y.index", "z.caf.index"):
        (tmp_path / "sub" / name).write_text("")
    sub = tmp_path / "sub"
    assert list(expanded([str(sub)])) == [
        CheckTarget(str(sub / "a.caf"), found=True),
        CheckTarget(str(sub / "x.tar"), found=True, beside=(str(sub / "x.tar.metadata"), str(sub / "x.index"))),
        CheckTarget(str(sub / "y.index"), found=True),
        CheckTarget(str(sub / "z.caf.index"), found=True),
    ]
    assert list(expanded([str(tmp_path / "b.caf")])) == [CheckTarget(str(tmp_path / "b.caf"))]
    assert all(each.found for each in expanded([str(tmp_path)]))
    assert found(sample("weather"), tmp_path / "nothing") == [str(sample("weather")), str(tmp_path / "nothing")]


def test_what_stands_beside_a_dataset_is_found_too(tmp_path: Path, sample: Sample) -> None:
    """Nothing in a folder is passed over because there are ranges in it as well."""
    bucket = tmp_path / "bucket"
    shutil.copytree(sample("weather"), bucket)
    (holder,) = {tar.parent for tar in bucket.rglob("*.tar")}
    (holder / f"{7_000:020d}-{7_009:020d}.tar.metadata").write_text("")  # an orphan, of which the dataset tells
    assert found(bucket) == [str(bucket)]
    caf(bucket / "b.caf")
    caf(holder / "a.caf")
    (holder / "data.tar").write_text("")
    assert found(bucket) == [str(bucket), str(bucket / "b.caf"), str(holder / "a.caf"), str(holder / "data.tar")]
    assert found(holder) == [str(holder), str(holder / "a.caf"), str(holder / "data.tar")]


def test_what_is_beneath_a_folder_comes_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def walk(top: Path, **_: object) -> Iterator[tuple[str, list[str], list[str]]]:
        folders = ["c", "a", "b"]  # as a disk may give them
        yield str(top), folders, []
        yield from ((str(top / name), [], ["2.caf", "1.caf"]) for name in folders)

    for folder in "abc":
        (tmp_path / folder).mkdir()
    files = [caf(tmp_path / folder / name) for folder in "abc" for name in ("1.caf", "2.caf")]
    monkeypatch.setattr(os, "walk", walk)
    assert found(tmp_path) == list(map(str, files))


def test_a_folder_that_cannot_be_listed_is_not_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    scan = os.scandir

    def refuse(path: str) -> object:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(closed))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert found(tmp_path) == [str(closed)]


class Recorded(Progress):
    """Remembers how far it was, and of how much."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.totals: set[int] = set()
        super().__init__()

    @property
    def done(self) -> int:
        """See Progress."""
        return self.seen[-1]

    @done.setter
    def done(self, done: int) -> None:
        self.seen.append(done)
        self.totals.add(self.total)


NAMES = ("journey.caf", "flipped-member-byte.tacozip", "two-chunks.rca", "truncated.rca")


@pytest.mark.parametrize("workers", [0, in_the_sweep(1), 3])
def test_outcomes_come_in_the_order_of_the_locations(
    workers: int, tmp_path: Path, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "MIN_BYTES_FOR_PROCESSES", 0)
    notes = tmp_path / "notes.txt"
    notes.write_text("no archive")
    wanted = [
        *(CheckTarget(str(sample(name))) for name in NAMES),
        CheckTarget(str(tmp_path / "nothing")),
        CheckTarget(str(notes), found=True),
        CheckTarget(str(notes)),
        CheckTarget(str(sample("weather"))),
    ]
    progress = Recorded()
    outcomes = list(check_many(wanted, ReportKind.TEXT, progress, workers))
    assert [outcome.result.location for outcome in outcomes] == [each.location for each in wanted]
    assert [outcome.result.state == NO_ARCHIVE for outcome in outcomes] == [False] * 5 + [True] + [False] * 2
    assert [outcome.result.state for outcome in outcomes] == [
        *(State.SOUND, State.DAMAGED, State.SOUND, State.DAMAGED),
        *(State.UNREADABLE, NO_ARCHIVE, State.UNREADABLE, State.SOUND),
    ]
    assert all(outcome.result.sentence in outcome.report for outcome in outcomes if outcome.report)
    assert progress.seen == sorted(progress.seen)
    assert len(set(progress.seen)) > 2
    assert progress.totals == {0, progress.total}
    assert (progress.done, progress.unit) == (progress.total, "bytes")
    everything = [sample(name) for name in NAMES] + [notes, notes, *sample("weather").rglob("*.tar")]
    assert progress.total == sum(path.stat().st_size for path in everything)


def test_small_files_are_not_worth_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "ProcessPool", None)
    wanted = [CheckTarget(str(caf(tmp_path / name))) for name in ("a.caf", "b.caf")]
    assert len(list(check_many(wanted, ReportKind.TEXT, Progress()))) == 2


def test_workers_end_when_nobody_wants_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MIN_BYTES_FOR_PROCESSES", 0)
    endless = tmp_path / "endless.tar"
    with endless.open("wb") as file:
        file.write(b"rubbish" * 100)
        file.truncate(1 << 42)
    outcomes = check_many(
        [CheckTarget(str(caf(tmp_path / "a.caf"))), *[CheckTarget(str(endless))] * 2], ReportKind.TEXT, Progress()
    )
    assert next(outcomes).result.state == State.SOUND
    outcomes.close()
    assert not multiprocessing.active_children()


def test_a_worker_that_dies_takes_only_its_own_location_along(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MIN_BYTES_FOR_PROCESSES", 0)
    monkeypatch.setattr(audit, "_work", bad_workers.die_of_damage)
    wanted = [CheckTarget(str(sample(name))) for name in (*NAMES[:2], NAMES[2])]
    outcomes = list(check_many(wanted, ReportKind.JSON, Progress()))
    assert [outcome.result.state for outcome in outcomes] == [State.SOUND, State.UNREADABLE, State.SOUND]
    assert "ended unexpectedly" in outcomes[1].report


def test_processes_can_be_started_from_any_thread(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MIN_BYTES_FOR_PROCESSES", 0)
    states: list[str] = []
    wanted = [CheckTarget(str(sample(name))) for name in NAMES[:2]]
    worker = threading.Thread(
        target=lambda: states.extend(each.result.state for each in check_many(wanted, ReportKind.TEXT, Progress()))
    )
    worker.start()
    worker.join()
    assert states == [State.SOUND, State.DAMAGED]
