"""Every call to the system that extracting makes, in one small class, so that a test can let any fail."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from inspector.sources.local.disk_calls import Disk

_ORIGINS = ("user.xdg.origin.url", "user.xdg.referrer.url")
"""The attributes that say where a file was downloaded from."""


class FolderCalls:
    """The system's calls on names in folders, which are open descriptors; all raise OSError.

    ``name`` is a single component inside the folder ``at``; links are never followed.
    """

    def make_root(self, path: Path) -> None:
        """Make the folder ``path`` and those above it, unless they are there."""
        path.mkdir(mode=0o755, parents=True, exist_ok=True)

    def open_root(self, path: Path) -> int:
        """Open the folder that the user named, by a link if need be."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def open_folder(self, name: bytes, at: int) -> int:
        """Open a folder, for what is in it."""
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)

    def make_folder(self, name: bytes, at: int) -> None:
        """Make a folder."""
        os.mkdir(name, 0o755, dir_fd=at)

    def create(self, name: bytes, at: int) -> int:
        """Make a file that was not there, and open it for writing."""
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=at)

    def lock(self, file: int) -> None:
        """Keep others from taking the file for one that nobody writes to any more."""
        Disk().lock(file)

    def write(self, file: int, data: memoryview) -> int:
        """Write after what is there; says how many bytes were taken."""
        return os.write(file, data)

    def date(self, file: int, seconds: int) -> None:
        """Set when the file was changed, in seconds since 1970."""
        os.utime(file, (seconds, seconds))

    def attach(self, file: int, attribute: str, value: bytes) -> None:
        """Set an extended attribute."""
        os.setxattr(file, attribute, value)

    def close(self, descriptor: int) -> None:
        """Give a descriptor back."""
        os.close(descriptor)

    def status(self, name: bytes, at: int) -> os.stat_result:
        """What stands under a name."""
        return os.stat(name, dir_fd=at, follow_symlinks=False)

    def link(self, old: bytes, new: bytes, at: int) -> None:
        """Give a file another name, which must be free."""
        os.link(old, new, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)

    def rename(self, old: bytes, new: bytes, at: int) -> None:
        """Give a file another name instead of its own, in the place of what has it."""
        os.replace(old, new, src_dir_fd=at, dst_dir_fd=at)

    def unlink(self, name: bytes, at: int) -> None:
        """Take a name away."""
        os.unlink(name, dir_fd=at)

    def free(self, folder: Path) -> int:
        """How many bytes more the file system takes."""
        return shutil.disk_usage(folder).free


def origin_of(path: Path) -> dict[str, bytes]:
    """What the system knows about where a file was downloaded from; what comes out of it is from there too."""
    found: dict[str, bytes] = {}
    for name in _ORIGINS if hasattr(os, "getxattr") else ():
        with contextlib.suppress(OSError):
            found[name] = os.getxattr(path, name)
    return found
