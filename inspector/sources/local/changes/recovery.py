"""Take back changes of a file: one that a crash interrupted is finished or rolled back, a finished one is undone.

Nothing is written to a file with a byte that is neither old nor new. A recovery that is itself interrupted can be
repeated. Undoing, from the store of old bytes, is a change with a journal like any other. If too many bytes were cut
off for a journal, they are first appended after the end, which leaves the file otherwise unchanged; after a crash that
can be repeated.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.edit import CutBytes, Edit, EditError
from inspector.core.names import visible
from inspector.core.span import Span, Spans, total
from inspector.sources.local.changes.append import KilledAppend, killed_append
from inspector.sources.local.changes.in_place import change_locked
from inspector.sources.local.changes.journal import (
    BrokenJournal,
    ChangeState,
    Journal,
    change_state,
    content,
    find,
    holds,
    load,
    redo,
    remove,
    require_settled,
    set_aside,
    undo,
)
from inspector.sources.local.changes.journal_paths import exists, intent_path, journal_paths
from inspector.sources.local.changes.locked_file import LockedFile, locked, resolved
from inspector.sources.local.changes.old_bytes import (
    StoredChange,
    forget_files,
    put_back,
    stored_changes,
    verified_pieces,
)
from inspector.sources.local.disk_calls import DISK, Disk, closed_after, read_all, reason
from inspector.sources.local.file import Identity

_BOTH_DIRECTIONS = "It can be finished (new bytes) or rolled back (old bytes)."
_SET_ASIDE = "Rename the journal, so that it is kept but no longer considered."
_KEEP_JOURNAL = {ChangeState.UNREADABLE, ChangeState.FOREIGN, ChangeState.OTHER_FILE}
"""The states in which the journal may have the only copy of the old bytes."""
_MAX_SPANS_NAMED = 3


class Pending(Struct, frozen=True):
    """An interrupted change. ``path`` is the file without symbolic links, ``journal`` the path of its journal.

    ``spans`` are the foreign bytes, or those that are not the new ones yet, in the current file. ``story`` says what
    happened; ``finish``, ``roll_back`` and ``forget`` say what each action would do, empty if it is not possible.
    """

    kind: ChangeState
    path: Path
    journal: Path
    spans: Spans
    story: str
    finish: str = ""
    roll_back: str = ""
    forget: str = ""

    @property
    def keeps(self) -> bool:
        """Whether forgetting renames the journal, because it may have the only copy of the old bytes."""
        return self.kind in _KEEP_JOURNAL


def pending(path: Path, disk: Disk = DISK) -> Pending | None:
    """The interrupted change of the file at ``path``; None without a journal.

    Writes nothing. Raises EditError if the state cannot be determined.
    """
    with _inspected(path, disk) as (found, _):
        return found


def finish(path: Path, disk: Disk = DISK) -> str:
    """Finish the interrupted change; returns a sentence. Raises EditError; then the journal stays."""
    return _recover(path, disk, redo, "has its new bytes")


def roll_back(path: Path, disk: Disk = DISK) -> str:
    """Restore the old bytes; returns a sentence. Raises EditError; then the journal stays."""
    return _recover(path, disk, undo, "is as it was before the change")


def forget(path: Path, disk: Disk = DISK) -> str:
    """Remove the journal of a file that is not between two states; returns a sentence. The file is unchanged.

    A journal that may have the only copy of the old bytes is renamed instead. Raises EditError.
    """
    with _inspected(path, disk) as (found, file):
        if found is None:
            return _nothing_pending(path)
        if not found.forget:
            raise EditError(f"The journal cannot be removed. {found.story}")
        if file is not None:
            disk.sync(file.descriptor)  # the crash may have come before the sync that the journal stands in for
        if found.keeps:
            kept = visible(str(set_aside(found.journal, None if file is None else file.identity, disk)))
            return (
                f"{visible(found.path.name)} was not touched. Its journal is kept as {kept}: give it its old name to "
                "have it considered again, or delete it if it is not needed."
            )
        assert file is not None  # else it is kept
        remove(found.journal, file.identity, disk)
    return f"The journal of {visible(path.name)} was removed; the file itself was not touched."


def _recover(path: Path, disk: Disk, step: Callable[[LockedFile, Journal], None], done: str) -> str:
    with locked(path, disk) as file:
        try:
            if (place := find(file.path, disk)) is None:
                if (killed := killed_append(file)) is None:
                    return _nothing_pending(path)
                edit = killed.finish if step is redo else killed.take_back
                if edit is None:
                    raise EditError(f"{file.name} was not changed. {_killed(file, killed).story}")
                return _settled(file, edit)
            found, journal = _assess(file, place, disk)
            if journal is None or not (found.finish if step is redo else found.roll_back):
                raise EditError(f"{file.name} was not changed. {found.story}")
            step(file, journal)
            remove(place, file.identity, disk)
        except OSError as error:
            raise EditError(
                f"{file.name} could not be recovered ({reason(error)}). Its journal stays, so try again."
            ) from error
    return f"{file.name} {done}."


def _settled(file: LockedFile, edit: Edit) -> str:
    change_locked(file, edit)
    return f"{edit.label}: that was done, as what it recorded proves it."


def settle_append(path: Path, disk: Disk) -> tuple[str, ...]:
    """Finish an append that was killed, or take it back, if all of it is proved; says what was done.

    Raises EditError.
    """
    try:
        if not exists(intent_path(resolved(path, disk)), disk.lstat):
            return ()
    except OSError as error:
        raise EditError(f"{visible(path.name)} was not changed: {reason(error)}, where an append is noted.") from error
    with locked(path, disk) as file:
        try:
            killed = killed_append(file) if find(file.path, disk) is None else None
        except OSError as error:
            raise EditError(f"{file.name} was not changed: it cannot be read ({reason(error)}).") from error
        return () if killed is None else (_settled(file, killed.finish or killed.take_back),)


def _nothing_pending(path: Path) -> str:
    return f"No change of {visible(path.name)} is waiting to be finished."


@contextlib.contextmanager
def _inspected(path: Path, disk: Disk) -> Iterator[tuple[Pending | None, LockedFile | None]]:
    """The interrupted change and the file, open for reading; None if it is gone. OSErrors become EditErrors."""
    descriptor = -1
    try:
        real = _resolve(path, disk)
        place = find(real, disk)
        if place is None and not exists(intent_path(real), disk.lstat):
            yield None, None
            return
        try:
            descriptor = disk.open(real, os.O_RDONLY)
        except FileNotFoundError:
            story = f"A change of {visible(real.name)} was interrupted, and the file is no longer there."
            found = Pending(ChangeState.OTHER_FILE, real, place or intent_path(real), (), story, forget=_SET_ASIDE)
            yield found if place is not None else None, None
            return
        file = LockedFile(disk, real, descriptor, Identity.of(disk.fstat(descriptor)), ())
        yield _state(file, place, disk), file
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise EditError(
            f"{visible(path.name)} may be partly changed: the remains of an interrupted change cannot be read "
            f"or removed ({why})."
        ) from error
    finally:
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                disk.close(descriptor)


def _resolve(path: Path, disk: Disk) -> Path:
    try:
        return disk.resolve(path)
    except FileNotFoundError:
        return disk.resolve(path.parent) / path.name


def _state(file: LockedFile, place: Path | None, disk: Disk) -> Pending | None:
    try:
        disk.lock(file.descriptor)
    except BlockingIOError:
        if place is None and not exists(intent_path(file.path), disk.lstat):
            return None
        story = f"Another program is changing {file.name} at this moment."
        return Pending(ChangeState.BUSY, file.path, place or intent_path(file.path), (), story)
    except OSError:  # no locks on this file system, or none for reading
        file = replace(file, exclusive=False)
    try:
        if place is None:
            killed = killed_append(file)
            return None if killed is None else _killed(file, killed)
        return _assess(file, place, disk)[0]
    except FileNotFoundError:
        return None  # the other program has finished


def _assess(file: LockedFile, place: Path, disk: Disk) -> tuple[Pending, Journal | None]:
    try:
        journal = load(place, disk)
    except BrokenJournal as error:
        if _is_untouched(file, place, error.data):
            kind, forget = ChangeState.BROKEN, "Remove the unfinished journal."
            story = f"A change of {file.name} was interrupted before it started, so the file is unchanged."
        else:
            kind, forget = ChangeState.UNREADABLE, _SET_ASIDE
            story = (
                f"The journal of a change of {file.name} ({visible(str(place))}) cannot be read: it is damaged, or not "
                f"a journal. It may be the only record of a partial change of {file.name}, so it is left until you "
                "decide."
            )
        return Pending(kind, file.path, place, (), story, forget=forget), None
    return _described(file, journal, place, *change_state(file, journal)), journal


def _is_untouched(file: LockedFile, place: Path, data: bytes) -> bool:
    """Whether a journal was never finished: it begins like what was stored before it, and the file has those old bytes.

    A journal that was cut off later looks the same, but then the file is not as it was.
    """
    if place not in journal_paths(file.path):
        return False
    if (last := next(stored_changes(file.path, file.disk), None)) is None:
        return not data
    patches = [(patch.offset, patch.old) for patch in last.edit.patches]
    stored = content(last.place, file.disk).partition(b"\n")[2]
    return stored.startswith(data) and holds(file, last.edit.old_size, patches)


def _killed(file: LockedFile, killed: KilledAppend) -> Pending:
    end = Span(killed.take_back.new_size, file.identity.size)
    finish = "Write the headers that make what was appended part of the archive." if killed.finish else ""
    back = f"Cut off the {end.size:,} bytes that were appended; they are kept in the store of old bytes."
    story = f"An append to {file.name} {killed.story}"
    return Pending(ChangeState.MIXED, file.path, intent_path(file.path), (end,), story, finish, back)


def _described(file: LockedFile, journal: Journal, place: Path, kind: ChangeState, spans: Spans) -> Pending:
    change, edit = _change_text(file, journal), journal.edit
    finish, back, forget = _finish_text(journal), _roll_back_text(file, journal), "Remove the journal."
    ways = f" {_BOTH_DIRECTIONS}" if back else ""
    if kind is ChangeState.NOT_BEGUN:
        story = f"{change} was interrupted before it started: every byte is old. {_BOTH_DIRECTIONS}"
        back = "Remove the journal; the file stays as it was before the change."
    elif kind is ChangeState.FINISHED:
        story = f"{change} was interrupted after the last write: every byte is new.{ways}"
        finish = "Remove the journal; the file stays changed."
    elif kind is ChangeState.MIXED:
        ways = ways or " It can only be finished (new bytes): not all old bytes are kept."
        story, forget = f"{change} was interrupted half-way: some of its bytes are still old.{ways}", ""
    else:
        finish, back, forget = "", "", f"Leave {file.name} as it is now. {_SET_ASIDE}"
        if kind is ChangeState.FOREIGN:
            shown = ", ".join(f"[{span.start:,}, {span.stop:,})" for span in spans[:_MAX_SPANS_NAMED])
            more = f" and {len(spans) - _MAX_SPANS_NAMED:,} more places" if len(spans) > _MAX_SPANS_NAMED else ""
            story = (
                f"{change} was interrupted, and another program has written to the file since: the bytes in "
                f"{shown}{more} are neither old nor new. Neither direction is safe, so nothing is written to it."
            )
        else:
            sizes = f"{edit.old_size:,}" + ("" if edit.old_size == edit.new_size else f" or {edit.new_size:,}")
            why = "has other bytes" if spans else f"has {file.identity.size:,} bytes, not {sizes}"
            story = (
                f"{change} was interrupted, but the current file is another one, or another program has changed it "
                f"since: it {why}. Nothing is written to it."
            )
    return Pending(kind, file.path, place, spans, story, finish, back, forget)


def _change_text(file: LockedFile, journal: Journal) -> str:
    label = f" ({visible(journal.edit.label)})" if journal.edit.label else ""
    moved = ""
    if journal.path != str(file.path):
        moved = f", then {visible(journal.path)},"
    elif journal.identity.inode != file.identity.inode:
        moved = ", or of the file that had its name then,"
    return f"A change of {file.name}{moved}{label}"


def _finish_text(journal: Journal) -> str:
    edit = journal.edit
    cut = f", and cut off the last {edit.dropped.size:,} bytes" if edit.dropped.size else ""
    return f"Write the new bytes, {total(edit.spans):,} in {len(edit.patches):,} places{cut}."


def _roll_back_text(file: LockedFile, journal: Journal) -> str:
    """What rolling back would do; empty if bytes are already cut off that the journal does not have."""
    edit = journal.edit
    if file.identity.size < edit.old_size and not journal.can_go_back:
        return ""
    cut = (
        f", and cut off the {edit.new_size - edit.old_size:,} that were added" if edit.new_size > edit.old_size else ""
    )
    size = sum(len(patch.old) for patch in edit.patches) + len(journal.dropped or b"")
    return f"Write the old bytes, {size:,} in {len(edit.patches) + bool(journal.dropped):,} places{cut}."


# ---- finished changes ------------------------------------------------------------------------------------------------

MAX_PAST = 50
"""Changes of a file that are listed."""


def describe_last_change(path: Path, disk: Disk = DISK) -> str:
    """What undoing would do to the file at ``path``, as a sentence. Writes nothing. Raises EditError."""
    with locked(path, disk) as file:
        return f"The last change of {file.name} would be undone: {visible(_last_stored_change(file).edit.label)}."


def undo_last_change(path: Path, disk: Disk = DISK) -> str:
    """Undo the last change of the file at ``path``; returns a sentence.

    Raises EditError; then the file is unchanged, or the message says that it is not and what to do.
    """
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
            change_locked(replace(file, identity=now), reverse, stores_old_bytes=False)
        forget_files(entry.files, disk)
        return f"{file.name} is as it was before: {visible(entry.edit.label)}."


def past_changes(path: Path, disk: Disk = DISK) -> tuple[StoredChange, ...]:
    """The stored changes of the file at ``path``, newest first, at most MAX_PAST. Raises EditError."""
    try:
        real = resolved(path, disk)  # not locked: what is only listed must not keep anybody from writing
        with closed_after(disk, disk.open(real, os.O_RDONLY)) as descriptor:
            file = LockedFile(disk, real, descriptor, Identity.of(disk.fstat(descriptor)), ())
            made = (each for each in stored_changes(file.path, disk) if not _holds_old(file, each))
            found = list(islice(made, MAX_PAST))
            last = found[0] if found and _holds_new(file, found[0]) else None
            return tuple(replace(each, can_undo=each is last) for each in found)
    except OSError as error:
        raise EditError(f"The stored old bytes of {visible(path.name)} cannot be read: {reason(error)}.") from error


def forget_changes(path: Path, disk: Disk = DISK) -> int:
    """Remove the stored old bytes of all changes of the file at ``path``; returns how many changes. Raises EditError.

    The file stays as it is. While a change of it is interrupted, nothing is removed.
    """
    try:
        with locked(path, disk) as file:
            require_settled(file)
            stored = list(stored_changes(file.path, disk))
            for each in stored:
                forget_files(each.files, disk)
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
