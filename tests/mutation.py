"""Changes the program in small ways and says which of them no test notices: ``python -m tests.mutation``, by hand.

``--matrix FILE`` has every test run that enters the changed function, says which tests notice each change, and at the
end which tests notice nothing that the others do not: what may be merged or dropped without a change going unnoticed.

Works in a copy. A change is a comparison flipped, a number one more or less, ``and`` for ``or``, a ``not`` or a
statement left out. Which ones are tried depends on the seed alone. The tests are those nearest to the file: of its
area, and first those that name its module. A change that no test notices is a gap, or makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
COPIED = ("inspector", "tests", "resources", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
AREAS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "inspector/core",
        ("tests/core", "tests/formats/caf", "tests/formats/ar", "tests/formats/tar", "tests/operations"),
    ),
    ("inspector/cli", ("tests/cli",)),
    ("inspector/formats/caf", ("tests/formats/caf",)),
    ("inspector/formats/rca", ("tests/formats/rca",)),
    ("inspector/formats/taco", ("tests/formats/taco",)),
    ("inspector/formats/datas3t", ("tests/formats/datas3t",)),
    ("inspector/formats/ar", ("tests/formats/ar",)),
    ("inspector/formats/_zip", ("tests/formats/zip", "tests/formats/taco")),
    ("inspector/formats/zip", ("tests/formats/zip",)),
    ("inspector/formats/_tar", ("tests/formats/tar", "tests/formats/datas3t")),
    ("inspector/formats/tar", ("tests/formats/tar",)),
    ("inspector/formats/_causes", ("tests/damage",)),
    ("inspector/formats", ("tests/formats",)),
    ("inspector/sources/local", ("tests/sources",)),
    ("inspector/operations/edit", ("tests/operations", "tests/cli/test_changing.py")),
)
"""The folders that are changed, and where the tests of each are."""
TESTS_OF_READERS = "tests/operations/session/test_tracing.py"
TESTS_OF_DAMAGE = "tests/damage"
TESTS_OF_ALL_FORMATS = ("tests/test_format_declarations.py", "tests/test_formats_everywhere.py")
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
UNTOUCHED = (ast.JoinedStr, ast.arguments, ast.ImportFrom, ast.Import)
"""Nodes in which nothing is changed: text for people, defaults and their annotations."""

PROCESS = "starts a process"
"""What stands beside the functions of a test that starts processes, in which any function may be entered."""


class Mutation(NamedTuple):
    """The bytes ``[start, stop)`` of a file, ``old``, are written as ``new``."""

    path: Path
    line: int
    start: int
    stop: int
    old: str
    new: str

    def applied(self, data: bytes) -> bytes:
        return data[: self.start] + self.new.encode() + data[self.stop :]

    @contextmanager
    def made(self, copy: Path) -> Iterator[None]:
        """Have the change in a copy of the program meanwhile."""
        target = copy / self.path
        before = target.read_bytes()
        target.write_bytes(self.applied(before))
        try:
            yield
        finally:
            target.write_bytes(before)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {' '.join(self.old.split())} -> {self.new}"


# ---- what is changed -----------------------------------------------------------------------------------------------


def mutations(path: Path) -> Iterator[Mutation]:
    """All changes of one file, whose path is below ROOT."""
    data = (ROOT / path).read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _nodes(ast.parse(data)):
        for new in _changed(node):
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            yield Mutation(path, node.lineno, start, stop, data[start:stop].decode(), new)


def _nodes(tree: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, UNTOUCHED):
            continue
        if isinstance(node, ast.expr | ast.stmt):
            yield node
        if isinstance(node, ast.AnnAssign):
            yield from _nodes(ast.Tuple([node.value] if node.value is not None else []))
        else:
            yield from _nodes(node)


def _changed(node: ast.expr | ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield f"({ast.unparse(ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators))})"
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield f"({ast.unparse(ast.BoolOp(other, node.values))})"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield f"({ast.unparse(node.operand)})"
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield from (str(node.value + 1), f"({node.value - 1})")
    elif isinstance(node, ast.AugAssign | ast.Raise) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "pass"


def chosen(number: int, seed: int, only: str) -> list[Mutation]:
    """The changes to try: as many of each area as it has files, of each file at most a few."""
    folders = {each for each, _ in AREAS}
    files = sorted({path for folder in folders for path in (ROOT / folder).rglob("*.py") if path.name != "__init__.py"})
    names = [path.relative_to(ROOT) for path in files if only in str(path.relative_to(ROOT))]
    if not names:
        raise SystemExit(f"No file of the program has {only} in its path.")
    dice = random.Random(seed)
    found: list[Mutation] = []
    while names and len(found) < number:
        choices = list(mutations(path := dice.choice(names)))
        if choices and (picked := dice.choice(choices)) not in found:
            found.append(picked)
        elif not choices:
            names.remove(path)
    return found


# ---- what notices it -----------------------------------------------------------------------------------------------


def tests_for(path: Path) -> list[str]:
    """The files of tests nearest to a file of the program, those that name its module first."""
    folders = next(tests for area, tests in AREAS if path.is_relative_to(area))
    folders += (TESTS_OF_READERS,) if path.stem == "readers" else ()
    folders += (TESTS_OF_DAMAGE,) if path.stem in ("damage", "_damage") else ()
    folders += TESTS_OF_ALL_FORMATS if path.is_relative_to("inspector/formats") else ()
    files = [found for each in folders for found in (sorted((ROOT / each).rglob("test_*.py")) or [ROOT / each])]
    module = ".".join(path.with_suffix("").parts)
    files.sort(key=lambda each: (module not in each.read_text(encoding="utf-8"), path.stem not in each.stem))
    return [str(each.relative_to(ROOT)) for each in files]


def run(copy: Path, tests: Sequence[str], seconds: float, *options: str) -> tuple[int | None, str]:
    """The exit status of the tests in a copy, None if they took longer, and what they printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    with (
        tempfile.TemporaryFile("w+") as output,
        subprocess.Popen(
            [*command, *options, *tests],
            cwd=copy,
            env=environment,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process,
    ):
        try:
            status: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            status = None
        output.seek(0)
        return status, output.read()


def noticed(mutation: Mutation, copy: Path, seconds: float) -> str:
    """How a change is noticed, in a word; empty if it is not."""
    with mutation.made(copy):
        status, _ = run(copy, tests_for(mutation.path), seconds, "-x")
    return "timed out" if status is None else "failed" if status else ""


# ---- which tests notice what no other does -------------------------------------------------------------------------


class Entered:
    """A plugin of pytest: which functions of the program each test enters, and which tests start processes."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.functions: dict[str, set[str]] = {}
        self._now: set[str] = set()
        sys.addaudithook(self._started)

    def _started(self, event: str, _: object) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
            self._now.add(PROCESS)

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "/inspector/" in frame.f_code.co_filename:
            name = f"inspector/{frame.f_code.co_filename.partition('/inspector/')[2]}"
            self._now.add(f"{name}:{frame.f_code.co_firstlineno}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._now = self.functions.setdefault(item.nodeid.partition("[")[0], set())
        sys.setprofile(self._called)
        threading.setprofile(self._called)
        try:
            return (yield)
        finally:
            sys.setprofile(None)

    def pytest_sessionfinish(self) -> None:
        found = {test: sorted(functions) for test, functions in self.functions.items()}
        self.target.write_text(json.dumps(found), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Be the plugin ``-p tests.mutation`` of the run that ``--matrix`` begins with."""
    config.pluginmanager.register(Entered(Path(os.environ["MUTATION_ENTERED"])))


def entered(copy: Path, tests: Sequence[str], seconds: float) -> dict[str, set[str]]:
    """The functions that each test enters, as ``path:first line``."""
    with tempfile.NamedTemporaryFile() as target:
        os.environ["MUTATION_ENTERED"] = target.name
        status, output = run(copy, tests, seconds, "-p", "tests.mutation")
        if status != 0:
            raise SystemExit(f"The tests fail without a change:\n{output}")
        return {test: set(functions) for test, functions in json.loads(target.read().decode()).items()}


def function_of(mutation: Mutation) -> str:
    """The innermost function around a change, as ``path:first line``; empty for a change outside of functions."""
    around = [
        min(node.lineno, *(each.lineno for each in node.decorator_list)) if node.decorator_list else node.lineno
        for node in ast.walk(ast.parse((ROOT / mutation.path).read_bytes()))
        if isinstance(node, ast.FunctionDef) and node.lineno <= mutation.line <= (node.end_lineno or 0)
    ]
    return f"{mutation.path}:{max(around)}" if around else ""


def needed(matrix: dict[str, list[str]], weights: dict[str, int]) -> set[str]:
    """Tests that together notice every change that is noticed: few statements, not surely the fewest."""
    left = {change: set(tests) for change, tests in matrix.items() if tests}
    kept: set[str] = set()
    while left:
        best = max(
            sorted(weights),
            key=lambda test: sum(test in tests for tests in left.values()) / weights[test],
        )
        kept.add(best)
        left = {change: tests for change, tests in left.items() if best not in tests}
    return kept


def weights_of(tests: Iterable[str]) -> dict[str, int]:
    """The statements of each test function."""
    found = {}
    for test in tests:
        path, *names = test.split("::")
        trees: list[ast.AST] = [ast.parse((ROOT / path).read_bytes())]
        for name in names:
            trees = [each for tree in trees for each in ast.walk(tree) if getattr(each, "name", "") == name]
        found[test] = sum(isinstance(each, ast.stmt) for each in ast.walk(trees[0]))
    return found


def matrix(changes: Sequence[Mutation], copy: Path, seconds: float, end: float) -> dict[str, list[str]]:
    """Which test functions notice each change, and a printed line of each; changes that hang are left out."""
    tests = sorted({test for change in changes for test in tests_for(change.path)})
    functions = entered(copy, tests, 20 * seconds)
    found: dict[str, list[str]] = {}
    for change in changes:
        if time.monotonic() > end:
            break
        function = function_of(change)
        those = [test for test, names in functions.items() if not function or function in names or PROCESS in names]
        with change.made(copy):
            status, output = run(copy, those, seconds, "-rfE") if those else (0, "")
        failed = {line.split()[1].partition("[")[0] for line in output.splitlines() if line[:6] in ("FAILED", "ERROR ")}
        if status is None or (status and not failed):
            print(f"{'timed out' if status is None else 'broke all':<12} {change}", flush=True)
            continue
        found[str(change)] = sorted(failed)
        print(f"{len(failed):>4} of {len(those):<4} {change}", flush=True)
    weights = weights_of(functions)
    kept = needed(found, weights)
    print(f"{sum(map(bool, found.values()))} of {len(found)} changes are noticed, all of them by these tests:")
    print(*sorted(kept), sep="\n")
    statements = sum(weights[test] for test in kept)
    print(f"{len(kept)} of {len(weights)} tests, {statements} of {sum(weights.values())} statements")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Try changes, and print those that nothing noticed. The exit status is 1 if there are some."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--number", type=int, default=100, help="changes to try")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--only", default="", metavar="PART", help="of files with this in their path")
    parser.add_argument("--seconds", type=float, default=120, help="for the tests of one change")
    parser.add_argument("--matrix", type=Path, metavar="FILE", help="write which tests notice each change, as JSON")
    parser.add_argument("--minutes", type=float, default=60, help="for all of them")
    options = parser.parse_args(arguments)
    end = time.monotonic() + 60 * options.minutes
    results: dict[str, list[Mutation]] = {"failed": [], "timed out": [], "": []}
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, Path(folder) / name)
        if options.matrix is not None:
            changes = chosen(options.number, options.seed, options.only)
            found = matrix(changes, Path(folder), options.seconds, end)
            options.matrix.write_text(json.dumps(found, indent=1), encoding="utf-8")
            return 0
        for mutation in chosen(options.number, options.seed, options.only):
            if time.monotonic() > end:
                break
            how = noticed(mutation, Path(folder), options.seconds)
            results[how].append(mutation)
            print(f"{how or 'NOT NOTICED':<12} {mutation}", flush=True)
    numbers = {how or "not noticed": len(found) for how, found in results.items()}
    print(f"{sum(numbers.values())} changes: {', '.join(f'{number} {how}' for how, number in numbers.items())}")
    return bool(results[""])


if __name__ == "__main__":
    sys.exit(main())
