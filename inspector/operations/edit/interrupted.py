"""An interrupted change of an archive: finishing it or rolling it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from inspector.operations.jobs.local_paths import local_path
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import is_section
from inspector.sources.local.changes.journal_paths import may_have_journal
from inspector.sources.web.address import is_remote

DROP_JOURNAL = "drop-broken-journal"
"""Consent to set aside a journal by which a change can be neither finished nor rolled back."""

if TYPE_CHECKING:  # most files have no journal, and no command waits for the import of what reads one
    from inspector.operations.protocol.edit_views import Interrupted, WayOut


def may_be_interrupted(location: str) -> bool:
    """Whether a change of the file at ``location`` may have been interrupted: False only if ``interrupted`` is None.

    Raises SourceError if the file does not exist.
    """
    path = file_at(location)
    return path is not None and may_have_journal(path)


def interrupted(location: str) -> Interrupted | None:
    """The interrupted change of the file at ``location``, None without one.

    Writes nothing. Raises SourceError if the file does not exist, and EditError if the journal cannot be read.
    """
    from inspector.operations.protocol.edit_views import Interrupted
    from inspector.sources.local.changes.recovery import pending

    path = file_at(location)
    found = pending(path) if path is not None else None
    if found is None:
        return None
    return Interrupted(found.story, found.finish, found.roll_back, found.forget, found.spans, found.keeps)


def recover(location: str, way: WayOut) -> str:
    """Finish, roll back or forget the interrupted change; returns a sentence.

    Raises SourceError and EditError; the journal stays then.
    """
    from inspector.operations.protocol.edit_views import WayOut
    from inspector.sources.local.changes.recovery import finish, forget, roll_back

    actions = {WayOut.FINISH: finish, WayOut.ROLL_BACK: roll_back, WayOut.FORGET: forget}
    path = file_at(location)
    return actions[way](path) if path is not None else "No change was interrupted here."


def settle(location: str, found: Interrupted, *, back: bool) -> str:
    """Roll back (``back``) or finish an interrupted change; an incomplete journal is removed. Returns a sentence.

    Raises OperationError if that is not safe, SourceError and EditError; the journal stays then.
    """
    from inspector.operations.protocol.edit_views import WayOut

    way = WayOut.ROLL_BACK if back else WayOut.FINISH
    if not (found.roll_back if back else found.finish):
        if not found.forget or found.keeps:
            action = "rolling back" if back else "finishing"
            raise OperationError(
                f"Nothing was done: {action} that change is not possible. {found.story}{ways_out(found)}"
            )
        way = WayOut.FORGET
    return recover(location, way)


def ways_out(found: Interrupted) -> str:
    """The options of ``repair`` that settle an interrupted change, as a sentence after a space; empty without one."""
    if found.keeps:
        return f" --accept {DROP_JOURNAL} renames its journal, so that it is kept, and goes on."
    ways = {"--finish": found.finish, "--roll-back": found.roll_back}
    possible = " or ".join(option for option, effect in ways.items() if effect)
    return f" Use {possible}." if possible else ""


def file_at(location: str) -> Path | None:
    """The local file at a location; None for all else."""
    if is_remote(location) or is_section(location):
        return None  # objects have no journal, and a part of a file is only read
    path = local_path(location)
    return path if path.is_file() else None
