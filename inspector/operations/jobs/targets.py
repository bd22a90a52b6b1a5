"""Targets of new archives, in a folder or on S3: checking them first, and writing them all together or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from inspector.core.names import visible
from inspector.core.program.hints import already_exists
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import SourceError
from inspector.operations.jobs.operation_error import OperationError
from inspector.sources.local.atomic import NewFiles
from inspector.sources.local.disk_calls import DISK, Disk, unusable
from inspector.sources.s3.address import Address, is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.sentences import S3Error
from inspector.sources.web.address import is_web, read_only

Target = Path | Address
"""Where an archive is written: a file, or an object on S3."""


class NewArchiveFile(Protocol):
    """An archive being written; ``size`` in bytes, so far. All methods raise SourceError and Cancelled."""

    size: int

    def write(self, data: bytes) -> None:
        """Append ``data``."""

    def keep(self, offset: int, length: int) -> None:
        """Announce, before they are written, that these bytes will be overwritten later."""

    def overwrite(self, offset: int, data: bytes) -> None:
        """Overwrite bytes that have been written."""


class NewArchiveFiles(Protocol):
    """Archives that appear together."""

    def add(self, place: Any, /) -> NewArchiveFile:
        """Begin the archive at a Target."""


def target_of(text: str) -> Target:
    """The target that a user names; raises SourceError for an invalid address."""
    if is_web(text):
        raise read_only(text)
    return parse(text) if is_s3(text) else Path(text)


@contextmanager
def new_archives(
    target: Target, progress: Progress, *, overwrite: bool, connection: Connection = DEFAULT, disk: Disk = DISK
) -> Iterator[NewArchiveFiles]:
    """Archives that appear when the block ends without an exception, and not otherwise.

    They are files or objects, as ``target`` is. Raises SourceError and Cancelled.
    """
    if isinstance(target, Path):
        with NewFiles(replace=overwrite, disk=disk) as files:
            yield files
        return
    from inspector.sources.s3.uploads.new_objects import NewObjects  # loads boto3

    try:
        with cancelling(progress), NewObjects(connection, replace=overwrite) as objects:
            yield objects
    except S3Error as error:
        raise SourceError(f"{visible(str(target))} was not created: {error}") from error


def check_targets(paths: Collection[Target], *, overwrite: bool, connection: Connection = DEFAULT) -> None:
    """Refuse targets that exist already or cannot be written, before anything is read.

    Raises OperationError, and SourceError if a target cannot be examined.
    """
    _check_object_targets([each for each in paths if isinstance(each, Address)], overwrite, connection)
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
            raise OperationError(f"{name} is a folder; choose the name of a file.")
        if os.path.lexists(path) and not overwrite:
            raise OperationError(already_exists(name))
        if not path.parent.is_dir():
            raise OperationError(f"{name} cannot be written: its folder does not exist.")


def _check_object_targets(places: list[Address], overwrite: bool, connection: Connection) -> None:
    if not places:
        return
    from inspector.sources.s3.uploads.new_objects import NewObjects  # loads boto3

    for place in places:
        check_object_name(place)
        NewObjects(connection, replace=overwrite).see_that_it_is_free(place)


def check_object_name(place: Address) -> None:
    """Raise OperationError for an address that cannot be an object."""
    if not place.name:
        raise OperationError(f"{visible(str(place))} is a prefix; add the name of an object to it.")
