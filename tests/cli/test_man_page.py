"""The manual page: made from the parsers, shipped, and taken by ``man``. ``--golden`` rewrites it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.commands.man_page import man_page
from inspector.cli.parser import COMMANDS
from inspector.cli.run import command_parser
from inspector.core import limits
from tests.cli.running import ROOT, Run

PAGE = ROOT / "resources" / "man" / "archive-inspector.1"


def test_the_page_is_what_the_parsers_say(
    written: Callable[[Path, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    written(PAGE, man_page())
    monkeypatch.setenv("COLUMNS", "40")
    assert man_page() == PAGE.read_text(encoding="utf-8")


def test_every_command_and_every_option_is_in_it(run: Run) -> None:
    status, page, err = run("help", "--man")
    assert (status, err) == (0, "")
    page = page.replace("\\-", "-")
    for name in COMMANDS:
        assert f".SS {name}\n" in page
        for option in re.findall(r"--[a-z0-9-]+", command_parser(name).format_usage()):
            assert option == "--help" or f"\\fB{option}\\fR" in page
    assert all(limit.variable in page and limit.what in page for limit in limits.ALL)


def test_the_wheel_puts_it_where_man_looks() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    data = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    assert data == {str(PAGE.relative_to(ROOT)): "share/man/man1/archive-inspector.1"}


def test_roff_finds_nothing_to_complain_about() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests <= {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".RS", ".RE", ".EX", ".EE"}
    assert all(line.isascii() and line for line in lines)
    if groff := shutil.which("groff"):
        done = subprocess.run([groff, "-man", "-Tascii", "-ww", PAGE], capture_output=True, check=True)
        assert done.stderr == b""
