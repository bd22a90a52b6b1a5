"""New files that appear under their names whole or not at all: one, several together, or objects below a folder.

Unfinished files are what a killed run has left under temporary names. A run holds a lock on each file it is writing, or
on another file of the same group; so a file whose group can be locked belongs to no running process. Without support
for locks, no file is called unfinished.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.sources.local.disk_calls import DISK, SAFELY, Disk, reason, write_all

_FLAGS = ("O_CLOEXEC", "O_BINARY", "O_NOFOLLOW")


@contextlib.contextmanager
def atomic_file(path: Path, *, replace: bool = False) -> Iterator[NewFile]:
    """One file that appears under its name when the block ends without an exception.

    Raises SourceError if it cannot be written, or if something else has its name by then and ``replace`` is false.
    """
    with NewFiles(replace=replace) as files:
        yield files.add(path)


class NewFile:
    """A file under a temporary name beside its final one; NewFiles creates them. ``size`` is in bytes, so far.

    Raises SourceError if it cannot be written.
    """

    def __init__(self, path: Path, disk: Disk, group: str, number: int, *, holds: bool) -> None:
        """``group`` and ``number`` make the temporary name; with ``holds``, its lock marks the group as in use."""
        self.path = path
        self.size = 0
        self._disk = disk
        self._holds = holds
        self._temporary = path.with_name(f"{temporary_prefix(path.name)}{group}{number & 0xFFFF:04x}.part")
        self._placed = self._replaced = self._finished = False
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | sum(getattr(os, flag, 0) for flag in _FLAGS)
        with self._as_source_error():
            self._descriptor = os.open(self._temporary, flags, 0o666)
        with contextlib.suppress(OSError):  # without locks, no other run takes it for unfinished
            disk.lock(self._descriptor)

    def write(self, data: bytes) -> None:
        with self._as_source_error():
            write_all(self._disk, self._descriptor, data, self.size)
        self.size += len(data)

    def keep(self, offset: int, length: int) -> None:
        """Announce that these bytes will be overwritten; a file needs no preparation."""

    def overwrite(self, offset: int, data: bytes) -> None:
        """Overwrite bytes that have been written."""
        assert offset + len(data) <= self.size
        with self._as_source_error():
            write_all(self._disk, self._descriptor, data, offset)

    def finish(self) -> None:
        """Wait until the disk holds all of it; nothing is written after that."""
        if self._finished:
            return
        with self._as_source_error():
            self._disk.sync(self._descriptor)
        self._finished = True
        if not self._holds:
            self._close()

    def place(self, *, replace: bool) -> None:
        """Give it its final name, replacing what has it only if ``replace`` is true."""
        self._close()  # an open file cannot be renamed everywhere
        with self._as_source_error():
            try:
                self._link()
            except FileExistsError as error:
                if not replace:
                    why = "something is there already"
                    raise SourceError(f"{visible(self.path.name)} cannot be written: {why}.") from error
                self._temporary.replace(self.path)
                self._replaced = True
        self._placed = True

    def _link(self) -> None:
        try:
            os.link(self._temporary, self.path)  # unlike rename, this never replaces another file
        except FileExistsError:
            raise
        except OSError as error:  # a file system without hard links
            if os.path.lexists(self.path):
                raise FileExistsError from error
            self._temporary.rename(self.path)

    def discard(self) -> bool:
        """Remove it if possible; returns whether it stays because it has replaced another file."""
        self._close()
        self.remove_temporary_name()
        if self._placed and not self._replaced:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
        return self._replaced

    def remove_temporary_name(self) -> str:
        """Remove the temporary name; returns a sentence if it stays, else an empty string."""
        try:
            self._disk.unlink(self._temporary)
        except FileNotFoundError:
            return ""
        except OSError as error:
            name, second = visible(self.path.name), visible(str(self._temporary))
            return f"{name} is complete, but its temporary name {second} could not be removed: {reason(error)}."
        return ""

    def _close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            with contextlib.suppress(OSError):  # its data have been synced already
                os.close(descriptor)

    @contextlib.contextmanager
    def _as_source_error(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            done = f" after {self.size:,} bytes" if self.size else ""
            folder = self.path.parent
            why = reason(error) if folder.is_dir() else f"there is no folder {visible(str(folder))}"
            raise SourceError(f"{visible(self.path.name)} cannot be written{done}: {why}.") from error


class NewFiles:
    """A context manager for files that appear together when its block ends without an exception, and not otherwise.

    Raises SourceError. If one of several files cannot get its name, those before it are removed again; only those that
    replaced other files stay, and the message names them.
    """

    def __init__(self, *, replace: bool = False, disk: Disk = DISK) -> None:
        self._replace = replace
        self._disk = disk
        self._files: list[NewFile] = []
        self._placed = False
        self._group = os.urandom(6).hex()

    def add(self, path: Path) -> NewFile:
        """Begin a file; this finishes the one before it."""
        if self._files:
            self._files[-1].finish()
        number = len(self._files)
        holds = all(each.path.parent != path.parent for each in self._files)
        self._files.append(NewFile(path, self._disk, self._group, number, holds=holds))
        return self._files[-1]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            self._place()
        except BaseException as failure:
            kept = [] if self._placed else self._discard()
            if kept and isinstance(failure, SourceError):
                raise SourceError(f"{failure} These files are replaced already: {', '.join(kept)}.") from failure
            raise

    def _place(self) -> None:
        if self._files:
            self._files[-1].finish()
        for each in self._files:
            each.place(replace=self._replace)
        left = [sentence for each in self._files if (sentence := each.remove_temporary_name())]
        for folder in {each.path.parent for each in self._files}:
            with contextlib.suppress(OSError):  # the files have their names by now
                self._disk.sync_folder(folder)
        self._placed = True
        if left:
            raise SourceError(" ".join((*left, "Remove what is left; it takes no room of its own.")))

    def _discard(self) -> list[str]:
        """Remove the files; returns the names of those that stay."""
        return [visible(each.path.name) for each in self._files if each.discard()]


# ---- objects in a folder -----------------------------------------------------------------------------------------


class FolderObjects(NewFiles):
    """Objects as files below ``root``; missing folders are created, and removed again after an exception."""

    def __init__(self, root: Path, disk: Disk = DISK) -> None:
        super().__init__(disk=disk)
        self._root = root
        self._created: list[Path] = []

    def put(self, key: str, content: Iterable[bytes]) -> None:
        """Store an object; what ``content`` raises passes through. Raises SourceError."""
        path = self._root.joinpath(*PurePosixPath(key).parts)
        self._create_folders(path.parent)
        out = self.add(path)
        for piece in content:
            out.write(piece)

    def _create_folders(self, folder: Path) -> None:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        try:
            for each in reversed(missing):
                each.mkdir(exist_ok=True)
                self._created.append(each)
        except OSError as error:
            raise SourceError(f"The folder {visible(str(folder))} cannot be created: {reason(error)}.") from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        done = False
        try:
            super().__exit__(kind, error, trace)
            done = kind is None
            for each in self._created if done else ():
                with contextlib.suppress(OSError):  # the objects are there by now
                    self._disk.sync_folder(each.parent)
        finally:
            for each in () if done else reversed(self._created):
                with contextlib.suppress(OSError):  # something is in it by now
                    each.rmdir()


# ---- unfinished files ------------------------------------------------------------------------------------------------

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
                DISK.lock(descriptor)
                status = known
        yield status
    finally:
        if descriptor >= 0:
            os.close(descriptor)
