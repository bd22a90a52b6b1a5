"""Following a reader through an archive, and what every reader that fits makes of it.

``trace`` follows one reader; ``compare_readers`` follows all and says which of them read wrongly: their list of members
differs from that of the specification, or of this program where no specification's reader lists them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, field

from inspector.core.archive import Archive
from inspector.core.format import Format
from inspector.core.member import Members
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.program.progress import Progress, cancelling
from inspector.core.reader import Reader, ReaderKind, ReaderOutcome, Reads, Recorder, Step, follow
from inspector.core.source import Source
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.jobs.subprogress import subprogresses
from inspector.operations.protocol.check_views import NamedReader, ReaderRow, ReaderVerdict

READING = "Reading as {}"
_EACH = "Reading as each reader"
_SPECIFICATION = "spec"
HEAD_STEPS, TAIL_STEPS = 6_000, 2_000
"""Steps of one trace that are kept: the first and the last."""


class StepLog:
    """Keeps the first and the last steps of a trace; those between are one step that says how many they are."""

    def __init__(self, head: int = HEAD_STEPS, tail: int = TAIL_STEPS) -> None:
        self._head: list[Step] = []
        self._tail: deque[Step] = deque(maxlen=tail)
        self._most = head
        self._later = 0

    def add(self, step: Step) -> None:
        """Take the next step."""
        if len(self._head) < self._most:
            self._head.append(step)
        else:
            self._later += 1
            self._tail.append(step)

    @property
    def folded(self) -> int:
        """The number of steps that are not kept."""
        return self._later - len(self._tail)

    def steps(self) -> list[Step]:
        """The steps in order."""
        if not self.folded:
            return [*self._head, *self._tail]
        last, following = self._head[-1].n, self._tail[0].n
        words = f"{count(self.folded, 'step')} not kept, {last + 1:,} to {following - 1:,}"
        fold = Step(last + 1, 0, words, None, None, "archive-inspector trace shows them all", True, folded=self.folded)
        return [*self._head, fold, *self._tail]


class Trace(Struct, frozen=True):
    """One reader's way through an archive: how it ended, and its reads."""

    reader: Reader
    outcome: ReaderOutcome
    reads: Reads = field(default_factory=Reads)


def readers_of(decoder: Format | None) -> Sequence[Reader]:
    """The readers of a format, that of the specification first."""
    return decoder.readers() if decoder is not None else ()


def reader_named(decoder: Format | None, name: str) -> Reader:
    """The reader of a format by its name. Raises OperationError if it has none such, or if that is not installed."""
    readers = readers_of(decoder)
    found = next((each for each in readers if each.name == name), None)
    if found is None:
        names = ", ".join(each.name for each in readers) or "none"
        title = decoder.title if decoder is not None else "plain bytes"
        raise OperationError(f"{visible(name)} does not read this file ({title}). Known readers: {names}.")
    if why := found.present():
        raise OperationError(f"{found.title} cannot run: {why}.")
    return found


def trace(
    source: Source, reader: Reader, emit: Callable[[Step], None], progress: Progress, member: str | None = None
) -> Trace:
    """Follow a reader, of one ``member`` if given; ``emit`` gets each step. Raises SourceError and Cancelled."""
    progress.begin(READING.format(reader.name), source.size)
    recorder = Recorder(source, emit, progress, member)
    with cancelling(progress):
        outcome = follow(reader, recorder)
    return Trace(reader, outcome, recorder.reads)


def compare_readers(archive: Archive, decoder: Format | None, progress: Progress) -> tuple[ReaderRow, ...]:
    """A row for each reader of the archive's format that is here. Raises SourceError and Cancelled."""
    readers = readers_of(decoder)
    if not readers:
        return ()
    rows: list[ReaderRow] = []
    reference: ReaderOutcome | None = None
    for reader, part in zip(readers, subprogresses(progress, _EACH, [1] * len(readers)), strict=True):
        if reader.present():
            rows.append(row_of(reader, None, ""))
            continue
        outcome = trace(archive.source, reader, lambda _: None, part).outcome
        if reader.name == _SPECIFICATION and outcome.lists:
            reference = outcome
        rows.append(row_of(reader, outcome, difference(reader, outcome, reference, archive.members)))
    return tuple(rows)


