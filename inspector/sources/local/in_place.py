"""The one place that changes an archive where it stands.

A change is compared with what is on the disk, its old bytes are put into the store (kept.py), it is written down in a
journal, made, read back, and only then is the journal removed. After a crash at any moment the journal leads to the
state before or the state after, as recovery.py does; take_back.py takes back a change that was finished.
Who would rather leave the archive alone writes a patched copy.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from inspector.core.edit import Edit, EditError, Kept, OverlaySource
from inspector.core.names import visible
from inspector.core.progress import Progress
from inspector.core.source import Source, SourceError, blocks
from inspector.sources.local.atomic import AtomicFile
from inspector.sources.local.disk_calls import Disk, read_all, reason
from inspector.sources.local.file import FileSource, Identity
from inspector.sources.local.journal import KEPT, Journal, find, removed, save
from inspector.sources.local.journal_state import holds, redo, undo
from inspector.sources.local.locked_file import LockedFile, held
from inspector.sources.local.old_bytes import Stored, forget, keep, thin_out


@dataclass(frozen=True, slots=True)
class Written:
    """A change that is on the disk. ``identity`` is the file's now, ``warnings`` are sentences for the user.

    ``undo`` takes the change back; None where bytes were cut off that are too many to be held in memory. ``kept`` is
    where the bytes stand that were cut off, None where none were.
    """

    identity: Identity
    warnings: tuple[str, ...]
    undo: Edit | None
    kept: Kept | None = None


def write(path: Path, edit: Edit, seen: Identity | None, disk: Disk | None = None) -> Written:
    """Make the change in the file at ``path``; ``seen`` is the identity of the file that was shown.

    Raises EditError; then the file is as it was, or the message says that it is not and what to do.
    """
    with held(path, disk or Disk()) as file:
        return change(file, edit, seen)


def change(file: LockedFile, edit: Edit, seen: Identity | None = None, *, keeps: bool = True) -> Written:
    """Make the change in a held file; see ``write``. ``keeps``: its old bytes are put into the store."""
    journal = _compared(file, edit, seen)
    stored = _kept(file, edit) if keeps else Stored(None, None, ())
    try:
        try:
            place = save(journal, file.path, file.disk)
        except FileExistsError as error:
            raise EditError(_interrupted(file.name)) from error
        except OSError as error:
            raise EditError(f"{file.name} was not changed: its journal cannot be written ({reason(error)}).") from error
    except EditError:
        forget(stored.files, file.disk)
        raise
    written = _written(file, journal, place, stored)
    thin_out(file.disk)
    return written


def _kept(file: LockedFile, edit: Edit) -> Stored:
    try:
        return keep(file, edit)
    except OSError as error:
        raise EditError(
            f"{file.name} was not changed: the bytes that would be overwritten or cut off cannot be kept "
            f"({reason(error)}). Save a changed copy instead."
        ) from error


def _compared(file: LockedFile, edit: Edit, seen: Identity | None) -> Journal:
    """The journal of the change, where the file is the one it was planned for. Raises EditError."""
    try:
        if find(file.path, file.disk) is not None:
            raise EditError(_interrupted(file.name))
        difference = seen.difference(file.identity) if seen else ""
        if not difference and file.identity.size != edit.old_size:
            difference = f"has {file.identity.size:,} bytes, not the {edit.old_size:,} that the change is for"
        if not difference:
            difference = _other_bytes(file, edit)
        if difference:
            raise EditError(f"{file.name} was not changed: it {difference}. Open it again and look before writing.")
        _check_room(file, edit)
        journal = Journal(str(file.path), file.identity, edit, _dropped(file, edit))
    except OSError as error:
        raise EditError(f"{file.name} was not changed: it cannot be read ({reason(error)}).") from error
    return journal


def _interrupted(name: str) -> str:
    return (
        f"{name} was not changed: an earlier change of it was interrupted. Open it again, and finish that change or "
        "roll it back first."
    )


def _other_bytes(file: LockedFile, edit: Edit) -> str:
    for patch in edit.patches:
        if not holds(file, edit.old_size, [(patch.offset, patch.old)]):
            stop = patch.offset + len(patch.old)
            return f"holds other bytes in [{patch.offset:,}, {stop:,}) than those the change is for"
    return ""


def _check_room(file: LockedFile, edit: Edit) -> None:
    more = edit.new_size - edit.old_size
    if more > 0 and (free := file.disk.free(file.path.parent)) < more:
        raise EditError(
            f"{file.name} was not changed: it would grow by {more:,} bytes, and the disk has room for {free:,}."
        )


def _dropped(file: LockedFile, edit: Edit) -> bytes | None:
    start, stop = edit.dropped
    return read_all(file.disk, file.descriptor, stop - start, start) if stop - start <= KEPT else None


def _written(file: LockedFile, journal: Journal, place: Path, stored: Stored) -> Written:
    try:
        redo(file, journal)
        identity = Identity.of(file.disk.fstat(file.descriptor))
    except OSError as error:
        raise EditError(_taken_back(file, journal, place, stored, reason(error))) from error
    except BaseException:  # someone asks the program to stop: not between two states
        _taken_back(file, journal, place, stored, "")
        raise
    warnings = file.warnings + tuple(filter(None, (stored.warning, removed(place, file.disk))))
    with contextlib.suppress(OSError):  # the change is made, whatever the system says of its name
        if not file.in_place():
            raise EditError(
                f"{file.name} was removed or replaced by another program while it was being changed. The change went "
                "into the file of before; what is in its place is as the other program left it. Open it again."
            )
    undone = None if journal.dropped is None else journal.edit.reverted(journal.dropped)
    return Written(identity, warnings, undone, stored.cut)


def _taken_back(file: LockedFile, journal: Journal, place: Path, stored: Stored, why: str) -> str:
    """Put the old bytes back and say how that went."""
    try:
        if not journal.can_go_back and file.size < journal.edit.old_size:
            return _half(file, place, why, "its end is cut off already")
        undo(file, journal)
    except OSError as error:
        return _half(file, place, why, reason(error))
    left = removed(place, file.disk)
    forget(stored.files, file.disk)
    return f"{file.name} was not changed: writing failed ({why}), and what stood there is put back.{left and ' '}{left}"


def _half(file: LockedFile, place: Path, why: str, back: str) -> str:
    return (
        f"{file.name} is changed in part: writing failed ({why}), and it could not be put back ({back}). Its journal, "
        f"{visible(str(place))}, knows both states: open the archive again to finish the change or to roll it back."
    )


def patched_copy(source: Source, edit: Edit, target: Path, progress: Progress, *, replace: bool = False) -> None:
    """Write the archive as the change would leave it to ``target``, whole or not at all; ``replace`` what stands there.

    Raises SourceError, for ``target`` being the file itself too, and Cancelled.
    """
    if isinstance(source, FileSource) and _same(source, target):
        raise SourceError(f"{visible(target.name)} is the archive itself: choose another name for the copy.")
    progress.begin("Writing the copy", edit.new_size)
    with AtomicFile(target, replace=replace) as out:
        for piece in blocks(OverlaySource(source, edit), 0, edit.new_size):
            out.write(piece)
            progress.advance(len(piece))
        if progress.done != edit.new_size:
            raise SourceError(
                f"No copy was written: {visible(source.name.rpartition('/')[2])} ends after {progress.done:,} bytes "
                f"now, and had {source.size:,} when it was opened. Open it again."
            )


def _same(source: FileSource, target: Path) -> bool:
    try:
        return Identity.of(target.stat()).same_file(source.identity)
    except (OSError, ValueError):
        return False  # nothing is there
