"""Making RCA archives, and how their blobs are written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.program.progress import Progress
from inspector.formats._zstd import LEVEL
from inspector.formats.rca.blocks import Convention
from inspector.formats.rca.chunks import ChunkLayer
from inspector.formats.rca.write import Piece, Storage, Writer, heads
from inspector.operations.create.creating import Created, NewArchive, created
from inspector.operations.create.inputs import Input, check_names, gather, is_small, skipped_outputs
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import Target, check_targets, new_archives, target_of
from inspector.sources.local.choices import remember
from inspector.sources.local.file import TemporarySource
from inspector.sources.s3.connection import DEFAULT, Connection

CONVENTIONS = {"spec": Convention.SPECIFICATION, "rcarch": Convention.RCARCH}
"""The conventions by their names on the command line."""
LEVELS = range(1, 23)
"""zstd levels; those above 19 need much memory."""

CONVENTION_NAMES = {convention: name for name, convention in CONVENTIONS.items()}

_WRITE_BYTES = 1 << 20
"""Small writes are joined up to this many bytes."""


class RcaOptions(Struct, frozen=True):
    """How blobs are written.

    ``convention`` is that of the hashes; None for the archive's own, then for the one that was chosen when the archive
    was made here, then for the specification's.
    ``accept`` are the codes of what an append may do that takes something away: ``DISCARD``.
    """

    level: int = LEVEL
    convention: Convention | None = None
    accept: frozenset[str] = frozenset()


def rca_options(level: int | None, convention: str | None, accept: Iterable[str] = ()) -> RcaOptions:
    """How blobs are written, with the names of the terminal; None stands for what RcaOptions has."""
    return RcaOptions(LEVEL if level is None else level, CONVENTIONS.get(convention or ""), frozenset(accept))


def create_rca(
    progress: Progress,
    target: str,
    locations: Sequence[str],
    options: RcaOptions,
    *,
    overwrite: bool = False,
    connection: Connection = DEFAULT,
) -> Created:
    """Make a new archive of what is at the locations, whole or not at all.

    Raises OperationError, EditError, SourceError and Cancelled.
    """
    place = target_of(target)
    check_targets([place], overwrite=overwrite, connection=connection)
    inputs = gather(locations, progress, [place], connection)
    made = make(place, inputs, options, progress, overwrite=overwrite, connection=connection)
    return replace(made, warnings=(*made.warnings, *skipped_outputs([place], locations)))


def make(
    target: Target,
    inputs: Sequence[Input],
    options: RcaOptions,
    progress: Progress,
    *,
    overwrite: bool = False,
    connection: Connection = DEFAULT,
) -> Created:
    """See create_rca."""
    check_level(options)
    warnings = check_names(inputs)
    with new_archives(target, progress, overwrite=overwrite, connection=connection) as files:
        out = files.add(target)
        for head in heads():
            out.keep(head.start, head.size)
        nothing = ChunkLayer((), (), False)
        writer = Writer(nothing, options.convention or Convention.SPECIFICATION, storage_beside(target), options.level)
        for piece in blob_pieces(writer, inputs, progress):
            assert piece.offset == out.size
            out.write(piece.data)
        commit = writer.commit()
        for piece in (*commit.headers, *([commit.last] if commit.last else [])):
            out.overwrite(*piece)
    remember(writer.digest, CONVENTION_NAMES[options.convention or Convention.SPECIFICATION])
    return created((NewArchive(str(target), len(inputs), commit.size),), warnings)


def check_level(options: RcaOptions) -> None:
    """Raise OperationError for a level that zstd does not have."""
    if options.level not in LEVELS:
        raise OperationError(f"The compression level is {LEVELS[0]} to {LEVELS[-1]}, not {options.level}.")


def storage_beside(target: Target) -> Callable[[str], Storage]:
    """Room for large blobs beside the archive: that disk has to have it anyway, another might not."""
    return lambda name: TemporarySource(name, target.resolve().parent if isinstance(target, Path) else None)


def blob_pieces(writer: Writer, inputs: Sequence[Input], progress: Progress) -> Iterator[Piece]:
    """What is to be written for the blobs; many are small, so what belongs together is joined up to some size."""
    progress.begin("Compressing", sum(each.size for each in inputs))
    start, joined = 0, bytearray()
    for offset, data in _all_pieces(writer, inputs, progress):
        progress.advance(0)  # what a large blob has been compressed to takes its time too
        if joined and (offset != start + len(joined) or len(joined) >= _WRITE_BYTES):
            yield Piece(start, bytes(joined))
            joined.clear()
        if not joined:
            start = offset
        joined += data
    if joined:
        yield Piece(start, bytes(joined))


def _all_pieces(writer: Writer, inputs: Sequence[Input], progress: Progress) -> Iterator[Piece]:
    for small, run in groupby(inputs, is_small):
        if small:
            yield from writer.small(_contents(run, progress), _WRITE_BYTES)
            continue
        for each in run:
            yield from writer.blob(each.name, _counted(each, progress))


def _contents(inputs: Iterable[Input], progress: Progress) -> Iterator[tuple[bytes, bytes]]:
    for each in inputs:
        data = b"".join(each.pieces())
        yield each.name, data
        progress.advance(len(data))


def _counted(each: Input, progress: Progress) -> Iterator[bytes]:
    progress.advance(0)
    for piece in each.pieces():
        yield piece
        progress.advance(len(piece))
