"""An audit on a Dask cluster, which runs in this process or, to be killed, in others on this machine."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest

from inspector.core.progress import Progress
from inspector.operations.auditing import audit_dask
from inspector.operations.auditing.audit import Plan, prepare
from inspector.operations.auditing.audit_check import Result
from inspector.operations.auditing.audit_dask import Chunk, examine_chunk, run_on_cluster
from inspector.operations.auditing.audit_places import Choice
from inspector.operations.auditing.audit_results import Results
from inspector.operations.refused import Refused
from tests.operations.archives import caf


def cluster(**options: Any) -> Any:
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
    monkeypatch.setattr(audit_dask, "CHUNK_FILES", 2)
    with Results() as results:
        came = audited(address, Plan(str(place)), results)
        assert sorted(each.location for each in came) == [str(place / f"{number}.caf") for number in range(9)]
        kept = {Path(each.location).name: each.state for each in results.results()}
        assert kept == {f"{number}.caf": "warning" if number % 2 else "sound" for number in range(9)}
        assert audited(address, Plan(str(place)), results) == [], "what is finished is not done again"


def test_shards_of_a_cluster_are_those_of_one_machine(address: str, place: Path, tmp_path: Path) -> None:
    for part in (1, 2):
        with Results(tmp_path / f"{part}.sqlite") as shard:
            audited(address, Plan(str(place), choice=Choice(shard=(part, 2))), shard)
    with Results() as results:
        for part in (1, 2):
            results.take_over(tmp_path / f"{part}.sqlite")
        prepare(Plan(str(place)), results, Progress())
        assert (results.amount(done=True).files, results.amount(done=False).files) == (9, 0)


def test_a_task_has_many_small_archives_or_few_large_ones(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_dask, "CHUNK_FILES", 4)
    with Results() as results:
        prepare(Plan(str(place)), results, Progress())
        jobs = [audit_dask.Job(found, quick=False) for found in results.missing()]
    assert [len(chunk) for chunk in audit_dask._chunks(jobs)] == [4, 4, 1]
    monkeypatch.setattr(audit_dask, "CHUNK_SIZE", 1)
    assert [len(chunk) for chunk in audit_dask._chunks(jobs)] == [1] * 9


def _die_of_the_fifth(chunk: Chunk) -> list[Result]:
    if any(job.found.name == "5.caf" for job in chunk):
        os._exit(9)
    return examine_chunk(chunk)


def test_an_archive_that_ends_its_worker_is_a_result(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_dask, "examine_chunk", _die_of_the_fifth)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(processes=True, n_workers=1, threads_per_worker=1) as running,
        Results() as results,
    ):
        audited(running.scheduler_address, Plan(str(place)), results)
        unreadable = [each for each in results.results() if each.state == "unreadable"]
        assert [Path(each.location).name for each in unreadable] == ["5.caf"]
        assert results.amount(done=True).files == 9


def _fail(chunk: Chunk) -> list[Result]:
    assert chunk
    raise ModuleNotFoundError("no such program here")


def test_a_cluster_that_cannot_do_it_is_a_sentence(address: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_dask, "examine_chunk", _fail)
    with Results() as results, pytest.raises(Refused, match="no such program here"):
        audited(address, Plan(str(place)), results)


def test_no_cluster_is_a_sentence(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_dask, "_CONNECTING", 0.1)
    with Results() as results, pytest.raises(Refused, match="No Dask scheduler answers at tcp://127"):
        audited("tcp://127.0.0.1:9", Plan(str(place)), results)


def test_without_dask_it_says_what_to_install(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with Results() as results, pytest.raises(Refused, match=r"archive-inspector\[dask\]"):
        audited("tcp://127.0.0.1:9", Plan(str(place)), results)
