"""Measuring entropy: all classes of bytes in all blocks, against a loop that only counts bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from inspector.core.program.progress import Progress
from inspector.core.source import Source, blocks
from inspector.core.span import Span
from inspector.operations.open.byte_classes import CHUNK, bands
from inspector.sources.local.file import FileSource
from tests.benchmarks.measure import Row, paired

SIZE = 256 << 20
ROWS = 1_000
"""As many as a large screen has."""


def rows(folder: Path) -> Iterator[Row]:
    """See measure.Row."""
    noise = np.random.default_rng(1).bytes(SIZE // 4)
    text = b"".join(b"line %d of a text that is not compressed\n" % number for number in range(2_000_000))
    for name, data in (("random", noise * 4), ("text", text[: SIZE // 4] * 4), ("zeros", bytes(SIZE))):
        path = folder / "bytes"
        path.write_bytes(data)
        source = FileSource(path)
        span = Span(0, SIZE)
        times = paired(lambda: _count(source), lambda: bands(source, span, ROWS, Progress()))  # noqa: B023 - at once
        yield Row(f"entropy: {SIZE >> 20} MiB of {name} / bare bincount", *times, 1 / 0.8)
        path.unlink()


def _count(source: Source) -> None:
    for block in blocks(source, 0, source.size, CHUNK):
        np.bincount(np.frombuffer(block, np.uint8), minlength=256)
