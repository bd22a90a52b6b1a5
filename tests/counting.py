"""What work is counted by where it has to be linear: bytes and reads of a source, and calls of functions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import NamedTuple

from inspector.core.source import BytesSource


class Counting:
    """A source, as the next base class is one, that counts what is read of it."""

    bytes = reads = 0

    def read(self, offset: int, length: int) -> bytes:
        data: bytes = super().read(offset, length)  # type: ignore[misc]
        self.bytes += len(data)
        self.reads += 1
        return data


class Counted(Counting, BytesSource):
    """Bytes in memory that count what is read of them."""


class Work(NamedTuple):
    """What something took."""

    bytes: int
    reads: int
    calls: int

    def is_linear(self, smaller: Work, ratio: int) -> bool:
        """Whether it is not much more than ``ratio`` times what ``smaller`` input took."""
        return all(mine <= 1.5 * ratio * its for mine, its in zip(self, smaller, strict=True))


def work(task: Callable[[], object], source: Counted) -> Work:
    """What ``task`` takes: of ``source``, and of functions called, those of the interpreter too."""
    read, calls = (source.bytes, source.reads), 0

    def count(_frame: FrameType, event: str, _of: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        task()
    finally:
        sys.setprofile(before)
    return Work(source.bytes - read[0], source.reads - read[1], calls)
