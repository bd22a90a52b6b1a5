"""Where new files may go, in a folder or on S3, and writing them so that they are there all at once or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from inspector.core.hints import already_exists
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.atomic import NewFiles
from inspector.sources.local.disk_calls import Disk, unusable
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

    Raises OperationError, and SourceError where it cannot be told.
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
            raise OperationError(unusable(str(path), error)) from error
        if path.is_dir() or not path.name:
            raise OperationError(f"{name} is a folder, and a file is to be written there: choose another name.")
        if os.path.lexists(path) and not overwrite:
            raise OperationError(already_exists(name))
        if not path.parent.is_dir():
            raise OperationError(f"{name} cannot be written: its folder does not exist.")


def _see_that_objects_may_be_written(places: list[Address], overwrite: bool, connection: Connection) -> None:
    if not places:
        return
    from inspector.sources.s3.new_objects import NewObjects  # loads boto3

    for place in places:
        see_that_it_has_a_name(place)
        NewObjects(connection, replace=overwrite).see_that_it_is_free(place)


def see_that_it_has_a_name(place: Address) -> None:
    """Raise OperationError where no object can be at an address."""
    if not place.name:
        raise OperationError(f"{visible(str(place))} is a prefix, and an object is to be written: give it a name.")
