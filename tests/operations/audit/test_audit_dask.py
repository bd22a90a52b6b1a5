"""An audit on a Dask cluster, which runs in this process or, to be killed, in others on this machine."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Semaphore
from typing import Any

import pytest

from inspector.core.program.progress import Progress
from inspector.operations.audit import dask_cluster
from inspector.operations.audit.audit import Plan, prepare
from inspector.operations.audit.dask_cluster import Chunk, examine_chunk, run_on_cluster
from inspector.operations.audit.results import Results
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.audit_views import Result
from tests.operations.archives import caf
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[3]


def cluster(**options: Any) -> Any:
    import distributed  # here, for it takes long, and all processes collect all tests

    return distributed.LocalCluster(
        dashboard_address="127.0.0.1:0", protocol="tcp", host="127.0.0.1", silence_logs=logging.CRITICAL, **options
    )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with cluster(processes=False, n_workers=2, threads_per_worker=1) as running:
        yield running.scheduler_address


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    for number in range(9):
        caf(folder / f"{number}.caf", gap=b"gap" * (number % 2))
    return folder


def audited(address: str, plan: Plan, results: Results) -> list[Result]:
    progress = Progress()
    prepare(plan, results, progress)
    came = list(run_on_cluster(address, plan, results, progress))
    assert progress.done == progress.total
    return came


def test_a_cluster_does_what_processes_do(address: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "MAX_CHUNK_FILES", 2)
    with Results() as results:
        came = audited(address, Plan((str(place),)), results)
        assert sorted(each.location for each in came) == [str(place / f"{number}.caf") for number in range(9)]
        kept = {Path(each.location).name: each.state for each in results.results()}
        assert kept == {f"{number}.caf": "warning" if number % 2 else "sound" for number in range(9)}
        assert audited(address, Plan((str(place),)), results) == [], "what is finished is not done again"


def test_a_task_has_many_small_archives_or_few_large_ones(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "MAX_CHUNK_FILES", 4)
    with Results() as results:
        prepare(Plan((str(place),)), results, Progress())
        jobs = [dask_cluster.Job(found, quick=False) for found in results.pending()]
    assert [len(chunk) for chunk in dask_cluster._chunks(jobs)] == [4, 4, 1]
    monkeypatch.setattr(dask_cluster, "MIN_CHUNK_BYTES", 1)
    assert [len(chunk) for chunk in dask_cluster._chunks(jobs)] == [1] * 9


# ---- workers that die ----------------------------------------------------------------------------------------------


def kept(path: Path) -> dict[str, int]:
    """How often each archive that a results file knows was audited."""
    with Results(path) as results:
        return {Path(each.location).name: each.attempts for each in results.results()}


class Examined:
    """What workers of a cluster in this process have examined; after ``free`` tasks they wait for ``gate``."""

    def __init__(self, free: int) -> None:
        self.archives = Counter[str]()
        self.gate = Event()
        self.free = Semaphore(free)


EXAMINED = Examined(0)


def _count(chunk: Chunk) -> list[Result]:
    """For a cluster in this process: a function goes there by its name, so what it counts with has to have one too."""
    if not EXAMINED.free.acquire(blocking=False):
        EXAMINED.gate.wait(PATIENCE)
    EXAMINED.archives.update(job.target.name for job in chunk)
    return examine_chunk(chunk)


@pytest.mark.sweep
def test_an_audit_that_was_killed_does_nothing_that_is_finished_again(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    for number in range(12):
        caf(place / f"{number:02}.caf")
    examined = Examined(free=5)
    monkeypatch.setattr(f"{__name__}.EXAMINED", examined)
    monkeypatch.setattr(dask_cluster, "examine_chunk", _count)
    driver = (
        "import sys; from inspector.__main__ import main; from inspector.operations.audit import dask_cluster; "
        "dask_cluster.MAX_CHUNK_FILES = 1; sys.exit(main(sys.argv[1:]))"
    )
    results = tmp_path / "results.sqlite"
    command = [sys.executable, "-c", driver, "audit", str(place), "--json", "--dask", address]
    command += ["--results", str(results)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as running:
        assert running.stdout is not None
        finished = {Path(json.loads(running.stdout.readline())["source"]).name for _ in range(5)}
        running.send_signal(signal.SIGKILL)
    assert set(kept(results)) == finished
    examined.gate.set()
    last = subprocess.run(command, stdout=subprocess.PIPE, cwd=ROOT, check=True).stdout.splitlines()[-1]
    assert json.loads(last)["summary"]["earlier"]["archives"] == 5
    assert json.loads(last)["summary"]["done"]["archives"] == 7
    assert {examined.archives[name] for name in finished} == {1}
    assert set(examined.archives) == {f"{number:02}.caf" for number in range(12)}
    assert Counter(kept(results)) == Counter(f"{number:02}.caf" for number in range(12))


def _die_of_the_fifth(chunk: Chunk) -> list[Result]:
    if any(job.target.name == "5.caf" for job in chunk):
        os._exit(9)
    return examine_chunk(chunk)


@pytest.mark.sweep
def test_an_archive_that_ends_its_worker_is_a_result(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dask
    import distributed  # noqa: F401 - its settings have to be there before one of them is changed

    monkeypatch.setattr(dask_cluster, "examine_chunk", _die_of_the_fifth)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(processes=True, n_workers=1, threads_per_worker=1) as running,
        Results() as results,
    ):
        audited(running.scheduler_address, Plan((str(place),)), results)
        unreadable = [each for each in results.results() if each.state == "unreadable"]
        assert [Path(each.location).name for each in unreadable] == ["5.caf"]
        assert results.amount(done=True).files == 9


def _fail(chunk: Chunk) -> list[Result]:
    assert chunk
    raise ModuleNotFoundError("no such program here")


def test_a_cluster_that_cannot_do_it_is_a_sentence(address: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "examine_chunk", _fail)
    with Results() as results, pytest.raises(OperationError, match="no such program here"):
        audited(address, Plan((str(place),)), results)


def test_no_cluster_is_a_sentence(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "_CONNECT_SECONDS", 0.1)
    with Results() as results, pytest.raises(OperationError, match="No Dask scheduler answers at tcp://127"):
        audited("tcp://127.0.0.1:9", Plan((str(place),)), results)


def test_without_dask_it_says_what_to_install(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with Results() as results, pytest.raises(OperationError, match=r"archive-inspector\[dask\]"):
        audited("tcp://127.0.0.1:9", Plan((str(place),)), results)
