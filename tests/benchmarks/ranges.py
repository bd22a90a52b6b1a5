"""Checking a datas3t range against the bare hash over the same bytes."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import xxhash
import zstandard

from inspector.core.archive import Emitter
from inspector.core.program.progress import Progress
from inspector.core.verdict import Verdict
from inspector.operations.check.checking import forget_check
from inspector.operations.open import opening
from inspector.sources.local.file import FileSource
from tests.benchmarks.measure import Row, paired

GIB = 1 << 30
PIECE = 512 * 1024
REACH = 1 / 0.9
"""Nine tenths of the reference's speed, as a ratio of times."""


def datas3t_rows(folder: Path) -> Iterator[Row]:
    """xxHash64 of 1 GiB in the cache: large datapoints, and many small ones."""
    for size in (8 << 20, 64 << 10):
        path = datas3t_range(folder, GIB // size, size)
        archive = decoded(path)
        bare, product = paired(partial(hashed, path), partial(verified, archive))
        yield Row(f"datas3t: xxHash64, {GIB // size:,} datapoints of {size >> 10:,} KiB", bare, product, REACH)
        path.unlink()
        path.with_name(path.name + ".metadata").unlink()


def datas3t_range(folder: Path, count: int, size: int, first: int = 1) -> Path:
    """A range of ``count`` datapoints of ``size`` bytes, a multiple of 512, from key ``first`` on, with metadata."""
    last = first + count - 1
    path = folder / f"{first:020d}-{last:020d}.tar"
    content = bytes(range(256)) * (size // 256)
    rows = []
    with path.open("wb") as file:
        for key in range(first, last + 1):
            info = tarfile.TarInfo(f"{key:020d}.bin")
            info.size = size
            begin = file.tell()
            point = key.to_bytes(8, "big") + content[8:]
            file.write(info.tobuf(tarfile.USTAR_FORMAT) + point)
            rows.append(
                {
                    "id": str(key),
                    "begin_offset": str(begin),
                    "end_offset": str(file.tell()),
                    "data_hash": f"{xxhash.xxh64_intdigest(point):x}",
                }
            )
        file.write(bytes(1024))
    path.with_name(path.name + ".metadata").write_bytes(zstandard.compress(json.dumps(rows).encode()))
    return path


def decoded(path: Path) -> opening.Opened:
    """The archive at ``path``."""
    archive = opening.start(FileSource(path))
    opening.decode(archive, Progress())
    return archive


def hashed(path: Path) -> str:
    """The reference: all bytes of the file, hashed as they come."""
    buffer = bytearray(PIECE)
    view = memoryview(buffer)
    digest = xxhash.xxh64()
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(view[:count])
    return digest.hexdigest()


def verified(archive: opening.Opened) -> None:
    """The product: every datapoint against its row. What is asked of names has no part in it."""
    assert archive.decoder is not None
    forget_check(archive)
    archive.decoder.check(archive, Emitter(archive), Progress())
    assert all(archive.verdict(index) is Verdict.VERIFIED for index in range(len(archive.members)))
