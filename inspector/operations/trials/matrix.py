"""Crash points by readers: what each makes of an archive whose writer stopped after, or in, one of its writes."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from msgspec import Struct

from inspector.core.numbers import in_bytes
from inspector.core.program.progress import Progress
from inspector.core.reader import Reader, ReaderOutcome, Reads
from inspector.core.source import Source, blocks
from inspector.core.verdict import State
from inspector.formats import recognise
from inspector.operations.check.checking import checked, state_of
from inspector.operations.check.digest_check import digest_of
from inspector.operations.check.tracing import readers_of, trace
from inspector.operations.edit.plan_repairs import SiblingFile, plan
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.subprogress import subprogresses
from inspector.operations.open.opening import Opened
from inspector.operations.protocol.check_views import NamedReader
from inspector.operations.protocol.replay_views import (
    CrashState,
    Matrix,
    MatrixRow,
    Point,
    RepairEnd,
    StepKind,
    StepView,
)
from inspector.operations.trials.replay import Replay

MAX_POINTS = 60
"""The most crash points of a matrix: each is checked, repaired and read by every reader."""
MAX_MATRIX_BYTES = 1 << 30
"""The largest archive of which a matrix is made: it is read several times for each crash point."""
_MAX_CONSENTS = 4
"""Repairs that need consent which are tried at a crash point."""
_WORKING = "Reading as each reader after a crash"


def crash_points(steps: Sequence[StepView], more: Sequence[Point] = ()) -> tuple[Point, ...]:
    """Before the first write, in the middle of each and after it, and ``more``; of very many, a spread."""
    found = {Point(0), Point(len(steps)), *more}
    within: set[Point] = set()
    for number, step in enumerate(steps):
        within.add(Point(number + 1))
        if step.kind is StepKind.WRITE and step.size > 1:
            within.add(Point(number, step.size // 2))
    spread = sorted(within - found)
    room = max(1, MAX_POINTS - len(found))
    if len(spread) > room:
        spread = [spread[at * len(spread) // room] for at in range(room)]
    return tuple(sorted({*found, *spread}))


def crash_matrix(replay: Replay, progress: Progress, more: Sequence[Point] = ()) -> Matrix:
    """What each reader makes of the archive at each crash point, and ``more``.

    Raises OperationError where there are no crash points or the archive is too large, SourceError and Cancelled.
    """
    steps = replay.view.steps
    if not replay.view.has_crashes:
        raise OperationError("The history of an archive has no crash points: which writes it was made of is not known.")
    old, new = replay.source(Point(0)), replay.source(replay.view.end)
    if max(old.size, new.size) > MAX_MATRIX_BYTES:
        raise OperationError(f"Crash points are read in archives of at most {in_bytes(MAX_MATRIX_BYTES)}.")
    decoder = recognise(new) or recognise(old)
    known = readers_of(decoder)
    readers = [each for each in known if not each.present()]
    points = crash_points(steps, more)
    parts = iter(subprogresses(progress, _WORKING, [1] * (len(points) + 2)))
    ends = _End(old, readers, next(parts)), _End(new, readers, next(parts))
    rows = tuple(_row(replay, point, readers, ends, part) for point, part in zip(points, parts, strict=True))
    shown = tuple(map(NamedReader.of, readers))
    return Matrix(shown, rows, tuple(each.name for each in known if each.present()))


class _Reading(Struct, frozen=True):
    """How a reader read a state: ``bytes_read`` is a hash of what it read and where, empty where that is not seen."""

    outcome: ReaderOutcome
    bytes_read: bytes

    @property
    def listed(self) -> tuple[int, int, str]:
        """What it gives."""
        return self.outcome.members, self.outcome.given, self.outcome.digest


class _End:
    """The archive before the first write or after the last, as each reader reads it."""

    def __init__(self, source: Source, readers: Sequence[Reader], progress: Progress) -> None:
        self.source = source
        self.size = source.size
        self.digest = digest_of(source, Progress())
        self.readings = tuple(_read(source, reader, progress) for reader in readers)


def _row(
    replay: Replay, point: Point, readers: Sequence[Reader], ends: tuple[_End, _End], progress: Progress
) -> MatrixRow:
    source = replay.source(point)
    archive = checked(source, progress)
    state = state_of((archive,))
    repair, accept = _repair_end(archive, state, ends, progress)
    cells, messages = [], []
    for number, reader in enumerate(readers):
        reading = _read(source, reader, progress)
        old, new = ends[0].readings[number], ends[1].readings[number]
        cells.append(crash_state(reading, old, new, repair))
        messages.append(reading.outcome.message)
    return MatrixRow(point, replay.view.words(point), state, repair, accept, tuple(cells), tuple(messages))


def crash_state(now: _Reading, old: _Reading, new: _Reading, repair: RepairEnd) -> CrashState:
    """What a reader's reading is, compared with how it reads what was before and what is after."""
    accepts = now.outcome.accepts
    if accepts is None:
        return CrashState.UNKNOWN
    if not accepts:
        led = {RepairEnd.OLD: old, RepairEnd.NEW: new}.get(repair)
        return CrashState.RECOVERABLE if led is not None and led.outcome.accepts else CrashState.REJECTED
    as_old = bool(old.outcome.accepts) and now.listed == old.listed
    as_new = bool(new.outcome.accepts) and now.listed == new.listed
    if as_old and as_new and now.bytes_read:  # it lists the same: what did it read to do so?
        as_old, as_new = now.bytes_read == old.bytes_read, now.bytes_read == new.bytes_read
    if as_old and as_new:
        return CrashState.ALIKE
    if as_old or as_new:
        return CrashState.OLD if as_old else CrashState.NEW
    return CrashState.WRONG


