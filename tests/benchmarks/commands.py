"""Whole commands against the programs that people use else, in processor time: list, extract and create."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.benchmarks.measure import PRODUCT, Row, environment, in_turn, processor_time

FILES = 20_000
EXTRACTED = """
import fcntl, os, struct, sys, zipfile, zlib

os.mkdir(sys.argv[2])
folders = {}
with zipfile.ZipFile(sys.argv[1]) as archive:
    for info in archive.infolist():
        archive.fp.seek(info.header_offset + 26)
        archive.fp.seek(sum(struct.unpack("<2H", archive.fp.read(4))), 1)
        data = zlib.decompress(archive.fp.read(info.compress_size), -15)
        assert zlib.crc32(data) == info.CRC
        folder, _, name = info.filename.rpartition("/")
        if folder not in folders:
            path = os.path.join(sys.argv[2], folder)
            os.makedirs(path)
            folders[folder] = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        at = folders[folder]
        try:
            os.stat(name, dir_fd=at, follow_symlinks=False)
        except FileNotFoundError:
            pass
        part = f".part-{os.urandom(8).hex()}"
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=at)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(file, data)
        os.utime(file, (0, 0))
        os.close(file)
        os.link(part, name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
        os.unlink(part, dir_fd=at)
"""
"""Extracts a ZIP with the calls that make it safe and nothing else: the least that ``extract`` takes."""
FLOOR = """
import os, stat, sys, zlib

def walk(folder):
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            yield from walk(entry.path)
        else:
            yield entry.path, status

out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
for path, status in list(walk(sys.argv[2])):
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    before, data, after = os.fstat(file), os.read(file, status.st_size), os.fstat(file)
    os.close(file)
    zlib.crc32(data)
    os.write(out, data)
os.fsync(out)
"""
"""The least that Python takes to put files into one, if it looks whether each has changed, as creating does."""
LOADED = """
import sys
from inspector.__main__ import main
main(sys.argv[1:])
print(*sorted(each for each in sys.modules if each.startswith("inspector")), sep=", ", file=sys.stderr)
"""
"""Says which modules of the program a command has loaded."""
LISTED = 300_000
PEER = [sys.executable, "-m", "zipfile"]


def rows(folder: Path) -> Iterator[Row]:
    """See measure.Row."""
    small = folder / "small.zip"
    write(small, 20)
    yield Row(
        "list a ZIP of 20 members / zipfile -l",
        *in_turn([*PEER, "-l", small], [*PRODUCT, "list", small], 7),
        2.6,
    )
    modules = [sys.executable, "-c", f"import {loaded(['list', small])}"]
    yield Row(
        "... of which importing the modules that it loads / zipfile -l",
        *in_turn([*PEER, "-l", small], modules, 7),
        2.6,
    )
    yield from many_files(folder)
    large = folder / "listed.zip"
    write(large, LISTED)
    yield Row(f"list a ZIP of {LISTED:,} / zipfile -l", *in_turn([*PEER, "-l", large], [*PRODUCT, "list", large]), 0.5)
    large.unlink()


def loaded(command: list[str | Path]) -> str:
    """The modules of the program that a command loads, as an import statement has them."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *command], check=True, capture_output=True, text=True, env=environment()
    )
    return done.stderr.splitlines()[-1]


def many_files(folder: Path) -> Iterator[Row]:
    """Extract and create archives of many small files, if the programs are there to compare with."""
    tree, out = small_files(folder / "tree", FILES), folder / "out"
    packed = folder / "tree.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in tree.rglob("*.txt"):
            archive.write(path, path.relative_to(folder))
    if shutil.which("unzip"):
        times = in_turn(["unzip", "-q", packed, "-d", out], [*PRODUCT, "extract", packed, "--to", out], remove=out)
        yield Row(f"extract {FILES:,} small files / unzip", *times, 1.5)
        floor = median(processor_time([sys.executable, "-c", EXTRACTED, packed, out], out) for _ in range(3))
        yield Row("... of which a bare loop with the same system calls / unzip", times[0], floor, 1.5)
    if shutil.which("zip"):
        zipped = folder / "zipped.zip"
        peer: list[str | Path] = ["sh", "-c", f"rm -f {zipped}; zip -qr {zipped} {tree}"]
        for name, suffix in (("caf", "caf"), ("taco", "tacozip"), ("rca", "rca")):
            made = folder / f"made.{suffix}"
            times = in_turn(peer, [*PRODUCT, "create", name, made, tree], remove=made)
            yield Row(f"create {name} of {FILES:,} small files / zip -r", *times, 1.2)
        floor = median(processor_time([sys.executable, "-c", FLOOR, made, tree], None) for _ in range(3))
        yield Row("... of which a bare loop that looks, opens, reads / zip -r", times[0], floor, 1.2)
        made.unlink()
    shutil.rmtree(tree)
    packed.unlink()


def small_files(tree: Path, count: int) -> Path:
    """A folder with so many files of about 400 bytes, 200 in a folder."""
    for number in range(count):
        path = tree / f"d{number // 200}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"line %d\n" % number * 40)
    return tree


def write(path: Path, members: int) -> None:
    """A ZIP of so many small members."""
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(members):
            archive.writestr(zipfile.ZipInfo(f"d{number // 1000}/{number:08}.txt"), b"x%d" % number)
