"""Checking: every checksum of an archive, against plain hashing of as many bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import blake2s
from pathlib import Path
from threading import Thread

import zstandard
from isal.isal_zlib import crc32

from inspector.core.archive import Emitter
from inspector.core.program.progress import Progress
from inspector.operations.check.checking import check_archive, forget_check
from inspector.operations.open import opening
from inspector.sources.local.file import FileSource
from tests.benchmarks import inputs
from tests.benchmarks.measure import Row, paired

RCA_SIZE = 512 << 20


def rca_rows(folder: Path) -> Iterator[Row]:
    """RCA archives of one segment and of two, against blake2s alone on one core, and on two.

    Of two segments by the specification one is read twice: nothing but its hash tells that it is not rcarch's.
    """
    piece = os.urandom(1 << 20)

    def hashing() -> None:
        digest = blake2s(digest_size=8)
        for _ in range(RCA_SIZE // len(piece)):
            digest.update(piece)

    def half() -> None:
        digest = blake2s(digest_size=8)
        for _ in range(RCA_SIZE // len(piece) // 2):
            digest.update(piece)

    def halves() -> None:
        other = Thread(target=half)
        other.start()
        half()
        other.join()

    def three_halves() -> None:
        halves()
        half()

    # Where two threads of nothing but blake2s do not reach the limit on a machine, no check can.
    yield Row("floor: blake2s of two halves of 512 MiB at once / whole", *paired(hashing, halves, 3), 1 / 1.6)
    cases: tuple[tuple[int, str, str, Callable[[], None], float], ...] = (
        (1, "rcarch", "blake2s", hashing, 1 / 0.9),
        (2, "rcarch", "blake2s", hashing, 1 / 1.6),
        (2, "rcarch", "two halves at once", halves, 1 / 0.9),
        (2, "spec", "blake2s", hashing, 1 / 0.9),
        (2, "spec", "two halves at once, then one", three_halves, 1 / 0.9),
    )
    for segments, convention, name, reference, reach in cases:
        path = _rca(folder, segments, piece, rcarch=convention == "rcarch")
        archive = opening.start(FileSource(path))
        opening.decode(archive, Progress())
        work = f"RCA: check 512 MiB, segments: {segments} ({convention}) / {name}"
        yield Row(work, *paired(reference, partial(check_archive, archive, Progress()), 3), reach)
        path.unlink()


def _rca(folder: Path, segments: int, content: bytes, *, rcarch: bool) -> Path:
    """An RCA archive of RCA_SIZE bytes of content that does not compress, in two chunks."""
    path = folder / f"segments-{segments}.rca"
    with path.open("wb") as file:
        file.seek(10)
        digest = blake2s(digest_size=8)
        for number in range(segments):
            if number:
                stored = digest.digest()
                digest = blake2s(inputs.varint(8 << 6 | 1) + (stored if rcarch else b""), digest_size=8)
                file.write(inputs.varint(8 << 6 | 1) + stored)
            for block in _rca_blocks(content, number, RCA_SIZE // segments // len(content)):
                digest.update(block)
                room = max(0, 0x8000 - file.tell())
                file.write(block[:room])
                if room:
                    file.seek(0x8000 + 12)
                file.write(block[room:])
        size = file.tell() - 0x8000
        file.seek(0)
        file.write(b"\x80\x00" + bytes(8))
        file.seek(0x8000)
        file.write(size.to_bytes(4, "big") + digest.digest())
    return path


def _rca_blocks(content: bytes, segment: int, count: int) -> Iterable[bytes]:
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=False, write_content_size=False).compressobj()
    for number in range(count):
        raw = b"%d/%05d\0" % (segment, number) + content
        blob = compressor.compress(raw) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        yield inputs.varint(len(blob) << 1) + blob


FILES = """
import sys
from inspector.core.program.progress import Progress
from inspector.operations.protocol.check_views import CheckTarget
from inspector.operations.audit.audit import check_many
from inspector.operations.protocol.check_views import ReportKind
if __name__ == "__main__":
    wanted = [CheckTarget(location) for location in sys.argv[2:]]
    outcomes = check_many(wanted, ReportKind.JSON, Progress(), int(sys.argv[1]))
    assert all(each.result.state == "sound" for each in outcomes)
"""


HASHING = """
import sys
from hashlib import blake2s
for location in sys.argv[1:]:
    digest = blake2s(digest_size=8)
    with open(location, "rb", buffering=0) as file:
        while piece := file.read(1 << 19):
            digest.update(piece)
