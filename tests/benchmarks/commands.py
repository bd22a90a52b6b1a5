"""Whole commands against the programs that people use else, in processor time: list, extract, create, strings."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from inspector.core.limits import INDEX_CACHE
from tests.benchmarks import inputs
from tests.benchmarks.measure import Row

FILES = 20_000
LISTED = 300_000
ZEROS = 32 << 20
RUNS = 3
PRODUCT = [sys.executable, "-m", "inspector"]
PEER = [sys.executable, "-m", "zipfile"]


def rows(folder: Path) -> Iterator[Row]:
    """See measure.Row."""
    small = folder / "small.zip"
    write(small, 20)
    yield Row("list a ZIP of 20 members / zipfile -l", *pair([*PEER, "-l", small], [*PRODUCT, "list", small], 7), 2.6)
    yield from many_files(folder)
    large = folder / "listed.zip"
    write(large, LISTED)
    yield Row(f"list a ZIP of {LISTED:,} / zipfile -l", *pair([*PEER, "-l", large], [*PRODUCT, "list", large]), 0.5)
    large.unlink()
    again, _ = inputs.rca(folder, 100_000)
    kept = {INDEX_CACHE.variable: "512", "XDG_CACHE_HOME": str(folder / "cache")}
    spent([*PRODUCT, "list", again], None, kept)
    yield Row("reopen an RCA of 100,000 members / 0.3 s", 0.3, spent([*PRODUCT, "list", again], None, kept), 1.0)
    again.unlink()
    zeros = folder / "zeros.bin"
    zeros.write_bytes(bytes(ZEROS))
    times = pair([*PRODUCT, "list", small], [*PRODUCT, "strings", zeros])
    yield Row("strings of 32 MiB of zeros / list a ZIP of 20 members", *times, 2.0)
    zeros.unlink()


def many_files(folder: Path) -> Iterator[Row]:
    """Extract and create archives of many small files, if the programs are there to compare with."""
    tree, out = folder / "tree", folder / "out"
    for number in range(FILES):
        path = tree / f"d{number // 200}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"line %d\n" % number * 40)
    packed = folder / "tree.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in tree.rglob("*.txt"):
            archive.write(path, path.relative_to(folder))
    if shutil.which("unzip"):
        times = pair(["unzip", "-q", packed, "-d", out], [*PRODUCT, "extract", packed, "--to", out], remove=out)
        yield Row(f"extract {FILES:,} small files / unzip", *times, 1.5)
    if shutil.which("zip"):
        zipped = folder / "zipped.zip"
        peer: list[str | Path] = ["sh", "-c", f"rm -f {zipped}; zip -qr {zipped} {tree}"]
        for name, suffix in (("caf", "caf"), ("taco", "tacozip"), ("rca", "rca")):
            made = folder / f"made.{suffix}"
            times = pair(peer, [*PRODUCT, "create", name, made, tree], remove=made)
            yield Row(f"create {name} of {FILES:,} small files / zip -r", *times, 1.2)
    shutil.rmtree(tree)
    packed.unlink()


def write(path: Path, members: int) -> None:
    """A ZIP of so many small members."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(members):
            archive.writestr(zipfile.ZipInfo(f"d{number // 1000}/{number:08}.txt"), b"x%d" % number)


def pair(
    reference: list[str | Path], product: list[str | Path], runs: int = RUNS, remove: Path | None = None
) -> tuple[float, float]:
    """The least processor time of both, run in turn; ``remove`` is deleted after each. Other work changes it little."""
    used = [(spent(reference, remove), spent(product, remove)) for _ in range(runs + 1)][1:]
    return min(each[0] for each in used), min(each[1] for each in used)


def spent(command: list[str | Path], remove: Path | None, given: dict[str, str] | None = None) -> float:
    """Seconds of processor time that one run takes, of the system's too; ``given`` is added to its environment."""
    # An installed program has its bytecode beside it; here the first, uncounted run writes it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    environment |= {INDEX_CACHE.variable: "0"} | (given or {})  # a second run decodes like the first
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if remove is not None:
        shutil.rmtree(remove) if remove.is_dir() else remove.unlink(missing_ok=True)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
