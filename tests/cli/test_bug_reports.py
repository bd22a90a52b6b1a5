"""A bug in the program ends a sub-command with a sentence, and with a report only where one is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.cli import run
from inspector.cli.commands import formats

CANARY = "payroll.caf AKIAIOSFODNN7EXAMPLE"


@pytest.fixture(autouse=True)
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """One command with a mistake in it."""

    def fail(_: object) -> None:
        raise LookupError(CANARY)

    monkeypatch.setattr(formats, "run", fail)
    monkeypatch.delenv(run.REPORT_VARIABLE, raising=False)


def test_it_is_one_sentence_and_the_status_of_what_could_not_be_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("archive-inspector: The program failed because of a bug: LookupError in ")
    assert told.err.count("\n") == 1
    assert run.REPORT_VARIABLE in told.err
    assert "payroll" not in told.err


def test_a_report_is_written_where_the_user_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "report.txt"
    monkeypatch.setenv(run.REPORT_VARIABLE, str(file))
    assert main(["formats"]) == 2
    assert str(file) in capsys.readouterr().err
    told = file.read_text()
    assert "inspector/cli/run.py, line " in told
    assert not [word for word in CANARY.split() if word in told]


def test_a_report_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(run.REPORT_VARIABLE, str(tmp_path / "no" / "report.txt"))
    assert main(["formats"]) == 2
    assert "could not be written" in capsys.readouterr().err
