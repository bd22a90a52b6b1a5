"""Files that were never finished: what a program that was killed has left beside the places of its files.

Whoever writes a file that has no place yet holds a lock on it, or on another one of those that take their places
together; so what can be locked is nobody's any more. Where there are no locks nothing is called unfinished.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inspector.sources.local.disk_calls import Disk

_NAME = re.compile(r"\.part-([0-9a-f]{12})[0-9a-f]{4}|\..*\.([0-9a-f]{12})[0-9a-f]{4}\.part", re.DOTALL)
_SHOWN = 50
"""Characters of a name that are repeated: they may be 200 bytes, and no file system takes a name of more than 255."""
_FLAGS = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")

Place = Path | int
"""A folder, by its path or as a descriptor."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A file that nobody writes to any more; ``size`` in bytes."""

    name: str
    size: int
    identity: tuple[int, int]


def new_group() -> str:
    """What the names of files have in common that take their places together."""
    return secrets.token_hex(6)


def name_beside(name: str, group: str, number: int) -> str:
    """The name of the file of that number of a group until it is finished, in the folder of its place."""
    return f"{beginning(name)}{group}{number & 0xFFFF:04x}.part"


def beginning(name: str) -> str:
    """What the names of all unfinished files begin with whose place is ``name``."""
    return f".{name[:_SHOWN]}."


def part_name() -> str:
    """The name of a file by itself until it is finished."""
    return f".part-{new_group()}{secrets.token_hex(2)}"


def unfinished(folder: Place) -> list[Unfinished]:
    """What is unfinished in a folder, by name; nothing where it cannot be looked at."""
    groups: dict[str, list[str]] = {}
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder)):  # noqa: PTH208 - it may be a descriptor
            if found := _NAME.fullmatch(name):
                groups.setdefault(found[1] or found[2], []).append(name)
    left = (each for names in groups.values() for each in _left(folder, names))
    return sorted(left, key=lambda each: each.name)


def _left(folder: Place, names: list[str]) -> list[Unfinished]:
    """The files of one group; none where one of them is in use."""
    found = []
    for name in names:
        with _held(folder, name) as status:
            if status is None:
                return []
            found.append(Unfinished(name, status.st_size, (status.st_dev, status.st_ino)))
    return found


def remove(folder: Place, found: Unfinished) -> bool:
    """Take away an unfinished file, if it still is the one that was found; whether that was done."""
    with _held(folder, found.name) as status:
        if status is None or (status.st_dev, status.st_ino) != found.identity:
            return False
    try:  # not before it is closed, for Windows; nobody takes up a file that has been left
        if isinstance(folder, int):
            os.unlink(found.name, dir_fd=folder)
        else:
            (folder / found.name).unlink()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _held(folder: Place, name: str) -> Iterator[os.stat_result | None]:
    """What is known of a file, locked for as long as the block runs; None where that cannot be."""
    descriptor = -1
    try:
        status = None
        with contextlib.suppress(OSError):
            flags = os.O_RDWR | sum(getattr(os, flag, 0) for flag in _FLAGS)
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
