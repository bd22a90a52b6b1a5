"""TACO archives as tacozip writes them, and with another payload of their header."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import tacozip

from tests.formats.zip.zip_building import patched


def written(files: dict[str, bytes], entries: list[tuple[int, int]]) -> bytes:
    """An archive of files by their names, with these entries of its header."""
    with TemporaryDirectory() as folder:
        sources = [Path(folder) / f"{number}.bin" for number in range(len(files))]
        for source, data in zip(sources, files.values(), strict=True):
            source.write_bytes(data)
        target = Path(folder) / "made.tacozip"
        tacozip.create(str(target), list(map(str, sources)), list(files), entries=entries)
        return target.read_bytes()


def updated(data: bytes, payload: bytes, *, local: bool = True, central: bool = True) -> bytes:
    """The archive with another payload, and its CRC in the places wanted."""
    crc = struct.pack("<I", zlib.crc32(payload))
    data = patched(data, 41, payload)
    data = patched(data, 14, crc) if local else data
    return patched(data, data.index(b"PK\1\2") + 16, crc) if central else data
