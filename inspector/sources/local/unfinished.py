"""Unfinished files: what a killed run has left under temporary names.

A run holds a lock on each file it is writing, or on another file of the same group; so a file whose group can be
locked belongs to no running process. Without support for locks, no file is called unfinished.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from inspector.sources.local.disk_calls import SAFELY, Disk

_NAME = re.compile(r"\.part-([0-9a-f]{12})[0-9a-f]{4}|\..*\.([0-9a-f]{12})[0-9a-f]{4}\.part", re.DOTALL)
_MAX_NAME_CHARS = 50
"""Characters of the final name in a temporary one: they may be 200 bytes of the 255 that file systems take."""

FolderRef = Path | int
"""A folder, as a path or a descriptor."""


class Unfinished(Struct, frozen=True):
    """A file that no process writes any more; ``size`` in bytes, ``identity`` is device and inode."""

    name: str
    size: int
    identity: tuple[int, int]


def new_group() -> str:
    """A random part for the names of files that appear together."""
    return os.urandom(6).hex()


def temporary_name(name: str, group: str, number: int) -> str:
    """The temporary name of file ``number`` of a group, in the folder of its final name."""
    return f"{temporary_prefix(name)}{group}{number & 0xFFFF:04x}.part"


def temporary_prefix(name: str) -> str:
    """What the temporary names of a file with the final name ``name`` begin with."""
    return f".{name[:_MAX_NAME_CHARS]}."


def part_name() -> str:
    """A temporary name for a file without a group."""
    return f".part-{os.urandom(8).hex()}"


def unfinished(folder: FolderRef) -> list[Unfinished]:
    """The unfinished files in a folder, sorted by name; none if it cannot be read."""
    groups: dict[str, list[str]] = {}
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - it may be a descriptor
            if found := _NAME.fullmatch(name):
                groups.setdefault(found[1] or found[2], []).append(name)
    left = (each for names in groups.values() for each in _unused(folder, names))
    return sorted(left, key=lambda each: each.name)


def _unused(folder: FolderRef, names: list[str]) -> list[Unfinished]:
    """The files of one group; none if one of them is in use."""
    found = []
    for name in names:
        with _locked(folder, name) as status:
            if status is None:
                return []
            found.append(Unfinished(name, status.st_size, (status.st_dev, status.st_ino)))
    return found


def remove(folder: FolderRef, found: Unfinished) -> bool:
    """Remove an unfinished file if it is still the one that was found; returns whether it was removed."""
    with _locked(folder, found.name) as status:
        if status is None or (status.st_dev, status.st_ino) != found.identity:
            return False
    try:  # after closing it, for Windows; no run continues an unfinished file
        if isinstance(folder, int):
            os.unlink(found.name, dir_fd=folder)
        else:
            (folder / found.name).unlink()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _locked(folder: FolderRef, name: str) -> Iterator[os.stat_result | None]:
    """The status of a file, locked while the block runs; None if it cannot be locked."""
    descriptor = -1
    try:
        status = None
        with contextlib.suppress(OSError):
            flags = os.O_RDWR | SAFELY
            if isinstance(folder, int):
                descriptor = os.open(name, flags, dir_fd=folder)
            else:
                descriptor = os.open(folder / name, flags)
            known = os.fstat(descriptor)
            if stat.S_ISREG(known.st_mode):
                Disk().lock(descriptor)
                status = known
        yield status
    finally:
        if descriptor >= 0:
            os.close(descriptor)
