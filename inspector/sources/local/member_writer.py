"""The only code that writes members into a folder: nothing outside it, nothing under its name before it is whole.

Every folder beneath the destination is opened inside the one above it, and links are not followed, so that whatever
another program puts in the way meanwhile, no byte lands elsewhere. A file is written as ``.part-...`` in its own folder
and takes its name in one step.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.sources.local.disk_calls import reason
from inspector.sources.local.folder_calls import FolderCalls
from inspector.sources.local.unfinished import Unfinished, part_name, remove, unfinished

Parts = tuple[bytes, ...]
"""A path beneath the destination: its components, none of them empty, ``.`` or ``..``."""

_FULL = {errno.ENOSPC, errno.EDQUOT}
_HOPELESS = _FULL | {errno.EIO, errno.EROFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
"""What no other member would fare better with."""
_NO_LINKS = {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""What a file system answers that has no hard links."""


class PlaceError(Exception):
    """One member cannot be written where it belongs; the message is the end of a sentence. Others may be."""


class TakenError(PlaceError):
    """Something stands there already."""


class FullError(SourceError):
    """The disk has no room left."""


class Standing(StrEnum):
    """What stands at a place."""

    NOTHING = "nothing"
    FILE = "a file"
    FOLDER = "a folder"
    OTHER = "a link or a device"
    SPARED = "the archive itself"
    BLOCKED = "a file or a link where one of its folders would be"


class Destination:
    """A folder that members are written into, by one thread. Close it, or use it as a context manager.

    ``spared`` are the devices and inodes of files that are never replaced; ``origin`` goes with every file that is
    written. Nothing is made before the first folder or file is asked for. Raises SourceError where the folder cannot be
    used at all, here and in all methods.
    """

    def __init__(
        self,
        folder: Path,
        calls: FolderCalls | None = None,
        *,
        spared: frozenset[tuple[int, int]] = frozenset(),
        origin: Mapping[str, bytes] | None = None,
    ) -> None:
        self.folder = folder
        self.calls = calls or FolderCalls()
        self._spared = spared
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
        """Give all descriptors back."""
        self._leave(0)
        if self._root >= 0:
            self._give_back(self._root)
            self._root = -1

    def free(self) -> int:
        """How many bytes more the file system takes that the folder is on, or will be."""
        folder = self.folder.absolute()
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        if not folder.is_dir():
            raise self._unusable(NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)))
        try:
            return self.calls.free(folder)
        except OSError as error:
            raise self._unusable(error) from error

    def look(self, parts: Parts) -> Standing:
        """What stands at a path."""
        try:
            if self._root < 0 and not self.folder.exists():
                return Standing.NOTHING
            status = self.calls.status(parts[-1], self._enter(parts[:-1], make=False))
        except FileNotFoundError:
            return Standing.NOTHING
        except (PlaceError, OSError):  # a name too long, say: it is said when it is written
            return Standing.BLOCKED
        if (status.st_dev, status.st_ino) in self._spared:
            return Standing.SPARED
        if stat.S_ISDIR(status.st_mode):
            return Standing.FOLDER
        return Standing.FILE if stat.S_ISREG(status.st_mode) else Standing.OTHER

    def make_folder(self, parts: Parts) -> None:
        """Make a folder and those above it, unless they are there. Raises PlaceError."""
        try:
            self._enter(parts, make=True)
        except OSError as error:
            raise failure(error) from error

    def part(self, parts: Parts) -> Part:
        """A new file that will be at ``parts`` once it is whole; one at a time. Raises PlaceError."""
        name = part_name().encode()
        try:
            folder = self._enter(parts[:-1], make=True)
            file = self.calls.create(name, folder)
        except OSError as error:
            raise failure(error) from error
        with contextlib.suppress(OSError):  # where there are no locks nobody can take it for unfinished
            self.calls.lock(file)
        return Part(self, name, folder, file)

    def unfinished(self, parts: Parts) -> list[Unfinished]:
        """The files in a folder beneath the destination that were never finished; none where there is no folder."""
        with contextlib.suppress(PlaceError, OSError):
            if self._root >= 0 or self.folder.exists():
                return unfinished(self._enter(parts, make=False))
        return []

    def remove(self, parts: Parts, found: Unfinished) -> bool:
        """Take away a file that ``unfinished`` found in a folder; whether that was done."""
        with contextlib.suppress(PlaceError, OSError):
            return remove(self._enter(parts, make=False), found)
        return False

    def is_spared(self, status: os.stat_result) -> bool:
        """Whether a file is one of those that are never replaced."""
        return (status.st_dev, status.st_ino) in self._spared

    def attach_origin(self, file: int) -> None:
        """Say of a file where it comes from, where the file system can."""
        for name, value in self._origin.items():
            with contextlib.suppress(OSError):
                self.calls.attach(file, name, value)

    def _enter(self, parts: Parts, *, make: bool) -> int:
        """The descriptor of a folder; what is open already of the way to it is used. Raises OSError and PlaceError."""
        at = self._open_root(make=make)
        same = 0
        for (name, descriptor), part in zip(self._open, parts, strict=False):
            if name != part:
                break
            at, same = descriptor, same + 1
        self._leave(same)
        for part in parts[same:]:
            at = self._step(part, at, make=make)
            self._open.append((part, at))
        return at

    def _open_root(self, *, make: bool) -> int:
        if self._root < 0:
            try:
                if make:
                    self.calls.make_root(self.folder)
                self._root = self.calls.open_root(self.folder)
            except OSError as error:
                raise self._unusable(error) from error
        return self._root

    def _step(self, name: bytes, at: int, *, make: bool) -> int:
        try:
            try:
                return self.calls.open_folder(name, at)
            except FileNotFoundError:
                if not make:
                    raise
            with contextlib.suppress(FileExistsError):
                self.calls.make_folder(name, at)
            return self.calls.open_folder(name, at)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise PlaceError(
                    f"where its folder {visible(name)} belongs, there is a file or a link, which is not followed"
                ) from error
            raise

    def _leave(self, kept: int) -> None:
        while len(self._open) > kept:
            self._give_back(self._open.pop()[1])

    def _give_back(self, folder: int) -> None:
        with contextlib.suppress(OSError):
            self.calls.close(folder)

    def _unusable(self, error: OSError) -> SourceError:
        return SourceError(f"The folder {visible(str(self.folder))} cannot be written to: {reason(error)}.")


