"""Sentences for what is easily mistyped or not set, and for several faults at once."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.core import limits
from inspector.core.source import SourceError
from inspector.sources.local.file import TemporarySource
from tests.cli.running import ROOT, Run


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", ""),
        ("check", ""),
        ("cat", "", "x"),
        ("audit", ""),
        ("create", "caf", "", "x"),
        ("create", "rca", "new.rca", ""),
        ("append", "new.rca", ""),
        ("find", "", "x"),
    ],
)
def test_an_empty_name_is_told_from_the_folder_one_is_in(
    arguments: tuple[str, ...], run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*arguments)

    assert (status, out) == (2, "")
    assert err.startswith("archive-inspector: An empty name is neither ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["abc", "0", "3601", "1.5", "30 s"])
def test_a_limit_that_cannot_be_is_said(text: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.ANSWERING.variable, text)
    status, _, err = run("formats")

    assert status == 0
    assert err == (
        f"archive-inspector: ARCHIVE_INSPECTOR_ANSWER_SECONDS={text} is ignored and 30 used: it has to be a whole "
        "number from 1 to 3,600.\n"
    )


@pytest.mark.parametrize("text", ["", "1", "3600"])
def test_of_a_limit_that_can_be_nothing_is_said(text: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(limits.ANSWERING.variable, text)

    assert run("formats")[2] == ""


@pytest.mark.parametrize("number", [1, 3, 12])
def test_several_names_that_cannot_be_members_are_said_together(number: int, run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for each in range(number):
        (tmp_path / "in" / f"a\\{each:02}").write_bytes(b"")
    status, _, err = run("create", "caf", tmp_path / "new.caf", tmp_path / "in")

    assert status == 2
    assert err.count("holds a backslash") == min(number, 10)
    assert ("There are 2 more like these." in err) == (number == 12)
    assert not (tmp_path / "new.caf").exists()


def test_the_file_beside_a_repaired_copy_has_the_name_of_the_copy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for key in range(3):
        (tmp_path / "in" / f"{key:020}.bin").write_bytes(b"x")
    made, _, err = run("create", "datas3t", tmp_path / "root", "--dataset", "weather", tmp_path / "in")
    assert made == 0, err
    (path,) = (tmp_path / "root").rglob("*.tar")
    for each in path.parent.glob("*.metadata"):
        each.unlink()
    _, out, _ = run("repair", path, "--dry-run", "--to", tmp_path / "fixed.tar")
    assert "Written beside it: fixed.tar.metadata" in out
    _, out, _ = run("repair", path, "--dry-run")
    assert f"Written beside it: {path.name}.metadata" in out


def test_the_manual_names_the_keys_of_every_json(run: Run, tmp_path: Path, sample: Callable[[str], Path]) -> None:
    (tmp_path / "in").write_bytes(b"x")
    made = ("create", "caf", tmp_path / "new.caf", tmp_path / "in", "--catalog", tmp_path / "c.sqlite", "--json")
    lines = {
        "list": ("list", "--json", sample("journey.caf")),
        "dump": ("dump", "--json", sample("journey.caf")),
        "check": ("check", "--json", sample("journey.caf")),
        "audit": ("audit", "--json", sample("journey.caf")),
        "header": ("header", "--json", sample("two-entries.tacozip")),
        "repair": ("repair", "--json", "--dry-run", sample("journey.caf")),
        "create": made,
        "find": ("find", "--json", tmp_path / "c.sqlite", "in"),
        "formats": ("formats", "--json"),
    }
    rows = {
        line.split("`")[1]: line
        for line in (ROOT / "resources" / "manual" / "terminal.md").read_text("utf-8").splitlines()
        if "| `" in line[:3]
    }
    rows["audit"] += rows["check"]
    for command, arguments in lines.items():
        found = json.loads(run(*arguments)[1].splitlines()[0])
        assert [key for key in found if f"`{key}`" not in rows[command]] == []


def test_a_temporary_file_that_cannot_be_is_told_with_its_folder(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"temporary file in .*none can be made: no such file or directory\.") as told:
        TemporarySource("blob", tmp_path / "none")
    assert str(tmp_path / "none") in str(told.value)


def test_sizes_in_sentences_are_counted_in_1024() -> None:
    """GB are thousands and GiB are 1,024: all limits of the program are the latter, and so is what it shows."""
    thousands = re.compile(r"\d ?[KMGT]B\b")
    found = []
    for path in sorted((ROOT / "inspector").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not thousands.search(text):
            continue  # parsing takes long
        tree = ast.parse(text)
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found += [(path.name, node.value)] if thousands.search(node.value) else []
    assert [name for name, _ in found] == ["numbers.py"], found  # how a size may be typed
