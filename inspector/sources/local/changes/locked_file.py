"""A file opened and locked for a change in place: regular, writable, and still at its path."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from inspector.core.edit import EditError
from inspector.core.names import visible
from inspector.sources.local.disk_calls import NO_LOCKS, Disk, closed_after, reason
from inspector.sources.local.file import Identity

_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH
_REFUSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ETXTBSY}
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}


class LockedFile(Struct, frozen=True):
    """A locked file. ``path`` is without symbolic links; ``warnings`` are sentences.

    ``exclusive``: it is locked; else its file system has no locks.
    """

    disk: Disk
    path: Path
    descriptor: int
    identity: Identity
    warnings: tuple[str, ...]
    exclusive: bool = True

    @property
    def name(self) -> str:
        """The file name for sentences."""
        return visible(self.path.name)

    @property
    def size(self) -> int:
        """The current size in bytes. Raises OSError."""
        return self.disk.fstat(self.descriptor).st_size

    def in_place(self) -> bool:
        """Whether the path still leads to this file. Raises OSError."""
        try:
            return Identity.of(self.disk.lstat(self.path)).same_file(self.identity)
        except FileNotFoundError:
            return False


def resolved(path: Path, disk: Disk) -> Path:
    """The file's path without symbolic links. Raises EditError."""
    try:
        return disk.resolve(path)
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise EditError(f"{visible(path.name)} was not changed: it is no longer there ({why}).") from error


@contextlib.contextmanager
def locked(path: Path, disk: Disk) -> Iterator[LockedFile]:
    """Open the file at ``path`` for reading and writing, and lock it. Raises EditError."""
    real = resolved(path, disk)
    with closed_after(disk, _open(real, disk)) as descriptor:
        yield _lock_and_check(path, real, descriptor, disk)


def _open(real: Path, disk: Disk) -> int:
    name = visible(real.name)
    try:
        status = disk.lstat(real)
        if not stat.S_ISREG(status.st_mode):
            raise EditError(f"{name} was not changed: it is not a regular file.")
        if not status.st_mode & _WRITABLE:  # root could write it anyway
            raise EditError(_read_only(name, "it is marked as read-only"))
        return disk.open(real, os.O_RDWR)
    except OSError as error:
        if error.errno in _REFUSED:
            raise EditError(_read_only(name, f"it cannot be opened for writing ({reason(error)})")) from error
        if error.errno in _GONE:
            raise EditError(f"{name} was not changed: it has been removed or replaced. Open it again.") from error
        raise EditError(f"{name} was not changed: it cannot be opened ({reason(error)}).") from error


def _read_only(name: str, why: str) -> str:
    instead = "Save a patched copy instead (in the terminal by --to COPY), or make the file writable first."
    return f"{name} was not changed: {why}. {instead}"


def _lock_and_check(path: Path, real: Path, descriptor: int, disk: Disk) -> LockedFile:
    name, warnings, is_locked = visible(real.name), list[str](), True
    try:
        status = disk.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise EditError(f"{name} was not changed: it is not a regular file.")
        if stat.S_ISLNK(disk.lstat(path).st_mode):
            shown = visible(path.name)
            warnings.append(f"{shown} is a symbolic link; the file that changes is {visible(str(real))}.")
        if status.st_nlink > 1:
            warnings.append(f"{name} has {status.st_nlink} names (hard links); the change affects all of them.")
        try:
            disk.lock(descriptor)
        except BlockingIOError as error:
            raise EditError(
                f"{name} was not changed: another program has locked it. Try again when that is done."
            ) from error
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            is_locked = False
            warnings.append(f"This file system cannot lock {name}: no other program may change it at the same time.")
        status = disk.fstat(descriptor)  # include the changes of an editor that had the lock until now
        file = LockedFile(disk, real, descriptor, Identity.of(status), tuple(warnings), is_locked)
        if file.in_place():
            return file
    except OSError as error:
        raise EditError(f"{name} was not changed: it cannot be accessed ({reason(error)}).") from error
    raise EditError(f"{name} was not changed: it has been removed or replaced. Open it again.")
