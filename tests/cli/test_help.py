"""``help``, ``--help``, ``completion``: examples that work, and scripts that shells take."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.parser import COMMANDS, window_parser
from tests.cli.running import Run

Sample = Callable[[str], Path]


@pytest.fixture
def folder(tmp_path: Path, sample: Sample, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the examples name."""
    for name, source in (
        ("photos.caf", "journey.caf"),
        ("scans.zip", "plain.zip"),
        ("scans.tacozip", "two-entries.tacozip"),
        ("backup.rca", "two-chunks.rca"),
        ("archives/photos.caf", "journey.caf"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(sample(source), tmp_path / name)
    shutil.copytree(sample("weather"), tmp_path / "weather")
    (tmp_path / "readme.txt").write_bytes(b"Read me.")
    monkeypatch.chdir(tmp_path)
    assert run("create", "caf", "made.caf", "readme.txt", "--catalog", "catalogue.sqlite")[0] == 0
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("folder")
def test_an_example_works_and_is_in_the_help(run: Run, name: str) -> None:
    status, help_text, _ = run("help", name)
    assert status == 0
    assert f"archive-inspector {COMMANDS[name].example}" in help_text
    status, out, err = run(*shlex.split(COMMANDS[name].example))
    assert (status, err) == (0, "")
    assert out


def test_the_manual_is_read_in_the_terminal_too(run: Run) -> None:
    assert run("help", "s3")[1].startswith("# ")
    assert "usage: archive-inspector formats" in run("help", "formats")[1]


def test_a_topic_that_is_none_is_answered_with_those_there_are(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("help", "zip")
    assert "'findings', 'causes', 's3'" in capfd.readouterr().err


@pytest.mark.parametrize("page", ["rca", "caf", "taco", "datas3t"])
def test_a_format_is_explained_in_the_terminal_without_pictures(run: Run, page: str) -> None:
    status, text, _ = run("help", page)
    assert status == 0
    assert "## Byte by byte" in text
    assert not [line for line in text.splitlines() if line.startswith(("![", "<!--"))]


def test_wrong_usage_shows_the_usage_of_that_command(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("cat", "--bogus")
    assert ended.value.code == 2
    assert capfd.readouterr().err.startswith("usage: archive-inspector cat ")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("audit", "A", "B"), "Unexpected argument: B."),
        (("check",), "Add what is missing: LOCATION."),
        (("audit", "--bogus", "A"), "There is no option --bogus; leave it out."),
        (("dump", "--depth", "x", "A"), "--depth: it must be a whole number, 1 or more."),
    ],
)
def test_wrong_usage_is_a_sentence_that_says_what_to_do(
    run: Run, capfd: pytest.CaptureFixture[str], line: tuple[str, ...], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*line)
    assert ended.value.code == 2
    last = capfd.readouterr().err.splitlines()[-1]
    assert last == f"archive-inspector {line[0]}: error: {said} archive-inspector {line[0]} --help says what it takes."


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_takes_its_script(run: Run, shell: str) -> None:
    status, out, _ = run("completion", shell)
    assert status == 0
    assert "remove-unfinished" in out
    if shutil.which(shell) and shell != "zsh":
        subprocess.run([shell, "-n"], input=out, text=True, check=True)


def test_bash_completes_commands_and_options(run: Run) -> None:
    script = run("completion", "bash")[1]
    asked = """
COMP_WORDS=(archive-inspector ext); COMP_CWORD=1; _archive_inspector; echo "${COMPREPLY[@]}"
COMP_WORDS=(archive-inspector extract --keep); COMP_CWORD=2; _archive_inspector; echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script + asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["extract", "--keep-damaged"]


def test_no_name_of_a_command_runs_into_what_it_does() -> None:
    shown = window_parser().format_help()
    for name, (what, *_) in COMMANDS.items():
        assert f"  {name} " in shown
        assert f" {what}" in shown


@pytest.mark.parametrize("wrong", ["0", "-3", "many"])
def test_a_number_that_cannot_be_is_wrong_usage(run: Run, capfd: pytest.CaptureFixture[str], wrong: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run("entropy", f"--blocks={wrong}", "any")
    assert ended.value.code == 2
    assert "it must be" in capfd.readouterr().err