def row_of(reader: Reader, outcome: ReaderOutcome | None, wrong: str) -> ReaderRow:
    """The row of a reader; ``outcome`` is None where it is not installed, ``wrong`` how it reads wrongly."""
    if outcome is None:
        return ReaderRow(NamedReader.of(reader), ReaderVerdict.ABSENT, ReaderOutcome(None, message=reader.present()))
    verdict = {True: ReaderVerdict.ACCEPTS, False: ReaderVerdict.REJECTS, None: ReaderVerdict.UNKNOWN}[outcome.accepts]
    if wrong:
        verdict, outcome = ReaderVerdict.WRONG, outcome._replace(message=wrong)
    return ReaderRow(NamedReader.of(reader), verdict, outcome)


def difference(reader: Reader, outcome: ReaderOutcome, reference: ReaderOutcome | None, members: Members) -> str:
    """How what an accepting reader lists differs from the specification, or from this program; empty if it does not."""
    if not outcome.accepts or not outcome.lists or reader.name == _SPECIFICATION:
        return ""
    if reference is not None and reader.kind is ReaderKind.DESCRIBED:
        return _unlike(outcome, reference)
    if outcome.members != len(members):
        found = count(len(members), "member")
        return f"It lists {count(outcome.members, 'member')} without an error; the archive has {found}."
    return ""


def _unlike(outcome: ReaderOutcome, reference: ReaderOutcome) -> str:
    if not reference.accepts or outcome.digest == reference.digest:
        return ""
    if outcome.members != reference.members:
        return f"It lists {count(outcome.members, 'member')}; the specification's reader, {reference.members:,}."
    for own, theirs in zip(outcome.names, reference.names, strict=False):
        if own != theirs:
            return f"It lists {own} where the specification's reader lists {theirs}."
    return "Its list of members differs from that of the specification's reader."


# ---- in words --------------------------------------------------------------------------------------------------------


def row_lines(rows: Sequence[ReaderRow]) -> list[str]:
    """A line for each reader, and under it why; every name is printable."""
    width = max((len(row.reader.name) for row in rows), default=0)
    lines = []
    for row in rows:
        kind = "" if row.verdict is ReaderVerdict.ABSENT else f" ({row.reader.kind})"
        lines.append(f"{row.reader.name:<{width}}  {sentence(row)}{kind}")
        lines += [f"{'':<{width}}    {visible(row.outcome.cause)}"] if row.outcome.cause else []
    return lines


def sentence(row: ReaderRow) -> str:
    """``rejects at step 14 in log.txt: checksum mismatch``."""
    words, outcome = str(row.verdict), row.outcome
    if row.verdict is ReaderVerdict.ABSENT:
        return words
    if row.verdict is ReaderVerdict.ACCEPTS and outcome.lists:
        words += f": {count(outcome.members, 'member')}"
        return f"{words}. {visible(outcome.message)}" if outcome.message else words
    if outcome.stopped_at is not None:
        words += f" at step {outcome.stopped_at:,}"
    if outcome.member:
        words += f" in {outcome.member}"
    return f"{words}: {visible(outcome.message)}" if outcome.message else words


def row_object(row: ReaderRow) -> dict[str, Any]:
    """The end of a reader as ``trace --json`` gives it."""
    outcome = row.outcome
    return {
        "reader": row.reader.name,
        "accepts": outcome.accepts,
        "members": outcome.members,
        "stopped_at": outcome.stopped_at,
        "message": outcome.message,
        "verdict": row.verdict,
        "kind": row.reader.kind,
        "cause": outcome.cause,
        "member": outcome.member or None,
    }