"""


def many_rows(folder: Path) -> Iterator[Row]:
    """Two files at once in two processes, against one after the other in one; both with their start.

    The same of processes that hash the files and do nothing else is the floor.
    """
    script = folder / "check_files.py"
    script.write_text(FILES)
    piece = os.urandom(1 << 20)
    made = (_rca(folder, 1, piece, rcarch=True).rename(folder / f"{name}.rca") for name in ("first", "second"))
    paths = list(made)
    # An installed program has its bytecode beside it; here the first, uncounted start writes it.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])

    def checking(workers: int) -> Callable[[], object]:
        command = [sys.executable, str(script), str(workers), *map(str, paths)]
        return lambda: subprocess.run(command, check=True, env=environment)

    def hashing(*shares: list[Path]) -> Callable[[], None]:
        def work() -> None:
            commands = [[sys.executable, "-c", HASHING, *map(str, share)] for share in shares]
            for each in [subprocess.Popen(command) for command in commands]:
                assert each.wait() == 0

        return work

    floor = paired(hashing(paths), hashing(paths[:1], paths[1:]))
    yield Row("floor: bare blake2s of the two files: at once / one by one", *floor, 1 / 1.6)
    checking(2)()
    at_once = paired(hashing(paths[:1], paths[1:]), checking(2))
    yield Row("two RCA of 512 MiB: check at once / bare blake2s at once", *at_once, None)
    yield Row("two RCA of 512 MiB: check at once / one by one", *paired(checking(1), checking(2)), 1 / 1.6)
    for path in paths:
        path.unlink()


PIECE = 512 * 1024
"""Bytes that a bare loop reads at a time."""


def zip_rows(folder: Path) -> Iterator[Row]:
    """CRC-32 of a stored ZIP of 1 GiB in cache, and of 100,000 small members."""
    path = folder / "large.zip"
    write_zip(path, 64, 16 << 20)
    checked = _checked(path)
    yield Row("CRC-32: check 1 GiB stored ZIP / isal over readinto", *paired(_crc_of(path), _compared(path)), 1 / 0.9)
    yield Row("CRC-32: check 1 GiB stored ZIP / zipfile.testzip", *paired(_tested(path), checked, 3), 1.0)
    if shutil.which("unzip"):
        command = ["unzip", "-tqq", str(path)]
        yield Row(
            "CRC-32: check 1 GiB stored ZIP / unzip -t",
            *paired(lambda: subprocess.run(command, check=True), checked, 3),
            1.0,
        )
    path.unlink()
    write_zip(path, 16_384, 64 << 10)
    yield Row(
        "CRC-32: check 16,384 members of 64 KiB / isal over readinto", *paired(_crc_of(path), _compared(path)), 1 / 0.9
    )
    each = paired(_crc_of(path), _crc_of_each(path, 16_384, 64 << 10))
    yield Row("... of which a bare loop over the members / isal over readinto", *each, 1 / 0.9)
    path.unlink()
    write_zip(path, 100_000, 1 << 10)
    yield Row(
        "CRC-32: check 100,000 members of 1 KiB / zipfile.testzip", *paired(_tested(path), _checked(path), 3), 1.0
    )
    path.unlink()


def write_zip(path: Path, members: int, size: int) -> None:
    """A ZIP of ``members`` stored members of ``size`` bytes each."""
    data = os.urandom(size)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(members):
            archive.writestr(zipfile.ZipInfo(f"{number:08}.bin"), data)


def _decoded(path: Path) -> opening.Opened:
    archive = opening.start(FileSource(path))
    opening.decode(archive, Progress())
    return archive


def _compared(path: Path) -> Callable[[], str]:
    """The format's own check of an archive that is decoded already."""
    archive = _decoded(path)
    decoder = archive.decoder
    assert decoder is not None

    def work() -> str:
        forget_check(archive)
        return decoder.check(archive, Emitter(archive), Progress())

    return work


def _checked(path: Path) -> Callable[[], str]:
    """Everything: opening, decoding, all rules and all checksums."""
    return lambda: check_archive(_decoded(path), Progress())


def _crc_of(path: Path) -> Callable[[], int]:
    def work() -> int:
        buffer = bytearray(PIECE)
        view = memoryview(buffer)
        crc = 0
        with path.open("rb", buffering=0) as file:
            while read := file.readinto(buffer):
                crc = crc32(view[:read], crc)
        return crc

    return work


def _crc_of_each(path: Path, members: int, size: int) -> Callable[[], bytearray]:
    """The least that a check does: read each member, compare its CRC-32, note a verdict."""

    with zipfile.ZipFile(path) as archive:
        recorded = [(info.header_offset + 30 + len(info.filename), info.CRC) for info in archive.infolist()]

    def work() -> bytearray:
        verdicts = bytearray(members)
        descriptor = os.open(path, os.O_RDONLY)
        buffer = bytearray(size)
        view = [memoryview(buffer)]
        for at, (start, crc) in enumerate(recorded):
            os.preadv(descriptor, view, start)
            verdicts[at] = crc32(buffer) == crc
        os.close(descriptor)
        return verdicts

    return work


def _tested(path: Path) -> Callable[[], str | None]:
    def work() -> str | None:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip()

    return work