def failure(error: OSError) -> Exception:
    """What an error of the system means: for one member, or for all."""
    if error.errno in _FULL:
        return FullError("There is no room left on the disk.")
    if error.errno in _HOPELESS:
        return SourceError(f"The disk cannot be written to: {reason(error)}.")
    return PlaceError(f"the system does not take it ({reason(error)})")


class Part:
    """A file that is being written. It ends with ``keep``, or else with ``drop``; both may be followed by ``drop``."""

    def __init__(self, destination: Destination, name: bytes, folder: int, file: int) -> None:
        self._destination = destination
        self._calls = destination.calls
        self._name = name
        self._folder = folder
        self._file = file

    def write(self, data: bytes) -> None:
        """Write after what is there. Raises PlaceError, and SourceError where the disk is full or broken."""
        left = memoryview(data)
        try:
            while left:
                written = self._calls.write(self._file, left)
                if written <= 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                left = left[written:]
        except OSError as error:
            raise failure(error) from error

    def keep(self, name: bytes, *, replace: bool, changed: int | None = None) -> None:
        """Give the file its name, ``changed`` seconds since 1970 as its date. Raises as ``write`` does, and TakenError.

        With ``replace``, it takes the place of a file or a link that has the name.
        """
        try:
            if changed is not None:
                with contextlib.suppress(OSError, OverflowError):
                    self._calls.date(self._file, changed)
            self._destination.attach_origin(self._file)
            self._close()  # some file systems say only now that there was no room
            if replace:
                self._replace(name)
            else:
                self._take(name)
        except FileExistsError as error:
            raise TakenError("something stands there by now") from error
        except OSError as error:
            raise failure(error) from error

    def _replace(self, name: bytes) -> None:
        with contextlib.suppress(FileNotFoundError):
            if self._destination.is_spared(self._calls.status(name, self._folder)):
                raise PlaceError("the archive itself stands there")
        self._calls.rename(self._name, name, self._folder)
        self._name = b""

    def _take(self, name: bytes) -> None:
        try:
            self._calls.link(self._name, name, self._folder)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            with contextlib.suppress(FileNotFoundError):
                self._calls.status(name, self._folder)
                raise TakenError("something stands there by now") from error
            self._calls.rename(self._name, name, self._folder)
            self._name = b""
        else:
            self.drop()

    def drop(self) -> None:
        """Take away what has not been kept."""
        with contextlib.suppress(OSError):
            self._close()
        name, self._name = self._name, b""
        if name:
            with contextlib.suppress(OSError):
                self._calls.unlink(name, self._folder)

    def _close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            self._calls.close(file)
