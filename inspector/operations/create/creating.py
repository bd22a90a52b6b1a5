"""Creating archives: what all kinds have in common, Chunk Archives and TACO archives.

A Chunk Archive (CAF.md, "Creating a CAF File") is followed by others beyond the size limit. The entries of a TACO
header (TACO_HEADER.md) are given as numbers or as names of members.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from isal.isal_zlib import crc32
from msgspec import Struct, field

from inspector.core.edit import EditError
from inspector.core.names import decoded, encoded, visible
from inspector.core.numbers import count, in_bytes, plural, rounded
from inspector.core.program.progress import Progress
from inspector.core.source import SourceError
from inspector.operations.create.inputs import (
    MAX_PIECE_BYTES,
    Input,
    check_names,
    gather,
    is_small,
    skipped_outputs,
)
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import NewArchiveFile, Target, check_targets, new_archives, target_of
from inspector.sources.s3.connection import DEFAULT, Connection

if TYPE_CHECKING:  # each kind of archive imports what writes it
    from inspector.formats.caf.write import Writer
    from inspector.formats.taco.write import Slot
    from inspector.operations.protocol.create_views import Place

DEFAULT_MAX_BYTES = 30 << 30
"""The size of a Chunk Archive beyond which the next one begins (its ~30 GB taken as GiB)."""


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


class Joined:
    """Writes to a new archive, the small ones joined. Raises SourceError as that does."""

    def __init__(self, out: NewArchiveFile, progress: Progress) -> None:
        self.out = out
        self.progress = progress
        self._held: list[bytes] = []
        self._size = 0

    def add(self, *data: bytes) -> None:
        """Append bytes; they may not have been written before ``flush``."""
        self._held += data
        self._size += sum(map(len, data))
        if self._size >= MAX_PIECE_BYTES:
            self.flush()

    def copy(self, each: Input) -> int:
        """Append all bytes of an input and return their CRC-32.

        Raises SourceError, also if there are more or fewer bytes than its size, and Cancelled.
        """
        crc = size = 0
        for piece in each.pieces():
            crc, size = crc32(piece, crc), size + len(piece)
            self.add(piece)
            self.progress.advance(len(piece))
        self.progress.advance(0)
        if size != each.size:
            raise SourceError(
                f"{visible(each.where)} has {in_bytes(size)}, not the {in_bytes(each.size)} it had before."
            )
        return crc

    def flush(self) -> None:
        """Write what is held."""
        if self._held:
            self.out.write(b"".join(self._held))
        self._held, self._size = [], 0


# ---- Chunk Archives -----------------------------------------------------------------------------------------------


class Volume(Struct):
    """One archive of a series: its inputs, and the writer that keeps its index."""

    path: Target
    index: Writer
    inputs: list[Input] = field(default_factory=list)

    def add(self, each: Input, max_size: int) -> bool:
        """Add an input unless the archive, with its index and footer, would then have more than ``max_size`` bytes.

        Returns whether it was added.
        """
        from inspector.formats.caf.write import WriteError

        try:
            added = self.index.member(each.name, each.size, max_size)
        except WriteError as error:
            raise OperationError(str(error)) from error
        if added:
            self.inputs.append(each)
        return added


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
    from inspector.formats.caf.write import MAX_ARCHIVE_BYTES

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
        _record(Path(catalog), volumes)
    archives = (NewArchive(str(each.path), len(each.inputs), each.index.size) for each in volumes)
    return created(tuple(archives), warnings)


def plan(inputs: Sequence[Input], target: Target, max_size: int) -> list[Volume]:
    """Distribute the inputs over archives of at most ``max_size`` bytes.

    Raises OperationError for an input that does not fit into an archive of its own.
    """
    from inspector.formats.caf.write import Writer

    volumes = [Volume(target, Writer())]
    for each in inputs:
        if volumes[-1].add(each, max_size):
            continue
        if volumes[-1].inputs:
            volumes.append(Volume(volume_path(target, len(volumes)), Writer()))
        if not volumes[-1].add(each, max_size):
            needed, size = volumes[-1].index.size_with(each.name, each.size), each.size
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
    total = sum(each.size for volume in volumes for each in volume.inputs)
    progress.begin(f"Writing {visible(volumes[0].path.name)}", total)
    with new_archives(volumes[0].path, progress, overwrite=overwrite, connection=connection) as files:
        for volume in volumes:
            progress.label = f"Writing {visible(volume.path.name)}"
            out = Joined(files.add(volume.path), progress)
            for each in volume.inputs:
                out.copy(each)
            for piece in volume.index.finish():
                out.add(piece)
            out.flush()


def _stale_volumes(series: Sequence[Path], volumes: Sequence[Volume]) -> tuple[str, ...]:
    """The warning about archives of an earlier, longer series, which look as if they belonged to this one."""
    left = [path for path in series if path not in {volume.path for volume in volumes}]
    if not left:
        return ()
    names = ", ".join(visible(path.name) for path in left[:3]) + (", …" if len(left) > 3 else "")
    return (f"These files have names of this series but do not belong to it, and were left alone: {names}.",)


def _record(path: Path, volumes: Sequence[Volume]) -> None:
    from inspector.operations.create import catalogue

    try:
        catalogue.record(path, [str(volume.path) for volume in volumes], _places(volumes))
    except OperationError as error:
        raise OperationError(
            f"The archives were created, but the catalogue was not updated: {error} Create them again with --overwrite."
        ) from error


def _places(volumes: Sequence[Volume]) -> Iterator[Place]:
    """The location of each member."""
    from inspector.operations.protocol.create_views import Place

    for volume in volumes:
        at = 0
        for each in volume.inputs:
            yield Place(each.name.decode(), str(volume.path), at, each.size)
            at += each.size


# ---- TACO ---------------------------------------------------------------------------------------------------------

EntrySpec = tuple[int, int] | str
"""An entry of the header: offset and length in bytes, or the name of the member that it points to."""

_COLLECTION = b"COLLECTION.json"
_LEVEL = re.compile(rb"METADATA/level([0-9]{1,3})\.parquet")
_FOLDER_TABLE = b"/__meta__"


def create_taco(
    progress: Progress,
    target: str,
    locations: Sequence[str],
    *,
    entries: Sequence[EntrySpec] = (),
    overwrite: bool = False,
    connection: Connection = DEFAULT,
) -> Created:
    """Create ``target`` from the inputs at the locations, with up to seven entries in its header.

    Without ``entries`` the inputs of a dataset are put in the order of its tools, which write offsets of members into
    its tables: in another order it opens and gives wrong bytes. Raises OperationError, SourceError and Cancelled: then
    nothing is created.
    """
    from inspector.formats.taco import write
    from inspector.formats.taco.header import HEADER_NAME

    path = target_of(target)
    check_targets([path], overwrite=overwrite, connection=connection)
    inputs = gather(locations, progress, [path], connection, write.MAX_MEMBERS)
    warnings = skipped_outputs([path], locations)
    names = {each.name for each in inputs}
    tables = [] if entries or _COLLECTION not in names else sorted(filter(_LEVEL.fullmatch, names), key=_place)
    if tables:
        inputs = sorted((each for each in inputs if each.name != HEADER_NAME), key=lambda each: _place(each.name))
        entries = [decoded(name)[0] for name in (*tables, _COLLECTION)]
    warnings = (*check_names(inputs), *warnings)
    try:
        placed = write.slots((each.name, each.size, each.modified) for each in inputs)
        head, crc = write.header(placed[0], resolved(entries, placed))
    except (write.WriteError, EditError) as error:
        raise OperationError(f"{error} Nothing was written.") from error
    if tables:
        unread = (
            f"The members are in the order of the dataset's tools. Whether the offsets inside {visible(tables[0])} fit "
            "is not read."
        )
        warnings = (*warnings, unread)
    progress.begin(f"Writing {visible(path.name)}", sum(slot.size for slot in placed[1:]))
    with new_archives(path, progress, overwrite=overwrite, connection=connection) as files:
        out = Joined(files.add(path), progress)
        out.add(head)
        crcs = [crc, *(_put(each, slot, out) for each, slot in zip(inputs, placed[1:], strict=True))]
        for piece in write.end_of_archive(placed, crcs):
            out.add(piece)
        out.flush()
    return created((NewArchive(str(path), len(inputs), write.archive_size(placed)),), warnings)


def _place(name: bytes) -> tuple[int, int, bytes]:
    """Where the tools put a member: data, then the tables of folders, the tables of levels, the description."""
    level = _LEVEL.fullmatch(name)
    kind = 3 if name == _COLLECTION else 2 if level else 1 if name.endswith(_FOLDER_TABLE) else 0
    return kind, int(level[1]) if level else 0, name


def resolved(entries: Sequence[EntrySpec], placed: Sequence[Slot]) -> list[tuple[int, int]]:
    """The entries as (offset, length); raises OperationError for the name of a missing member."""
    by_name = {slot.name: slot for slot in placed[1:]} if any(isinstance(each, str) for each in entries) else {}
    return [_entry_for(each, by_name) if isinstance(each, str) else each for each in entries]


def _entry_for(name: str, by_name: dict[bytes, Slot]) -> tuple[int, int]:
    slot = by_name.get(encoded(name))
    if slot is None:
        raise OperationError(f"No member is named '{visible(name)}', so no entry can point to it. Nothing was written.")
    return slot.data, slot.size


def _put(each: Input, slot: Slot, out: Joined) -> int:
    """Write a member and return its CRC-32, which is stored in front of the bytes it covers."""
    from inspector.formats.taco.header import LOCAL_CRC_OFFSET

    if is_small(each):
        data = b"".join(each.pieces())
        out.add(slot.local(crc32(data)), data)
        out.progress.advance(len(data))
        return crc32(data)
    out.flush()
    if slot.size:
        out.out.keep(slot.head + LOCAL_CRC_OFFSET, 4)
    out.add(slot.local())
    crc = out.copy(each)
    out.flush()
    if slot.size:
        out.out.overwrite(slot.head + LOCAL_CRC_OFFSET, crc.to_bytes(4, "little"))
    return crc
