"""Creating Chunk Archives (CAF.md, "Creating a CAF File"): one archive, and further ones beyond the size limit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes, rounded
from inspector.core.program.progress import Progress
from inspector.formats.caf.write import MAX_ARCHIVE_BYTES, TARGET_DATA_BYTES, WriteError, Writer
from inspector.operations.create.creating import (
    Created,
    JoinedWrites,
    NewArchive,
    content_of,
    created,
    size_of,
    write_input,
)
from inspector.operations.create.inputs import Input, check_names, gather, skipped_outputs
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import NewArchiveFile, Target, check_targets, new_archives, target_of
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # most archives have no catalogue
    from inspector.operations.protocol.create_views import Place

DEFAULT_MAX_BYTES = TARGET_DATA_BYTES
"""The size of an archive beyond which the next one begins."""


class Volume(Struct):
    """One archive of a series: its inputs, and the writer that keeps its index."""

    path: Target
    inputs: list[Input] = field(default_factory=list)
    index: Writer = field(default_factory=Writer)

    def add(self, each: Input, max_size: int) -> bool:
        """Add an input unless the archive, with its index and footer, would then have more than ``max_size`` bytes.

        Returns whether it was added.
        """
        try:
            added = self.index.member(each.name, size_of(each), max_size)
        except WriteError as error:
            raise OperationError(str(error)) from error
        if added:
            self.inputs.append(each)
        return added

    def new_archive(self) -> NewArchive:
        """The archive as a plain value."""
        return NewArchive(str(self.path), len(self.inputs), self.index.size)

    def places(self) -> Iterator[Place]:
        """The location of each of its members."""
        from inspector.operations.protocol.create_views import Place

        at = 0
        for each in self.inputs:
            yield Place(each.name.decode(), str(self.path), at, size_of(each))
            at += size_of(each)


def create_caf(
    progress: Progress,
    target: str,
    locations: Sequence[str],
    *,
    max_size: int = DEFAULT_MAX_BYTES,
    catalog: str = "",
    overwrite: bool = False,
    connection: Connection = DEFAULT,
) -> Created:
    """Create ``target`` from the inputs at the locations, and further archives beside it beyond ``max_size`` bytes.

    The archives appear when all are whole; then the catalogue at ``catalog`` is updated. Raises OperationError,
    SourceError and Cancelled: then nothing is created, unless the message says otherwise.
    """
    first = target_of(target)
    if not 0 < max_size <= MAX_ARCHIVE_BYTES:
        raise OperationError(
            f"The size limit must be at most {in_bytes(MAX_ARCHIVE_BYTES)} (32 GiB); {max_size:,} is not possible."
        )
    check_targets([first], overwrite=overwrite, connection=connection)
    if catalog:
        from inspector.operations.create import catalogue

        catalogue.check_usable(Path(catalog))
    series = existing_volumes(first)
    outputs: list[Target] = [first, *series, *([Path(catalog)] if catalog else [])]
    inputs = gather(locations, progress, outputs, connection)
    warnings = (*check_names(inputs), *skipped_outputs(outputs, locations))
    volumes = plan(inputs, first, max_size)
    paths = [volume.path for volume in volumes]
    check_targets(paths[1:], overwrite=overwrite, connection=connection)
    if catalog and Path(catalog).resolve() in {path.resolve() for path in paths if isinstance(path, Path)}:
        raise OperationError(f"{visible(catalog)} cannot be both an archive and the catalogue.")
    _write(volumes, progress, overwrite=overwrite, connection=connection)
    warnings += _stale_volumes(series, volumes)
    if catalog:
        warnings += _record(Path(catalog), volumes)
    return created(tuple(volume.new_archive() for volume in volumes), warnings)


def plan(inputs: Sequence[Input], target: Target, max_size: int) -> list[Volume]:
    """Distribute the inputs over archives of at most ``max_size`` bytes.

    Raises OperationError for an input that does not fit into an archive of its own.
    """
    volumes = [Volume(target)]
    for each in inputs:
        if volumes[-1].add(each, max_size):
            continue
        if volumes[-1].inputs:
            volumes.append(Volume(volume_path(target, len(volumes))))
        if not volumes[-1].add(each, max_size):
            needed, size = Writer().size_with(each.name, size_of(each)), size_of(each)
            raise OperationError(
                f"{visible(each.where)} needs an archive of {in_bytes(needed)} (its {in_bytes(size)} and the index), "
                f"and the limit is {in_bytes(max_size)} ({rounded(max_size)}). Nothing was written."
            )
    return volumes


def volume_path(target: Target, number: int) -> Target:
    """The path of archive ``number`` of a series: 0 is ``target`` itself, 1 is ``TARGET-0001.caf``."""
    stem, suffix = _parts(target)
    return target.with_name(f"{stem}-{number:04}{suffix}") if number else target


def _parts(target: Target) -> tuple[str, str]:
    return (target.stem, target.suffix) if target.suffix.lower() == ".caf" else (target.name, ".caf")


def existing_volumes(target: Target) -> list[Path]:
    """The files beside ``target`` that are named like further archives of its series."""
    if not isinstance(target, Path):
        return []
    stem, suffix = _parts(target)
    follows = re.compile(re.escape(stem) + r"-[0-9]{4,}" + re.escape(suffix))
    with suppress(OSError):  # a writable folder need not be readable
        return sorted(path for path in target.parent.iterdir() if follows.fullmatch(path.name))
    return []


def _write(volumes: Sequence[Volume], progress: Progress, *, overwrite: bool, connection: Connection) -> None:
    total = sum(size_of(each) for volume in volumes for each in volume.inputs)
    progress.begin(f"Writing {visible(volumes[0].path.name)}", total)
    with new_archives(volumes[0].path, progress, overwrite=overwrite, connection=connection) as files:
        for volume in volumes:
            progress.label = f"Writing {visible(volume.path.name)}"
            _write_one(volume, files.add(volume.path), progress)


def _write_one(volume: Volume, out: NewArchiveFile, progress: Progress) -> None:
    joined = JoinedWrites(out)
    for each in volume.inputs:
        data = content_of(each)
        if data is not None:
            joined.add(data)
            progress.advance(len(data))
            continue
        joined.flush()
        write_input(each, out, progress)
    joined.flush()
    for piece in volume.index.finish():
        out.write(piece)


def _stale_volumes(series: Sequence[Path], volumes: Sequence[Volume]) -> tuple[str, ...]:
    """The warning about archives of an earlier, longer series, which look as if they belonged to this one."""
    left = [path for path in series if path not in {volume.path for volume in volumes}]
    if not left:
        return ()
    names = ", ".join(visible(path.name) for path in left[:3]) + (", …" if len(left) > 3 else "")
    return (f"These files have names of this series but do not belong to it, and were left alone: {names}.",)


def _record(path: Path, volumes: Sequence[Volume]) -> tuple[str, ...]:
    from inspector.operations.create import catalogue

    archives = [str(volume.path) for volume in volumes]
    try:
        moved = catalogue.record(path, archives, (place for volume in volumes for place in volume.places()))
    except OperationError as error:
        raise OperationError(
            f"The archives were created, but the catalogue was not updated: {error} Create them again with --overwrite."
        ) from error
    if not moved:
        return ()
    return (f"The catalogue had another location for {count(moved, 'name')}; it has the new one now.",)
