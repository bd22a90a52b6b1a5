"""The writers whose writes can be replayed: each really runs, on a disk that records and keeps what it writes."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.core.edit import Edit, EditError, overlaid
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.pieces import PieceSource, PieceTable
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.formats.rca.chunks import Layout
from inspector.formats.rca.hashes import Hashes
from inspector.formats.rca.write import header
from inspector.operations.create.creating_rca import RcaOptions
from inspector.operations.create.inputs import gather
from inspector.operations.create.rca_writing import grow
from inspector.operations.edit.past_writes import edits_before, past_edit
from inspector.operations.edit.plan_repairs import plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.replay_views import StepKind, StepView
from inspector.operations.trials.replay import Replay, Step, replay_of
from inspector.sources.local.changes.in_place import write
from inspector.sources.local.file import FileSource
from inspector.sources.local.rehearsal import Rehearsal
from inspector.sources.s3.connection import DEFAULT, Connection
from inspector.sources.s3.source import S3Source

_JOURNAL = (
    "Before the first write this program puts the old and the new bytes into a journal beside the archive, from which "
    "repair finishes the change or rolls it back. The crash points show the archive as other programs see it."
)
_NO_JOURNAL = (
    "No journal is kept: the blobs become part of the archive with the last write. It lies in one sector, which disks "
    "write whole or not at all; a crash in the middle of it is shown all the same."
)


def changed_file(source: Source) -> FileSource:
    """The local file whose writes are replayed. Raises OperationError if it is none."""
    if isinstance(source, S3Source):
        raise OperationError(
            f"{visible(source.name)} is on S3, where an object is replaced whole: there is no state between its old "
            "bytes and its new ones."
        )
    if not isinstance(source, FileSource):
        raise OperationError(f"{visible(source.name)} is no file of this machine, so nothing is written to it.")
    return source


def replay_edit(source: Source, edit: Edit, progress: Progress, title: str = "") -> Replay:
    """The writes of a change in place. Raises OperationError, SourceError and Cancelled."""
    file = changed_file(source)
    return _replay_edit(file, file, edit, progress, title or edit.label)


def _replay_edit(file: FileSource, base: Source, edit: Edit, progress: Progress, title: str) -> Replay:
    rehearsal = Rehearsal(file.path, base)
    try:
        write(file.path, edit, None, rehearsal)
    except EditError as error:
        raise OperationError(str(error)) from error
    notes = (_JOURNAL,) if rehearsal.journalled else ()
    return replay_of(base, title, notes, rehearsal.calls, progress)


def replay_repair(archive: Opened, progress: Progress, accepted: Sequence[str] = ()) -> Replay:
    """The writes of a plan of repairs. Raises OperationError where nothing is written, SourceError and Cancelled."""
    changed_file(archive.source)
    planned = plan(archive, progress, accepted)
    if planned.edit is None:
        waiting = ", ".join(each.code for each in planned.waiting)
        why = f" These repairs need consent: {waiting}." if waiting else ""
        raise OperationError(f"No repair writes to {visible(archive.source.name)}.{why}")
    found = replay_edit(archive.source, planned.edit, progress, f"Repair: {planned.edit.label}")
    beside = count(len(planned.beside), "file")
    notes = (f"The plan also writes {beside} beside the archive, which is not replayed.",) if planned.beside else ()
    return Replay(found.base, found.view.title, (*found.view.notes, *notes), found.steps)


def replay_past(location: str, number: int, source: Source, progress: Progress) -> Replay:
    """The writes of an earlier change by this program. Raises OperationError, SourceError and Cancelled."""
    file = changed_file(source)
    try:
        base = overlaid(file, edits_before(location, number, file))
        edit = past_edit(location, number, file)
    except EditError as error:
        raise OperationError(str(error)) from error
    return _replay_edit(file, base, edit, progress, edit.label)


def replay_append(
    source: Source,
    locations: Sequence[str],
    options: RcaOptions,
    progress: Progress,
    connection: Connection = DEFAULT,
) -> Replay:
    """The writes of an append to an RCA archive. Raises OperationError, SourceError and Cancelled."""
    file = changed_file(source)
    inputs = gather(locations, progress, [file.path.resolve()], connection)
    if not inputs:
        raise OperationError("There is nothing to append.")
    rehearsal = Rehearsal(file.path, file)
    try:
        made = grow(file.path, inputs, options, progress, rehearsal=rehearsal)
    except EditError as error:
        raise OperationError(str(error)) from error
    said = tuple(f"The writer would say: {each}" for each in made.warnings)
    return replay_of(file, f"Append {count(len(inputs), 'blob')}", (*said, _NO_JOURNAL), rehearsal.calls, progress)


# ---- the history of an RCA archive -----------------------------------------------------------------------------------


def replay_segments(archive: Opened) -> Replay:
    """The archive after each of its segments. Raises OperationError where they cannot be told, and SourceError.

    A segment ends where its last blob does; the header of the chunk that this is in then held the segment's hash, which
    the next reset block repeats.
    """
    layout = archive.detail
    if not isinstance(layout, Layout):
        raise OperationError("Only an RCA archive keeps its history: its segments.")
    if not layout.consistent or layout.sizes or layout.varints or not len(layout.blocks.segments):
        raise OperationError("The segments of this archive cannot all be told. Repair it first.")
    hashes, whole = Hashes(layout), PieceTable.whole(archive.source)
    steps: list[Step] = []
    before = 0
    for segment in range(len(layout.blocks.segments)):
        row = hashes.row(segment)
        last = hashes.bounds(row)[1]
        end = layout.inner.outer(last - 1, last)[0].stop
        chunk = next(each for each in layout.chunks.chunks if end <= each.stop)
        head = header(end - chunk.start, chunk.bits, hashes.stored(row))
        start = chunk.start
        table = whole.slice(0, end).replace(start, start + len(head), PieceTable.of_bytes(head))
        blobs = layout.blobs(*layout.blocks.segment(segment))
        what = f"segment {segment + 1}, {count(blobs, 'blob')}"
        steps.append(Step(StepView(StepKind.APPEND, before, end - before, end - before, what, False), table, None))
        before = end
    left = archive.source.size - before
    notes = ["Each segment is an append where rcarch wrote the archive. Which writes each was made of is not recorded."]
    if left:
        notes.append(f"The last {in_bytes(left)} of the file belong to no segment.")
    nothing = PieceSource(archive.source, PieceTable())
    return Replay(nothing, "The archive after each of its segments", notes, steps)
