"""What tests of S3 put there: the samples, and archives of many members."""

from __future__ import annotations

import json
from pathlib import Path

import tacozip

from inspector.resources import samples
from tests.formats.datas3t.range_building import hashed_rows, rows_frame
from tests.formats.tar.tar_building import build
from tests.s3.bucket import BUCKET, Bucket

HERE = Path(__file__).parent.parent / "samples"
SAMPLES = [*samples(), *sorted(path for path in HERE.iterdir() if path.suffix != ".py" and path.name != "__pycache__")]


def members(count: int) -> list[tuple[str, bytes]]:
    return [(f"folder/{number:06d}.bin", number.to_bytes(4, "big") * 60) for number in range(count)]


def caf(count: int) -> bytes:
    index, data = {}, bytearray()
    for name, content in members(count):
        index[name] = {"start_byte": len(data), "end_byte": len(data) + len(content)}
        data += content
    text = json.dumps({"format_version": "1.0", "files": index}).encode()
    return bytes(data) + text + len(text).to_bytes(4, "little")


def taco(count: int, folder: Path) -> bytes:
    """Every 100th member holds the same: to make thousands of files takes longer than the test."""
    names = []
    for number, (name, content) in enumerate(members(count)):
        path = folder / f"{number % 100}.bin"
        if number < 100:
            path.write_bytes(content)
        names.append((str(path), name))
    target = folder / "made.tacozip"
    tacozip.create(str(target), *map(list, zip(*names, strict=True)), [(157, 1000)])
    return target.read_bytes()


def dataset(bucket: Bucket, root: str, count: int, *, size: int = 0, described: bool = True) -> str:
    """Ranges of ten datapoints each, of ``size`` bytes or, for 0, of as many as their key says."""
    for number in range(count):
        first, last = 10 * number + 1, 10 * number + 10
        tar = build([(f"{key:020d}.txt", b"x" * (size or key)) for key in range(first, last + 1)])
        name = f"{root}/dataset/weather/datapoints/{first:020d}-{last:020d}.tar"
        bucket.put(name, tar)
        if described:
            bucket.put(f"{name}.metadata", rows_frame(hashed_rows(tar)))
    return f"s3://{BUCKET}/{root}/dataset/weather"
