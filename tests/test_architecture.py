"""The arrows between the rooms of the house, and the few other rules that a machine can hold: one test each."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "inspector"

ROOMS = (
    *("core", "sources.local", "sources.s3", "sources.web"),
    *(
        "formats._extents",
        "formats._kinds",
        "formats._zstd",
        "formats._zstd_fields",
        "formats._signatures",
        "formats._damage",
        "formats._chain",
        "formats._directory",
        "formats._readers",
        "formats._tar",
        "formats._zip",
    ),
    *(f"formats.{each.parent.name}" for each in sorted(PACKAGE.glob("formats/[!_]*/__init__.py"))),
    *("formats", "formats._causes"),
    *("resources", "drawing"),
    *("operations.jobs", "operations.protocol", "operations.open", "operations.diagram"),
    *(
        "operations.check",
        "operations.edit",
        "operations.extract",
        "operations.create",
        "operations.audit",
        "operations.compare",
        "operations.report",
        "operations.trials",
        "operations.session",
        "operations.worker",
        "operations.protocol.requests",
    ),
    *("library", "filesystem", "plugin", "cli"),
    *("gui.kit", "gui.ipc", "gui.document", "gui.hex", "gui.panels", "gui.dialogs", "gui.tabs", "gui.flows", "gui.app"),
    "__main__",
)
"""All rooms from the ground up: each imports of this project only itself and what stands before it."""

SHARED = ("formats._",)
"""What formats have in common; each stands for itself otherwise."""
FORMATS = tuple(room for room in ROOMS if room.startswith("formats.") and not room.startswith(SHARED))
APART = {
    "resources": ("",),
    "formats": ("sources",),
    **{room: tuple(each for each in FORMATS if each != room) for room in FORMATS},
    "cli": ("operations.session", "operations.worker"),
    "gui": ("cli", "formats", "operations", "sources"),
}
"""What does not meet although one stands before the other: prefixes of names by that of who would import them."""
MEETING = {
    "gui": (
        *("operations.jobs", "operations.protocol"),
        *("sources.s3.address", "sources.s3.connection", "sources.web.address"),
    ),
    "gui.panels": ("sources.s3.request_log",),
    "gui.ipc.worker": ("operations.session.archive_session", "operations.worker"),
}
"""What does nevertheless: the window knows the values that cross to it, and a worker where it begins."""

HOMES = {
    "PySide6": "gui",
    "shiboken6": "gui",
    "boto3": "sources.s3",
    "botocore": "sources",
    "zstandard": "formats._zstd",
}
"""The one place that may import a library."""


# ---- what a file imports -----------------------------------------------------------------------------------------


def name_of(path: Path) -> str:
    """``formats.caf.decode`` for a module of this project, empty for its package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def imports(module: str) -> tuple[str, ...]:
    """The full names of all that a module imports, wherever in it and if only for its types; submodules as such."""
    found: list[str] = []
    for node in statements(tree_of(module).body):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} imports relatively"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            found += (name if name.removeprefix("inspector.") in MODULES else str(node.module) for name in full)
    return tuple(dict.fromkeys(found))


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """These and those in them, without their expressions, in which nothing is imported."""
    for node in body:
        yield node
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            inner = getattr(node, part, ())
            if isinstance(inner, list):  # the body of a lambda or of a conditional expression is none
                yield from statements(inner)


def own_imports(module: str) -> Iterator[str]:
    """The modules of this project that a module imports, without its package, which holds the version only."""
    for name in imports(module):
        if name.startswith("inspector."):
            yield name.removeprefix("inspector.")


def lies_in(module: str, *places: str) -> bool:
    """Whether a module is one of these, or lies beneath one."""
    return any(f"{module}.".startswith(f"{place}." if place else "") for place in places)


@cache
def room_of(module: str) -> str:
    """The room a module is in, empty where it is in none."""
    return max((room for room in ROOMS if lies_in(module, room)), key=len, default="")


# ---- the rules -----------------------------------------------------------------------------------------------------


def test_every_module_is_in_a_room() -> None:
    homeless = [
        module for module in MODULES if module and not room_of(module) and imports(module) not in ((), ("__future__",))
    ]

    assert homeless == []
    assert [room for room in ROOMS if room not in MODULES] == []


def test_no_arrow_points_up() -> None:
    arrows = [
        f"{module} -> {other}"
        for module in MODULES
        if module  # the package has the library's names, loaded when they are used
        for other in own_imports(module)
        if ROOMS.index(room_of(other)) > ROOMS.index(room_of(module))
    ]

    assert arrows == []


def test_no_modules_import_each_other() -> None:
    """Not even for the types: what needs the name of what stands above it lies in the wrong place."""
    try:
        TopologicalSorter({module: list(own_imports(module)) for module in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_what_stands_apart_does_not_meet() -> None:
    arrows = [
        f"{module} -> {other}"
        for module in MODULES
        for other in own_imports(module)
        for place, apart in APART.items()
        if lies_in(module, place) and lies_in(other, *apart)
        if not any(lies_in(module, room) and lies_in(other, *known) for room, known in MEETING.items())
    ]

    assert arrows == []


def test_each_library_has_one_home_and_core_needs_none() -> None:
    arrows = []
    for module in MODULES:
        for name in imports(module):
            library = name.split(".")[0]
            is_away = library in HOMES and not lies_in(module, HOMES[library])
            if is_away or (lies_in(module, "core") and library not in ("inspector", *sys.stdlib_module_names)):
                arrows.append(f"{module} -> {name}")

    assert arrows == []


# ---- how large it is -----------------------------------------------------------------------------------------------

HOUSE = ROOT / "tests" / "house.toml"
HOUSE_HEADING = """\
# Statements in each folder, imports and docstrings not counted: what a room may have at most.
# `pytest --golden tests/test_architecture.py` writes lower numbers. A higher one is written by hand, with its reason in
# the commit.
"""


def size_of(module: ast.Module) -> int:
    """Statements without imports and docstrings: neither joined lines nor left-out words make fewer of them."""
    found = [node for node in ast.walk(module) if isinstance(node, ast.stmt)]
    return sum(not isinstance(node, ast.Import | ast.ImportFrom) and not _is_text(node) for node in found)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def test_no_room_is_larger_than_it_may_be(request: pytest.FixtureRequest) -> None:
    sizes: Counter[str] = Counter()
    for module, path in MODULES.items():
        sizes[path.parent.relative_to(ROOT).as_posix()] += size_of(tree_of(module))
    allowed = tomllib.loads(HOUSE.read_text(encoding="utf-8"))
    if request.config.getoption("--golden"):
        allowed = {room: min(number, sizes[room]) for room, number in sorted(allowed.items()) if room in sizes}
        HOUSE.write_text(HOUSE_HEADING + "".join(f'"{room}" = {number}\n' for room, number in allowed.items()))

    too_large = [
        f"{room} has {size:,} statements and may have {allowed.get(room, 0):,}. Make it smaller, or raise its number in"
        f" tests/house.toml by hand and say why in the commit."
        for room, size in sizes.items()
        if size > allowed.get(room, 0)
    ]
    assert too_large == []
    assert sorted(allowed.keys() - sizes.keys()) == [], "rooms that are gone; --golden drops them"


# ---- what is loaded at run time ------------------------------------------------------------------------------------


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
    found = [
        path.name
        for path in MODULES.values()
        if "re.compile" in (text := path.read_text("utf-8")) and group.search(text)
    ]
    assert found == []
