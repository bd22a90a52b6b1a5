"""Writing members into a folder: nothing outside it, and no file under its name before it is whole.

This is the only code that does so. Every folder below the destination is opened relative to the one above it, without
following links, so that no byte lands elsewhere whatever other programs do meanwhile. A file is written as
``.part-...`` in its own folder and gets its name in one step.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.sources.local.disk_calls import NO_SYNC, Disk, reason
from inspector.sources.local.unfinished import Unfinished, part_name, remove, unfinished

_ORIGINS = ("user.xdg.origin.url", "user.xdg.referrer.url")
"""Extended attributes that say where a file was downloaded from."""

Parts = tuple[bytes, ...]
"""A path below the destination: its components, none of them empty, ``.`` or ``..``."""

_DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
_FATAL = _DISK_FULL | {errno.EIO, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
"""Errors that every other member would meet too."""
_NO_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""Errors of file systems without hard links."""


class PlaceError(Exception):
    """One member cannot be written; the message is the predicate of a sentence. Others may still be."""


class TakenError(PlaceError):
    """Something has the path already."""


class FullError(SourceError):
    """The disk is full."""


class Existing(StrEnum):
    """What exists at a path."""

    NOTHING = "nothing"
    FILE = "a file"
    FOLDER = "a folder"
    OTHER = "a link or a device"
    PROTECTED = "the archive itself"
    BLOCKED = "a file or a link where one of its folders would be"


