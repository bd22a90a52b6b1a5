"""What tells one state of a file from another without reading it."""

from __future__ import annotations

import os
from typing import NamedTuple


class Identity(NamedTuple):
    """A file as the system knows it: ``size`` in bytes, ``mtime_ns`` in nanoseconds since 1970."""

    device: int
    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        """The identity in what ``stat`` or ``fstat`` gave."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def same_file(self, other: Identity) -> bool:
        """Whether both are one file, whatever it holds."""
        return (self.device, self.inode) == (other.device, other.inode)

    def difference(self, now: Identity) -> str:
        """What has happened to the file since, as the end of a sentence about it; empty where nothing is known."""
        if not self.same_file(now):
            return "has been replaced by another file since it was opened"
        if self.size != now.size:
            word = "shorter" if now.size < self.size else "longer"
            return f"has become {word} since it was opened ({self.size:,} bytes then, {now.size:,} now)"
        if self.mtime_ns != now.mtime_ns:
            return "has been written to since it was opened"
        return ""
