"""The README promises what the program does: its table of formats, its examples and its commands.

``pytest tests/test_readme.py --golden`` writes the table and the output of the examples anew.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.__main__ import main
from inspector.cli.parser import COMMANDS as SUB_COMMANDS
from inspector.gui.app.actions import COMMANDS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
EXAMPLE = re.compile(r"(?<=```console\n)\$ archive-inspector (.*)\n((?:.*\n)*?)(?=```)")
TABLE = re.compile(r"(?<=<!-- formats -->\n)((?:.*\n)*?)(?=<!-- /formats -->)")

Output = Callable[[str], str]


@pytest.fixture
def output(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Output:
    """What the program writes to standard output for a line of arguments, run beside the resources."""
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    monkeypatch.chdir(tmp_path)

    def run(line: str) -> str:
        assert main(shlex.split(line)) == 0
        return capfd.readouterr().out

    return run


@pytest.fixture
def readme(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Compare the README with what it should be, or write it when ``--golden`` is given."""

    def compare(wanted: str) -> None:
        if request.config.getoption("--golden"):
            README.write_text(wanted, encoding="utf-8")
        assert README.read_text(encoding="utf-8") == wanted

    return compare


def test_the_table_of_formats_is_what_the_program_knows(output: Output, readme: Callable[[str], None]) -> None:
    rows = ["| name | format | suffixes | limitations |", "|---|---|---|---|"]
    for line in output("formats --json").splitlines():
        known = json.loads(line)
        suffixes = " ".join(f"`{suffix}`" for suffix in known["suffixes"])
        rows.append(f"| `{known['name']}` | {known['title']} | {suffixes} | {' '.join(known['limitations'])} |")
    table = "\n".join(rows) + "\n"

    readme(TABLE.sub(lambda _: table, README.read_text(encoding="utf-8")))


def test_the_examples_print_what_they_show(output: Output, readme: Callable[[str], None]) -> None:
    text = README.read_text(encoding="utf-8")
    assert len(EXAMPLE.findall(text)) >= 3

    readme(EXAMPLE.sub(lambda found: f"$ archive-inspector {found[1]}\n{output(found[1])}", text))


def test_every_sub_command_is_named() -> None:
    text = README.read_text(encoding="utf-8")

    assert [name for name in SUB_COMMANDS if f"archive-inspector {name}" not in text] == []


def test_the_keys_are_the_windows() -> None:
    text = README.read_text(encoding="utf-8")
    table = text[text.index("| keys | do |") :].split("\n\n")[0]
    named = set(re.findall(r"(?:(?:Ctrl|Alt|Shift)\+)+\w+|\bF\d+\b", table))
    standard = {"Ctrl+O", "Ctrl+N", "Ctrl+W", "Ctrl+Q", "Ctrl+F", "Ctrl+C", "Ctrl+S", "Ctrl+Z", "Alt+Left", "Alt+Right"}
    own = {key for command in COMMANDS for key in command.keys if isinstance(key, str)}

    assert named - standard <= own


def test_both_commands_and_the_picture_are_there() -> None:
    text = README.read_text(encoding="utf-8")

    assert text.count("\n<!-- command: run -->\n```sh\n") == 1
    assert text.count("\n<!-- command: test -->\n```sh\n") == 1
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / target).exists(), target
