"""Ranges to test with: a tar of datapoints and its metadata, as a sound writer makes them."""

from __future__ import annotations

import io
import json
import struct
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import xxhash
import zstandard

from tests.formats.tar.tar_building import build

Row = dict[str, Any]


def points(first: int, last: int, size: int = 60) -> dict[str, bytes]:
    return {f"{key:020d}.json": b"point %d " % key * (key % 7 + 1) * (size // 8) for key in range(first, last + 1)}


def hashed_rows(data: bytes) -> list[Row]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        rows = []
        for info in archive:
            file = archive.extractfile(info)
            assert file is not None
            rows.append(
                {
                    "id": str(int(info.name.split(".")[0])),
                    "begin_offset": str(info.offset),
                    "end_offset": str(info.offset_data + -(-info.size // 512) * 512),
                    "data_hash": f"{xxhash.xxh64_intdigest(file.read()):x}",
                }
            )
        return rows


def unpadded(data: bytes) -> list[Row]:
    """The rows of a tar with end offsets that leave out the padding."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        ends = [str(info.offset_data + info.size) for info in archive]
    return [{**row, "end_offset": end} for row, end in zip(hashed_rows(data), ends, strict=True)]


def index_row(offset: int, blocks: int, size: int) -> bytes:
    return struct.pack(">QH", offset, blocks) + size.to_bytes(6, "big")


def index_rows(data: bytes) -> list[bytes]:
    """The rows of the index of a tar, as they should be."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [index_row(each.offset, (each.offset_data - each.offset) // 512, each.size) for each in archive]


def frame(text: bytes, *, checksum: bool = False) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=checksum).compress(text)


def rows_frame(rows: object) -> bytes:
    return frame(json.dumps(rows, separators=(",", ":")).encode())


def put(folder: Path, data: bytes, metadata: bytes | None, first: int, last: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{first:020d}-{last:020d}.tar"
    path.write_bytes(data)
    if metadata is not None:
        path.with_name(path.name + ".metadata").write_bytes(metadata)
    return path


def put_range(folder: Path, contents: Mapping[str, bytes]) -> Path:
    keys = [int(name.split(".")[0]) for name in contents]
    data = build(contents.items())
    return put(folder, data, rows_frame(hashed_rows(data)), min(keys), max(keys))
