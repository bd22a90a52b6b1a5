"""Comparing: two files of 1 GiB against ``cmp`` and plain reading, and many members against listing them."""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from inspector.core.program.progress import Progress
from inspector.operations.compare.comparing import compare
from inspector.operations.compare.members import open_listing
from inspector.operations.open.opening import open_place
from inspector.operations.protocol.compare_views import AS_IT_IS, Level
from inspector.sources.s3.connection import DEFAULT
from tests.benchmarks import inputs
from tests.benchmarks.measure import Row, paired

SIZE = 1 << 30
FLIPS = 1_000
MEMBERS = 1_000_000
_PIECE = 1 << 20


def rows(folder: Path) -> Iterator[Row]:
    """Equal files, scattered flips, a shift of everything with and without another difference at the end."""
    a, b = folder / "a.bin", folder / "b.bin"
    with a.open("wb") as file:
        for _ in range(SIZE // _PIECE):
            file.write(os.urandom(_PIECE))
    shutil.copyfile(a, b)
    if shutil.which("cmp"):
        yield Row("compare 1 GiB, equal / cmp", *paired(_cmp(a, b), _compared(a, b)), 1 / 0.9)
    _flip(b)
    if shutil.which("cmp"):
        yield Row("compare 1 GiB, 1,000 flips / cmp -l", *paired(_cmp(a, b, "-l"), _compared(a, b)), 1.5)
    reading = partial(_read, a, b)
    _shift(a, b)
    yield Row("compare 1 GiB, a byte inserted at the start / reading both", *paired(reading, _compared(a, b), 3), 5.0)
    with b.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    yield Row("the same with the last byte changed / reading both", *paired(reading, _compared(a, b), 3), 5.0)
    a.unlink()
    b.unlink()
    archive = inputs.caf(folder, MEMBERS)
    other = folder / "other.caf"
    shutil.copyfile(archive, other)
    _list(archive, other)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    listing, both = paired(partial(_list, archive, other), lambda: compare(str(archive), str(other), Progress()), 3)
    yield Row("compare 1,000,000 members, equal / both listings", listing, both, 2.0)
    with other.open("r+b") as file:
        file.write(b"?")
    listing, both = paired(partial(_list, archive, other), lambda: compare(str(archive), str(other), Progress()), 3)
    yield Row("compare 1,000,000 members, one changed / both listings", listing, both, 2.0)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield Row("memory of comparing over that of listing", before * 1024.0, after * 1024.0, 1.5, "B")


def _compared(a: Path, b: Path) -> Callable[[], object]:
    return lambda: compare(str(a), str(b), Progress(), levels=frozenset({Level.BYTES}))


def _cmp(a: Path, b: Path, *options: str) -> Callable[[], object]:
    # A pipe: cmp looks no further than the first difference where its output goes nowhere.
    return lambda: subprocess.run(["cmp", *options, str(a), str(b)], check=False, stdout=subprocess.PIPE)


def _flip(path: Path) -> None:
    chosen = random.Random(16).sample(range(SIZE), FLIPS)
    with path.open("r+b") as file:
        for at in sorted(chosen):
            file.seek(at)
            byte = file.read(1)
            file.seek(at)
            file.write(bytes([byte[0] ^ 1]))


def _shift(source: Path, target: Path) -> None:
    with source.open("rb") as file, target.open("wb") as out:
        out.write(b"?")
        while piece := file.read(_PIECE):
            out.write(piece)


def _read(*paths: Path) -> None:
    for path in paths:
        with path.open("rb") as file:
            while file.read(_PIECE):
                pass


def _list(*paths: Path) -> None:
    for path in paths:
        open_listing(str(path), Progress(), DEFAULT, AS_IT_IS, place=open_place(str(path)))
