"""Reports of mistakes: they help those who repair them, and hold nothing of the user's."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import __version__
from inspector.core.edit import EditError
from inspector.core.numbers import rounded
from inspector.core.program import crash_report
from inspector.core.source import SourceError

CANARIES = (
    "AKIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "/home/anna/private",
    "C:\\Users\\anna",
    "https://user:pass@minio.example:9000",
    "payroll-2024.caf",
    "b'PK\\x03\\x04secret'",
    "anna",
)


def caught(raising: Callable[[], object]) -> BaseException:
    try:
        raising()
    except BaseException as error:  # noqa: BLE001 - whatever is raised is what is wanted
        return error
    raise AssertionError("nothing was raised")


def failing(error: BaseException) -> Callable[[], object]:
    def fail() -> None:
        kept = " ".join(CANARIES)  # the values of variables are nobody's business
        raise error from ValueError(kept)

    return fail


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize("kind", [ValueError, KeyError, OSError, SourceError, EditError, RuntimeError, TypeError])
def test_a_report_holds_no_words_of_an_exception_and_no_values(kind: type[Exception], canary: str) -> None:
    told = crash_report.report(caught(failing(kind(canary))), "window")
    assert not [each for each in CANARIES if each in told]
    assert kind.__name__ in told


@given(st.text(min_size=3).filter(lambda text: not text.isascii() or len(text) > 12))
def test_no_text_gets_into_a_report(text: str) -> None:
    told = crash_report.report(caught(failing(LookupError(text))), "window")
    assert text not in told


def test_a_file_that_could_not_be_opened_is_not_named(tmp_path: Path) -> None:
    told = crash_report.report(caught((tmp_path / "payroll.caf").read_bytes), "terminal")
    assert "ENOENT" in told
    assert "payroll" not in told
    assert str(tmp_path) not in told


def test_it_says_where_in_the_program_it_was_and_by_which_calls() -> None:
    told = crash_report.report(caught(lambda: rounded("ten")), "window", {"Qt": "6.11"})  # type: ignore[arg-type]
    assert told.startswith(f"Archive Inspector {__version__}, window\nPython ")
    assert ", Qt 6.11\n" in told
    assert "  inspector/core/numbers.py, line " in told
    assert ", in rounded\n    " in told
    assert told.splitlines()[-1].startswith("TypeError")


def test_code_that_is_not_of_the_program_is_not_named(tmp_path: Path) -> None:
    script = tmp_path / "payroll.py"
    script.write_text("def bonus():\n    raise KeyError(5)\nbonus()\n")
    told = crash_report.report(caught(lambda: runpy.run_path(str(script))), "window")
    assert "\n  <file>\n" in told
    assert "payroll" not in told
    assert "bonus" not in told


def test_words_that_python_makes_of_the_code_are_kept() -> None:
    told = crash_report.report(caught(lambda: list(CANARIES)[99]), "window")
    assert told.endswith("IndexError: list index out of range")


def test_causes_come_first_and_circles_end() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    lines = crash_report.report(first, "window").splitlines()
    kinds = [line.partition(":")[0] for line in lines if "left out" in line]
    assert kinds == ["KeyError", "ValueError"]


def test_a_deep_recursion_stays_short() -> None:
    def deeper(count: int) -> None:
        deeper(count + 1)

    told = crash_report.report(caught(lambda: deeper(0)), "window")
    assert " more\n" in told
    assert len(told.splitlines()) < 2 * crash_report.MAX_FRAMES


def test_the_place_is_the_last_one_in_the_program() -> None:
    error = caught(lambda: rounded("ten"))  # type: ignore[arg-type]
    assert crash_report.raised_at(error).startswith("inspector/core/numbers.py, line ")
    assert crash_report.raised_at(ValueError()) == "an unknown place"


def test_the_death_of_a_worker_says_how_and_at_which_work() -> None:
    told = crash_report.exit_report(-9, ("check", "overview"))
    assert told.endswith("Exit status: -9 (SIGKILL). Doing: check, overview.")
    assert "Exit status: unknown" in crash_report.exit_report(None, ())
    assert "Exit status: -250 (unknown signal)" in crash_report.exit_report(-250, ())
    assert "Exit status: 3." in crash_report.exit_report(3, ())
