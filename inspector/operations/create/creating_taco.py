"""Creating TACO archives (TACO_HEADER.md); the header's entries are given as numbers or as names of members."""

from __future__ import annotations

import re
from collections.abc import Sequence

from isal.isal_zlib import crc32

from inspector.core.edit import EditError
from inspector.core.names import decoded, encoded, visible
from inspector.core.program.progress import Progress
from inspector.formats.taco.header import HEADER_NAME, LOCAL_CRC_OFFSET
from inspector.formats.taco.write import MAX_MEMBERS, Slot, WriteError, archive_size, end_of_archive, header, slots
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
from inspector.operations.jobs.targets import NewArchiveFile, check_targets, new_archives, target_of
from inspector.sources.s3.connection import DEFAULT, Connection

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
    path = target_of(target)
    check_targets([path], overwrite=overwrite, connection=connection)
    inputs = gather(locations, progress, [path], connection, MAX_MEMBERS)
    warnings = skipped_outputs([path], locations)
    names = {each.name for each in inputs}
    tables = [] if entries or _COLLECTION not in names else sorted(filter(_LEVEL.fullmatch, names), key=_place)
    if tables:
        inputs = sorted((each for each in inputs if each.name != HEADER_NAME), key=lambda each: _place(each.name))
        entries = [decoded(name)[0] for name in (*tables, _COLLECTION)]
    warnings = (*check_names(inputs), *warnings)
    try:
        placed = slots((each.name, size_of(each), each.modified) for each in inputs)
        head, crc = header(placed[0], resolved(entries, placed))
    except (WriteError, EditError) as error:
        raise OperationError(f"{error} Nothing was written.") from error
    if tables:
        unread = (
            f"The members are in the order of the dataset's tools. Whether the offsets inside {visible(tables[0])} fit "
            "is not read."
        )
        warnings = (*warnings, unread)
    progress.begin(f"Writing {visible(path.name)}", sum(slot.size for slot in placed[1:]))
    with new_archives(path, progress, overwrite=overwrite, connection=connection) as files:
        out = files.add(path)
        joined = JoinedWrites(out)
        joined.add(head)
        crcs = [crc, *(_put(each, slot, out, joined, progress) for each, slot in zip(inputs, placed[1:], strict=True))]
        for piece in end_of_archive(placed, crcs):
            joined.add(piece)
        joined.flush()
    return created((NewArchive(str(path), len(inputs), archive_size(placed)),), warnings)


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


def _put(each: Input, slot: Slot, out: NewArchiveFile, joined: JoinedWrites, progress: Progress) -> int:
    """Write a member and return its CRC-32, which is stored in front of the bytes it covers."""
    data = content_of(each)
    if data is not None:
        crc = crc32(data)
        joined.add(slot.local(crc), data)
        progress.advance(len(data))
        return crc
    joined.flush()
    if slot.size:
        out.keep(slot.head + LOCAL_CRC_OFFSET, 4)
    out.write(slot.local())
    crc = 0

    def update(piece: bytes) -> None:
        nonlocal crc
        crc = crc32(piece, crc)

    write_input(each, out, progress, update)
    if slot.size:
        out.overwrite(slot.head + LOCAL_CRC_OFFSET, crc.to_bytes(4, "little"))
    return crc
