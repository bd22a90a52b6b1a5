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
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import ParamSpec, TypeVar

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.sources.local.atomic import Unfinished, part_name, remove, unfinished
from inspector.sources.local.disk_calls import DISK, NO_SYNC, reason

_ORIGINS = ("user.xdg.origin.url", "user.xdg.referrer.url")
"""Extended attributes that say where a file was downloaded from."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

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


class FolderCalls:
    """Every call to the system of this module passes here, so that a test can make any of them fail."""

    def __call__(
        self, call: Callable[Arguments, Result], *arguments: Arguments.args, **words: Arguments.kwargs
    ) -> Result:
        """Make a call. Raises OSError."""
        return call(*arguments, **words)


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
        self._open: list[tuple[bytes, int]] = []
        """The names and descriptors of the folder itself, without a name, and of those below it that are open."""
        if os.open not in os.supports_dir_fd:
            raise SourceError("Members cannot be extracted safely on this system, so nothing is written.")

    def __enter__(self) -> Destination:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._leave(0)

    def free(self) -> int:
        """The free bytes on the file system of the folder, or of where it will be created."""
        folder = self.folder.absolute()
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            raise self._unusable(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
        try:
            return self.calls(shutil.disk_usage, folder).free
        except OSError as error:
            raise self._unusable(error) from error

    def look(self, parts: Parts) -> Existing:
        try:
            if not self._open and not self._was_there:
                return Existing.NOTHING
            status = self.status(parts[-1], self._enter(parts[:-1], make=False))
        except FileNotFoundError:
            return Existing.NOTHING
        except (PlaceError, OSError):  # a name too long, say: writing it will tell why
            return Existing.BLOCKED
        if self.is_protected(status):
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
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            file = self.calls(os.open, name, flags, 0o644, dir_fd=folder)
        except OSError as error:
            raise error_for(error) from error
        with contextlib.suppress(OSError):  # without locks, no other run takes it for unfinished
            self.calls(DISK.lock, file)
        return PartialFile(self, name, folder, file)

    def unfinished(self, parts: Parts) -> list[Unfinished]:
        """The unfinished files in a folder below the destination; none if the folder does not exist."""
        with contextlib.suppress(PlaceError, OSError):
            if self._open or self._was_there:
                return unfinished(self._enter(parts, make=False))
        return []

    def remove(self, parts: Parts, found: Unfinished) -> bool:
        """Remove a file that ``unfinished`` found; returns whether it was removed."""
        with contextlib.suppress(PlaceError, OSError):
            return remove(self._enter(parts, make=False), found)
        return False

    def status(self, name: bytes, at: int) -> os.stat_result:
        """The status of what has a name in an open folder. Raises OSError."""
        return self.calls(os.stat, name, dir_fd=at, follow_symlinks=False)

    def is_protected(self, status: os.stat_result) -> bool:
        """Whether a file must never be replaced."""
        return (status.st_dev, status.st_ino) in self._protected

    def attach_origin(self, file: int) -> None:
        """Set the origin attributes of a file, if the file system supports them."""
        for name, value in self._origin.items():
            with contextlib.suppress(OSError):
                self.calls(os.setxattr, file, name, value)

    def sync_folder(self, folder: int) -> None:
        """Wait until the disk holds the names in an open folder, if that is wanted and possible. Raises OSError."""
        try:
            if self.sync:
                self.calls(DISK.sync, folder)
        except OSError as error:
            if error.errno not in NO_SYNC:
                raise

    def _enter(self, parts: Parts, *, make: bool) -> int:
        """The descriptor of a folder, reusing open folders above it. Raises OSError and PlaceError."""
        path = (b"", *parts)
        same = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], zip(self._open, path, strict=False)))
        self._leave(same)
        for part in path[same:]:
            opened = self._open_below(part, self._open[-1][1], make=make) if part else self._open_root(make=make)
            self._open.append((part, opened))
        return self._open[-1][1]

    def _open_root(self, *, make: bool) -> int:
        """Open the folder that the user named, which may be a link; ``make`` it, whose names the disk has to hold."""
        missing = [each for each in (self.folder, *self.folder.parents) if self.sync and make and not each.exists()]
        try:
            if make:
                self.calls(self.folder.mkdir, mode=0o755, parents=True, exist_ok=True)
            for each in reversed(missing):
                above = self.calls(os.open, each.parent, os.O_RDONLY | os.O_DIRECTORY)
                try:
                    self.sync_folder(above)
                finally:
                    self._close_folder(above)
            return self.calls(os.open, self.folder, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise self._unusable(error) from error

    def _open_below(self, name: bytes, at: int, *, make: bool) -> int:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
        try:
            try:
                return self.calls(os.open, name, flags, dir_fd=at)
            except FileNotFoundError:
                if not make:
                    raise
            with contextlib.suppress(FileExistsError):
                self.calls(os.mkdir, name, 0o755, dir_fd=at)
                self.sync_folder(at)
            return self.calls(os.open, name, flags, dir_fd=at)
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
            self.calls(os.close, folder)

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
                written = self._calls(os.write, self._file, left)
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
                    self._calls(os.utime, self._file, (changed, changed))
            self._destination.attach_origin(self._file)
            if self._destination.sync:
                self._calls(DISK.sync, self._file)
            self._close()  # some file systems report a full disk only here
            self._place(name, replace=replace)
            self._destination.sync_folder(self._folder)
        except FileExistsError as error:
            raise TakenError("something else is there by now") from error
        except OSError as error:
            raise error_for(error) from error

    def _place(self, name: bytes, *, replace: bool) -> None:
        at = self._folder
        if not replace:
            try:
                self._calls(os.link, self._name, name, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
            else:
                self.drop()
                return
        with contextlib.suppress(FileNotFoundError):
            there = self._destination.status(name, at)
            if not replace:
                raise FileExistsError
            if self._destination.is_protected(there):
                raise PlaceError("the archive itself is there")
        self._calls(os.replace, self._name, name, src_dir_fd=at, dst_dir_fd=at)
        self._name = b""

    def drop(self) -> None:
        """Remove the file unless it was kept."""
        with contextlib.suppress(OSError):
            self._close()
        name, self._name = self._name, b""
        if name:
            try:
                self._calls(os.unlink, name, dir_fd=self._folder)
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
            self._calls(os.close, file)


def origin_of(path: Path) -> dict[str, bytes]:
    """The attributes that say where ``path`` was downloaded from; they hold for its members too."""
    found: dict[str, bytes] = {}
    for name in _ORIGINS if hasattr(os, "getxattr") else ():
        with contextlib.suppress(OSError):
            found[name] = os.getxattr(path, name)
    return found
