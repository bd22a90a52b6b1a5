"""What is said on standard error and how much of it, colour, and bars."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.output import fitted, paced_line, wants_colour
from inspector.cli.parser import COMMANDS, exit_statuses
from inspector.core.program.progress import Progress
from tests.cli.running import Run

Sample = Callable[[str], Path]
ESCAPE = "\x1b["


# ---- how much ------------------------------------------------------------------------------------------------------


def test_quiet_leaves_the_result_and_the_status(run: Run, sample: Sample) -> None:
    loud = run("list", sample("overlap.caf"))
    quiet = run("list", "-q", sample("overlap.caf"))
    assert "overlap" in loud[2]
    assert quiet == (*loud[:2], "")


def test_quiet_says_why_something_failed(run: Run, tmp_path: Path) -> None:
    assert "does not exist" in run("list", "--quiet", tmp_path / "none.caf")[2]


def test_verbose_says_what_is_opened_and_how_long_it_takes(run: Run, sample: Sample) -> None:
    plain = run("list", sample("journey.caf"))
    status, out, err = run("list", "-v", sample("journey.caf"))
    assert (status, out) == plain[:2]
    assert "journey.caf: Chunk Archive (CAF), 10,529 bytes\n" in err
    assert "8 members, 0 findings\n" in err
    assert "list ended with status 0 after " in err
    assert all(line.startswith("archive-inspector: ") for line in err.splitlines())
    assert run("list", sample("journey.caf")) == plain


def test_quiet_and_verbose_exclude_each_other(run: Run) -> None:
    with pytest.raises(SystemExit) as ended:
        run("list", "-q", "-v", "x")
    assert ended.value.code == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_each_exit_status_means(name: str, run: Run) -> None:
    text = run("help", name)[1]
    assert "exit status:\n  0    fine\n" in text
    assert all(f"  {number:<5}{what}" in text for number, what in exit_statuses(name))
    assert "--quiet" in text


# ---- colour --------------------------------------------------------------------------------------------------------


class Screen(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("screen", "environment", "wanted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"CLICOLOR_FORCE": "1"}, True),
        (False, {"CLICOLOR_FORCE": "0"}, False),
        (True, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_who_wants_it(
    screen: bool, environment: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(Screen() if screen else io.StringIO()) == wanted


@pytest.mark.parametrize(("option", "wanted"), [("--color=always", True), ("--color=never", False)])
def test_an_option_says_more_of_colour_than_variables(
    run: Run, sample: Sample, monkeypatch: pytest.MonkeyPatch, option: str, wanted: bool
) -> None:
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.setenv(name, "1")

    said = run("check", option, sample("damaged-footer.caf"))[1] + run(option, "dump", sample("gap.caf"))[1]

    assert (ESCAPE in said) is wanted
    assert ESCAPE not in run("check", option, "--json", sample("damaged-footer.caf"))[1]


@pytest.mark.parametrize("command", [("check",), ("list",), ("dump",)])
def test_colour_changes_no_word_and_never_gets_into_json(
    command: tuple[str, ...], run: Run, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sample("damaged-footer.caf")
    plain, as_json = run(*command, path), run(*command, path, "--json")
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    status, out, err = run(*command, path)
    assert "\x1b[31merror\x1b[0m: " in out + err
    bare = (status, *(text.replace("\x1b[31m", "").replace("\x1b[0m", "") for text in (out, err)))
    assert bare == plain
    assert run(*command, path, "--json")[1] == as_json[1]
    assert ESCAPE not in plain[1] + plain[2]


# ---- bars ----------------------------------------------------------------------------------------------------------


def test_a_bar_has_the_rate_and_the_time_left_of_its_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("inspector.cli.output.time.monotonic", lambda: now)
    line, progress = paced_line(), Progress()
    progress.begin("Checking", 100 << 20)
    assert line(progress) == "Checking  [                        ] 0 B of 100 MiB"
    now, progress.done = 110.0, 50 << 20
    assert line(progress) == "Checking  [############            ] 50.0 MiB of 100 MiB · 5.0 MiB/s · 10 s left"
    progress.begin("Sorting", 10, "members")
    assert line(progress) == "Sorting  [                        ] 0 of 10"


def test_a_line_that_does_not_fit_loses_its_bar_first() -> None:
    line = "Checking  [############            ] 50.0 MiB of 100 MiB · 5.0 MiB/s · 10 s left"
    assert fitted(line, 120) == line
    assert fitted(line, 80) == "Checking  50.0 MiB of 100 MiB · 5.0 MiB/s · 10 s left"
    assert fitted(line, 20) == "Checking  50.0 MiB "
