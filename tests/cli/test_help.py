"""``help``, ``--help``, ``completion``: examples that work, and scripts that shells take."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.commands.help import plain, shown_by
from inspector.cli.parser import COMMANDS, window_parser
from inspector.formats import declared
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
    text = run("help", "s3")[1]
    assert text.startswith("S3 and addresses on the web\n===")
    assert "`" not in text
    assert "](" not in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("    ")) <= 80
    assert "usage: archive-inspector formats" in run("help", "formats")[1]


def test_marks_of_a_page_become_plain_text() -> None:
    page = "# A *b*\n\nSee [c](c.md), **d**\nand `e*`.\n* one\n* two `x`\n\n```sh\nrun  it\n```\n\n"
    page += "| k | v |\n|---|---|\n| `a\\|b` | c |\n"

    assert plain(page, 40) == ("A b\n===\n\nSee c, d and e*.\n\n* one\n* two x\n\n    run  it\n\nk  v\na|b  c\n")


def test_the_glossary_has_twelve_words(run: Run) -> None:
    assert sum(line.startswith("* ") for line in run("help", "words")[1].splitlines()) == 12


def test_a_page_goes_through_the_pager_on_a_terminal() -> None:
    program, terminal = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "help", "words"],
        stdin=terminal,
        stdout=terminal,
        check=True,
        env={**os.environ, "PAGER": "sed s/^/paged:/", "TERM": "xterm"},
    )
    os.close(terminal)
    assert done.returncode == 0
    assert os.read(program, 4096).startswith(b"paged:Words")
    os.close(program)


@pytest.mark.parametrize("code", ["caf-gap", "rca-zstd"])
def test_a_code_is_explained_by_an_archive_that_has_it(run: Run, code: str) -> None:
    status, text, err = run("help", code)
    assert (status, err) == (0, "")
    assert text.startswith(f"{code} ({declared()[code].severity})\n===")
    assert declared()[code].meaning.split()[0] in text
    assert f"[{code}" in text
    assert "(simulated)" in text


def test_a_code_that_no_sample_shows_says_so(run: Run) -> None:
    code = next(each for each in declared() if each not in shown_by())
    assert run("help", code)[1].endswith("No sample shows it.\n")


def test_a_topic_that_is_none_is_answered_with_those_there_are(run: Run, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("help", "nonsuch")
    assert "TOPIC cannot be nonsuch; choose from list, dump, " in capfd.readouterr().err


@pytest.mark.parametrize("page", ["rca", "caf", "taco", "datas3t"])
def test_a_format_is_explained_in_the_terminal_without_pictures(run: Run, page: str) -> None:
    status, text, _ = run("help", page)
    assert status == 0
    assert "Byte by byte\n---" in text
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


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("ext", "extract"),
        ("-q ext", "extract"),
        ("extract --keep", "--keep-damaged"),
        ("extract A --on-conflict ren", "rename"),
        ("extract A --on-conflict = ren", "rename"),
        ("extract A --on-conflict =", "skip rename overwrite"),
        ("create t", "taco"),
        ("trace --reader caf", "caf-go caf-ts"),
        ("experiment --damage lost", "lost-bytes lost-part"),
        ("help exp", "experiment experiments"),
        ("help rca-zstd-u", "rca-zstd-unaligned"),
        ("check --format s", "sarif"),
        ("completion z", "zsh"),
    ],
)
def test_bash_completes_commands_options_and_values(bash_script: str, words: str, completed: str) -> None:
    asked = f"""
COMP_WORDS=(archive-inspector {words}); COMP_CWORD={len(words.split())}; _archive_inspector; echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", bash_script + asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == completed.split()


@pytest.fixture
def bash_script(run: Run) -> str:
    return run("completion", "bash")[1]


def test_fish_completes_values_too(run: Run) -> None:
    script = run("completion", "fish")[1]
    assert "from extract' -l on-conflict -x -a 'skip rename overwrite' -d" in script
    assert "from create' -a 'caf rca taco datas3t'\n" in script
    assert " rca-zstd " in script


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
