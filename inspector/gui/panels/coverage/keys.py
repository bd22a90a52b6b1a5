"""Which keys a band shows, and at which pixel each stands. Pure: keys have 20 digits, so all are Python's ints."""

from __future__ import annotations

from dataclasses import dataclass

LEAST = 4
"""The fewest keys that a band shows."""
_TICKS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Keys:
    """A stretch of the key axis: the keys ``[start, stop)``, across ``width`` pixels."""

    start: int
    stop: int
    width: int

    @property
    def size(self) -> int:
        """How many keys there are in it."""
        return self.stop - self.start

    def column(self, x: int) -> tuple[int, int]:
        """The keys ``[first, stop)`` that a column of pixels stands for, one at least; columns leave none out."""
        first = self.start + x * self.size // self.width
        return first, max(first + 1, self.start + (x + 1) * self.size // self.width)

    def x(self, key: int) -> int:
        """The pixel at which a key begins; outside of the band where the key is."""
        return -((self.start - key) * self.width // self.size)

    def sized(self, width: int) -> Keys:
        """The same keys across another width."""
        return Keys(self.start, self.stop, max(1, width))

    def zoomed(self, steps: int, x: int, limits: Keys) -> Keys:
        """Half as many keys for every step, twice as many for every step below 0; the key at ``x`` stays there."""
        size = self.size >> steps if steps > 0 else self.size << -steps
        size = max(min(LEAST, limits.size), min(size, limits.size))
        at = self.start + x * self.size // self.width
        return Keys(at - x * size // self.width, at - x * size // self.width + size, self.width).within(limits)

    def moved(self, pixels: int, limits: Keys) -> Keys:
        """So many pixels further to the right."""
        by = pixels * self.size // self.width
        return Keys(self.start + by, self.stop + by, self.width).within(limits)

    def within(self, limits: Keys) -> Keys:
        """As many keys, moved into the limits."""
        start = max(limits.start, min(self.start, limits.stop - self.size))
        return Keys(start, start + self.size, self.width)

    def showing(self, first: int, last: int, limits: Keys) -> Keys:
        """Moved as little as need be so that the keys ``first`` to ``last`` are seen, or the first of them at least."""
        if self.start <= first and last < self.stop:
            return self
        if last - first >= self.size or first < self.start:
            return Keys(first, first + self.size, self.width).within(limits)
        return Keys(last + 1 - self.size, last + 1, self.width).within(limits)

    def ticks(self, apart: int) -> list[int]:
        """Round keys to be told beneath the band, ``apart`` pixels from each other at least."""
        least = max(1, apart * self.size // self.width)
        power = 10 ** (len(str(least)) - 1)
        step = next((each * power for each in _TICKS if each * power >= least), 10 * power)
        return list(range(-(-self.start // step) * step, self.stop, step))


def limits_of(first: int, last: int, width: int) -> Keys:
    """All keys of a dataset, ``first`` to ``last``, with a little room on both sides."""
    room = max(1, (last + 1 - first) // 50)
    return Keys(max(0, first - room), last + 1 + room, max(1, width))
