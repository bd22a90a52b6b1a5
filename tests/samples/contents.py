"""What a person might archive: small pictures, logs, notes. Always the same bytes."""

from __future__ import annotations

import struct
import zlib
from random import Random


def png(width: int, height: int, seed: int) -> bytes:
    """A small picture: a gradient with a disc in it."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            inside = (x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2
            rows += bytes((230, 159, 0) if inside else (40 + 150 * x // width, 120, 60 + 17 * seed + 100 * y // height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(bytes(rows), 9))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + body + chunk(b"IEND", b"")


def readings(station: int, count: int) -> bytes:
    """Lines of a log, similar from station to station."""
    random = Random(station)
    lines = (
        f"2024-05-{1 + row // 24:02d}T{row % 24:02d}:00:00Z station-{station} {random.uniform(4, 21):.1f} °C\n"
        for row in range(count)
    )
    return "".join(lines).encode()


def noise(size: int) -> bytes:
    """Bytes that no compressor makes smaller."""
    return Random(size).randbytes(size)


def journey() -> dict[str, bytes]:
    """What a person might archive."""
    return {
        "readme.txt": b"Three days on the coast.\nEvery file in here is made up.\n",
        "photos/tile_0001.png": png(64, 48, 1),
        "photos/tile_0002.png": png(64, 48, 3),
        "track/points.csv": b"time,lat,lon\n"
        + b"".join(b"%d,54.%04d,18.%04d\n" % (n, n * 7, n * 9) for n in range(24)),
        "notes/zażółć gęślą.txt": b"Pisane po polsku.\n",
        "notes/報告.txt": "短い報告。\n".encode(),
        "empty.dat": b"",
        "a/b/c/deep.json": b'{"depth": 4, "leaf": true}\n',
    }
