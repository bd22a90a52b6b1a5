"""How a desktop starts the program: the lines of its entry, read back as the specification says and by GIO."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inspector.__main__ import main
from inspector.cli.commands.desktop import entry, launch_command
from inspector.gui.kit.locations import absolute
from inspector.resources import DESKTOP_ID, resource
from tests.patience import PATIENCE

SHIPPED = resource("desktop", "share", "applications", f"{DESKTOP_ID}.desktop")
ODD = """it's "here" $HOME `date` \\n & co"""
"""The name of a folder; GIO finds no program with a percent sign in its path, however it is written."""
ESCAPES = {"s": " ", "n": "\n", "t": "\t", "r": "\r", "\\": "\\"}
ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s"\'\\]+)', re.DOTALL)


def value(text: str, key: str) -> str:
    """The value of a key of type string, its escape sequences resolved."""
    [line] = re.findall(rf"(?m)^{key}=(.*)$", text)
    return re.sub(r"\\(.)", lambda found: ESCAPES[found[1]], line)


def arguments(line: str) -> list[str]:
    """The arguments of an Exec value: in quotes a backslash stands before what it protects; %% is a percent sign."""
    found = [re.sub(r"\\(.)", r"\1", quoted) or plain for quoted, plain in ARGUMENT.findall(line)]
    assert not ARGUMENT.sub("", line).strip()
    assert found.pop() == "%U"
    assert not any(re.search(r"(?<!%)(?:%%)*%(?!%)", each) for each in found)
    return [each.replace("%%", "%") for each in found]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1, max_size=3))
@example(['/home/a b/$x/`y`/\\z/100%/"q"/archive-inspector'])
def test_any_command_is_read_back(command: list[str]) -> None:
    text = entry("[Desktop Entry]\nExec=archive-inspector %U\nTryExec=archive-inspector\nIcon=kept\n", command)

    assert arguments(value(text, "Exec")) == command
    assert value(text, "TryExec") == command[0]
    assert value(text, "Icon") == "kept"


def test_a_program_in_an_odd_place_is_started_with_its_files(tmp_path: Path) -> None:
    program = tmp_path / ODD / "archive-inspector"
    program.parent.mkdir()
    told = program.with_name("told")
    os.mkfifo(told)
    program.write_text(
        f"#!{sys.executable}\nimport json, pathlib, sys\n"
        "pathlib.Path(sys.argv[0]).with_name('told').write_text(json.dumps(sys.argv[1:]))\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    path = tmp_path / f"{DESKTOP_ID}.desktop"
    path.write_text(entry(SHIPPED.read_text(encoding="utf-8"), [str(program)]), encoding="utf-8")
    files = [tmp_path / "a b.caf", tmp_path / "100%.rca"]

    subprocess.run(["desktop-file-validate", path], check=True)
    with os.fdopen(os.open(told, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        subprocess.run(["gio", "launch", path, *files], check=True, timeout=PATIENCE)  # does not wait for the program
        assert select.select([pipe], [], [], PATIENCE)[0]
        assert [absolute(each) for each in json.loads(pipe.read())] == list(map(str, files))  # paths or URLs


def test_the_command_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "archive-inspector"
    program.parent.mkdir()
    program.touch(0o755)
    link = tmp_path / "link"
    link.symlink_to(program)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.chdir(tmp_path)

    for typed, meant in {"archive-inspector": program, "bin/archive-inspector": program, "link": link}.items():
        monkeypatch.setattr(sys, "argv", [typed, "--install-desktop"])
        assert launch_command() == [str(meant)]


def test_a_module_is_started_by_its_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/inspector/__main__.py"])

    assert launch_command() == [sys.executable, "-m", "inspector"]


def test_a_packaged_program_is_its_own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)

    assert launch_command() == [sys.executable]


@pytest.mark.parametrize("before", [None, "/home/me/lib"])
def test_what_a_packaged_program_starts_has_the_systems_libraries(
    before: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/packaged/lib")
    monkeypatch.delenv("LD_LIBRARY_PATH_ORIG", raising=False)
    if before is not None:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", before)

    assert main(["formats"]) == 0

    assert os.environ.get("LD_LIBRARY_PATH") == before
    assert capsys.readouterr().out
