"""``trace``: every step that a reader takes through an archive, or what each known reader makes of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from inspector.cli.archives import LocationPart, open_parts, status_of
from inspector.cli.bootstrap import FINE, NOT_SOUND
from inspector.cli.options import A_LOCATION_TO_READ, CONNECTION, JSON, PROGRESS, Option, connection_of, location
from inspector.cli.output import ProgressBar, emit, json_text, quoted, remark, say, show
from inspector.core.names import visible
from inspector.core.numbers import count, hexadecimal, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.reader import Step, value_text
from inspector.core.span import total
from inspector.operations.check.tracing import (
    Trace,
    compare_readers,
    reader_named,
    readers_of,
    row_lines,
    row_object,
    row_of,
    trace,
)
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.protocol.check_views import ReaderVerdict

_FAILED = {ReaderVerdict.REJECTS, ReaderVerdict.WRONG}


OPTIONS = (
    location(A_LOCATION_TO_READ),
    Option("--reader", metavar="NAME", help="show every step of this reader; without it, a line for each reader"),
    Option("--member", metavar="NAME", help="with --reader: it reads this member only"),
    PROGRESS,
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Print the steps of a reader, or a line for each, and return the exit status.

    Raises SourceError if the location cannot be opened, and OperationError for a reader that does not fit.
    """
    if options.member is not None and options.reader is None:
        raise OperationError("--member says what one reader reads: give --reader, too.")
    parts = open_parts(options.location, connection_of(options))
    if not any(readers_of(part.archive.decoder) for part in parts):
        raise OperationError(f"No other reader of {parts[0].archive.title} is known.")
    wrong = False
    for part in parts:
        follow = _table if options.reader is None else _one
        wrong |= follow(part, options)
    return status_of(parts) or (NOT_SOUND if wrong else FINE)


def _table(part: LocationPart, options: argparse.Namespace) -> bool:
    """Write a line for each reader; whether one of them fails."""
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        rows = compare_readers(part.archive, part.archive.decoder, progress)
    say(f"{visible(part.label)}: {part.archive.title}, {in_bytes(part.archive.source.size)}")
    for row in rows:
        show({"source": part.source} | row_object(row))
    for line in row_lines(rows):
        say(f"  {line}")
    return any(row.verdict in _FAILED for row in rows)


def _one(part: LocationPart, options: argparse.Namespace) -> bool:
    """Write the steps of the wanted reader; whether it fails."""
    archive = part.archive
    reader = reader_named(archive.decoder, options.reader)
    say(f"{visible(part.label)}: {reader.title}, {reader.kind}\n  {reader.about}")
    digits, source = max(4, len(f"{archive.source.size:x}")), quoted(part.source)

    def told(step: Step) -> None:
        emit(_step_json(source, step) if options.json else _line(step, digits))

    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        found = trace(archive.source, reader, told, progress, options.member)
    row = row_of(reader, found.outcome, "")
    lines = (*row_lines((row,)), *_reads(found, archive.source.size))
    show({"source": part.source} | row_object(row), *lines)
    if row.verdict is ReaderVerdict.UNKNOWN:
        remark("What is not known of a reader is neither an error nor a proof.")
    return row.verdict in _FAILED


def _line(step: Step, digits: int) -> str:
    place = f"{hexadecimal(step.span.start)}..{hexadecimal(step.span.stop)}" if step.span is not None else ""
    value = "" if step.value is None else f": {value_text(step.value)}"
    decision = f" -> {visible(step.decision)}" if step.decision else ""
    mark = " " if step.ok else "✗"
    words = f"{visible(step.action)}{value}{decision}"
    return f"{mark}{step.n:>6,}  {place:<{2 * digits + 6}}  {'  ' * step.depth}{words}\n"


def _reads(found: Trace, size: int) -> Sequence[str]:
    """What the reader read, as lines."""
    if not len(found.reads):
        return ()
    twice, never = total(found.reads.twice()), total(found.reads.never(size))
    made = f"{count(len(found.reads), 'read')} of {in_bytes(found.reads.total)}"
    return (f"{made}; {in_bytes(twice)} read twice, {in_bytes(never)} never read",)


def _step_json(source: str, step: Step) -> str:
    span = "null" if step.span is None else f"[{step.span.start}, {step.span.stop}]"
    return (
        f'{{"source": {source}, "n": {step.n}, "depth": {step.depth}, "action": {quoted(step.action)}, "span": {span}, '
        f'"value": {json_text(step.value)}, "decision": {quoted(step.decision)}, "ok": {json.dumps(step.ok)}}}\n'
    )
