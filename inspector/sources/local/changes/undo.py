"""Undo the last finished change of a file, from the store of old bytes.

Undoing is a change with a journal like any other. If too many bytes were cut off for a journal, they are first appended
after the end, which leaves the file otherwise unchanged; after a crash that can be repeated.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from inspector.core.edit import CutBytes, Edit, EditError
from inspector.core.names import visible
from inspector.sources.local.changes.in_place import change_locked
from inspector.sources.local.changes.journal import holds, require_settled
from inspector.sources.local.changes.locked_file import LockedFile, locked, resolved
from inspector.sources.local.changes.old_bytes import StoredChange, forget, put_back, stored_changes, verified_pieces
from inspector.sources.local.disk_calls import Disk, closed_after, read_all, reason
from inspector.sources.local.file import Identity

MAX_PAST = 50
"""Changes of a file that are listed."""


def describe_last_change(path: Path, disk: Disk | None = None) -> str:
    """What undoing would do to the file at ``path``, as a sentence. Writes nothing. Raises EditError."""
    disk = disk or Disk()
    with locked(path, disk) as file:
        return f"The last change of {file.name} would be undone: {visible(_last_stored_change(file).edit.label)}."


def undo_last_change(path: Path, disk: Disk | None = None) -> str:
    """Undo the last change of the file at ``path``; returns a sentence.

    Raises EditError; then the file is unchanged, or the message says that it is not and what to do.
    """
    disk = disk or Disk()
    with locked(path, disk) as file:
        entry = _last_stored_change(file)
        cut = entry.cut
        try:
            reverse = _reverse_edit(file, entry)
            now = Identity.of(disk.fstat(file.descriptor))
        except OSError as error:
            raise EditError(
                f"Nothing was undone in {file.name}: {reason(error)}. The old bytes are still kept in "
                f"{visible(cut.path if cut is not None else str(entry.place))}."
            ) from error
        if reverse is not None:
            change_locked(
                LockedFile(disk, file.path, file.descriptor, now, file.warnings), reverse, stores_old_bytes=False
            )
        forget(entry.files, disk)
        return f"{file.name} is as it was before: {visible(entry.edit.label)}."


class PastChange(Struct, frozen=True):
    """A change that was made, at ``written_ns`` since 1970; ``can_undo``: it is the last one, and can be undone.

    ``cut`` locates the bytes that it cut off, if any.
    """

    edit: Edit
    written_ns: int
    can_undo: bool
    cut: CutBytes | None = None


def past_changes(path: Path, disk: Disk | None = None) -> tuple[PastChange, ...]:
    """The stored changes of the file at ``path``, newest first, at most MAX_PAST. Raises EditError."""
    disk = disk or Disk()
    try:
        with _to_read(path, disk) as file:
            made = (each for each in stored_changes(file.path, disk) if not _holds_old(file, each))
            found = list(islice(made, MAX_PAST))
            last = found[0] if found and _holds_new(file, found[0]) else None
            return tuple(PastChange(each.edit, each.written_ns, each is last, each.cut) for each in found)
    except OSError as error:
        raise EditError(f"The stored old bytes of {visible(path.name)} cannot be read: {reason(error)}.") from error


@contextlib.contextmanager
def _to_read(path: Path, disk: Disk) -> Iterator[LockedFile]:
    """The file at ``path``, not locked: what is only listed must not keep anybody from writing. Raises OSError."""
    real = resolved(path, disk)
    with closed_after(disk, disk.open(real, os.O_RDONLY)) as descriptor:
        yield LockedFile(disk, real, descriptor, Identity.of(disk.fstat(descriptor)), ())


def forget_changes(path: Path, disk: Disk | None = None) -> int:
    """Remove the stored old bytes of all changes of the file at ``path``; returns how many changes. Raises EditError.

    The file stays as it is. While a change of it is interrupted, nothing is removed.
    """
    disk = disk or Disk()
    try:
        with locked(path, disk) as file:
            require_settled(file)
            stored = list(stored_changes(file.path, disk))
            for each in stored:
                forget(each.files, disk)
            return len(stored)
    except OSError as error:
        raise EditError(f"The stored old bytes of {visible(path.name)} cannot be read: {reason(error)}.") from error


def _reverse_edit(file: LockedFile, entry: StoredChange) -> Edit | None:
    """The change that restores the old bytes, None if nothing is left to change.

    Cut-off bytes that have a file of their own are already restored here. Raises OSError and EditError.
    """
    edit = entry.edit
    if entry.cut is None or Path(entry.cut.path) == entry.place:
        if entry.cut is None:
            return edit.reverted(b"")
        with verified_pieces(entry.cut, file.disk) as pieces:
            return edit.reverted(b"".join(pieces))
    _restore_end(file, entry.cut, edit)
    whole = Edit(edit.label, edit.patches, edit.old_size, edit.old_size)
    return whole.reverted(b"") if edit.patches else None


def _last_stored_change(file: LockedFile) -> StoredChange:
    """The last change made to the file. Raises EditError if it cannot be undone."""
    try:
        require_settled(file)
        for entry in stored_changes(file.path, file.disk):
            if _holds_old(file, entry):
                continue  # it was never made, or was undone
            if _holds_new(file, entry):
                return entry
            place = visible(entry.cut.path if entry.cut is not None else str(entry.place))
            raise EditError(
                f"{file.name} was not changed: its bytes are not those that its last change "
                f"({visible(entry.edit.label)}) wrote. The bytes from before that change are kept in {place}."
            )
    except OSError as error:
        raise EditError(
            f"{file.name} was not changed: its stored old bytes cannot be read ({reason(error)})."
        ) from error
    raise EditError(f"{file.name} was not changed: no change of it is stored that could be undone.")


def _holds_old(file: LockedFile, entry: StoredChange) -> bool:
    old = holds(file, entry.edit.old_size, ((patch.offset, patch.old) for patch in entry.edit.patches))
    return old and (entry.cut is None or _compare_end(file, entry.cut, entry.edit) == (True, True))


def _holds_new(file: LockedFile, entry: StoredChange) -> bool:
    """Whether the file is as the change left it, possibly followed by the start of the cut-off bytes."""
    edit, size = entry.edit, file.size
    if size != edit.new_size and not (entry.cut is not None and edit.new_size < size <= edit.old_size):
        return False
    if not holds(file, size, ((patch.offset, patch.new) for patch in edit.patches)):
        return False
    return entry.cut is None or _compare_end(file, entry.cut, edit)[1]


def _compare_end(file: LockedFile, cut: CutBytes, edit: Edit) -> tuple[bool, bool]:
    """Whether the bytes after the new end equal those cut off, and whether they are an unfinished copy of them.

    A crash may leave zeros where the file grew. Raises OSError and EditError.
    """
    at, same = edit.new_size, True
    with verified_pieces(cut, file.disk) as pieces:
        for piece in pieces:
            current = read_all(file.disk, file.descriptor, len(piece), at)
            same &= current == piece
            begins = piece.startswith(current)
            if not begins and any(now not in (0, old) for now, old in zip(current, piece, strict=False)):
                return False, False
            at += len(piece)
    return same, True


def _restore_end(file: LockedFile, cut: CutBytes, edit: Edit) -> None:
    """Append the cut-off bytes, and sync. Raises OSError and EditError; then the file is unchanged."""
    disk, old_size = file.disk, file.size
    more = edit.old_size - old_size
    if more > 0 and disk.free(file.path.parent) < more:
        raise EditError(f"{file.name} was not changed: the disk has no room for the {more:,} bytes that were cut off.")
    try:
        put_back(cut, file, edit.new_size)
        disk.sync(file.descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.truncate(file.descriptor, old_size)
        raise
