"""From the locations a user names to the archives that are to be checked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from inspector.core.source import SourceError
from inspector.operations.collection import open_collection
from inspector.operations.digest_manifest import SUFFIXES

_BESIDE = (".metadata", *SUFFIXES)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A location to be checked. ``found``: it was found in a folder, so nobody says that it is an archive."""

    location: str
    found: bool = False


def expanded(locations: Iterable[str]) -> Iterator[Wanted]:
    """The locations to check: a folder that is no collection stands for the files in it and beneath, in sorted order.

    A file beside an archive that belongs to it (metadata, an index, a digest manifest) is checked with that archive,
    not by itself; what is no regular file is left out. A folder that cannot be listed is a location: opening it says
    why.
    """
    for location in locations:
        path = Path(location)
        if path.is_dir() and not _is_collection(path):
            yield from _beneath(path)
        else:
            yield Wanted(location)


def _beneath(path: Path) -> Iterator[Wanted]:
    closed: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=closed.append):
        folders.sort()
        beside = {name.removesuffix(".tar") + ".index" for name in names}
        beside |= {name + suffix for name in names for suffix in _BESIDE}
        for name in sorted(set(names) - beside):
            file = Path(folder, name)
            if file.is_file():
                yield Wanted(str(file), found=True)
    yield from (Wanted(str(error.filename)) for error in closed)


def _is_collection(folder: Path) -> bool:
    try:
        return open_collection(folder) is not None
    except SourceError:
        return True  # opening it says what is wrong
