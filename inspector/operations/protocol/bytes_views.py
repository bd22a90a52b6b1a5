"""What bytes look like, as it crosses to the window."""

from __future__ import annotations

from msgspec import Struct

from inspector.core.span import Span
from inspector.drawing.byte_class import CLASSES, ByteClass

FULL = 255
"""The share of a class that has all of a stretch, and the entropy of 8 bits a byte."""


class Bands(Struct, frozen=True):
    """What each of ``rows`` equal stretches of ``[start, stop)`` looks like.

    ``shares`` has a byte for each class of each stretch, of ``FULL``, all 0 where nothing was read; ``entropies`` a
    byte for each stretch. Not ``exact``: samples of each stretch were looked at.
    """

    start: int
    stop: int
    rows: int
    shares: bytes
    entropies: bytes
    exact: bool

    def span(self, row: int) -> Span:
        """The bytes of a stretch; at least one, unless there are none."""
        size = self.stop - self.start
        low = self.start + row * size // self.rows
        return Span(low, min(self.stop, max(low + 1, self.start + (row + 1) * size // self.rows)))

    def classes(self, row: int) -> list[tuple[ByteClass, float]]:
        """The classes in a stretch with their shares of 1, the greatest first."""
        parts = self.shares[row * len(CLASSES) : (row + 1) * len(CLASSES)]
        all_of_it = max(1, sum(parts))
        found = [(each, part / all_of_it) for each, part in zip(CLASSES, parts, strict=True) if part]
        return sorted(found, key=lambda pair: -pair[1])

    def entropy(self, row: int) -> float:
        """The mean entropy of the blocks of a stretch, in bits a byte."""
        return self.entropies[row] * 8 / FULL

    def text(self, row: int) -> str:
        """A stretch in words; empty where nothing was read."""
        classes = self.classes(row)
        if not classes:
            return ""
        parts = [f"{each} {share:.0%}" for each, share in classes] if len(classes) > 1 else [classes[0][0].value]
        return f"{', '.join(parts)}; {self.entropy(row):.2f} bits a byte" + ("" if self.exact else " (sampled)")
