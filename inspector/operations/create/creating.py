"""What making any archive has in common: where it may go, how its members get there, and what is said of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from inspector.core.hints import taken
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes, plural, rounded
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.inputs import PIECE, FileInput, Input
from inspector.operations.jobs.operation_error import Refused
from inspector.sources.local.disk_calls import Disk, unusable
from inspector.sources.local.new_files import NewFiles
from inspector.sources.s3.address import Address, is_s3, parse
from inspector.sources.s3.cancelling import cancelling
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.sentences import S3Error

Target = Path | Address
"""Where an archive is to be: a file, or an object on S3."""


class New(Protocol):
    """An archive while it is written; ``size`` is how many bytes it has so far. Raises SourceError and Cancelled."""

    size: int

    def write(self, data: bytes) -> None:
        """Write behind what is there."""

    def keep(self, offset: int, length: int) -> None:
        """Say, before they are written, that these bytes will be written over."""

    def overwrite(self, offset: int, data: bytes) -> None:
        """Write over bytes that have been written."""

    def copy(self, descriptor: int, length: int, progress: Progress) -> int:
        """Let the system copy from an open file, see NewFile.copy: how many bytes it took."""


class News(Protocol):
    """Archives that take their places together."""

    def add(self, place: Any, /) -> New:
        """Begin the one at a Target."""


@dataclass(frozen=True, slots=True)
class NewArchive:
    """One archive that was made or is planned; ``members`` is how many, ``size`` in bytes."""

    path: str
    members: int
    size: int


@dataclass(frozen=True, slots=True)
class Created:
    """What making archives came to, in words too; ``warnings`` are sentences of what to know about it."""

    archives: tuple[NewArchive, ...]
    sentence: str
    warnings: tuple[str, ...] = ()


def created(archives: tuple[NewArchive, ...], warnings: tuple[str, ...] = ()) -> Created:
    """The result of having made the archives."""
    members = count(sum(each.members for each in archives), "member")
    size = rounded(sum(each.size for each in archives))
    first = visible(archives[0].path)
    if len(archives) == 1:
        said = f"{first} is made: {members}, {size}."
        return Created(archives, said, warnings)
    said = plural(
        "{number} archive is made, {first} to {last}: {members}, {size}.",
        "{number} archives are made, {first} to {last}: {members}, {size}.",
        len(archives),
        first=first,
        last=visible(archives[-1].path),
        members=members,
        size=size,
    )
    return Created(archives, said, warnings)


def target_of(text: str) -> Target:
    """Where a user wants an archive to be; raises SourceError for an address that is none."""
    return parse(text) if is_s3(text) else Path(text)


@contextmanager
def new_archives(
    target: Target, progress: Progress, *, overwrite: bool, connection: Connection = DEFAULT, disk: Disk | None = None
) -> Iterator[News]:
    """Archives that are there when the block has ended without an exception, and not otherwise.

    They are where ``target`` is: files of this machine, or objects. Raises SourceError and Cancelled.
    """
    if isinstance(target, Path):
        with NewFiles(replace=overwrite, disk=disk) as files:
            yield files
        return
    from inspector.sources.s3.new_objects import NewObjects  # loads boto3

    try:
        with cancelling(progress), NewObjects(connection, replace=overwrite) as objects:
            yield objects
    except S3Error as error:
        raise SourceError(f"{visible(str(target))} was not made: {error}") from error


def see_that_it_may_be_written(paths: Collection[Target], *, overwrite: bool, connection: Connection = DEFAULT) -> None:
    """Refuse, before anything is read, targets that are there already or cannot be there.

    Raises Refused, and SourceError where it cannot be told.
    """
    _see_that_objects_may_be_written([each for each in paths if isinstance(each, Address)], overwrite, connection)
    for path in paths:
        if isinstance(path, Address):
            continue
        name = visible(str(path))
        try:
            os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            pass
        except (OSError, ValueError) as error:  # a name too long, or with a NUL
            raise Refused(unusable(str(path), error)) from error
        if path.is_dir() or not path.name:
            raise Refused(f"{name} is a folder, and a file is to be written there: choose another name.")
        if os.path.lexists(path) and not overwrite:
            raise Refused(taken(name))
        if not path.parent.is_dir():
            raise Refused(f"{name} cannot be written: its folder does not exist.")


def _see_that_objects_may_be_written(places: list[Address], overwrite: bool, connection: Connection) -> None:
    if not places:
        return
    from inspector.sources.s3.new_objects import NewObjects  # loads boto3

    for place in places:
        see_that_it_has_a_name(place)
        NewObjects(connection, replace=overwrite).see_that_it_is_free(place)


def see_that_it_has_a_name(place: Address) -> None:
    """Raise Refused where no object can be at an address."""
    if not place.name:
        raise Refused(f"{visible(str(place))} is a prefix, and an object is to be written: give it a name.")


def size_of(each: Input) -> int:
    """The size of an input, in bytes; raises Refused where it is not known beforehand."""
    if each.size is None:
        raise Refused(f"The size of {visible(each.where)} is not known before it is read, so it cannot be planned for.")
    return each.size


def put(each: Input, out: New, progress: Progress, look: Callable[[bytes], object] | None = None) -> None:
    """Write all bytes of an input; ``look`` is shown them, where the system shall not copy them by itself.

    Raises SourceError, also where there are more or fewer than its size, and Cancelled.
    """
    start = out.size
    if look is None and isinstance(each, FileInput) and each.size > PIECE:
        _copy(each, out, progress)
    else:
        for piece in each.pieces():
            if look is not None:
                look(piece)
            out.write(piece)
            progress.advance(len(piece))
    progress.advance(0)
    written = out.size - start
    if written != each.size:
        raise SourceError(f"{visible(each.where)} has {in_bytes(written)}, not the {in_bytes(size_of(each))} it had.")


def _copy(each: FileInput, out: New, progress: Progress) -> None:
    with each.opened() as descriptor:
        done = out.copy(descriptor, each.size, progress)
        for piece in each.rest(descriptor, done):
            out.write(piece)
            progress.advance(len(piece))
