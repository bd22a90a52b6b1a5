"""The two ways through a journaled change, forwards and back. Either may be taken from any state between the two."""

from __future__ import annotations

import errno
from collections.abc import Iterable

from inspector.core.edit import Edit
from inspector.sources.local.disk_calls import read_all, write_all
from inspector.sources.local.journal import Journal
from inspector.sources.local.locked_file import LockedFile

_COMPARED = 1 << 20
"""Bytes read back at a time."""


def old_bytes(journal: Journal) -> Iterable[tuple[int, bytes]]:
    """Offsets and bytes of what stood in the file, as far as the journal has them."""
    for patch in journal.edit.patches:
        yield patch.offset, patch.old
    if journal.dropped:
        yield journal.edit.dropped.start, journal.dropped


def new_bytes(edit: Edit) -> Iterable[tuple[int, bytes]]:
    """Offsets and bytes of what is to stand in the file."""
    return ((patch.offset, patch.new) for patch in edit.patches)


def holds(file: LockedFile, size: int, runs: Iterable[tuple[int, bytes]]) -> bool:
    """Whether the file has the size and all of the bytes. Raises OSError."""
    return file.size == size and all(
        read_all(file.disk, file.descriptor, len(piece), offset + at) == piece
        for offset, data in runs
        for at in range(0, len(data), _COMPARED)
        for piece in (data[at : at + _COMPARED],)
    )


def redo(file: LockedFile, journal: Journal) -> None:
    """Bring the file into the new state for good, and read it back. Raises OSError."""
    edit = journal.edit
    for offset, data in new_bytes(edit):
        write_all(file.disk, file.descriptor, data, offset)
    if file.size > edit.new_size:
        # Once the end is off there may be no way back, so by then all else has to be there.
        file.disk.sync(file.descriptor)
        file.disk.truncate(file.descriptor, edit.new_size)
    file.disk.sync(file.descriptor)
    _check(holds(file, edit.new_size, new_bytes(edit)))


def undo(file: LockedFile, journal: Journal) -> None:
    """Bring the file back into the old state for good, and read it back. Raises OSError.

    Where bytes are cut off that the journal does not keep, the file must still have them.
    """
    edit = journal.edit
    cut = edit.dropped.start
    if journal.dropped and not holds(file, edit.old_size, [(cut, journal.dropped)]):
        write_all(file.disk, file.descriptor, journal.dropped, cut)
    for patch in reversed(edit.patches):
        write_all(file.disk, file.descriptor, patch.old, patch.offset)
    if file.size > edit.old_size:
        file.disk.truncate(file.descriptor, edit.old_size)
    file.disk.sync(file.descriptor)
    _check(holds(file, edit.old_size, old_bytes(journal)))


def _check(good: bool) -> None:
    if not good:
        raise OSError(errno.EIO, "What was read back is not what was written")
