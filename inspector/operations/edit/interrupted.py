"""Earlier changes of an archive: recovering an interrupted one, and undoing the last finished one."""

from __future__ import annotations

from pathlib import Path

from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import is_section, local_path
from inspector.operations.protocol.edit_views import Interrupted, PastWrite, WayOut
from inspector.sources.local.recovery import finish, forget, pending, roll_back
from inspector.sources.local.undo import (
    PastChange,
    describe_last_change,
    forget_changes,
    past_changes,
    undo_last_change,
)
from inspector.sources.web.address import is_remote

_ACTIONS = {WayOut.FINISH: finish, WayOut.ROLL_BACK: roll_back, WayOut.FORGET: forget}


def interrupted(location: str) -> Interrupted | None:
    """The interrupted change of the file at ``location``, None without one.

    Writes nothing. Raises SourceError if the file does not exist, and EditError if the journal cannot be read.
    """
    path = _file(location)
    found = pending(path) if path is not None else None
    if found is None:
        return None
    return Interrupted(found.story, found.finish, found.roll_back, found.forget, found.spans, found.keeps)


def recover(location: str, way: WayOut) -> str:
    """Finish, roll back or forget the interrupted change; returns a sentence.

    Raises SourceError and EditError; the journal stays then.
    """
    path = _file(location)
    return _ACTIONS[way](path) if path is not None else "No change was interrupted here."


def settle(location: str, found: Interrupted, *, back: bool) -> str:
    """Roll back (``back``) or finish an interrupted change; an incomplete journal is removed. Returns a sentence.

    Raises OperationError if that is not safe, SourceError and EditError; the journal stays then.
    """
    way = WayOut.ROLL_BACK if back else WayOut.FINISH
    if not (found.roll_back if back else found.finish):
        if not found.forget or found.keeps:
            action = "rolling back" if back else "finishing"
            raise OperationError(f"Nothing was done: {action} that change is not safe. Look at it in the window.")
        way = WayOut.FORGET
    return recover(location, way)


def take_back(location: str, *, dry_run: bool = False) -> str:
    """Undo the last finished change of the file at ``location``; with ``dry_run`` only describe it. Returns a sentence.

    Raises OperationError if it is no local file, SourceError and EditError; then nothing was changed.
    """
    path = _file(location)
    if path is None:
        raise OperationError(f"{visible(location)} is no file on this machine, so no change of it can be taken back.")
    return describe_last_change(path) if dry_run else undo_last_change(path)


def past_writes(location: str) -> tuple[PastWrite, ...]:
    """What this program wrote to the file at ``location``, newest first; nothing for what is no local file.

    Raises SourceError and EditError.
    """
    path = _file(location)
    found = past_changes(path) if path is not None else ()
    return tuple(_past_write(each) for each in found)


def _past_write(change: PastChange) -> PastWrite:
    edit = change.edit
    return PastWrite(change.written_ns / 1e9, visible(edit.label), edit.spans, edit.dropped.size, change.can_undo)


def forget_past_writes(location: str) -> str:
    """Remove the old bytes that are stored of the file at ``location``; returns a sentence.

    Raises SourceError and EditError; then nothing was removed.
    """
    path = _file(location)
    number = forget_changes(path) if path is not None else 0
    if not number:
        return "No old bytes of this archive are stored."
    return f"The old bytes of {count(number, 'change')} were removed; the archive is as it was."


def _file(location: str) -> Path | None:
    if is_remote(location) or is_section(location):
        return None  # objects have no journal, and a part of a file is only read
    path = local_path(location)
    return path if path.is_file() else None