def _read(source: Source, reader: Reader, progress: Progress) -> _Reading:
    found = trace(source, reader, lambda _: None, progress)
    return _Reading(found.outcome, _bytes_read(source, found.reads))


def _bytes_read(source: Source, reads: Reads) -> bytes:
    spans = reads.once()
    if not spans:
        return b""
    digest = blake2b(digest_size=16)
    for span in spans:
        digest.update(f"{span.start}-{span.stop}:".encode())
        for piece in blocks(source, *span):
            digest.update(piece)
    return digest.digest()


def _repair_end(archive: Opened, state: State, ends: tuple[_End, _End], progress: Progress) -> tuple[RepairEnd, str]:
    """Where the repairs lead that need no consent, or else one that does, and the code to consent to."""
    if state is State.SOUND:
        return RepairEnd.NONE, ""
    planned = plan(archive, progress)
    if planned.edit is not None or planned.beside:
        return _end_of(planned.after.source, ends, planned.beside), ""
    asked = [each.code for each in planned.waiting if not each.is_salvage][:_MAX_CONSENTS]
    for code in asked:
        found = plan(archive, progress, (code,))
        if found.edit is not None and (end := _end_of(found.after.source, ends)) is not RepairEnd.OTHER:
            return end, code
    if asked:
        return RepairEnd.OTHER, asked[0]
    return (RepairEnd.NONE if state is State.WARNING else RepairEnd.NO), ""


def _end_of(after: Source, ends: tuple[_End, _End], beside: Sequence[SiblingFile] = ()) -> RepairEnd:
    for end, name in zip(ends, (RepairEnd.OLD, RepairEnd.NEW), strict=True):
        same = after.size == end.size and digest_of(after, Progress()) == end.digest
        if same and all(_is_there(each, end) for each in beside):
            return name
    return RepairEnd.OTHER


def _is_there(beside: SiblingFile, end: _End) -> bool:
    """Whether a repaired file is the one that is beside the archive in a state."""
    there = end.source.sibling(beside.suffix, beside.instead_of)
    return there is not None and digest_of(there, Progress()) == digest_of(beside.content, Progress())
