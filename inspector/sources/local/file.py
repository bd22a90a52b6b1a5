"""Files as sources: a regular file and its identity, a temporary file, and a stream that can be read once; and folders.

Such a stream, standard input, becomes a source that can be read anywhere: all formats look at their end first or jump,
so nothing can be decoded before the stream has ended.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import NamedTuple, Protocol, runtime_checkable

from inspector.core.finding import Finding
from inspector.core.limits import STANDARD_INPUT
from inspector.core.names import visible
from inspector.core.numbers import in_bytes, rounded
from inspector.core.program.progress import Progress
from inspector.core.source import BLOCK, Source, SourceError
from inspector.sources.local.disk_calls import read_at, reason

NOTHING_THERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP))
"""Errors that mean that no file has a name; any other error means that it is unknown."""


class Identity(NamedTuple):
    """What tells one state of a file from another without reading it; ``size`` in bytes, ``mtime_ns`` since 1970."""

    device: int
    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def same_file(self, other: Identity) -> bool:
        """Whether both are the same file, whatever its content."""
        return (self.device, self.inode) == (other.device, other.inode)

    def difference(self, now: Identity, since: str = "it was opened") -> str:
        """What happened to the file since, as the predicate of a sentence; empty if both are equal."""
        if not self.same_file(now):
            return f"has been replaced by another file since {since}"
        if self.size != now.size:
            word = "shorter" if now.size < self.size else "longer"
            return f"has become {word} since {since} ({self.size:,} bytes then, {now.size:,} now)"
        if self.mtime_ns != now.mtime_ns:
            return f"has been written to since {since}"
        return ""


class FileSource:
    """A regular file. Size and ``identity`` are those at opening; a file that shrinks gives short reads.

    Raises SourceError where the path is no regular file (a device or a pipe could block for ever) or cannot be read.
    """

    sparing = False
    """Whether it is decoded as one far away would be, see ``is_sparing``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        try:
            # O_NONBLOCK: opening a pipe that nobody writes to must not wait.
            self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        except OSError as error:
            raise SourceError(f"{path.name or path} cannot be opened: {reason(error)}.") from error
        status = os.fstat(self._descriptor)
        if not stat.S_ISREG(status.st_mode):
            self.close()
            raise SourceError(f"{path.name or path} is no regular file, so there is nothing in it to show.")
        self.size = status.st_size
        self.identity = Identity.of(status)

    def read(self, offset: int, length: int) -> bytes:
        length = min(length, self.size - offset)
        if offset < 0 or length <= 0:
            return b""
        try:
            return read_at(self._descriptor, length, offset)
        except OSError as error:
            raise SourceError(f"{self.path.name} cannot be read at byte {offset:,}: {reason(error)}.") from error

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:
        if not self.path.name.endswith(instead_of):
            return None
        beside = self.name.removesuffix(instead_of) + suffix
        # Asked for every kind of digest manifest of every archive that is checked, and seldom there. One look at the
        # whole folder would be quicker only while there is little in it.
        try:
            found = os.stat(beside)  # noqa: PTH116 - a Path takes longer than the look
        except OSError as error:
            if error.errno in NOTHING_THERE:
                return None
            name = PurePath(beside).name
            raise SourceError(f"Whether {name} exists is unknown: {reason(error)}.") from error
        return FileSource(Path(beside)) if stat.S_ISREG(found.st_mode) else None

    def change(self) -> str:
        """What another program has done to this file since, see ``change_of``; a file put in its place is no change."""
        try:
            return self.identity.difference(Identity.of(os.fstat(self._descriptor)))
        except OSError as error:
            return f"can no longer be looked at ({reason(error)})"

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.close()


