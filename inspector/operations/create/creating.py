"""What creating any archive has in common: copying its inputs, and the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from msgspec import Struct

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes, plural, rounded
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.inputs import MAX_PIECE_BYTES, MAX_WHOLE_BYTES, FileInput, Input
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import NewArchiveFile


class NewArchive(Struct, frozen=True):
    """One archive that was created or is planned; ``members`` is their number, ``size`` in bytes."""

    path: str
    members: int
    size: int


class Created(Struct, frozen=True):
    """The result of creating or extending archives; ``sentence`` sums it up, ``warnings`` are further sentences."""

    archives: tuple[NewArchive, ...]
    sentence: str
    warnings: tuple[str, ...] = ()


def created(archives: tuple[NewArchive, ...], warnings: tuple[str, ...] = ()) -> Created:
    """The result for archives that were created."""
    members = count(sum(each.members for each in archives), "member")
    size = rounded(sum(each.size for each in archives))
    first = visible(archives[0].path)
    if len(archives) == 1:
        return Created(archives, f"Created {first}: {members}, {size}.", warnings)
    sentence = plural(
        "Created {number} archive, {first} to {last}: {members}, {size}.",
        "Created {number} archives, {first} to {last}: {members}, {size}.",
        len(archives),
        first=first,
        last=visible(archives[-1].path),
        members=members,
        size=size,
    )
    return Created(archives, sentence, warnings)


def size_of(each: Input) -> int:
    """The size of an input in bytes; raises OperationError if it is unknown before reading it."""
    if each.size is None:
        raise OperationError(
            f"The size of {visible(each.where)} is unknown before it is read, so it cannot be archived."
        )
    return each.size


class JoinedWrites:
    """Writes to a new archive, the small ones joined. Raises SourceError as that does."""

    def __init__(self, out: NewArchiveFile) -> None:
        self._out = out
        self._held: list[bytes] = []
        self._size = 0

    def add(self, *data: bytes) -> None:
        """Append bytes; they may not have been written before ``flush``."""
        self._held += data
        self._size += sum(map(len, data))
        if self._size >= MAX_PIECE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            self._out.write(b"".join(self._held))
        self._held, self._size = [], 0


def is_small(each: Input) -> TypeGuard[FileInput]:
    """Whether ``content_of`` gives its bytes."""
    return isinstance(each, FileInput) and each.identity.size <= MAX_WHOLE_BYTES


def content_of(each: Input) -> bytes | None:
    """All bytes of a small file; None for other inputs, which are written in pieces. Raises SourceError."""
    return each.whole() if is_small(each) else None


def write_input(
    each: Input, out: NewArchiveFile, progress: Progress, observe: Callable[[bytes], object] | None = None
) -> None:
    """Write all bytes of an input, each piece of which ``observe`` is given.

    Raises SourceError, also if there are more or fewer bytes than its size, and Cancelled.
    """
    start = out.size
    for piece in each.pieces():
        if observe is not None:
            observe(piece)
        out.write(piece)
        progress.advance(len(piece))
    progress.advance(0)
    written = out.size - start
    if written != each.size:
        raise SourceError(
            f"{visible(each.where)} has {in_bytes(written)}, not the {in_bytes(size_of(each))} it had before."
        )
