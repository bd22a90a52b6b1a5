"""The arrows between the layers, and the few other rules that a machine can hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "inspector"
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 350

MAY_IMPORT = {
    "core": {"core"},
    "sources": {"core", "sources"},
    "formats": {"core", "formats"},
    "operations": {"core", "sources", "formats", "operations", "resources"},
    "cli": {"core", "sources", "formats", "operations", "resources", "cli"},
    "gui": {"core", "sources", "formats", "operations", "resources", "gui"},
    "resources": set[str](),
    "__init__": set[str](),
    "__main__": {"cli", "gui"},
}
"""What each layer may import of this project; arrows point downwards only."""

HOMES = {"PySide6": "gui", "shiboken6": "gui", "boto3": "sources/s3", "botocore": "sources/s3"}
"""The one place that may import a library."""


def imports(path: Path) -> Iterator[str]:
    """The full names of all modules that a file imports, wherever in the file; for ``from a import b`` also a.b."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def place(path: Path) -> str:
    """``formats/caf/decode`` for a module of this project."""
    return path.relative_to(PACKAGE).with_suffix("").as_posix()


def own_imports(path: Path) -> Iterator[list[str]]:
    """The parts after ``inspector`` of what a file imports of this project."""
    for name in imports(path):
        first, *rest = name.split(".")
        if first == "inspector" and rest:
            yield rest


each_module = pytest.mark.parametrize("path", MODULES, ids=place)


@each_module
def test_imports_point_downwards(path: Path) -> None:
    allowed = MAY_IMPORT[place(path).split("/")[0]]

    assert {parts[0] for parts in own_imports(path)} - {"__version__"} <= allowed


@pytest.mark.parametrize("path", [path for path in MODULES if path.is_relative_to(PACKAGE / "formats")], ids=place)
def test_a_format_imports_only_itself_and_shared_helpers(path: Path) -> None:
    room = place(path).split("/")[1]
    others = {parts[1] for parts in own_imports(path) if parts[0] == "formats" and len(parts) > 1} - {room}

    assert all(other.startswith("_") for other in others) or room == "__init__", others


@each_module
def test_core_needs_the_standard_library_only_and_each_library_has_one_home(path: Path) -> None:
    here = place(path)
    for name in imports(path):
        library = name.split(".")[0]
        if here.startswith("core/"):
            assert library in {"inspector", *sys.stdlib_module_names}
        if library in HOMES:
            assert here.startswith(HOMES[library])
        if library == "zstandard":
            assert here == "formats/_zstd"


@pytest.mark.parametrize(
    "path",
    [*MODULES, *sorted((ROOT / "tests").rglob("*.py"))],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_a_file_has_one_subject(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")

    assert lines <= LONGEST


def loaded_after(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*{{name.split('.')[0] for name in sys.modules}}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


SAMPLE = "resources/samples/journey.caf"


@pytest.mark.parametrize(
    "arguments", [["list", SAMPLE], ["dump", SAMPLE], ["cat", SAMPLE, "readme.txt"], ["formats"]], ids=lambda a: a[0]
)
def test_a_sub_command_never_loads_the_windows_library(arguments: list[str]) -> None:
    loaded = loaded_after(f"from inspector.__main__ import main; assert main({arguments!r}) == 0")

    assert "inspector" in loaded
    assert not loaded & {"PySide6", "shiboken6", "boto3"}


FIRST_PAINT = f"""
import os
from PySide6.QtCore import QTimer
from inspector.gui.app import app

def look():
    try:
        for window in application.topLevelWidgets():
            window.grab()
        print(*sys.modules, file=sys.stderr, flush=True)
    finally:
        os._exit(0)

application = app.application()
QTimer.singleShot(0, look)
app.run([{SAMPLE!r}])
"""


def test_the_windows_first_paint_needs_no_heavy_library() -> None:
    code = f"import sys\n{FIRST_PAINT}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in max(done.stderr.splitlines(), key=len).split()}

    assert {"PySide6", "inspector"} <= loaded
    assert not loaded & {"numpy", "boto3", "msgspec", "zstandard"}


def test_the_broken_release_of_the_windows_library_is_kept_out() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (requirement,) = [one for one in project["dependencies"] if one.startswith("PySide6")]

    assert "!=6.12.0" in requirement
    code = "from PySide6 import __version__; print(__version__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() != "6.12.0"


def test_no_pattern_has_a_possessive_group() -> None:
    """Python 3.11 before 3.11.5, Debian 12's among them, matches ``(?:...)*+`` wrongly; single characters are fine."""
    group = re.compile(r"\)[*+?]\+|\)\{[0-9,]*\}\+")
    found = [path.name for path in MODULES if "re.compile" in (text := path.read_text("utf-8")) and group.search(text)]
    assert found == []
