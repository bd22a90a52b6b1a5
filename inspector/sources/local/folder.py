"""Folders, on this machine or elsewhere, and their entries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from inspector.core.names import visible
from inspector.core.source import Source, SourceError
from inspector.sources.local.disk_calls import reason
from inspector.sources.local.file import NOTHING_THERE, FileSource


class Entry(NamedTuple):
    """A file or folder in a folder; ``size`` is in bytes, 0 for a folder."""

    name: str
    location: str
    folder: bool
    size: int


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
        """The subfolder ``name``, or None."""
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
            return Entry(found.name, found.path, folder=False, size=found.stat().st_size)
    except OSError as error:
        if error.errno not in NOTHING_THERE:
            raise
    return None
