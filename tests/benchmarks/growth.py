"""How listing grows with the number of members and with the payload.

Ten times the members take at most ten times the time and memory; less while the start weighs more than the members. A
larger payload takes no more of either.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from inspector.formats.taco.write import payload_of
from tests.benchmarks import inputs, ranges
from tests.benchmarks.commands import write
from tests.benchmarks.measure import PRODUCT, Row, environment

DECADES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_DECADES = DECADES[:3]
PAYLOADS = (1 << 20, 1 << 30, 64 << 30)
FIRST_ROWS_S = 0.5
LINEAR = 1.3
"""What is linear may take so many times what it should: the runs differ."""
WATCH = """
import os, sys
child = os.fork()
if not child:
    os.execv(sys.argv[1], sys.argv[1:])
used = os.wait4(child, 0)[2]
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
"""
"""Runs a command from a small process: the peak of memory counts that of the process it was begun from."""
RANGE = 1_000
"""Datapoints in a range of the dataset."""
LARGEST = {"datas3t": 3}
"""How many decades are tried where a million members take 2 GB."""
WHY = {
    "rca": "names are inside the compressed data, so the first row waits for the decompression of all",
    "datas3t": "rows are told apart by the keys of all ranges, so the first waits for the headers of each",
}
"""Why the first rows of a format cannot come at once."""


class Run(NamedTuple):
    """One ``list`` in a process of its own: seconds of processor time, peak of memory in bytes, seconds to a row."""

    seconds: float
    memory: int
    first_row: float


def rows(folder: Path, decades: tuple[int, ...] = DECADES) -> Iterator[Row]:
    """See measure.Row."""
    formats: dict[str, Callable[[Path, int], Path]] = {
        "caf": inputs.caf,
        "zip": _zip,
        "taco": _taco,
        "tar": inputs.tar,
        "rca": lambda folder, count: inputs.rca(folder, count, 64)[0],
        "datas3t": _dataset,
    }
    for name, make in formats.items():
        yield from _decades(name, make, folder, decades[: LARGEST.get(name, len(DECADES))])
    yield from _payloads("caf", inputs.sparse_caf, folder)
    yield from _payloads("tar", _sparse_tar, folder)


def quick_rows(folder: Path) -> Iterator[Row]:
    """The same up to 100,000 members."""
    return rows(folder, QUICK_DECADES)


def _decades(name: str, make: Callable[[Path, int], Path], folder: Path, decades: tuple[int, ...]) -> Iterator[Row]:
    runs = []
    for count in decades:
        path = make(folder, count)
        runs.append(_listed(path))
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for count, before, after in zip(decades[1:], runs, runs[1:], strict=False):
        work = f"list {count:,} / {count // 10:,}"
        yield Row(f"{name}: {work}", before.seconds, after.seconds, LINEAR * 10)
        yield Row(f"{name}: memory to {work}", before.memory, after.memory, LINEAR * 10, "B")
    why = f" ({WHY[name]})" if name in WHY else ""
    yield Row(f"{name}: first row of {decades[-1]:,} / {FIRST_ROWS_S} s{why}", FIRST_ROWS_S, runs[-1].first_row, 1.0)


def _payloads(name: str, make: Callable[[Path, int], Path], folder: Path) -> Iterator[Row]:
    runs = []
    for size in PAYLOADS:
        path = make(folder, size)
        runs.append(_listed(path))
        path.unlink()
    for size, run in zip(PAYLOADS[1:], runs[1:], strict=True):
        of = f"list one member of {size >> 30} GiB / 1 MiB"
        yield Row(f"{name}: {of}", runs[0].seconds, run.seconds, LINEAR)
        yield Row(f"{name}: memory to {of}", runs[0].memory, run.memory, LINEAR, "B")


def _listed(path: Path) -> Run:
    """List the names of an archive that no earlier run has left anything of."""
    command = [sys.executable, "-S", "-c", WATCH, *PRODUCT, "list", "--names", "--quiet", path]
    began = time.perf_counter()
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        first = time.perf_counter() - began
        while process.stdout.read(1 << 20):
            pass
        seconds, kilobytes = process.stderr.read().split()
    return Run(float(seconds), int(kilobytes) * (1 if sys.platform == "darwin" else 1024), first)


def _zip(folder: Path, count: int) -> Path:
    path = folder / f"growth-{count}.zip"
    write(path, count)
    return path


def _taco(folder: Path, count: int) -> Path:
    path = folder / f"growth-{count}.tacozip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("TACO_HEADER"), payload_of(()))
        for number in range(count - 1):
            archive.writestr(zipfile.ZipInfo(f"d{number // 1000}/{number:08}.txt"), b"x%d" % number)
    return path


def _dataset(folder: Path, count: int) -> Path:
    """A dataset of ranges of 1,000 datapoints of 1 KiB each."""
    dataset = folder / f"growth-{count}" / "datas3t" / "weather"
    points = dataset / "datapoints"
    points.mkdir(parents=True)
    for first in range(1, count, RANGE):
        ranges.datas3t_range(points, RANGE, 1024, first)
    return folder / f"growth-{count}"


def _sparse_tar(folder: Path, size: int) -> Path:
    path = folder / f"sparse-{size}.tar"
    member = tarfile.TarInfo("sparse.bin")
    member.size = size
    with path.open("wb") as file:
        file.write(member.tobuf(tarfile.GNU_FORMAT))
        file.truncate(512 + size + 1024)
    return path
