"""What making any archive has in common: where it may go, how its members get there, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes, plural, rounded
from inspector.core.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.inputs import PIECE, FileInput, Input
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import New


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


def size_of(each: Input) -> int:
    """The size of an input, in bytes; raises OperationError where it is not known beforehand."""
    if each.size is None:
        raise OperationError(
            f"The size of {visible(each.where)} is not known before it is read, so it cannot be planned for."
        )
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
