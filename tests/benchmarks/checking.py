"""Checking: every checksum of an archive, against plain hashing of as many bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from hashlib import blake2s
from pathlib import Path

import zstandard

from inspector.core.progress import Progress
from inspector.operations import opening
from inspector.operations.checking import check_archive
from tests.benchmarks import inputs
from tests.benchmarks.measure import Row, paired

RCA_SIZE = 512 << 20


def rca_rows(folder: Path) -> Iterator[Row]:
    """RCA archives of one segment and of two, against blake2s alone on one core.

    Of two segments by the specification one is read twice: nothing but its hash tells that it is not rcarch's.
    """
    piece = os.urandom(1 << 20)

    def hashing() -> None:
        digest = blake2s(digest_size=8)
        for _ in range(RCA_SIZE // len(piece)):
            digest.update(piece)

    for segments, convention, reach in ((1, "rcarch", 1 / 0.9), (2, "rcarch", 1 / 1.6), (2, "spec", 1 / 0.9)):
        path = _rca(folder, segments, piece, rcarch=convention == "rcarch")
        archive = opening.start(opening.open_source(str(path)))
        opening.decode(archive, Progress())
        work = f"RCA: check 512 MiB, segments: {segments} ({convention}) / blake2s"
        yield Row(work, *paired(hashing, partial(check_archive, archive, Progress()), 3), reach)
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
            for block in _rca_blocks(content, RCA_SIZE // segments // len(content)):
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


def _rca_blocks(content: bytes, count: int) -> Iterable[bytes]:
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=False, write_content_size=False).compressobj()
    for number in range(count):
        raw = b"blob/%05d\0" % number + content
        blob = compressor.compress(raw) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        yield inputs.varint(len(blob) << 1) + blob
