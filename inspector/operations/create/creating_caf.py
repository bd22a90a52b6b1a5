"""Making Chunk Archives: CAF.md, "Creating a CAF File". One archive, and further ones where the size limit is met."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from inspector.core.names import visible
from inspector.core.numbers import in_bytes, rounded
from inspector.core.progress import Progress
from inspector.formats.caf.decode import MAX_ARCHIVE_BYTES, TARGET_DATA_BYTES
from inspector.formats.caf.write import WriteError, Writer
from inspector.operations.create import catalogue
from inspector.operations.create.creating import Created, NewArchive, created, put, size_of
from inspector.operations.create.inputs import Input, check_names, gather, not_of_itself
from inspector.operations.jobs.operation_error import Refused
from inspector.operations.jobs.targets import New, Target, new_archives, see_that_it_may_be_written, target_of
from inspector.operations.protocol.create_views import Place
from inspector.sources.s3.connection import DEFAULT, Connection

DEFAULT_SIZE = TARGET_DATA_BYTES
"""Where the next archive begins unless another size is said, in bytes."""


@dataclass(slots=True)
class Volume:
    """One archive of a series: what will be in it, and the books that say so."""

    path: Target
    inputs: list[Input] = field(default_factory=list)
    books: Writer = field(default_factory=Writer)

    def takes(self, each: Input, most: int) -> bool:
        """Whether it would have at most ``most`` bytes, its index and footer among them, with one more input."""
        return self.books.size_with(each.name, size_of(each)) <= most

    def take(self, each: Input) -> None:
        """Write an input into the books."""
        try:
            self.books.begin(each.name)
            self.books.add(size_of(each))
            self.books.end()
        except WriteError as error:
            raise Refused(str(error)) from error
        self.inputs.append(each)

    def new_archive(self) -> NewArchive:
        """It as a value."""
        return NewArchive(str(self.path), len(self.inputs), self.books.size)

    def places(self) -> Iterator[Place]:
        """Where each of its members will be."""
        at = 0
        for each in self.inputs:
            yield Place(each.name.decode(), str(self.path), at, size_of(each))
            at += size_of(each)


def create_caf(
    progress: Progress,
    target: str,
    locations: Sequence[str],
    *,
    max_size: int = DEFAULT_SIZE,
    catalog: str = "",
    overwrite: bool = False,
    connection: Connection = DEFAULT,
) -> Created:
    """Make ``target`` of what is at the locations, and further archives beside it where it would exceed ``max_size``.

    The archives take their places when all of them are whole; then the catalogue at ``catalog`` is kept up. Raises
    Refused, SourceError and Cancelled: then nothing is made, unless the sentence says so.
    """
    first = target_of(target)
    if not 0 < max_size <= MAX_ARCHIVE_BYTES:
        raise Refused(f"An archive has at most {in_bytes(MAX_ARCHIVE_BYTES)} (32 GB); {max_size:,} is not possible.")
    see_that_it_may_be_written([first], overwrite=overwrite, connection=connection)
    if catalog:
        catalogue.see_that_it_is_usable(Path(catalog))
    series = earlier(first)
    never: list[Target] = [first, *series, *([Path(catalog)] if catalog else [])]
    inputs = gather(locations, progress, never, connection)
    warnings = (*check_names(inputs), *not_of_itself(never, locations))
    volumes = plan(inputs, first, max_size)
    paths = [volume.path for volume in volumes]
    see_that_it_may_be_written(paths[1:], overwrite=overwrite, connection=connection)
    if catalog and Path(catalog).resolve() in {path.resolve() for path in paths if isinstance(path, Path)}:
        raise Refused(f"{visible(catalog)} cannot be an archive and the catalogue too.")
    _write(volumes, progress, overwrite=overwrite, connection=connection)
    warnings += _left_over(series, volumes)
    if catalog:
        warnings += _record(Path(catalog), volumes)
    return created(tuple(volume.new_archive() for volume in volumes), warnings)


def plan(inputs: Sequence[Input], target: Target, max_size: int) -> list[Volume]:
    """The archives that the inputs will fill, each of at most ``max_size`` bytes.

    Raises Refused for an input that does not fit even into an archive of its own.
    """
    volumes = [Volume(target)]
    for each in inputs:
        if volumes[-1].inputs and not volumes[-1].takes(each, max_size):
            volumes.append(Volume(volume_path(target, len(volumes))))
        if not volumes[-1].takes(each, max_size):
            needed, size = Writer().size_with(each.name, size_of(each)), size_of(each)
            raise Refused(
                f"{visible(each.where)} needs an archive of {in_bytes(needed)} (its {in_bytes(size)} and the index), "
                f"and the limit is {in_bytes(max_size)} ({rounded(max_size)}). Nothing was written."
            )
        volumes[-1].take(each)
    return volumes


def volume_path(target: Target, number: int) -> Target:
    """The archive of a series that ``target`` begins: 0 is itself, 1 is ``TARGET-0001.caf``."""
    stem, suffix = _parts(target)
    return target.with_name(f"{stem}-{number:04}{suffix}") if number else target


def _parts(target: Target) -> tuple[str, str]:
    return (target.stem, target.suffix) if target.suffix.lower() == ".caf" else (target.name, ".caf")


def earlier(target: Target) -> list[Path]:
    """The archives beside ``target`` that are called as if they followed it."""
    if not isinstance(target, Path):
        return []
    stem, suffix = _parts(target)
    follows = re.compile(re.escape(stem) + r"-[0-9]{4,}" + re.escape(suffix))
    with suppress(OSError):  # a folder that may be written into need not be readable
        return sorted(path for path in target.parent.iterdir() if follows.fullmatch(path.name))
    return []


def _write(volumes: Sequence[Volume], progress: Progress, *, overwrite: bool, connection: Connection) -> None:
    total = sum(size_of(each) for volume in volumes for each in volume.inputs)
    progress.begin(f"Writing {visible(volumes[0].path.name)}", total)
    with new_archives(volumes[0].path, progress, overwrite=overwrite, connection=connection) as files:
        for volume in volumes:
            progress.label = f"Writing {visible(volume.path.name)}"
            _write_one(volume, files.add(volume.path), progress)


def _write_one(volume: Volume, out: New, progress: Progress) -> None:
    for each in volume.inputs:
        put(each, out, progress)
    for piece in volume.books.finish():
        out.write(piece)


def _left_over(series: Sequence[Path], volumes: Sequence[Volume]) -> tuple[str, ...]:
    """A word on archives of an earlier, longer series: they look as if they belonged to this one."""
    left = [path for path in series if path not in {volume.path for volume in volumes}]
    if not left:
        return ()
    names = ", ".join(visible(path.name) for path in left[:3]) + (", …" if len(left) > 3 else "")
    return (f"Not of this series, though called so, and left alone: {names}.",)


def _record(path: Path, volumes: Sequence[Volume]) -> tuple[str, ...]:
    try:
        archives = [str(volume.path) for volume in volumes]
        moved = catalogue.record(path, archives, (place for volume in volumes for place in volume.places()))
    except Refused as error:
        raise Refused(f"The archives are made, but the catalogue does not have them: {error}") from error
    if not moved:
        return ()
    return (f"Of {moved:,} names the catalogue knew another place; it has the new one now.",)
