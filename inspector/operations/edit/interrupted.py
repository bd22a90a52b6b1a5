"""A change of an archive that a crash has interrupted: what it left, and the ways out."""

from __future__ import annotations

from pathlib import Path

from inspector.operations.open.opening import local_path
from inspector.operations.protocol.edit_views import Interrupted, WayOut
from inspector.sources.local.recovery import finish, forget, pending, roll_back
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


def _file(location: str) -> Path | None:
    if is_s3(location):
        return None  # nothing is changed in place there
    path = local_path(location)
    return path if path.is_file() else None