class TemporarySource:
    """A file without a name, appended to and read by position; gone when closed. Raises SourceError on disk errors."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        """Create it in ``folder``, or in the system's temporary folder."""
        import tempfile  # reading a file needs none

        self.name = name
        self.doubt: Finding | None = None
        self.size = 0
        self._where = f"temporary file in {visible(str(folder or tempfile.gettempdir()))}"
        try:
            self._file = tempfile.TemporaryFile(buffering=0, dir=folder)  # noqa: SIM115 - closed when nothing holds it
        except OSError as error:
            raise SourceError(f"No {self._where} can be made: {reason(error)}.") from error

    def append(self, data: bytes) -> None:
        try:
            self._file.seek(self.size)  # without pread, reading moves the position
            written = self._file.write(data)
        except OSError as error:
            raise SourceError(f"The {self._where} cannot be written: {reason(error)}.") from error
        self.size += written or 0
        if written != len(data):
            raise SourceError(f"The {self._where} cannot be written: the disk is full.")

    def read(self, offset: int, length: int) -> bytes:
        if offset < 0 or length <= 0:
            return b""
        try:
            return read_at(self._file.fileno(), length, offset)
        except OSError as error:
            raise SourceError(f"The {self._where} cannot be read: {reason(error)}.") from error

    def sibling(self, suffix: str, instead_of: str = "") -> Source | None:  # noqa: ARG002 - it has no name
        return None

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()


# ---- streams ---------------------------------------------------------------------------------------------------------


def spooled(read: Callable[[int], bytes], name: str, progress: Progress) -> Source:
    """All bytes that ``read(size)`` gives until it gives none, as a source called ``name``.

    Raises SourceError if there is nothing, if there is more than STANDARD_INPUT allows, or if the stream or the
    temporary file fails; and Cancelled. Nothing stays on the disk when the source is dropped.
    """
    limit, file = STANDARD_INPUT.value, TemporarySource(name)
    progress.begin("Reading standard input", 0)
    while piece := _next(read):
        if file.size + len(piece) > limit:
            raise SourceError(
                f"Standard input is larger than {rounded(limit)} ({in_bytes(limit)}), so it was not read to its end. "
                f"Save it to a file and open that, or raise {STANDARD_INPUT.variable}."
            )
        file.append(piece)
        progress.advance(len(piece))
    if not file.size:
        raise SourceError("Standard input is empty.")
    return file


def _next(read: Callable[[int], bytes]) -> bytes:
    try:
        return read(BLOCK)
    except OSError as error:
        raise SourceError(f"Standard input cannot be read: {reason(error)}.") from error


# ---- folders ---------------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A file or folder in a folder; ``size`` is in bytes, 0 for a folder, ``modified`` in seconds, 0 if unknown."""

    name: str
    location: str
    folder: bool
    size: int
    modified: float = 0.0


@runtime_checkable
class Folder(Protocol):
    """A folder, local or remote. ``above`` is the name of its parent."""

    location: str
    name: str
    above: str

    def entries(self) -> Sequence[Entry]:
        """The files and folders in it, sorted by name. Raises SourceError."""

    def inside(self, name: str) -> Folder | None:
        """The subfolder ``name``, or None. Raises SourceError."""

    def open(self, location: str) -> Source:
        """The file at ``location`` in it or in one of its subfolders. Raises SourceError."""


class LocalFolder:
    """A Folder on this machine, by its absolute path."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.location = str(path)
        self.name = path.name
        self.above = path.parent.name

    def entries(self) -> Sequence[Entry]:
        """Anything but files and folders (a pipe, a broken link) is left out."""
        try:
            with os.scandir(self._path) as found:
                return sorted(entry for entry in map(_entry, found) if entry is not None)
        except OSError as error:
            raise self._unread(error) from error

    def inside(self, name: str) -> Folder | None:
        path = self._path / name
        try:
            return LocalFolder(path) if path.is_dir() else None
        except OSError as error:
            raise self._unread(error) from error

    def _unread(self, error: OSError) -> SourceError:
        return SourceError(f"The folder {visible(self.location)} cannot be read: {reason(error)}.")

    def open(self, location: str) -> Source:
        """Open a file by its path."""
        return FileSource(Path(location))


def _entry(found: os.DirEntry[str]) -> Entry | None:
    """A file or folder; None for anything else. Raises OSError if its type cannot be determined."""
    try:
        if found.is_dir():
            return Entry(found.name, found.path, folder=True, size=0)
        if found.is_file():
            status = found.stat()
            return Entry(found.name, found.path, folder=False, size=status.st_size, modified=status.st_mtime)
    except OSError as error:
        if error.errno not in NOTHING_THERE:
            raise
    return None
