"""Change an archive in place, with a journal; no other module does.

A change is compared with the file on disk, its old bytes go into the store (old_bytes.py), a journal is written, then
the change, which is read back before the journal is removed. After a crash at any moment, recovery.py uses the journal
to reach the state before or after the change, and undoes a finished one.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from msgspec import Struct

from inspector.core.edit import CutBytes, Edit, EditError
from inspector.core.names import visible
from inspector.sources.local.changes.append import forget_intent
from inspector.sources.local.changes.journal import (
    MAX_DROPPED_BYTES,
    Journal,
    holds,
    redo,
    require_settled,
    save,
    try_remove,
    undo,
)
from inspector.sources.local.changes.locked_file import LockedFile, locked
from inspector.sources.local.changes.old_bytes import StoredBytes, forget_files, prune, store_old_bytes
from inspector.sources.local.disk_calls import DISK, Disk, read_all, reason
from inspector.sources.local.file import Identity


class Written(Struct, frozen=True):
    """A change that is on disk. ``identity`` is the file's now, ``warnings`` are sentences for users.

    ``undo`` reverses the change; None if it cut off more bytes than are held in memory. ``kept`` locates the bytes
    that were cut off, None if none were.
    """

    identity: Identity
    warnings: tuple[str, ...]
    undo: Edit | None
    kept: CutBytes | None = None


def write(path: Path, edit: Edit, seen: Identity | None, disk: Disk = DISK) -> Written:
    """Make the change in the file at ``path``; ``seen`` is the identity of the file that was shown.

    Raises EditError; then the file is unchanged, or the message says that it is not and what to do.
    """
    with locked(path, disk) as file:
        return change_locked(file, edit, seen)


def change_locked(
    file: LockedFile, edit: Edit, seen: Identity | None = None, *, stores_old_bytes: bool = True
) -> Written:
    """Make the change in a locked file, see ``write``; ``stores_old_bytes``: store its old bytes."""
    journal = _verified_journal(file, edit, seen)
    stored = _store(file, edit) if stores_old_bytes else StoredBytes(None, None, ())
    try:
        try:
            place = save(journal, file.path, file.disk)
        except OSError as error:
            raise EditError(f"{file.name} was not changed: its journal cannot be written ({reason(error)}).") from error
    except EditError:
        forget_files(stored.files, file.disk)
        raise
    written = _apply(file, journal, place, stored)
    forget_intent(file.path, file.disk)  # the archive is no longer what an append that was killed left
    prune(file.disk)
    return written


def _store(file: LockedFile, edit: Edit) -> StoredBytes:
    try:
        return store_old_bytes(file, edit)
    except OSError as error:
        raise EditError(
            f"{file.name} was not changed: the bytes that would be overwritten or cut off cannot be kept "
            f"({reason(error)}). Save a changed copy instead."
        ) from error


def _verified_journal(file: LockedFile, edit: Edit, seen: Identity | None) -> Journal:
    """The journal of the change, if the file is the one it was planned for. Raises EditError."""
    try:
        require_settled(file)
        difference = seen.difference(file.identity) if seen else ""
        if not difference and file.identity.size != edit.old_size:
            difference = f"has {file.identity.size:,} bytes, not the {edit.old_size:,} that the change is for"
        for patch in edit.patches if not difference else ():
            if not holds(file, edit.old_size, [(patch.offset, patch.old)]):
                stop = patch.offset + len(patch.old)
                difference = f"has other bytes in [{patch.offset:,}, {stop:,}) than the change expects"
                break
        if difference:
            raise EditError(f"{file.name} was not changed: it {difference}. Open it again and check before writing.")
        more = edit.new_size - edit.old_size
        if more > 0 and (free := file.disk.free(file.path.parent)) < more:
            raise EditError(
                f"{file.name} was not changed: it would grow by {more:,} bytes, and the disk has room for {free:,}."
            )
        start, size = edit.dropped.start, edit.dropped.size
        dropped = read_all(file.disk, file.descriptor, size, start) if size <= MAX_DROPPED_BYTES else None
    except OSError as error:
        raise EditError(f"{file.name} was not changed: it cannot be read ({reason(error)}).") from error
    return Journal(str(file.path), file.identity, edit, dropped)


def _apply(file: LockedFile, journal: Journal, place: Path, stored: StoredBytes) -> Written:
    try:
        redo(file, journal)
        identity = Identity.of(file.disk.fstat(file.descriptor))
    except OSError as error:
        raise EditError(_roll_back(file, journal, place, stored, reason(error))) from error
    except BaseException:  # interrupted: do not stop between two states
        _roll_back(file, journal, place, stored, "")
        raise
    warnings = file.warnings + tuple(filter(None, (stored.warning, try_remove(place, file.identity, file.disk))))
    with contextlib.suppress(OSError):  # the change is made, even if its name cannot be checked
        if not file.in_place():
            raise EditError(
                f"{file.name} was removed or replaced by another program while it was being changed. The change is in "
                "the old file; the file that is there now was not touched. Open it again."
            )
    reverse = None if journal.dropped is None else journal.edit.reverted(journal.dropped)
    return Written(identity, warnings, reverse, stored.cut)


def _roll_back(file: LockedFile, journal: Journal, place: Path, stored: StoredBytes, why: str) -> str:
    """Restore the old bytes; returns a sentence on the outcome."""
    try:
        if not journal.can_go_back and file.size < journal.edit.old_size:
            return _partial_failure(file, place, why, "its end is already cut off")
        undo(file, journal)
    except OSError as error:
        return _partial_failure(file, place, why, reason(error))
    left = try_remove(place, file.identity, file.disk)
    forget_files(stored.files, file.disk)
    return f"{file.name} was not changed: writing failed ({why}), and the old bytes were restored.{left and ' '}{left}"


def _partial_failure(file: LockedFile, place: Path, why: str, back: str) -> str:
    return (
        f"{file.name} is partly changed: writing failed ({why}), and the old bytes could not be restored ({back}). Its "
        f"journal, {visible(str(place))}, has both states: open the archive again to finish the change or roll it back."
    )
