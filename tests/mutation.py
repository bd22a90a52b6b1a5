"""Changes the program in small ways and says which of them no test notices: ``python -m tests.mutation``, by hand.

Works in a copy. A change is a comparison flipped, a number one more or less, ``and`` for ``or``, a ``not`` or a
statement left out. Which ones are tried depends on the seed alone. The tests are those nearest to the file: of its
area, and first those that name its module. A change that no test notices is a gap, or makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
COPIED = ("inspector", "tests", "resources", "pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
AREAS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "inspector/core",
        ("tests/core", "tests/formats/caf", "tests/formats/ar", "tests/formats/tar", "tests/operations"),
    ),
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


def noticed(mutation: Mutation, copy: Path, seconds: float) -> str:
    """How a change is noticed, in a word; empty if it is not."""
    target = copy / mutation.path
    before = target.read_bytes()
    target.write_bytes(mutation.applied(before))
    options = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no")
    command = [sys.executable, "-m", "pytest", *options, *tests_for(mutation.path)]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        with subprocess.Popen(
            command,
            cwd=copy,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as run:
            try:
                return "failed" if run.wait(seconds) else ""
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, 9)
                return "timed out"
    finally:
        target.write_bytes(before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try changes, and print those that nothing noticed. The exit status is 1 if there are some."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--number", type=int, default=100, help="changes to try")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument("--only", default="", metavar="PART", help="of files with this in their path")
    parser.add_argument("--seconds", type=float, default=120, help="for the tests of one change")
    parser.add_argument("--minutes", type=float, default=60, help="for all of them")
    options = parser.parse_args(arguments)
    end = time.monotonic() + 60 * options.minutes
    results: dict[str, list[Mutation]] = {"failed": [], "timed out": [], "": []}
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, Path(folder) / name)
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
