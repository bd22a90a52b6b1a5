"""Expanding the locations that a user names into the archives to check."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

from inspector.core.collection import Collection
from inspector.core.names import visible
from inspector.core.source import SourceError
from inspector.formats import FORMATS
from inspector.operations.open.collection import collection_in, open_collection
from inspector.operations.open.opening import open_place
from inspector.operations.protocol.check_views import SUFFIXES, CheckTarget
from inspector.sources.local.disk_calls import reason, unusable
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.prefix import S3Prefix
from inspector.sources.s3.source import S3Source

_ENDINGS = frozenset(suffix for each in FORMATS for suffix in each.suffixes)
_BESIDE = (".metadata", *SUFFIXES)


def expanded(
    locations: Iterable[str], connection: Connection = DEFAULT, skipped: list[str] | None = None
) -> Iterator[CheckTarget]:
    """The locations to check: a folder is replaced by the files in and below it, in sorted order.

    A folder that is a collection is a location itself, followed by the other files in it. A file that belongs to an
    archive beside it (metadata, an index, a digest manifest) is checked with that archive; what is not a regular file
    is left out and added to ``skipped``. A folder that cannot be listed stays a location: opening it says why.
    """
    for location in locations:
        path = Path(location)
        if is_s3(location):
            yield from _on_s3(location, connection)
        elif path.is_dir():
            yield from _in_folder(location, path, skipped)
        else:
            yield CheckTarget(location)


def _in_folder(location: str, path: Path, skipped: list[str] | None) -> Iterator[CheckTarget]:
    try:
        collection = open_collection(path)
    except SourceError as error:
        yield CheckTarget(location, why=str(error))
        return
    if collection is None:
        yield from beneath(path, skipped)
        return
    yield CheckTarget(location)
    base = path.resolve()
    is_other = _not_in_collection(collection)
    for each in beneath(path, skipped):
        if is_other(str(base / Path(each.location).relative_to(path))):
            yield each


def _not_in_collection(collection: Collection) -> Callable[[str], bool]:
    """A function that tells whether a file in the folder of a collection does not belong to it."""
    theirs = {name for each in collection.ranges for name in (each.location, each.beside)}
    orphans = {each.name for each in collection.orphans}
    return lambda location: location not in theirs and Path(location).name not in orphans


def beneath(path: Path, skipped: list[str] | None = None) -> Iterator[CheckTarget]:
    """The files in and below a folder, in sorted order, each with the files that belong to it, see ``expanded``."""
    closed: list[OSError] = []
    for folder, folders, names in os.walk(path, onerror=closed.append):
        folders.sort()
        there = frozenset(names)
        beside = {name: _beside(name, there) for name in names}
        theirs = set(chain.from_iterable(beside.values()))
        for name in sorted(set(names) - theirs):
            file = Path(folder, name)
            try:
                regular = file.is_file()
            except OSError as error:
                yield CheckTarget(str(file), why=unusable(str(file), error))
                continue
            if regular:
                yield CheckTarget(
                    str(file), found=True, beside=tuple(str(Path(folder, other)) for other in beside[name])
                )
            elif skipped is not None:
                skipped.append(str(file))
    for each in closed:
        name = visible(str(each.filename))
        yield CheckTarget(str(each.filename), why=f"The folder {name} cannot be read: {reason(each)}.")


def _on_s3(location: str, connection: Connection) -> Iterator[CheckTarget]:
    try:
        place = _place(location, connection)
    except SourceError as error:
        yield CheckTarget(location, connection=connection, why=str(error))
        return
    if not isinstance(place, S3Prefix):
        yield CheckTarget(location, connection=connection, place=place)
        return
    try:
        collection = collection_in(place)
    except SourceError as error:
        yield CheckTarget(location, connection=connection, why=str(error))
        return
    if collection is None:
        yield from beneath_prefix(place, connection)
        return
    yield CheckTarget(location, connection=connection, place=place)
    is_other, there = _not_in_collection(collection), place.told() if place.partly else place.beneath()
    yield from (each for each in _among(there, place, connection) if is_other(each.location))


def beneath_prefix(prefix: S3Prefix, connection: Connection) -> Iterator[CheckTarget]:
    """The objects below a prefix, in sorted order, see ``beneath``. Raises SourceError."""
    return _among(prefix.beneath(), prefix, connection)


def _among(locations: Iterable[str], prefix: S3Prefix, connection: Connection) -> Iterator[CheckTarget]:
    names: dict[str, list[str]] = {}
    for each in locations:
        folder, slash, name = each.rpartition("/")
        names.setdefault(folder + slash, []).append(name)
    for folder in sorted(names):
        there = frozenset(names[folder])
        beside = {name: _beside(name, there) for name in there}
        theirs = set(chain.from_iterable(beside.values()))
        for name in sorted(there - theirs):
            others = tuple(folder + other for other in beside[name])
            yield CheckTarget(folder + name, True, others, connection, prefix.seen(folder + name, others))


def _place(location: str, connection: Connection) -> S3Source | S3Prefix | None:
    """What is at a location; None where it is called an archive, and opened when it is its turn. Raises SourceError."""
    if parse(location).suffix.lower() in _ENDINGS:
        return None
    place = open_place(location, connection)
    return place if isinstance(place, (S3Source, S3Prefix)) else None


def _beside(name: str, names: frozenset[str]) -> list[str]:
    """The names among ``names`` that belong to the archive ``name``."""
    others = [name + suffix for suffix in _BESIDE]
    if name.endswith(".tar"):
        others.append(name.removesuffix(".tar") + ".index")
    return [other for other in others if other in names]
