"""A real worker process, asked through its pipe."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.core.program.crash_report import CrashReport
from inspector.core.program.progress import CANCELLED
from inspector.gui.ipc.worker import run
from inspector.operations.protocol.check_views import ReportKind
from inspector.operations.protocol.requests import ArchiveRequests
from inspector.operations.protocol.views import JobState, SortKey, Stage
from inspector.operations.session.archive_session import ArchiveSession
from tests.patience import PATIENCE


class Asker:
    """Asks one thing after another and keeps what comes unasked for later."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.number = 0
        self.kept: list[Any] = []

    def send(self, request: Callable[..., Any], *arguments: Any) -> int:
        self.number += 1
        self.connection.send((self.number, request.__name__, arguments, {}))
        return self.number

    def answer(self, number: int, ok: object = None) -> Any:
        while True:
            for message in [message for message in self.kept if not isinstance(message, CrashReport)]:
                if message[0] == number and (message[1] == "progress") == (ok == "progress"):
                    self.kept.remove(message)
                    return message
            assert self.connection.poll(PATIENCE), "the worker does not answer"
            self.kept.append(self.connection.recv())

    def ask(self, request: Callable[..., Any], *arguments: Any) -> Any:
        _, ok, value = self.answer(self.send(request, *arguments))
        assert ok, value
        return value


@contextmanager
def worker(location: str) -> Iterator[tuple[Asker, Any]]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=run, args=(dict(os.environ), {}, theirs, "ArchiveRequests", location), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Asker(ours), process
    finally:
        ours.close()
        process.join(PATIENCE)
        assert process.exitcode == 0


@pytest.fixture
def archive(tmp_path: Path) -> str:
    index = json.dumps({"format_version": "1.0", "files": {"a/one.txt": {"start_byte": 0, "end_byte": 5}}}).encode()
    path = tmp_path / "small.caf"
    path.write_bytes(b"hello" + index + len(index).to_bytes(4, "little"))
    return str(path)


def test_questions_jobs_and_mistakes(archive: str) -> None:
    with worker(archive) as (asker, process):
        assert asker.ask(ArchiveRequests.status).stage is Stage.OPENING
        asker.ask(ArchiveRequests.decode)
        assert asker.ask(ArchiveRequests.status).members == 1
        assert asker.ask(ArchiveRequests.arrange, "", SortKey.NAME, True) == 1
        asker.ask(ArchiveRequests.build_tree)
        assert asker.ask(ArchiveRequests.tree_rows, 0, 0, 10).rows[0].name == "a"
        assert asker.ask(ArchiveRequests.search, 0, b"llo", 0, False, False) == 2
        content = asker.ask(ArchiveRequests.content, 0)
        assert asker.ask(ArchiveRequests.read, content.layer.layer, 0, 100) == b"hello"
        for refused in (
            (ArchiveRequests.member, 7),
            (ArchiveRequests.goto, "nonsense", 0, 0),
            (ArchiveRequests.read, 99, 0, 1),
            (ArchiveRequests.content, 1),
        ):
            _, ok, sentence = asker.answer(asker.send(*refused))
            assert ok is False
            assert sentence.endswith((".", "here."))
        # A request that makes no sense is answered too, and the worker goes on.
        assert asker.answer(asker.send(ArchiveRequests.explain, "no layer"))[1] is False
        (mistake,) = (message for message in asker.kept if isinstance(message, CrashReport))
        assert "worker" in mistake.text
        assert "no layer" not in mistake.text
        assert asker.answer(asker.send(ArchiveSession.__init__, archive))[1:] == (
            False,
            "There is no request '__init__'.",
        )
        assert asker.ask(ArchiveRequests.status).stage is Stage.READY
        assert process.is_alive()


def test_a_job_tells_how_far_it_is_and_can_be_cancelled(tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    with large.open("wb") as file:
        file.write(b"no archive")
        file.truncate(1 << 40)
    with worker(str(large)) as (asker, _):
        asker.ask(ArchiveRequests.decode)
        job = asker.send(ArchiveRequests.search, 0, b"zzz", 0, False, False)
        done = 0
        while not done:
            asker.connection.send(("progress", job))
            state = asker.answer(job, "progress")[2]
            assert isinstance(state, JobState)
            done = state.done
        assert asker.ask(ArchiveRequests.read, 0, 1 << 39, 4) == bytes(4)  # other questions are answered meanwhile
        asker.connection.send(("cancel", job))
        assert asker.answer(job) == (job, False, CANCELLED)
        asker.connection.send(("progress", job))
        asker.connection.send(("cancel", job))
        asker.answer(job, "progress")  # a job that is over: an answer all the same


def test_a_job_waits_while_it_is_paused(tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    with large.open("wb") as file:
        file.write(b"no archive")
        file.truncate(1 << 40)
    with worker(str(large)) as (asker, _):
        asker.ask(ArchiveRequests.decode)
        job = asker.send(ArchiveRequests.search, 0, b"zzz", 0, False, False)

        def state() -> JobState:
            asker.connection.send(("progress", job))
            answer = asker.answer(job, "progress")[2]
            assert isinstance(answer, JobState)
            return answer

        asker.connection.send(("pause", job))
        stopped = state()
        assert stopped.paused
        asker.connection.send(("resume", job))
        while (going := state()).done <= stopped.done:
            pass
        assert not going.paused
        asker.connection.send(("pause", job))
        asker.connection.send(("cancel", job))
        assert asker.answer(job) == (job, False, CANCELLED)


def test_a_check_is_a_job(archive: str, tmp_path: Path) -> None:
    with worker(archive) as (asker, _):
        result = asker.ask(ArchiveRequests.check)
        status = asker.ask(ArchiveRequests.status)
        assert (status.checked, status.state, status.judgement) == (True, result.state, result.judgement)
        assert asker.ask(ArchiveRequests.checksums, 0, 10).total == 0
        assert len(asker.ask(ArchiveRequests.verdict_overview, 0, 8)) == 8
        asker.ask(ArchiveRequests.export, str(tmp_path / "report.html"), ReportKind.HTML)
        assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_what_cannot_be_opened_is_said_in_a_sentence(tmp_path: Path) -> None:
    with worker(str(tmp_path / "nothing")) as (asker, _):
        status = asker.ask(ArchiveRequests.status)
        assert status.stage is Stage.FAILED
        assert "does not exist" in status.sentence
        assert status.layers == ()
        asker.ask(ArchiveRequests.decode)
        assert asker.ask(ArchiveRequests.member_rows, 0, 10).total == 0
