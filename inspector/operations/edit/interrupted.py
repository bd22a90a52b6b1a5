"""Changes of an archive that were made before: one that a crash has interrupted, and the last one that was finished."""

from __future__ import annotations

from pathlib import Path

from inspector.core.names import visible
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import local_path
from inspector.operations.protocol.edit_views import Interrupted, WayOut
from inspector.sources.local.recovery import finish, forget, pending, roll_back
from inspector.sources.local.undo import describe_last_change, undo_last_change
from inspector.sources.s3.address import is_s3

_WAYS = {WayOut.FINISH: finish, WayOut.ROLL_BACK: roll_back, WayOut.FORGET: forget}


def interrupted(location: str) -> Interrupted | None:
    """What an interrupted change has left of the file at ``location``, None where there was none.

    Writes nothing. Raises SourceError where nothing is there, and EditError where it cannot be told.
    """
    path = _file(location)
    found = pending(path) if path is not None else None
    if found is None:
        return None
    return Interrupted(found.story, found.finish, found.roll_back, found.forget, found.spans, found.keeps)


def recover(location: str, way: WayOut) -> str:
    """Take one of the ways out, and say what was done. Raises SourceError and EditError; the journal stays then."""
    path = _file(location)
    return _WAYS[way](path) if path is not None else "No change was interrupted here."


def settle(location: str, found: Interrupted, *, back: bool) -> str:
    """Roll an interrupted change back, or finish it, and say so; a journal that was never finished is removed.

    Raises OperationError where that is not safe, SourceError and EditError; the journal stays then.
    """
    way = WayOut.ROLL_BACK if back else WayOut.FINISH
    if not (found.roll_back if back else found.finish):
        if not found.forget or found.keeps:
            way_back = "rolling back" if back else "finishing"
            raise OperationError(f"Nothing was done: {way_back} that change is not safe. Look at it in the window.")
        way = WayOut.FORGET
    return recover(location, way)


def take_back(location: str, *, dry_run: bool = False) -> str:
    """Take back the last finished change of the file at ``location``, and say so, or with ``dry_run`` only say what.

    Raises OperationError where it is no file, SourceError and EditError; then nothing was changed.
    """
    path = _file(location)
    if path is None:
        raise OperationError(f"{visible(location)} is no file on this machine, so no change of it can be taken back.")
    return describe_last_change(path) if dry_run else undo_last_change(path)


def _file(location: str) -> Path | None:
    if is_s3(location):
        return None  # nothing is changed in place there
    path = local_path(location)
    return path if path.is_file() else None
