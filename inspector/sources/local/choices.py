"""What was chosen for an archive that cannot show it, such as an RCA of one segment: a small file in the state folder.

Its name is a hash that the archive records of itself, so a copy or a renamed archive is known too. It holds the choice
and nothing of the archive. Without a state folder nothing is remembered.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import platformdirs

from inspector.sources.local.disk_calls import Disk, read_all, write_all

MAX_REMEMBERED = 1_000
"""Choices that are kept; beyond them the oldest are forgotten."""
_MAX_BYTES = 100


def remember(digest: bytes, choice: str, disk: Disk | None = None) -> None:
    """Remember a choice, an ASCII word, for the archive with this hash."""
    disk, place = disk or Disk(), _place(digest)
    with contextlib.suppress(OSError):
        disk.make_folder(place.parent)
        descriptor = disk.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        try:
            write_all(disk, descriptor, choice.encode("ascii"), 0)
        finally:
            disk.close(descriptor)
        names = disk.names(place.parent)
        if len(names) > MAX_REMEMBERED:
            places = [place.parent / name for name in names]
            for old in sorted(places, key=lambda each: disk.lstat(each).st_mtime_ns)[:-MAX_REMEMBERED]:
                disk.unlink(old)


def remembered(digest: bytes, disk: Disk | None = None) -> str:
    """What was chosen for the archive with this hash; empty if that is not known."""
    disk = disk or Disk()
    with contextlib.suppress(OSError, UnicodeDecodeError):
        descriptor = disk.open(_place(digest), os.O_RDONLY)
        try:
            return read_all(disk, descriptor, _MAX_BYTES, 0).decode("ascii")
        finally:
            disk.close(descriptor)
    return ""


def _place(digest: bytes) -> Path:
    return platformdirs.user_state_path("archive-inspector", appauthor=False) / "choices" / digest.hex()
