"""Bytes that steps put somewhere that are not held in memory."""

from __future__ import annotations

import hashlib

from inspector.core.source import Source

NOISE_BLOCK = 1 << 16
"""Bytes that are made at once: block ``n`` is the beginning of SHAKE-128 of the text ``SEED/n``."""


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
