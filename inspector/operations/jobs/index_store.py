"""Files in the user's cache folder that keep indexes of archives between runs, by names that say nothing of them.

The folder is the user's alone (0700), and so is each file (0600). A file is written beside its place and renamed, so it
is there whole or not at all. All of them together stay below a limit: those that were longest unused go first. Nothing
here raises: where the folder cannot be used, nothing is kept.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from inspector.core.limits import INDEX_CACHE

SUFFIX = ".index"
_PARTIAL = ".partial"
_ABANDONED_S = 3_600
"""Seconds after which a file that was never renamed is one of a run that ended before."""
_OTHERS = 0o077
"""Permissions of anybody but the owner."""


def folder() -> Path:
    """Where the files are; it need not exist."""
    import platformdirs  # small files need it not

    return platformdirs.user_cache_path("archive-inspector", appauthor=False) / "indexes"


def read(name: str) -> bytes:
    """What was kept under a name; empty if there is nothing, or not by this user alone."""
    from inspector.sources.local.disk_calls import SAFELY  # the window clears, and loads no sources

    place = folder() / (name + SUFFIX)
    with contextlib.suppress(OSError):
        descriptor = os.open(place, os.O_RDONLY | SAFELY)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not _is_own(place.parent.lstat()) or not stat.S_ISREG(status.st_mode) or not _is_own(status):
                return b""
            if status.st_size > INDEX_CACHE.value:
                return b""
            data = file.read(status.st_size)
        os.utime(place)  # what was used last goes last
        return data
    return b""


def write(name: str, pieces: Iterable[bytes]) -> bool:
    """Keep something under a name instead of what was; says whether it is kept."""
    import tempfile

    pieces = list(pieces)
    size = sum(map(len, pieces))
    place = folder()
    if not INDEX_CACHE.value:
        clear()
    if size > INDEX_CACHE.value:
        return False
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_own(place.lstat()):
            return False
        _prune(INDEX_CACHE.value - size, besides=name + SUFFIX)
        descriptor, partial = tempfile.mkstemp(_PARTIAL, dir=place)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.writelines(pieces)
            Path(partial).replace(place / (name + SUFFIX))
        except BaseException:
            with contextlib.suppress(OSError):
                Path(partial).unlink()
            raise
        return True
    return False


def forget(name: str) -> None:
    """Remove what is kept under a name."""
    with contextlib.suppress(OSError):
        (folder() / (name + SUFFIX)).unlink()


def size() -> int:
    """The bytes of all files together."""
    return sum(status.st_size for _, status in _files())


def clear() -> None:
    """Remove all files."""
    for place, _ in _files():
        with contextlib.suppress(OSError):
            place.unlink()


def _is_own(status: os.stat_result) -> bool:
    """Whether this user alone may change a file or a folder, and it is no link; always where there are no users."""
    if stat.S_ISLNK(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & _OTHERS)


def _files() -> list[tuple[Path, os.stat_result]]:
    """The files of the folder, those that were longest unused first."""
    found = []
    with contextlib.suppress(OSError):
        if _is_own(folder().lstat()):
            for place in folder().iterdir():
                with contextlib.suppress(OSError):
                    if place.suffix in (SUFFIX, _PARTIAL):
                        found.append((place, place.lstat()))
    return sorted(found, key=lambda each: each[1].st_mtime_ns)


def _prune(limit: int, besides: str) -> None:
    """Remove files until those that stay have ``limit`` bytes at most; ``besides`` is about to be replaced."""
    left = 0
    for place, status in reversed(_files()):
        abandoned = place.suffix == _PARTIAL and time.time() - status.st_mtime > _ABANDONED_S
        left += 0 if place.name == besides or abandoned else status.st_size
        if abandoned or (left > limit and place.name != besides):
            left -= 0 if abandoned else status.st_size
            with contextlib.suppress(OSError):
                place.unlink()
