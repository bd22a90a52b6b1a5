"""The same work by the programs that people use else, each row against one of them; a missing one is said."""

from __future__ import annotations

import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks import inputs
from tests.benchmarks.commands import small_files, write
from tests.benchmarks.measure import PRODUCT, Row, Skipped, in_turn

LISTED = 100_000
FILES = 2_000
PYTHON = sys.executable
RATARMOUNT = "import sys; from ratarmountcore import factory; factory.open_mount_source(sys.argv[1])"
TACOZIP = (
    "import sys, pathlib, tacozip; paths = sorted(str(p) for p in pathlib.Path(sys.argv[2]).rglob('*.txt'));"
    "tacozip.create(sys.argv[1], paths, paths, [(0, 0)])"
)
MODULES = ("ratarmountcore", "tacozip")
"""Peers that are modules of this Python."""
AIMED = ("python -m zipfile", "python -m tarfile", "ratarmountcore", "unzip")
"""Peers that are to be reached; the others show what compiled programs take."""
Command = list[str | Path]


def rows(folder: Path) -> Iterator[Row | Skipped]:
    """See measure.Row."""
    small, many, tar = folder / "peers.zip", folder / "many.zip", inputs.tar(folder, LISTED)
    write(small, 20)
    write(many, LISTED)
    for path, count, reach in ((small, 20, 2.6), (many, LISTED, 0.5)):
        peers: dict[str, Command] = {
            "python -m zipfile": [PYTHON, "-m", "zipfile", "-l", path],
            "unzip -l": ["unzip", "-l", path],
            "bsdtar": ["bsdtar", "-tf", path],
        }
        yield from _against(peers, f"list a ZIP of {count:,}", [*PRODUCT, "list", path], reach)
    peers = {
        "python -m tarfile": [PYTHON, "-m", "tarfile", "-l", tar],
        "tar": ["tar", "-tf", tar],
        "bsdtar": ["bsdtar", "-tf", tar],
        "ratarmountcore": [PYTHON, "-c", RATARMOUNT, tar],
    }
    yield from _against(peers, f"list a tar of {LISTED:,}", [*PRODUCT, "list", tar], 1.0)
    for path in (many, tar):
        path.unlink()
    yield from _files(folder)


def _files(folder: Path) -> Iterator[Row | Skipped]:
    """Extract and create archives of small files: few, so that the start weighs more than in the suite of commands."""
    tree, out = small_files(folder / "files", FILES), folder / "extracted"
    packed, packed_tar = folder / "files.zip", folder / "files.tar"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, tarfile.open(packed_tar, "w") as tar:
        for path in sorted(tree.rglob("*.txt")):
            archive.write(path, path.relative_to(folder))
            tar.add(path, path.relative_to(folder))
    to: Command = ["--to", out]
    peers: dict[str, Command] = {
        "unzip": ["unzip", "-q", packed, "-d", out],
        "bsdtar": ["sh", "-c", f"mkdir {out}; bsdtar -xf {packed} -C {out}"],
        "python -m zipfile": [PYTHON, "-m", "zipfile", "-e", packed, out],
    }
    yield from _against(peers, f"extract {FILES:,} of a ZIP", [*PRODUCT, "extract", packed, *to], 1.5, out)
    peers = {"tar": ["sh", "-c", f"mkdir {out}; tar -xf {packed_tar} -C {out}"]}
    yield from _against(peers, f"extract {FILES:,} of a tar", [*PRODUCT, "extract", packed_tar, *to], 1.5, out)
    made = folder / "made"
    for kind in ("caf", "taco", "rca"):
        peers = {
            "zip": ["sh", "-c", f"rm -f {made}.zip; zip -qr {made}.zip {tree}"],
            "tar": ["tar", "-Pcf", made, tree],
            "bsdtar": ["bsdtar", "-Pcf", made, tree],
            "tacozip": [PYTHON, "-c", TACOZIP, made, tree],
        }
        if kind != "taco":
            del peers["tacozip"]
        yield from _against(peers, f"create {kind} of {FILES:,}", [*PRODUCT, "create", kind, made, tree], None, made)
    shutil.rmtree(tree)
    packed.unlink()
    packed_tar.unlink()


def _against(
    peers: dict[str, Command], work: str, product: Command, reach: float | None, remove: Path | None = None
) -> Iterator[Row | Skipped]:
    for name, command in peers.items():
        there = name.startswith("python ") or (find_spec(name) if name in MODULES else shutil.which(name.split()[0]))
        if not there:
            yield Skipped(f"{work} / {name}", name)
            continue
        aim = reach if name in AIMED else None
        yield Row(f"{work} / {name}", *in_turn(command, product, remove=remove), aim)
