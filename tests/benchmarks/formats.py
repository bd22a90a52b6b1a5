"""Decoding: a CAF index, a tar, an RCA, against the barest loops that do the same."""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import zstandard

from inspector.core.archive import Archive
from inspector.core.program.progress import Progress
from inspector.operations.open import opening
from inspector.sources.local.file import FileSource
from tests.benchmarks import inputs
from tests.benchmarks.measure import Row, paired

COUNT = 1_000_000
BLOBS = 100_000


def rows(folder: Path) -> Iterator[Row]:
    """See measure.Row."""
    yield from _caf(inputs.caf(folder, COUNT))
    path = inputs.tar(folder, COUNT)
    yield Row(f"tar: list {COUNT:,} members / pread hop over the headers", *paired(_hop(path), _open(path), 3), 1.5)
    path.unlink()
    path, blobs = inputs.rca(folder, BLOBS)
    yield Row(f"RCA: list {BLOBS:,} blobs of 1 KiB / bare decompression", *paired(_inflate(blobs), _open(path), 3), 2.3)


def _open(path: Path) -> Callable[[], Archive]:
    def work() -> Archive:
        archive = opening.start(FileSource(path))
        opening.decode(archive, Progress())
        return archive

    return work


def _caf(path: Path) -> Iterator[Row]:
    size = path.stat().st_size
    data = path.read_bytes()[COUNT * 64 : size - 4]

    class Entry(msgspec.Struct, gc=False):
        start_byte: int
        end_byte: int

    decoder = msgspec.json.Decoder(dict[str, Entry])
    boundary = re.compile(rb"\},")

    def reference() -> None:
        starts, stops, ends, names = array("Q"), array("Q"), array("Q"), bytearray()
        at = data.index(b'"files":{') + len(b'"files":{')
        while at < len(data):
            cut = boundary.search(data, at + 512 * 1024)
            stop = cut.start() + 1 if cut else len(data) - 2
            entries = decoder.decode(b"{" + data[at:stop] + b"}")
            starts.extend(entry.start_byte for entry in entries.values())
            stops.extend(entry.end_byte for entry in entries.values())
            for name in entries:
                names += name.encode()
                ends.append(len(names))
            at = stop + 1 if cut else len(data)

    yield Row(f"CAF: open {COUNT:,} members / msgspec slices into columns", *paired(reference, _open(path), 3), 1.5)
    yield Row(f"CAF: open {COUNT:,} members / json.loads", *paired(lambda: json.loads(data), _open(path), 3), 1.0)
    archive = _open(path)()
    members = archive.members
    columns = [members.paths, members.path_stops, members.starts, members.stops, members.sizes, members.codecs,
               members.digests, members.heads, members.marks]  # fmt: skip
    held = sum(len(memoryview(column).cast("B")) for column in columns if column is not None)
    yield Row(f"CAF: columns of {COUNT:,} members / 75 bytes a member", 75.0 * COUNT, float(held), 1.5, "B")


def _hop(path: Path) -> Callable[[], None]:
    def work() -> None:
        descriptor = os.open(path, os.O_RDONLY)
        at, names, starts = 0, bytearray(), array("Q")
        while block := os.pread(descriptor, 512, at):
            if block[0] == 0:
                break
            size = int(block[124:135], 8)
            names += block[:100].rstrip(b"\0")
            starts.append(at)
            at += 512 + (size + 511) // 512 * 512
        os.close(descriptor)

    return work


def _inflate(blobs: list[bytes]) -> Callable[[], None]:
    def work() -> None:
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        for blob in blobs:
            decompressor.decompress(blob)

    return work
