"""Every call to the system that changing a file in place makes, in one small class, so that a test can let any fail."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from pathlib import Path
from threading import Lock

from inspector.core.names import visible

NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
"""What a file system without locks answers."""

_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
"""What a file system answers that keeps folders safe by itself."""

_ONE_AT_A_TIME = Lock()

_LOCKED = 1 << 62
"""Windows locks bytes against reading too, so the locked one lies behind the end of every file."""


def reason(error: OSError) -> str:
    """What the system says, as the end of a sentence."""
    return (error.strerror or str(error)).lower()


def unusable(path: str, error: OSError | ValueError) -> str:
    """A sentence on a path of which the system cannot even say whether something is there."""
    name = visible(path)
    if isinstance(error, PermissionError):
        return f"{name} cannot be reached: you may not enter a folder on the way to it. Ask its owner for that right."
    why = reason(error) if isinstance(error, OSError) else "it holds a NUL character, which no path can have"
    return f"{name} is no usable path: {why}."


def read_at(descriptor: int, length: int, offset: int) -> bytes:
    """Up to ``length`` bytes of an open file, whichever threads read it meanwhile. Raises OSError."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, length, offset)
    with _ONE_AT_A_TIME:  # Windows has no such call
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)


class Disk:
    """The system's calls. Offsets, lengths and sizes are in bytes; all raise OSError."""

    def resolve(self, path: Path) -> Path:
        """The path without symbolic links; something has to be there."""
        return Path(os.path.realpath(path, strict=True))  # Path.resolve raises RuntimeError for links in a circle

    def lstat(self, path: Path) -> os.stat_result:
        """What stands at ``path``, a symbolic link as itself."""
        return path.lstat()

    def open(self, path: Path, flags: int) -> int:
        """A descriptor; symbolic links are not followed, and a file that is made is its owner's alone."""
        more = ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_BINARY")  # the last two: never wait for a pipe, and Windows
        return os.open(path, flags | sum(getattr(os, name, 0) for name in more), 0o600)

    def close(self, descriptor: int) -> None:
        """Give the descriptor back, and the lock with it."""
        os.close(descriptor)

    def fstat(self, descriptor: int) -> os.stat_result:
        """What is known of the open file."""
        return os.fstat(descriptor)

    def read(self, descriptor: int, length: int, offset: int) -> bytes:
        """Up to ``length`` bytes."""
        return read_at(descriptor, length, offset)

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Write ``data`` and say how much of it was taken."""
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
        """Wait until the disk holds which names stand in the folder."""
        if sys.platform == "win32":
            return  # folders cannot be opened there
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _NO_SYNC:
                raise
        finally:
            os.close(descriptor)

    def unlink(self, path: Path) -> None:
        """Take the name away."""
        path.unlink()

    def rename(self, path: Path, target: Path) -> None:
        """Give what stands at ``path`` the name ``target``, where nothing may stand."""
        path.rename(target)

    def make_folder(self, folder: Path) -> None:
        """Make a folder, and those above it, for its owner alone and for good; it may be there already."""
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for each in reversed(missing):
            self.sync_folder(each.parent)

    def names(self, folder: Path) -> list[str]:
        """The names in a folder; none where there is no folder."""
        try:
            return [each.name for each in folder.iterdir()]
        except (FileNotFoundError, NotADirectoryError):
            return []

    def lock(self, descriptor: int) -> None:
        """Keep other editors out until the descriptor is closed; raises BlockingIOError where one is there."""
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
        """How many bytes more the file system takes."""
        return shutil.disk_usage(folder).free


class Unsynced(Disk):
    """The system's calls without waiting for the disk: what it holds after a power cut is left to chance."""

    def sync(self, descriptor: int) -> None:
        """See Disk."""

    def sync_folder(self, folder: Path) -> None:
        """See Disk."""


def read_all(disk: Disk, descriptor: int, length: int, offset: int) -> bytes:
    """``length`` bytes, fewer only where the file ends. Raises OSError."""
    parts = []
    while length > 0 and (part := disk.read(descriptor, length, offset)):
        parts.append(part)
        offset, length = offset + len(part), length - len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def write_all(disk: Disk, descriptor: int, data: bytes, offset: int) -> None:
    """All of ``data`` in one call where the system takes it in one. Raises OSError."""
    left = memoryview(data)
    while left:
        written = disk.write(descriptor, left, offset)
        if written <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left, offset = left[written:], offset + written
