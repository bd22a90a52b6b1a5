"""All system calls that change files in place, in one small class, so that tests can make any of them fail."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

from inspector.core.names import visible

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
"""Errors of file systems without locks."""

NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
"""Errors of file systems that need no syncing of folders."""

_ONE_AT_A_TIME = Lock()

_LOCKED = 1 << 62
"""Windows locks bytes against reading too, so the locked byte is past the end of any file."""


def reason(error: OSError) -> str:
    """The system's message, as the end of a sentence."""
    return (error.strerror or str(error)).lower()


def unusable(path: str, error: OSError | ValueError) -> str:
    """A sentence on a path whose existence cannot be determined."""
    name = visible(path)
    if isinstance(error, PermissionError):
        return (
            f"{name} cannot be reached: you have no permission to enter one of its folders. Ask the owner for access."
        )
    why = reason(error) if isinstance(error, OSError) else "it contains a NUL character, which paths cannot have"
    return f"{name} is not a usable path: {why}."


def read_at(descriptor: int, length: int, offset: int) -> bytes:
    """Up to ``length`` bytes of an open file; thread-safe. Raises OSError."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    with _ONE_AT_A_TIME:  # Windows has no such call
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)


SAFELY = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
"""Flags to open a file by that somebody else may have put there: no link is followed, and no pipe waited for."""


class Disk:
    """System calls. Offsets, lengths and sizes are in bytes; all raise OSError."""

    def resolve(self, path: Path) -> Path:
        """The path without symbolic links; it has to exist."""
        return Path(os.path.realpath(path, strict=True))  # Path.resolve raises RuntimeError for links in a circle

    def lstat(self, path: Path) -> os.stat_result:
        """The status of ``path``, without following a symbolic link."""
        return path.lstat()

    def open(self, path: Path, flags: int) -> int:
        """A descriptor. Symbolic links are not followed; a new file is private to its owner."""
        return os.open(path, flags | SAFELY, 0o600)

    def close(self, descriptor: int) -> None:
        """Close the descriptor, which releases its lock."""
        os.close(descriptor)

    def fstat(self, descriptor: int) -> os.stat_result:
        """The status of the open file."""
        return os.fstat(descriptor)

    def read(self, descriptor: int, length: int, offset: int) -> bytes:
        return read_at(descriptor, length, offset)

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Write ``data``; returns how many bytes were written."""
        if hasattr(os, "pwrite"):
            return os.pwrite(descriptor, data, offset)
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.write(descriptor, data)

    def truncate(self, descriptor: int, size: int) -> None:
        """Set the file's size."""
        os.ftruncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Wait until the disk, not only its cache, holds the file."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        else:
            os.fsync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        """Wait until the disk holds the names in the folder."""
        if sys.platform == "win32":
            return  # folders cannot be opened there
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in NO_SYNC:
                raise
        finally:
            os.close(descriptor)

    def unlink(self, path: Path) -> None:
        """Remove the name."""
        path.unlink()

    def rename(self, path: Path, target: Path) -> None:
        """Rename ``path`` to ``target``, which must not exist."""
        path.rename(target)

    def make_folder(self, folder: Path) -> None:
        """Create a private folder and its parents, and sync them; it may exist."""
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in reversed(missing):
            self.sync_folder(each.parent)

    def names(self, folder: Path) -> list[str]:
        try:
            return [each.name for each in folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def lock(self, descriptor: int) -> None:
        """Lock out other editors until the descriptor is closed; raises BlockingIOError if one has the lock."""
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCKED, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except PermissionError as error:
                raise BlockingIOError(errno.EAGAIN, "Locked by another program") from error
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def free(self, folder: Path) -> int:
        """Free bytes on the file system."""
        import shutil  # loads what packs and unpacks

        return shutil.disk_usage(folder).free


DISK = Disk()
"""The one of this machine."""


@contextlib.contextmanager
def closed_after(disk: Disk, descriptor: int) -> Iterator[int]:
    """The descriptor, closed at the end of the block; that it cannot be closed is no error."""
    try:
        yield descriptor
    finally:
        with contextlib.suppress(OSError):
            disk.close(descriptor)


def read_all(disk: Disk, descriptor: int, length: int, offset: int) -> bytes:
    """``length`` bytes, fewer only where the file ends. Raises OSError."""
    parts = []
    while length > 0 and (part := disk.read(descriptor, length, offset)):
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def write_all(disk: Disk, descriptor: int, data: bytes, offset: int) -> None:
    """Write all of ``data``, in one call if the system accepts it. Raises OSError."""
    left = memoryview(data)
    while left:
        written = disk.write(descriptor, left, offset)
        if written <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left, offset = left[written:], offset + written
