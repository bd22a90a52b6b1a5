"""What opening, checking or dumping any file may cost at most, whatever its bytes are; beside ``limits.BOUNDS``."""

from __future__ import annotations

from inspector.core.limits import BOUNDS

SECONDS_PER_WORK = 2.0
"""Seconds for each WORK_BYTES of input, of distinct content verified, and of output, on an ordinary machine.

Output counts because it is what ``dump`` is asked for: each byte of it is made, and of any archive, hostile or not, it
is many times the input. That a small file makes no output without limit is bounded by OUTPUT_PER_BYTE, not by time.
"""
WORK_BYTES = 10_000_000
MIN_SECONDS = 1.0
"""Seconds that any file may take, however small it is."""
MEMORY_BYTES = 256 << 20
"""Bytes of memory that any file may take, besides the program's own."""
MEMORY_PER_INDEX_BYTE = 2
"""Bytes of memory for each byte of an index or a directory, where that is more than MEMORY_BYTES."""
OUTPUT_PER_BYTE = 256
"""Bytes that ``dump --json`` writes for each byte of the file and of headers shown again."""


def seconds_for(size: int, verified: int = 0, written: int = 0) -> float:
    """Seconds for a file of ``size`` bytes with ``verified`` bytes of distinct content, and ``written`` of output."""
    return max(MIN_SECONDS, SECONDS_PER_WORK * (size + verified + written) / WORK_BYTES)


def output_of(size: int) -> int:
    """Bytes that are written about a file of ``size`` bytes."""
    return OUTPUT_PER_BYTE * (size + BOUNDS.budget_of_headers(size))


def memory_for(index: int) -> int:
    """Bytes of memory for a file with an index of so many bytes."""
    return max(MEMORY_BYTES, MEMORY_PER_INDEX_BYTE * index)
