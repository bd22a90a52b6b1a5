"""What stands in a folder, by name."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from inspector.core.names import visible
from inspector.core.source import Source, SourceError
from inspector.sources.local.disk_calls import reason
from inspector.sources.local.file import NOTHING_THERE, FileSource


class Entry(NamedTuple):
    """One thing in a folder; ``size`` is in bytes, 0 for a folder."""

    name: str
    location: str
    folder: bool
    size: int


class Folder(Protocol):
    """Names with a size, wherever they are. ``above`` is the name of the folder that this one is in."""

    location: str
    name: str
    above: str

    def entries(self) -> Sequence[Entry]:
        """The files and folders in it, sorted by name. Raises SourceError where it cannot be read."""

    def inside(self, name: str) -> Folder | None:
        """The folder ``name`` in it, None where there is none. Raises SourceError."""

    def open(self, location: str) -> Source:
        """The bytes at the location of one of its files, or of one in a folder inside it. Raises SourceError."""


class LocalFolder:
    """A Folder of this machine; a path that says where it is, so not a relative one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.location = str(path)
        self.name = path.name
        self.above = path.parent.name

    def entries(self) -> Sequence[Entry]:
        """See Folder.entries; anything but files and folders (a pipe, a broken link) is left out."""
        try:
            with os.scandir(self._path) as found:
                return sorted(entry for entry in map(_entry, found) if entry is not None)
        except OSError as error:
            raise self._unread(error) from error

    def inside(self, name: str) -> Folder | None:
        """See Folder.inside."""
        path = self._path / name
        try:
            return LocalFolder(path) if path.is_dir() else None
        except OSError as error:
            raise self._unread(error) from error

    def _unread(self, error: OSError) -> SourceError:
        return SourceError(f"The folder {visible(self.location)} cannot be read: {reason(error)}.")

    def open(self, location: str) -> Source:
        """See Folder.open."""
        return FileSource(Path(location))


def _entry(found: os.DirEntry[str]) -> Entry | None:
    """What is of interest; None for anything else. Raises OSError where it cannot be told what it is."""
    try:
        if found.is_dir():
            return Entry(found.name, found.path, folder=True, size=0)
        if found.is_file():
            return Entry(found.name, found.path, folder=False, size=found.stat().st_size)
    except OSError as error:
        if error.errno not in NOTHING_THERE:
            raise
    return None