class Destination:
    """The folder that one thread writes members into. Close it, or use it as a context manager.

    ``protected``: device and inode of files that are never replaced. ``origin``: extended attributes for every file
    written. ``sync``: wait until the disk holds each file and its name. Nothing is created before the first folder or
    file. All methods raise SourceError if the folder cannot be used at all.
    """

    def __init__(
        self,
        folder: Path,
        calls: FolderCalls | None = None,
        *,
        protected: frozenset[tuple[int, int]] = frozenset(),
        origin: Mapping[str, bytes] | None = None,
        sync: bool = False,
    ) -> None:
        self.folder = folder
        self.sync = sync
        self.calls = calls or FolderCalls()
        self._protected = protected
        self._origin = dict(origin or {})
        self._root = -1
        self._open: list[tuple[bytes, int]] = []
        if os.open not in os.supports_dir_fd:
            raise SourceError("Members cannot be extracted safely on this system, so nothing is written.")

    def __enter__(self) -> Destination:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all descriptors."""
        self._leave(0)
        if self._root >= 0:
            self._close_folder(self._root)
            self._root = -1

    def free(self) -> int:
        """The free bytes on the file system of the folder, or of where it will be created."""
        folder = self.folder.absolute()
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            raise self._unusable(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
        try:
            return self.calls.free(folder)
        except OSError as error:
            raise self._unusable(error) from error

    def look(self, parts: Parts) -> Existing:
        """What exists at a path."""
        try:
            if self._root < 0 and not self._was_there:
                return Existing.NOTHING
            status = self.calls.status(parts[-1], self._enter(parts[:-1], make=False))
        except FileNotFoundError:
            return Existing.NOTHING
        except (PlaceError, OSError):  # a name too long, say: writing it will tell why
            return Existing.BLOCKED
        if (status.st_dev, status.st_ino) in self._protected:
            return Existing.PROTECTED
        if stat.S_ISDIR(status.st_mode):
            return Existing.FOLDER
        return Existing.FILE if stat.S_ISREG(status.st_mode) else Existing.OTHER

    @cached_property
    def _was_there(self) -> bool:
        """Whether the folder exists, asked once; ``keep`` notices what another program puts there afterwards."""
        return self.folder.exists()

    def make_folder(self, parts: Parts) -> None:
        """Create a folder and those above it, unless they exist. Raises PlaceError."""
        try:
            self._enter(parts, make=True)
        except OSError as error:
            raise error_for(error) from error

    def part(self, parts: Parts) -> PartialFile:
        """A new file that appears at ``parts`` when it is whole; one at a time. Raises PlaceError."""
        name = part_name().encode()
        try:
            folder = self._enter(parts[:-1], make=True)
            file = self.calls.create(name, folder)
        except OSError as error:
            raise error_for(error) from error
        with contextlib.suppress(OSError):  # without locks, no other run takes it for unfinished
            self.calls.lock(file)
        return PartialFile(self, name, folder, file)

    def unfinished(self, parts: Parts) -> list[Unfinished]:
        """The unfinished files in a folder below the destination; none if the folder does not exist."""
        with contextlib.suppress(PlaceError, OSError):
            if self._root >= 0 or self._was_there:
                return unfinished(self._enter(parts, make=False))
        return []

    def remove(self, parts: Parts, found: Unfinished) -> bool:
        """Remove a file that ``unfinished`` found; returns whether it was removed."""
        with contextlib.suppress(PlaceError, OSError):
            return remove(self._enter(parts, make=False), found)
        return False

    def is_protected(self, status: os.stat_result) -> bool:
        """Whether a file must never be replaced."""
        return (status.st_dev, status.st_ino) in self._protected

    def attach_origin(self, file: int) -> None:
        """Set the origin attributes of a file, if the file system supports them."""
        for name, value in self._origin.items():
            with contextlib.suppress(OSError):
                self.calls.attach(file, name, value)

    def sync_folder(self, folder: int) -> None:
        """Wait until the disk holds the names in an open folder, if that is wanted and possible. Raises OSError."""
        try:
            if self.sync:
                self.calls.sync(folder)
        except OSError as error:
            if error.errno not in NO_SYNC:
                raise

    def _enter(self, parts: Parts, *, make: bool) -> int:
        """The descriptor of a folder, reusing open folders above it. Raises OSError and PlaceError."""
        at = self._open_root(make=make)
        same = 0
        for (name, descriptor), part in zip(self._open, parts, strict=False):
            if name != part:
                break
            at, same = descriptor, same + 1
        self._leave(same)
        for part in parts[same:]:
            at = self._open_below(part, at, make=make)
            self._open.append((part, at))
        return at

    def _open_root(self, *, make: bool) -> int:
        if self._root < 0:
            try:
                if make:
                    self._make_root()
                self._root = self.calls.open_root(self.folder)
            except OSError as error:
                raise self._unusable(error) from error
        return self._root

    def _make_root(self) -> None:
        """Create the folder and those above it, whose names the disk has to hold too."""
        missing = [each for each in (self.folder, *self.folder.parents) if not each.exists()]
        self.calls.make_root(self.folder)
        for each in reversed(missing if self.sync else ()):
            above = self.calls.open_root(each.parent)
            try:
                self.sync_folder(above)
            finally:
                self._close_folder(above)

    def _open_below(self, name: bytes, at: int, *, make: bool) -> int:
        try:
            try:
                return self.calls.open_folder(name, at)
            except FileNotFoundError:
                if not make:
                    raise
            with contextlib.suppress(FileExistsError):
                self.calls.make_folder(name, at)
                self.sync_folder(at)
            return self.calls.open_folder(name, at)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise PlaceError(
                    f"where its folder {visible(name)} belongs, there is a file or a link, which is not followed"
                ) from error
            raise

    def _leave(self, depth: int) -> None:
        while len(self._open) > depth:
            self._close_folder(self._open.pop()[1])

    def _close_folder(self, folder: int) -> None:
        with contextlib.suppress(OSError):
            self.calls.close(folder)

    def _unusable(self, error: OSError) -> SourceError:
        return SourceError(f"The folder {visible(str(self.folder))} cannot be written to: {reason(error)}.")


def error_for(error: OSError) -> Exception:
    """The exception for a system error: PlaceError if it concerns one member, SourceError if it concerns all."""
    if error.errno in _DISK_FULL:
        return FullError("There is no room left on the disk.")
    if error.errno in _FATAL:
        return SourceError(f"The disk cannot be written to: {reason(error)}.")
    return PlaceError(f"the system refuses it ({reason(error)})")


class PartialFile:
    """A file being written; it ends with ``keep`` or ``drop``. A further ``drop`` does no harm.

    ``left`` is a sentence if its temporary name could not be removed, else empty.
    """

    left = ""

    def __init__(self, destination: Destination, name: bytes, folder: int, file: int) -> None:
        self._destination = destination
        self._calls = destination.calls
        self._name = name
        self._folder = folder
        self._file = file

    def write(self, data: bytes) -> None:
        """Append ``data``. Raises PlaceError, and SourceError if the disk is full or broken."""
        left = memoryview(data)
        try:
            while left:
                written = self._calls.write(self._file, left)
                if written <= 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                left = left[written:]
        except OSError as error:
            raise error_for(error) from error

    def keep(self, name: bytes, *, replace: bool, changed: int | None = None) -> None:
        """Give the file its name and the date ``changed`` (seconds since 1970). Raises as ``write``, and TakenError.

        With ``replace``, it replaces a file or a link of that name.
        """
        try:
            if changed is not None:
                with contextlib.suppress(OSError, OverflowError):
                    self._calls.date(self._file, changed)
            self._destination.attach_origin(self._file)
            if self._destination.sync:
                self._calls.sync(self._file)
            self._close()  # some file systems report a full disk only here
            if replace:
                self._replace(name)
            else:
                self._place(name)
            self._destination.sync_folder(self._folder)
        except FileExistsError as error:
            raise TakenError("something else is there by now") from error
        except OSError as error:
            raise error_for(error) from error

    def _replace(self, name: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self._destination.is_protected(self._calls.status(name, self._folder)):
                raise PlaceError("the archive itself is there")
        self._calls.rename(self._name, name, self._folder)
        self._name = b""

    def _place(self, name: bytes) -> None:
        try:
            self._calls.link(self._name, name, self._folder)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with contextlib.suppress(FileNotFoundError):
                self._calls.status(name, self._folder)
                raise TakenError("something else is there by now") from error
            self._calls.rename(self._name, name, self._folder)
            self._name = b""
        else:
            self.drop()

    def drop(self) -> None:
        """Remove the file unless it was kept."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                self._close()
        name, self._name = self._name, b""
        if name:
            try:
                self._calls.unlink(name, self._folder)
            except FileNotFoundError:
                pass
            except OSError as error:
                self.left = (
                    f"The temporary file {visible(name)} could not be removed ({reason(error)}); remove it, or extract "
                    "again with --remove-unfinished."
                )

    def _close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            self._calls.close(file)


