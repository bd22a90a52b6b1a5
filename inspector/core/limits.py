"""Limits that the user may set, by environment variables that terminal and workers share; and bounds of any archive.

The bounds are one table for all formats: what opening, checking or dumping an archive may cost at most, whatever its
bytes are. Time is bounded by the work that is counted here, so that tests can count it on any machine. Bytes that
several members claim are worked on once, and beyond that only within a budget: a small file can claim the same bytes a
million times, each time to be unpacked again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

FORMAT_FILES = "ARCHIVE_INSPECTOR_FORMAT_FILES"
"""The environment variable with files that describe formats, separated as those of PATH."""


def own_command() -> list[str]:
    """What starts this program, packaged or not, as another process that inherits the environment."""
    return [sys.executable] if getattr(sys, "frozen", False) else [sys.executable, "-m", "inspector"]


def calculate_in_one_thread() -> None:
    """Keep numpy from starting a thread for each processor, unless the user has set how many; before it is imported.

    Nothing here multiplies matrices. Waiting for such work, the threads take as much processor time as the import.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Limit(NamedTuple):
    """A whole number from ``least`` to ``most``, inclusive, times ``unit`` (in bytes; 1 for a plain number).

    ``what`` says what it limits.
    """

    variable: str
    default: int
    least: int
    most: int
    unit: int = 1
    what: str = ""

    @property
    def _known(self) -> int | None:
        """The setting; None if the variable is unset or invalid."""
        try:
            number = int(os.environ.get(self.variable, ""))
        except ValueError:
            return None
        return number if self.least <= number <= self.most else None

    @property
    def value(self) -> int:
        """The current value in bytes or seconds; the default if the variable is unset or invalid."""
        return (self.default if self._known is None else self._known) * self.unit

    @property
    def ignored(self) -> str:
        """A message about an invalid setting, which the default replaces; empty if there is none."""
        text = os.environ.get(self.variable, "")
        if not text or self._known is not None:
            return ""
        return (
            f"{self.variable}={text} is ignored and {self.default:,} used: it has to be a whole number "
            f"from {self.least:,} to {self.most:,}."
        )


_MIB, _GIB = 1 << 20, 1 << 30

CACHE = Limit(
    "ARCHIVE_INSPECTOR_CACHE_MIB",
    *(64, 8, 65_536, _MIB),
    what="MiB of an S3 archive that are kept in memory, so that they are requested once.",
)
CONNECTING = Limit("ARCHIVE_INSPECTOR_CONNECT_SECONDS", 10, 1, 600, what="Seconds to wait for a connection.")
ANSWERING = Limit(
    "ARCHIVE_INSPECTOR_ANSWER_SECONDS",
    *(30, 1, 3_600),
    what="Seconds without a byte of response until a request times out.",
)
SLOWEST = Limit(
    "ARCHIVE_INSPECTOR_SLOWEST_KIB",
    *(1, 0, 1_048_576, 1_024),
    what="KiB a second below which a request is given up, on average over ARCHIVE_INSPECTOR_ANSWER_SECONDS; 0: never.",
)
WRITING = Limit(
    "ARCHIVE_INSPECTOR_WRITE_SECONDS",
    *(300, 10, 86_400),
    what="Seconds of a request that writes, in all: a server is silent for minutes while it copies gigabytes.",
)
CONTENT = Limit(
    "ARCHIVE_INSPECTOR_CONTENT_MIB", 1_024, 1, 65_536, _MIB, what="MiB of a member that are decoded for display."
)
LARGE_MEMBER = Limit(
    "ARCHIVE_INSPECTOR_LARGE_MEMBER_GIB",
    *(64, 1, 16_384, _GIB),
    what="GiB of a member beyond which it is extracted only after confirming.",
)
STANDARD_INPUT = Limit(
    "ARCHIVE_INSPECTOR_INPUT_GIB",
    *(32, 1, 16_384, _GIB),
    what="GiB of standard input that are read at most, into a nameless temporary file; a CAF has at most 32.",
)

ALL = (CACHE, CONNECTING, ANSWERING, SLOWEST, WRITING, CONTENT, LARGE_MEMBER, STANDARD_INPUT)


def ignored() -> Iterator[str]:
    """A message for each invalid setting."""
    return filter(None, (each.ignored for each in ALL))


# ---- what any archive may cost ---------------------------------------------------------------------------------------


class Bounds(NamedTuple):
    """The bounds, each with its unit; none of them depends on a number in the file but its size."""

    reads_of_file: int = 4
    """The size of the file, so many times: the bytes that are worked on again because several members claim them..."""
    shared_bytes: int = 64 << 20
    """...and so many besides."""
    shared_header_bytes: int = 1 << 20
    """Bytes of headers read, or shown, again because several entries claim them, besides the size of the file.

    Each has records of four bytes to look at, and a name to write.
    """
    shared_member_bytes: int = 1024
    """What a claim costs of that in any case, in bytes."""

    def budget(self, size: int) -> int:
        """Bytes read and unpacked again, because several members claim them, in a file of ``size`` bytes."""
        return self.reads_of_file * size + self.shared_bytes

    def budget_of_headers(self, size: int) -> int:
        """Bytes of headers read, or shown, again in a file of ``size`` bytes."""
        return size + self.shared_header_bytes


BOUNDS = Bounds()
"""The bounds of every format."""
