"""What this program wrote to an archive earlier: listing it, taking the last of it back, and the states before.

Files are locked and have journals; objects on S3 are replaced on the condition that they still are as they were read.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from inspector.core.edit import Edit, EditError, OverlaySource
from inspector.core.names import visible
from inspector.core.numbers import count, rounded
from inspector.core.program.progress import Progress, cancelling
from inspector.core.source import Source
from inspector.operations.edit.apply_repairs import write_edit_to_s3
from inspector.operations.edit.interrupted import file_at
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import open_place
from inspector.operations.protocol.edit_views import PastWrite
from inspector.sources.local.changes.old_bytes import (
    MAX_INLINE_BYTES,
    StoredChange,
    forget_files,
    stored_changes,
    verified_pieces,
)
from inspector.sources.local.changes.recovery import (
    MAX_PAST,
    describe_last_change,
    forget_changes,
    past_changes,
    undo_last_change,
)
from inspector.sources.local.disk_calls import Disk
from inspector.sources.s3.address import is_s3, parse
from inspector.sources.s3.connection import DEFAULT, Connection, Consent
from inspector.sources.s3.source import S3Source


def past_writes(location: str, opened: Source | None = None) -> tuple[PastWrite, ...]:
    """What this program wrote to the file or object at ``location``, newest first; nothing for all else.

    ``opened`` is the object, if it is one. Raises SourceError and EditError.
    """
    changes = ((each, each.edit) for each in _past_changes(location, opened))
    return tuple(
        PastWrite(each.written_ns / 1e9, visible(edit.label), edit.spans, edit.dropped.size, each.can_undo)
        for each, edit in changes
    )


def _past_changes(location: str, opened: Source | None) -> tuple[StoredChange, ...]:
    if isinstance(opened, S3Source):
        return _changes_of_object(opened)
    path = file_at(location)
    return past_changes(path) if path is not None else ()


def edits_before(location: str, number: int, opened: Source) -> tuple[Edit, ...]:
    """The edits that lead, one after another, from what is ``opened`` to its state before write ``number``, from 0.

    Raises OperationError where the archive is not as its writes left it, SourceError and EditError.
    """
    changes = _past_changes(location, opened)
    if not 0 <= number < len(changes):
        kept = count(len(changes), "write")
        raise OperationError(f"There is no write {number + 1}: old bytes of {kept} to {visible(location)} are kept.")
    found: list[Edit] = []
    state: Source = opened
    for change in changes[: number + 1]:
        if not _is_as_left(state, change.edit):
            raise OperationError(
                "The state before that write is not known: the bytes are not those that this program wrote "
                f"({visible(change.edit.label)})."
            )
        found.append(_reversed(change))
        state = OverlaySource(state, found[-1])
    return tuple(found)


def past_edit(location: str, number: int, opened: Source) -> Edit:
    """The edit that write ``number``, from 0, made. Raises OperationError as ``edits_before``."""
    edits_before(location, number, opened)
    return _past_changes(location, opened)[number].edit


def _reversed(change: StoredChange) -> Edit:
    cut = change.cut
    if cut is None:
        return change.edit.reverted(b"")
    if cut.length > MAX_INLINE_BYTES:
        raise OperationError(
            f"The state before that write cannot be shown: {rounded(cut.length)} were cut off, which are in "
            f"{visible(cut.path)}."
        )
    with verified_pieces(cut, Disk()) as pieces:
        return change.edit.reverted(b"".join(pieces))


def _is_as_left(source: Source, edit: Edit) -> bool:
    """Whether a source is as an edit left it. Raises SourceError."""
    if source.size != edit.new_size:
        return False
    return all(source.read(each.offset, len(each.new)) == each.new for each in edit.patches)


# ---- objects on S3 ---------------------------------------------------------------------------------------------------


def _stored(source: S3Source) -> tuple[StoredChange, ...]:
    found = stored_changes(Path(source.name), Disk())
    return tuple(each for each, _ in zip(found, range(MAX_PAST), strict=False))


def _changes_of_object(source: S3Source) -> tuple[StoredChange, ...]:
    """The stored changes of an object, newest first. Only bytes of the newest are read; none where none is stored."""
    found = _stored(source)
    last = found[0] if found and _is_as_left(source, found[0].edit) else None
    return tuple(replace(each, can_undo=each is last) for each in found)


def take_back(
    location: str,
    connection: Connection = DEFAULT,
    progress: Progress | None = None,
    *,
    consents: Consent = Consent.NONE,
    dry_run: bool = False,
) -> str:
    """Undo the last change of the file or object at ``location``; with ``dry_run`` only describe it.

    Returns a sentence. Raises OperationError if it is neither, SourceError, EditError and Cancelled; then nothing was
    changed.
    """
    if is_s3(location):
        return _take_back_object(location, connection, progress or Progress(), consents, dry_run=dry_run)
    path = file_at(location)
    if path is None:
        raise OperationError(f"{visible(location)} is no file on this machine, so no change of it can be taken back.")
    return describe_last_change(path) if dry_run else undo_last_change(path)


def _take_back_object(
    location: str, connection: Connection, progress: Progress, consents: Consent, *, dry_run: bool
) -> str:
    with cancelling(progress):
        source = open_place(location, connection)
        if not isinstance(source, S3Source):
            raise OperationError(f"{visible(location)} is no object, so no change of it can be taken back.")
        stored = _stored(source)
        name = visible(source.name)
        if not stored:
            raise EditError(f"{name} was not changed: no change of it is stored that could be undone.")
        label = visible(stored[0].edit.label)
        (back,) = edits_before(location, 0, source)
    if dry_run:
        return f"The last change of {name} would be undone: {label}."
    write_edit_to_s3(source, back, progress, consents, keeps_old_bytes=False)
    forget_files(stored[0].files, Disk())
    return f"{name} is as it was before: {label}."


# ---- forgetting ------------------------------------------------------------------------------------------------------


def forget_past_writes(location: str) -> str:
    """Remove the old bytes that are stored of the file or object at ``location``; returns a sentence.

    Raises SourceError and EditError; then nothing was removed.
    """
    if is_s3(location):
        stored = list(stored_changes(Path(parse(location).location), Disk()))
        for each in stored:
            forget_files(each.files, Disk())
        number = len(stored)
    else:
        path = file_at(location)
        number = forget_changes(path) if path is not None else 0
    if not number:
        return "No old bytes of this archive are stored."
    return f"The old bytes of {count(number, 'change')} were removed; the archive is as it was."
