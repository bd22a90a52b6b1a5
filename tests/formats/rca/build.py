"""Writes RCA archives for tests, sound ones and such as programs never write."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2s

import zstandard

SPEC, RCARCH = "spec", "rcarch"
Blob = tuple[bytes, bytes]


def varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def blob_block(payload: bytes) -> bytes:
    return varint(len(payload) << 1) + payload


def control_block(kind: int, payload: bytes) -> bytes:
    return varint(len(payload) << 6 | kind << 1 | 1) + payload


def digest(data: bytes) -> bytes:
    return blake2s(data, digest_size=8).digest()


class Compressor:
    """One zstd frame that is never ended; each call gives what one blob takes."""

    def __init__(self, level: int = 3) -> None:
        self._object = zstandard.ZstdCompressor(
            level=level, write_content_size=False, write_checksum=False
        ).compressobj()

    def __call__(self, data: bytes) -> bytes:
        return self._object.compress(data) + self._object.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)


def blob(name: bytes, content: bytes, compress: Compressor) -> bytes:
    return blob_block(compress(name + b"\0" + content))


def segment(blobs: Iterable[Blob]) -> bytes:
    """The blob blocks of one segment."""
    compress = Compressor()
    return b"".join(blob(name, content, compress) for name, content in blobs)


def inner(segments: Sequence[bytes], convention: str = SPEC, extra: bytes = b"") -> tuple[bytes, bytes]:
    """The inner stream of segments (their blocks without the reset blocks) and the metadata that goes with it."""
    stream = segments[0]
    hashed = digest(segments[0])
    for blocks in segments[1:]:
        reset = control_block(0, hashed + extra)
        stream += reset + blocks
        size = len(reset) - len(extra) - 8
        covered = reset if convention == RCARCH else reset[:size] + extra
        hashed = digest(covered + blocks)
    return stream, hashed


def chunked(stream: bytes, metadata: bytes) -> bytes:
    """The chunk layer around a stream; only the last chunk's metadata is told."""
    data = b""
    bits = 16
    while True:
        header = bits // 8 + 8
        payload = stream[: (1 << bits - 1) - header]
        stream = stream[len(payload) :]
        full = len(payload) + header == 1 << bits - 1
        size = (len(payload) + header).to_bytes(bits // 8, "big")
        data += size + (metadata if not stream else b"\xee" * 8) + payload
        if not full or not stream:
            return data
        bits *= 2


def archive(*segments: Iterable[Blob], convention: str = SPEC, extra: bytes = b"") -> bytes:
    """A sound archive of segments of (name, content)."""
    return chunked(*inner([segment(blobs) for blobs in segments], convention, extra))


def hashed(*blocks: bytes) -> bytes:
    """An archive of one segment with these blocks, and its right hash."""
    return chunked(b"".join(blocks), digest(b"".join(blocks)))
