"""Large archives for the benchmarks, made once a run in a temporary folder."""

from __future__ import annotations

import struct
import tarfile
from hashlib import blake2s
from pathlib import Path

import zstandard


def caf(folder: Path, count: int) -> Path:
    """A CAF of ``count`` members of 64 bytes whose data section is sparse; about 101 bytes of index a member."""
    path = folder / f"million-{count}.caf"
    with path.open("wb") as file:
        file.truncate(count * 64)
        file.seek(count * 64)
        index_size = file.write(b'{"format_version":"1.0","files":{')
        for start in range(0, count, 10_000):
            entries = (
                f'"dataset/{number // 1000:05d}/image_{number:08d}.jpeg":{{"start_byte":{number * 64},'
                f'"end_byte":{number * 64 + 64}}}'
                for number in range(start, min(start + 10_000, count))
            )
            index_size += file.write((b"," if start else b"") + ",".join(entries).encode())
        index_size += file.write(b"}}")
        file.write(struct.pack("<I", index_size))
    return path


def sparse_caf(folder: Path, size: int) -> Path:
    """A CAF of one sparse member, ``size`` bytes in all."""
    # White space before the number keeps the index as long whatever the number is.
    entry = b'{"format_version":"1.0","files":{"sparse.bin":{"start_byte":0,"end_byte":%20d}}}'
    data = size - 4 - len(entry % 0)
    index = entry % data
    path = folder / "sparse.caf"
    with path.open("wb") as file:
        file.seek(data)
        file.write(index + struct.pack("<I", len(index)))
    return path


def tar(folder: Path, count: int) -> Path:
    """A tar of ``count`` members of one byte."""
    path = folder / f"members-{count}.tar"
    block = bytearray(tarfile.TarInfo("0" * 20 + ".json").tobuf(tarfile.USTAR_FORMAT))
    block[124:136] = b"00000000001\0"
    with path.open("wb") as file:
        for number in range(count):
            block[0:20] = b"%020d" % number
            block[148:156] = b" " * 8
            block[148:156] = b"%06o\0 " % sum(block)
            file.write(bytes(block) + b"x" + bytes(511))
        file.write(bytes(1024))
    return path


def varint(number: int) -> bytes:
    """A little-endian base-128 number."""
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def rca(folder: Path, count: int, size: int = 1024) -> tuple[Path, list[bytes]]:
    """An RCA of ``count`` blobs of ``size`` bytes in one segment, and the compressed blobs by themselves."""
    compressor = zstandard.ZstdCompressor(level=3, write_checksum=False, write_content_size=False).compressobj()
    blobs = []
    for number in range(count):
        content = (b'{"number": %d, "value": "' % number) * (size // 20)
        raw = b"log/%08d.json\0" % number + content[:size]
        blobs.append(compressor.compress(raw) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    inner = b"".join(varint(len(blob) << 1) + blob for blob in blobs)
    digest = blake2s(inner, digest_size=8).digest()
    path = folder / f"blobs-{count}.rca"
    with path.open("wb") as file:
        bits = 16
        while True:
            largest = 1 << (bits - 1)
            header = bits // 8 + 8
            payload, inner = inner[: largest - header], inner[largest - header :]
            file.write((len(payload) + header).to_bytes(bits // 8, "big") + digest + payload)
            if len(payload) + header < largest:
                return path, blobs
            bits *= 2
