"""Limits that a user may set. They are in the environment, where the terminal and the window's workers find them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """A whole number from ``least`` to ``most``, both included, in units of ``unit`` (1 for a plain number)."""

    variable: str
    default: int
    least: int
    most: int
    unit: int = 1

    @property
    def value(self) -> int:
        """What is set here and now, in bytes or seconds; the default where nothing is, or nothing that could be."""
        try:
            number = int(os.environ.get(self.variable, ""))
        except ValueError:
            number = self.default
        return (number if self.least <= number <= self.most else self.default) * self.unit

    @property
    def ignored(self) -> str:
        """A sentence on a setting that could not be, for which the default stands; empty where there is none."""
        text = os.environ.get(self.variable, "")
        try:
            known = not text or self.least <= int(text) <= self.most
        except ValueError:
            known = False
        if known:
            return ""
        return (
            f"{self.variable}={text} is ignored, and {self.default:,} holds: it is a whole number from "
            f"{self.least:,} to {self.most:,}."
        )

    def set(self, number: int) -> None:
        """Set it, in its unit, for this process and those that it starts from now on."""
        os.environ[self.variable] = str(number)

    def unset(self) -> None:
        """Let the default stand."""
        os.environ.pop(self.variable, None)


_MIB, _GIB = 1 << 20, 1 << 30

CACHE = Limit("ARCHIVE_INSPECTOR_CACHE_MIB", 64, 8, 65_536, _MIB)
"""Bytes of an archive on S3 that are kept, so that they are asked for once."""
CONNECTING = Limit("ARCHIVE_INSPECTOR_CONNECT_SECONDS", 10, 1, 600)
"""Seconds until a server that does not answer is given up."""
ANSWERING = Limit("ARCHIVE_INSPECTOR_ANSWER_SECONDS", 30, 1, 3_600)
"""Seconds without a byte of an answer until a request is given up."""
SLOWEST = Limit("ARCHIVE_INSPECTOR_SLOWEST_KIB", 1, 0, 1_048_576, 1_024)
"""Bytes a second of an answer, over as long as ANSWERING, beneath which a request is given up; 0: it never is."""
WRITING = Limit("ARCHIVE_INSPECTOR_WRITE_SECONDS", 300, 10, 86_400)
"""Seconds that a request which writes may take in all: a server that copies gigabytes is silent for minutes."""
CONTENT = Limit("ARCHIVE_INSPECTOR_CONTENT_MIB", 1_024, 1, 65_536, _MIB)
"""Bytes of a member that are decoded at most to be shown."""
LARGE_MEMBER = Limit("ARCHIVE_INSPECTOR_LARGE_MEMBER_GIB", 64, 1, 16_384, _GIB)
"""A member of more bytes is extracted only on the user's word."""


def ignored() -> Iterator[str]:
    """A sentence on each setting of the environment that could not be."""
    every = (CACHE, CONNECTING, ANSWERING, SLOWEST, WRITING, CONTENT, LARGE_MEMBER)
    return filter(None, (each.ignored for each in every))
