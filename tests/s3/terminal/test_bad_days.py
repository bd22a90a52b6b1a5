"""Every bad day in the terminal: one sentence, an exit status that says so, and the next try succeeds."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from inspector.__main__ import main
from inspector.core import limits
from inspector.core.program.progress import Progress
from inspector.operations.audit.audit import Plan, prepare, run
from inspector.operations.audit.results import Results
from inspector.sources.s3.client import client_for
from inspector.sources.s3.connection import Connection
from tests.patience import PATIENCE
from tests.s3.bad_days import BAD_DAYS, BRIEFLY, BadDay, wide
from tests.s3.bucket import Bucket
from tests.s3.conftest import Store
from tests.s3.proxy import PIECE, Forward, Reply, Seen, after, silence
from tests.sweeping import at_every_change, in_the_sweep

OPENING = 2
"""Requests that opening takes."""


@pytest.fixture
def options(store: Store, day: BadDay, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """For a connection that waits as long for an answer as the day wants."""
    return impatient(store, day.patience, monkeypatch) if day.patience else store.options


def impatient(store: Store, seconds: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options for a connection of its own, for one that is there already waits as long as it was told then."""
    monkeypatch.setenv(limits.ANSWERING.variable, str(seconds))
    return [*store.options, "--region", "im-patient-1"]


@pytest.fixture(scope="module")
def location(straight: Any) -> str:
    """An archive that no test changes: it is put there once."""
    return Bucket(straight, "").put("bad-day.zip", wide())


def by_day(day: BadDay) -> str:
    return day.name


@pytest.mark.parametrize("day", BAD_DAYS, ids=by_day)
def test_what_cannot_be_listed_says_why_and_can_be_listed_later(
    store: Store, location: str, options: list[str], day: BadDay, capsys: pytest.CaptureFixture[str]
) -> None:
    with store.proxy.failing(day.fault):
        status = main(["list", *options, location])
    said = capsys.readouterr().err
    assert (status, said.count("\n")) == (2, 1)
    assert day.opening in said
    assert main(["list", *store.options, location]) == 0


@pytest.mark.parametrize("day", BAD_DAYS, ids=by_day)
def test_what_cannot_be_checked_to_its_end_says_why_and_can_be_checked_later(
    store: Store, location: str, options: list[str], day: BadDay, capsys: pytest.CaptureFixture[str]
) -> None:
    with store.proxy.failing(after(OPENING, day.fault)):
        status = main(["check", *options, location])
    said = capsys.readouterr().out
    assert status == 2, "what could not be read is not damaged"
    assert said.startswith(f"{location}: Unreadable: not all of it could be read")
    assert day.reading in said
    assert main(["check", *store.options, location]) == 0


def test_slow_is_not_wrong(store: Store, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that keep coming are waited for, however long all of them take."""

    seconds: list[float] = []

    def dripping(_: Seen, forward: Forward) -> Reply:
        reply = forward()
        reply.pause = 0.01
        seconds.append(reply.pause * len(reply.body) / PIECE)
        return reply

    with store.proxy.failing(dripping):
        assert main(["check", *impatient(store, BRIEFLY, monkeypatch), location]) == 0
    assert max(seconds) > BRIEFLY


def test_no_network(location: str, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        endpoint = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    assert main(["list", "--endpoint-url", endpoint, location]) == 2
    assert f"There is no connection to {endpoint}. Is" in capsys.readouterr().err
    client_for(Connection(endpoint=endpoint)).close()
    assert main(["list", *store.options, location]) == 0


def test_another_object_from_a_server_that_ignores_if_match(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    location = store.put("replaced.zip", wide())

    def replaced(_: Seen, forward: Forward) -> Reply:
        store.put("replaced.zip", wide(3))
        return forward("If-Match")

    with store.proxy.failing(after(OPENING, replaced)):
        assert main(["check", *store.options, location]) == 2
    assert "was replaced while it was open" in capsys.readouterr().out
    assert main(["check", *store.options, location]) == 0


@pytest.mark.parametrize("command", [in_the_sweep("list"), "check", "audit"])
def test_waiting_for_a_server_can_be_interrupted(store: Store, location: str, root: Path, command: str) -> None:
    asked, gate = Event(), Event()
    program = [sys.executable, "-m", "inspector", command, *store.options, location]
    with (
        store.proxy.failing(silence(asked, gate)),
        subprocess.Popen(
            program, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        ) as running,
    ):
        try:
            assert asked.wait(PATIENCE)
            os.killpg(running.pid, signal.SIGINT)
            _, said = running.communicate(timeout=PATIENCE)
        finally:
            gate.set()
    assert running.returncode == 130
    assert said.splitlines()[-1].startswith(b"archive-inspector: Interrupted.")
    assert b"Traceback" not in said


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    "case",
    at_every_change(
        [(day, well) for day in BAD_DAYS if day.name in ("503", "cut") for well in (0, OPENING)],
        lambda case: (case[0].name, case[1]) in (("503", 0), ("cut", OPENING)),
        lambda case: f"{case[0].name} {'later' if case[1] else 'at once'}",
    ),
)
def test_what_an_audit_could_not_read_is_neither_damaged_nor_done(
    store: Store, location: str, tmp_path: Path, case: tuple[BadDay, int]
) -> None:
    """What an audit finds beneath a prefix may be any file, and yet this is not one of no known format."""
    day, well = case
    place = Plan((location.removesuffix("bad-day.zip") + "bad-days/",), connection=store.connection)
    store.put("bad-days/a.zip", wide())
    with Results(tmp_path / "results.sqlite") as results:
        prepare(place, results, Progress())
        with store.proxy.failing(after(well, day.fault)):
            (first,) = run(place, results, Progress(), 1)
        assert (first.state, first.again) == ("unreadable", True)
        assert prepare(place, results, Progress()).left.files == 1
        (second,) = run(place, results, Progress(), 1)
        assert second.state == "sound"
        assert prepare(place, results, Progress()).left.files == 0
