"""A replay: the archive after each write of a writer, over an overlay. Nothing is written but new files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from inspector.core.archive import Archive
from inspector.core.field import Field, Run, at_path, runs
from inspector.core.kinds import Kind
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.pieces import PieceSource, PieceTable
from inspector.core.program.progress import Progress
from inspector.core.source import Source, change_of
from inspector.core.span import Span, united
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import decoded
from inspector.operations.protocol.replay_views import (
    Point,
    ReplayState,
    ReplayView,
    StepKind,
    StepView,
    covered,
)
from inspector.operations.trials.experiment import require_another_file, save_as_new
from inspector.sources.local.rehearsal import Call, CallKind

MAX_STEPS = 10_000
"""The most writes of a replay that are kept apart."""
_MAX_NAMED = 2
"""Fields that the name of a write gives; of more, the first and the last."""
_MAX_NAMED_BYTES = 4 << 20
"""Bytes of a write whose fields are looked at for its name."""


class Step(Struct, frozen=True):
    """One step and the file after it; ``content`` is what it writes, None where it cannot stop in the middle."""

    view: StepView
    table: PieceTable
    call: Call | None


class Replay:
    """Steps over ``base``, the archive before the first of them. ``read`` are the files whose bytes are used."""

    def __init__(self, base: Source, title: str, notes: Sequence[str], steps: Sequence[Step]) -> None:
        self.base = base
        self.steps = tuple(steps)
        self.view = ReplayView(title, tuple(notes), tuple(step.view for step in steps), base.size)

    def source(self, point: Point) -> PieceSource:
        """The archive at a point. Raises OperationError where there is none such."""
        return PieceSource(self.base, self._table(point))

    def _table(self, point: Point) -> PieceTable:
        done, part = point
        if not 0 <= done <= len(self.steps):
            raise OperationError(f"There is no point {point}: the replay has {count(len(self.steps), 'step')}.")
        before = self.steps[done - 1].table if done else PieceTable.whole(self.base)
        if not part:
            return before
        step = self.steps[done] if done < len(self.steps) else None
        if step is None or step.call is None or step.view.kind is not StepKind.WRITE:
            raise OperationError(f"There is no point {point}: no write of several bytes begins there.")
        if not 0 < part < step.view.size:
            raise OperationError(f"There is no point {point}: write {done + 1} has {step.view.size:,} bytes.")
        return step.call.on(before, part)

    def state(self, point: Point) -> ReplayState:
        """What is to be shown at a point. Raises OperationError where there is none such."""
        size = self._table(point).size
        steps = self.view.steps
        spans = [covered(step) for step in steps[: point.done]]
        last = spans[-1:]
        if point.part:
            last = [covered(steps[point.done], point.part)]
            spans += last
        if not self.view.has_crashes:  # a history: all of it is written some time
            spans = last
        inside = [Span(*span).clipped(0, size) for span in spans]
        shown = tuple(each for each in (Span(*span).clipped(0, size) for span in last) if each.size)
        return ReplayState(self.view, point, size, tuple(united(each for each in inside if each.size)), shown)

    def bytes_of_steps(self, most: int) -> Iterator[tuple[bytes, bytes]]:
        """The first ``most`` bytes that each step overwrites, and those that it writes; none where it writes none."""
        before = PieceTable.whole(self.base)
        for step in self.steps:
            offset, size = step.view.offset, min(most, step.view.size)
            if step.view.kind is StepKind.WRITE:
                yield before.read(offset, size), step.table.read(offset, size)
            else:
                yield b"", b""
            before = step.table

    def save(self, point: Point, target: Path, progress: Progress, *, replace: bool = False) -> str:
        """Write the archive at a point to a new file, never over what is read; returns its SHA-256 in hex.

        Raises OperationError, SourceError and Cancelled.
        """
        self.require_not_read(target)
        if what := change_of(self.base):
            raise OperationError(f"{visible(self.base.name)} {what}. Open it again.")
        return save_as_new(self.source(point), target, progress, replace=replace)

    def require_not_read(self, target: Path) -> None:
        """Raise OperationError if a file is what is replayed over."""
        require_another_file(self.base, target, "the archive itself")


# ---- from what a writer did ------------------------------------------------------------------------------------------


def replay_of(base: Source, title: str, notes: Sequence[str], calls: Sequence[Call], progress: Progress) -> Replay:
    """The replay of a writer's calls. A call that changes nothing is left out. Raises what ``decode`` does."""
    kept: list[tuple[Call, PieceTable, PieceTable, bool]] = []
    table = PieceTable.whole(base)
    for call in calls:
        if call.kind is CallKind.SYNC:
            if kept:
                kept[-1] = (*kept[-1][:3], True)
            continue
        after = call.on(table)
        if call.kind is CallKind.WRITE or after.size != table.size:
            kept.append((call, table, after, False))
        table = after
    if len(kept) > MAX_STEPS:
        raise OperationError(f"These are {len(kept):,} writes; a replay has at most {MAX_STEPS:,}.")
    final = decoded(PieceSource(base, table), progress)
    steps = []
    for call, before, after, synced in kept:
        if call.kind is CallKind.CUT:
            view = StepView(StepKind.CUT, call.offset, before.size - after.size, 0, "", synced)
        else:
            stop = call.offset + call.content.size
            what = name_of(final, Span(call.offset, stop))
            new = max(0, stop - max(before.size, call.offset))
            view = StepView(StepKind.WRITE, call.offset, call.content.size, new, what, synced)
        steps.append(Step(view, after, call))
    return Replay(base, title, notes, steps)


def name_of(archive: Archive, span: Span) -> str:
    """What bytes are: the innermost field around them all, or the outer ones that they are of."""
    fields = archive.fields
    found = runs(fields, span.start, min(span.stop, span.start + _MAX_NAMED_BYTES))
    if not found:
        return "bytes"
    common = list(found[0].path)
    for run in found:
        while common != list(run.path[: len(common)]):
            common.pop()
    if common and (own := at_path(fields, common)) is not None and len(common) > 1:
        if own.kind is Kind.DATA and own.member is not None:
            return f"{_labelled(own)} of {visible(archive.members.path(own.member))}"
        around = at_path(fields, common[:-1])
        return _labelled(own) if own.children or around is None else f"{_labelled(own)} of {_labelled(around)}"
    inner, outer = (_labels(fields, found, depth) for depth in (2, 1))
    parts = inner if len(inner) <= _MAX_NAMED else outer
    return " and ".join(parts) if len(parts) <= _MAX_NAMED else f"{parts[0]} to {parts[-1]}"


def _labels(fields: Sequence[Field], found: Sequence[Run], depth: int) -> list[str]:
    """The labels of the fields at a depth that runs are of, each once."""
    around = (at_path(fields, run.path[:depth]) for run in found)
    return list(dict.fromkeys(_labelled(field) for field in around if field is not None))


def _labelled(field: Field) -> str:
    """The name of a field, or its label where that is the name with a number in it: ``chunk 2 header``."""
    label = field.label.partition(",")[0]
    return visible(label if set(field.name.split()) <= set(label.split()) else field.name)
