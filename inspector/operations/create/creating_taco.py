"""Making TACO archives: TACO_HEADER.md. The header's entries are given as numbers, or as the names of members."""

from __future__ import annotations

from collections.abc import Sequence

from isal.isal_zlib import crc32

from inspector.core.edit import EditError
from inspector.core.names import encoded, visible
from inspector.core.progress import Progress
from inspector.formats.taco.header import LOCAL_CRC_OFFSET
from inspector.formats.taco.write import MAX_MEMBERS, Slot, WriteError, archive_size, end_of_archive, header, slots
from inspector.operations.create.creating import Created, NewArchive, created, put, size_of
from inspector.operations.create.inputs import Input, check_names, gather, not_of_itself
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.targets import New, new_archives, see_that_it_may_be_written, target_of
from inspector.sources.s3.connection import DEFAULT, Connection

Wanted = tuple[int, int] | str
"""An entry of the header: offset and length, in bytes, or the name of the member whose data it shall be."""


def create_taco(
    progress: Progress,
    target: str,
    locations: Sequence[str],
    *,
    entries: Sequence[Wanted] = (),
    overwrite: bool = False,
    connection: Connection = DEFAULT,
) -> Created:
    """Make ``target`` of what is at the locations, its header with up to seven entries.

    Raises OperationError, SourceError and Cancelled: then nothing is made.
    """
    path = target_of(target)
    see_that_it_may_be_written([path], overwrite=overwrite, connection=connection)
    inputs = gather(locations, progress, [path], connection, MAX_MEMBERS)
    warnings = (*check_names(inputs), *not_of_itself([path], locations))
    try:
        placed = slots((each.name, size_of(each), each.modified) for each in inputs)
        head, crc = header(placed[0], resolved(entries, placed))
    except (WriteError, EditError) as error:
        raise OperationError(f"{error} Nothing was written.") from error
    progress.begin(f"Writing {visible(path.name)}", sum(slot.size for slot in placed[1:]))
    with new_archives(path, progress, overwrite=overwrite, connection=connection) as files:
        out = files.add(path)
        out.write(head)
        crcs = [crc, *(_put(each, slot, out, progress) for each, slot in zip(inputs, placed[1:], strict=True))]
        for piece in end_of_archive(placed, crcs):
            out.write(piece)
    return created((NewArchive(str(path), len(inputs), archive_size(placed)),), warnings)


def resolved(entries: Sequence[Wanted], placed: Sequence[Slot]) -> list[tuple[int, int]]:
    """The entries as (offset, length); raises OperationError for the name of a member that is not put in."""
    by_name = {slot.name: slot for slot in placed[1:]} if any(isinstance(each, str) for each in entries) else {}
    return [_entry_for(each, by_name) if isinstance(each, str) else each for each in entries]


def _entry_for(name: str, by_name: dict[bytes, Slot]) -> tuple[int, int]:
    slot = by_name.get(encoded(name))
    if slot is None:
        raise OperationError(f"No member is called {visible(name)!r}, so no entry can be for it. Nothing was written.")
    return slot.data, slot.size


def _put(each: Input, slot: Slot, out: New, progress: Progress) -> int:
    """Write a member and give its CRC-32, which stands in front of the bytes that it is of."""
    if slot.size:
        out.keep(slot.head + LOCAL_CRC_OFFSET, 4)
    out.write(slot.local())
    crc = 0

    def look(piece: bytes) -> None:
        nonlocal crc
        crc = crc32(piece, crc)

    put(each, out, progress, look)
    if slot.size:
        out.overwrite(slot.head + LOCAL_CRC_OFFSET, crc.to_bytes(4, "little"))
    return crc
