"""Bytes that steps put somewhere or make, none of which are held in memory: noise, and what is rewritten."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_right

from inspector.core.program.progress import Progress
from inspector.core.source import Source

NOISE_BLOCK = 1 << 16
"""Bytes that are made at once: block ``n`` is the beginning of SHAKE-128 of the text ``SEED/n``."""
_REWRITTEN_BLOCK = 1 << 16
"""Bytes that are rewritten at once."""


def noise(seed: int, block: int) -> bytes:
    """One block of the noise of a seed."""
    return hashlib.shake_128(f"{seed}/{block}".encode()).digest(NOISE_BLOCK)


class NoiseSource:
    """Random bytes, the same for the same seed on every machine."""

    def __init__(self, seed: int, size: int) -> None:
        self.name = f"noise {seed}"
        self.size = size
        self._seed = seed
        self._last = -1, b""

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        length = min(length, self.size - offset)
        if offset < 0 or length <= 0:
            return b""
        first, last = offset // NOISE_BLOCK, (offset + length - 1) // NOISE_BLOCK
        data = b"".join(self._block(number) for number in range(first, last + 1))
        return data[offset - first * NOISE_BLOCK :][:length]

    def _block(self, number: int) -> bytes:
        known, data = self._last
        if known != number:
            data = noise(self._seed, number)
            self._last = number, data
        return data

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - noise has no neighbours
        """See Source.sibling."""
        return None


class RewrittenSource:
    """Another source with every byte ``old`` replaced by the bytes ``new``.

    It is read once to learn where each block begins. Raises SourceError and Cancelled.
    """

    def __init__(self, source: Source, old: int, new: bytes, progress: Progress) -> None:
        self.name = source.name
        self._source = source
        self._old = bytes((old,))
        self._new = new
        self._stops = array("Q")
        self._last = -1, b""
        stop = 0
        progress.begin("Rewriting", source.size)
        for at in range(0, source.size, _REWRITTEN_BLOCK):
            data = source.read(at, _REWRITTEN_BLOCK)
            stop += len(data) + data.count(self._old) * (len(new) - 1)
            self._stops.append(stop)
            progress.advance(len(data))
        self.size = stop

    def read(self, offset: int, length: int) -> bytes:
        """See Source.read."""
        stop = min(offset + length, self.size)
        if offset < 0 or offset >= stop:
            return b""
        block = bisect_right(self._stops, offset)
        first = self._stops[block - 1] if block else 0
        parts = []
        while block < len(self._stops):
            parts.append(self._block(block))
            if self._stops[block] >= stop:
                break
            block += 1
        return b"".join(parts)[offset - first : stop - first]

    def _block(self, number: int) -> bytes:
        known, data = self._last
        if known != number:
            stood = self._source.read(number * _REWRITTEN_BLOCK, _REWRITTEN_BLOCK)
            data = stood.replace(self._old, self._new)
            self._last = number, data
        return data

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        """See Source.sibling."""
        return self._source.sibling(suffix, instead_of)