# ---- system calls ------------------------------------------------------------------------------------------------


class FolderCalls:
    """Every system call of this module, so that a test can make any of them fail; all raise OSError.

    ``name`` is a single component inside the folder with the descriptor ``at``; links are never followed.
    """

    def make_root(self, path: Path) -> None:
        """Create the folder ``path`` and those above it, unless they exist."""
        path.mkdir(mode=0o755, parents=True, exist_ok=True)

    def open_root(self, path: Path) -> int:
        """Open the folder that the user named, which may be a link."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def open_folder(self, name: bytes, at: int) -> int:
        """Open a folder."""
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)

    def make_folder(self, name: bytes, at: int) -> None:
        """Create a folder."""
        os.mkdir(name, 0o755, dir_fd=at)

    def create(self, name: bytes, at: int) -> int:
        """Create a file that must not exist, and open it for writing."""
        return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644, dir_fd=at)

    def lock(self, file: int) -> None:
        """Lock the file, which tells other runs that it is still being written."""
        Disk().lock(file)

    def write(self, file: int, data: memoryview) -> int:
        """Append; returns how many bytes were written."""
        return os.write(file, data)

    def date(self, file: int, seconds: int) -> None:
        """Set the modification time, in seconds since 1970."""
        os.utime(file, (seconds, seconds))

    def attach(self, file: int, attribute: str, value: bytes) -> None:
        """Set an extended attribute."""
        os.setxattr(file, attribute, value)

    def sync(self, descriptor: int) -> None:
        """Wait until the disk holds a file, or the names in a folder."""
        Disk().sync(descriptor)

    def close(self, descriptor: int) -> None:
        """Close a descriptor."""
        os.close(descriptor)

    def status(self, name: bytes, at: int) -> os.stat_result:
        """The status of what has a name."""
        return os.stat(name, dir_fd=at, follow_symlinks=False)

    def link(self, old: bytes, new: bytes, at: int) -> None:
        """Add a name, which must be free, to a file."""
        os.link(old, new, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)

    def rename(self, old: bytes, new: bytes, at: int) -> None:
        """Rename a file, replacing what has the new name."""
        os.replace(old, new, src_dir_fd=at, dst_dir_fd=at)

    def unlink(self, name: bytes, at: int) -> None:
        """Remove a name."""
        os.unlink(name, dir_fd=at)

    def free(self, folder: Path) -> int:
        """The free bytes on the file system."""
        return shutil.disk_usage(folder).free


def origin_of(path: Path) -> dict[str, bytes]:
    """The attributes that say where ``path`` was downloaded from; they hold for its members too."""
    found: dict[str, bytes] = {}
    for name in _ORIGINS if hasattr(os, "getxattr") else ():
        with contextlib.suppress(OSError):
            found[name] = os.getxattr(path, name)
    return found
