"""What opening or checking an archive may cost at most, whatever its bytes are: one table for all formats.

Time is bounded by the work that is counted here, so that tests can count it on any machine; ``SECONDS_PER_WORK`` says
what that is on an ordinary one. Bytes that several members claim are worked on once, and beyond that only within a
budget: a small file can claim the same bytes a million times, each time to be unpacked again.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds, each with its unit; none of them depends on a number in the file but its size."""

    seconds_per_work: float = 2.0
    """Seconds for each ``work_bytes`` of input and of distinct content verified."""
    work_bytes: int = 10_000_000
    min_seconds: float = 1.0
    """Seconds that any file may take, however small it is."""
    memory_bytes: int = 256 << 20
    """Bytes of memory that any file may take, besides the program's own."""
    memory_per_index_byte: int = 2
    """Bytes of memory for each byte of an index or a directory, where that is more than ``memory_bytes``."""
    reads_of_file: int = 4
    """The size of the file, so many times: the bytes that are worked on again because several members claim them..."""
    shared_bytes: int = 64 << 20
    """...and so many besides."""
    shared_header_bytes: int = 1 << 20
    """Bytes of headers read again because several entries claim them: each has records of four bytes to look at."""
    shared_member_bytes: int = 1024
    """What a claim costs of that in any case, in bytes."""

    def budget(self, size: int) -> int:
        """Bytes read and unpacked again, because several members claim them, in a file of ``size`` bytes."""
        return self.reads_of_file * size + self.shared_bytes

    def seconds(self, size: int, verified: int = 0) -> float:
        """Seconds for a file of ``size`` bytes in which ``verified`` bytes of distinct content are verified."""
        return max(self.min_seconds, self.seconds_per_work * (size + verified) / self.work_bytes)

    def memory(self, index: int) -> int:
        """Bytes of memory for a file with an index of so many bytes."""
        return max(self.memory_bytes, self.memory_per_index_byte * index)


BOUNDS = Bounds()
"""The bounds of every format."""
