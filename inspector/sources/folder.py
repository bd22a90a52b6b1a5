"""What stands in a folder, by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from inspector.core.source import SourceError


class Entry(NamedTuple):
    """One thing in a folder; ``size`` is in bytes, 0 for a folder."""

    name: str
    path: Path
    folder: bool
    size: int


def entries(folder: Path) -> list[Entry]:
    """The files and folders in ``folder``, sorted by name; anything else (a pipe, a broken link) is left out.

    Raises SourceError where the folder cannot be read.
    """
    try:
        with os.scandir(folder) as found:
            return sorted(entry for entry in map(_entry, found) if entry is not None)
    except OSError as error:
        raise SourceError(f"The folder {folder} cannot be read: {(error.strerror or str(error)).lower()}.") from error


def _entry(found: os.DirEntry[str]) -> Entry | None:
    try:
        if found.is_dir():
            return Entry(found.name, Path(found.path), folder=True, size=0)
        if found.is_file():
            return Entry(found.name, Path(found.path), folder=False, size=found.stat().st_size)
    except OSError:
        return None
    return None
