"""Taking back the last finished change of a file, from the store of old bytes.

It is a change with a journal like any other. Only what was cut off and is too much for one is put behind the end first,
which leaves the file as the change left it, with bytes behind it. Cut short by a crash, that can be taken up again.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from inspector.core.edit import Edit, EditError, Kept
from inspector.core.names import visible
from inspector.sources.local.disk_calls import Disk, read_all, reason, write_all
from inspector.sources.local.file import Identity
from inspector.sources.local.in_place import change
from inspector.sources.local.journal import find
from inspector.sources.local.journal_state import holds
from inspector.sources.local.locked_file import LockedFile, held
from inspector.sources.local.old_bytes import Entry, entries, forget, same_bytes


def last_change(path: Path, disk: Disk | None = None) -> str:
    """What taking back would do to the file at ``path``, in a sentence. Writes nothing. Raises EditError."""
    disk = disk or Disk()
    with held(path, disk) as file:
        return f"The last change of {file.name} would be taken back: {visible(_found(file).edit.label)}."


def take_back(path: Path, disk: Disk | None = None) -> str:
    """Bring the file at ``path`` back to before its last change, and say so.

    Raises EditError; then the file is as it was, or the message says that it is not and what to do.
    """
    disk = disk or Disk()
    with held(path, disk) as file:
        entry = _found(file)
        cut = entry.cut
        try:
            back = _backwards(file, entry)
            now = Identity.of(disk.fstat(file.descriptor))
        except OSError as error:
            raise EditError(
                f"Nothing was taken back of {file.name}: {reason(error)}. What stood there is still kept in "
                f"{visible(cut.path if cut is not None else str(entry.place))}."
            ) from error
        if back is not None:
            change(LockedFile(disk, file.path, file.descriptor, now, file.warnings), back, keeps=False)
        forget({entry.place, *([Path(cut.path)] if cut is not None else [])}, disk)
        return f"{file.name} is again as it was before: {visible(entry.edit.label)}."


def _backwards(file: LockedFile, entry: Entry) -> Edit | None:
    """The change that leaves what stood before, None where nothing is left to be changed.

    What was cut off and stands in a file of its own is put behind the end already. Raises OSError and EditError.
    """
    edit = entry.edit
    if entry.cut is None or Path(entry.cut.path) == entry.place:
        if entry.cut is None:
            return edit.reverted(b"")
        with same_bytes(entry.cut, file.disk) as pieces:
            return edit.reverted(b"".join(pieces))
    _put_back_the_end(file, entry.cut, edit)
    whole = Edit(edit.label, edit.patches, edit.old_size, edit.old_size)
    return whole.reverted(b"") if edit.patches else None


def _found(file: LockedFile) -> Entry:
    """The last change that was made of the file. Raises EditError where it cannot be taken back."""
    try:
        if find(file.path, file.disk) is not None:
            raise EditError(f"{file.name} was not changed: a change of it was interrupted. Settle that first.")
        for entry in entries(file.path, file.disk):
            if _holds_old(file, entry):
                continue  # it was never made, or was taken back
            if _holds_new(file, entry):
                return entry
            place = visible(entry.cut.path if entry.cut is not None else str(entry.place))
            raise EditError(
                f"{file.name} was not changed: it holds other bytes than its last change ({visible(entry.edit.label)}) "
                f"left there. What stood there before is kept in {place}."
            )
    except OSError as error:
        raise EditError(f"{file.name} was not changed: what is kept of it cannot be read ({reason(error)}).") from error
    raise EditError(f"{file.name} was not changed: no change of it is kept that could be taken back.")


def _holds_old(file: LockedFile, entry: Entry) -> bool:
    old = holds(file, entry.edit.old_size, ((patch.offset, patch.old) for patch in entry.edit.patches))
    return old and (entry.cut is None or _end(file, entry.cut, entry.edit) == (True, True))


def _holds_new(file: LockedFile, entry: Entry) -> bool:
    """Whether the file is as the change left it, or with the beginning of what was cut off behind that."""
    edit, size = entry.edit, file.size
    if size != edit.new_size and not (entry.cut is not None and edit.new_size < size <= edit.old_size):
        return False
    if not holds(file, size, ((patch.offset, patch.new) for patch in edit.patches)):
        return False
    return entry.cut is None or _end(file, entry.cut, edit)[1]


def _end(file: LockedFile, cut: Kept, edit: Edit) -> tuple[bool, bool]:
    """Whether what stands behind the end that the change left is what was cut off, and whether it may become that.

    A crash may leave zeros where the file was to grow. Raises OSError and EditError.
    """
    at, same = edit.new_size, True
    with same_bytes(cut, file.disk) as pieces:
        for piece in pieces:
            there = read_all(file.disk, file.descriptor, len(piece), at)
            same &= there == piece
            begins = piece.startswith(there)
            if not begins and any(now not in (0, old) for now, old in zip(there, piece, strict=False)):
                return False, False
            at += len(piece)
    return same, True


def _put_back_the_end(file: LockedFile, cut: Kept, edit: Edit) -> None:
    """Write what was cut off behind the end, for good. Raises OSError and EditError; the file is then as it was."""
    disk, at, had = file.disk, edit.new_size, file.size
    more = edit.old_size - had
    if more > 0 and disk.free(file.path.parent) < more:
        raise EditError(f"{file.name} was not changed: the disk has no room for the {more:,} bytes that were cut off.")
    try:
        with same_bytes(cut, disk) as pieces:
            for piece in pieces:
                write_all(disk, file.descriptor, piece, at)
                at += len(piece)
        disk.sync(file.descriptor)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.truncate(file.descriptor, had)
        raise
