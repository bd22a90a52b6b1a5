"""Reading two sources side by side: as far as they are equal, and where they are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_BYTES = 1 << 17
"""Bytes compared at a time: blocks stay in the processor's cache, and the system takes their memory back from none."""


def read_exactly(source: Source, offset: int, length: int) -> bytes:
    """``length`` bytes at ``offset``. Raises SourceError where they cannot be had, all of them."""
    data = source.read(offset, length)
    while len(data) < length:
        more = source.read(offset + len(data), length - len(data))
        if not more:
            raise SourceError(f"{visible(source.name)} became shorter while it was compared.")
        data += more
    return data


def mismatches(a: bytes, b: bytes) -> NDArray[np.int64]:
    """The places where two pieces of the same size differ."""
    import numpy as np

    return np.flatnonzero(np.frombuffer(a, dtype=np.uint8) != np.frombuffer(b, dtype=np.uint8))


def pairs(
    a: Source, a_start: int, b: Source, b_start: int, size: int, progress: Progress
) -> Iterator[tuple[int, bytes, bytes]]:
    """Both sides in blocks, each with how far it is from the start; advances ``progress`` by their sizes.

    Raises SourceError and Cancelled.
    """
    for at in range(0, size, BLOCK_BYTES):
        length = min(BLOCK_BYTES, size - at)
        yield at, read_exactly(a, a_start + at, length), read_exactly(b, b_start + at, length)
        progress.advance(length)


def common_start(a: Source, a_start: int, b: Source, b_start: int, size: int, progress: Progress) -> int:
    """How many of ``size`` bytes are equal from the start. Raises SourceError and Cancelled."""
    for at, some, others in pairs(a, a_start, b, b_start, size, progress):
        if some != others:
            return at + int(mismatches(some, others)[0])
    return size


def common_end(a: Source, a_stop: int, b: Source, b_stop: int, size: int, progress: Progress) -> int:
    """How many of ``size`` bytes are equal at the end. Raises SourceError and Cancelled."""
    for at in range(0, size, BLOCK_BYTES):
        length = min(BLOCK_BYTES, size - at)
        some = read_exactly(a, a_stop - at - length, length)
        others = read_exactly(b, b_stop - at - length, length)
        if some != others:
            return at + length - 1 - int(mismatches(some, others)[-1])
        progress.advance(length)
    return size
