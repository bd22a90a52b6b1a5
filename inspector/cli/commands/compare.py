"""``compare``: where two locations differ, and which side is right."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from inspector.cli.archives import Condition, condition
from inspector.cli.bootstrap import FINE, NOT_SOUND
from inspector.cli.options import (
    CONNECTION,
    JSON,
    PROGRESS,
    Option,
    connection_of,
    non_empty_name,
    one_or_more,
    where,
)
from inspector.cli.output import ProgressBar, complain, json_text, remark, show
from inspector.cli.write_options import REMOVE_UNFINISHED, handle_unfinished_beside
from inspector.core.names import visible
from inspector.core.numbers import count
from inspector.core.program.progress import Progress
from inspector.operations.compare.combining import combine, steps_in_words, write_combination
from inspector.operations.compare.comparing import Comparison, compare
from inspector.operations.edit.past_writes import edits_before
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.opening import open_place
from inspector.operations.protocol.compare_views import AS_IT_IS, LEVELS, Difference, Level, Side, Version
from inspector.sources.local.file import FileSource
from inspector.sources.s3.connection import Connection
from inspector.sources.s3.source import S3Source

_SIGNS = {"changed": "≠", "added": "+", "removed": "-", "moved": "↕", "renamed": "→"}
"""What a line of text begins with."""


OPTIONS = (
    Option("location", metavar="A", help="a file, a folder or s3://bucket/key"),
    Option("others", metavar="B", nargs="*", help="what to compare it with; each one after another"),
    Option(
        "--before",
        type=one_or_more,
        metavar="N",
        help="compare A as it was before the N-th of its writes that `repair --history` lists, from 1, with what it is",
    ),
    Option(
        "--members", one_of="what", action="store_true", help="compare members by name and content, and nothing else"
    ),
    Option("--fields", one_of="what", action="store_true", help="compare decoded fields, and nothing else"),
    Option("--bytes", one_of="what", action="store_true", help="compare bytes, and nothing else, whatever the formats"),
    Option("--quick", action="store_true", help="read no content: compare names, sizes and recorded digests"),
    Option(
        "--to", type=non_empty_name, metavar="COPY", help="write the good archive that damaged copies make together"
    ),
    Option(
        "--accept", action="store_true", help="with --to: also write what is chosen and not proved, or stays damaged"
    ),
    REMOVE_UNFINISHED,
    PROGRESS,
    where('\'kind == "member" and change == "removed"\''),
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Compare, print the differences and return the exit status. Raises SourceError where one cannot be read."""
    chosen = {Level.MEMBER: options.members, Level.FIELD: options.fields, Level.BYTES: options.bytes}
    levels = frozenset(level for level, wanted in chosen.items() if wanted) or LEVELS
    if options.to is not None and (options.quick or levels != LEVELS):
        raise OperationError("--to needs everything compared: leave out --quick, --members, --fields and --bytes.")
    if options.to is not None:
        handle_unfinished_beside(options.to, options)
    if options.accept and options.to is None:
        raise OperationError("--accept is about what --to writes: give both.")
    if bool(options.others) is (options.before is not None):
        raise OperationError("Name two locations to compare, or one with --before.")
    holds = condition(options.where, "DIFFERENCE_NAMES")
    connection, found = connection_of(options), []
    versions = AS_IT_IS, AS_IT_IS
    if options.before is not None:
        versions = _before(options.location, options.before, connection), AS_IT_IS
    for other in options.others or [options.location]:
        with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
            each = compare(
                options.location,
                other,
                progress,
                connection,
                levels=levels,
                quick=options.quick,
                versions=versions,
            )
        _print(each, holds, among_several=len(options.others) > 1)
        found.append(each)
    if options.to is not None:
        _combine(found, options)
    return NOT_SOUND if any(each.summary.equal is False for each in found) else FINE


def _before(location: str, number: int, connection: Connection) -> Version:
    """How to read a location as it was before one of its writes. Raises OperationError, SourceError and EditError."""
    place = open_place(location, connection)
    if not isinstance(place, (FileSource, S3Source)):
        raise OperationError("Only a file or an object has a history of writes.")
    return Version(f"before write {number}", edits_before(location, number - 1, place))


def _print(found: Comparison, holds: Condition | None, *, among_several: bool) -> None:
    """Write a comparison: the summary, and then its differences."""
    summary = found.summary
    heading = f"A {visible(summary.a)}, B {visible(summary.b)}: " if among_several else ""
    found_of_all = {
        "a": summary.a,
        "b": summary.b,
        "equal": summary.equal,
        "members": summary.members,
        "bytes": summary.byte_counts,
        "better": summary.better,
        **({"ranges": summary.ranges} if summary.ranges else {}),
    }
    show(found_of_all, f"{heading}{visible(summary.sentence)}")
    for each in found.differences:
        if holds is None or holds(_row(each)):
            show(_object(each), f"{_SIGNS[each.change]} {visible(each.message)}")
    for note in summary.notes:
        remark(note)
    if summary.left_out:
        remark(f"{count(summary.left_out, 'more difference')} not listed.")


def _combine(found: Sequence[Comparison], options: argparse.Namespace) -> None:
    """Write the archive that all copies make together, after saying what comes from where. Raises OperationError."""
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        combination = combine(found, progress)
    for line in steps_in_words(combination.plan):
        complain(line)
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        written = write_combination(combination, options.to, progress, accept=options.accept)
    complain(written)


def _object(each: Difference) -> dict[str, Any]:
    sides = {"a": _side(each.a), "b": _side(each.b)}
    return {"kind": each.level, "change": each.change, **sides, "right": each.right, "message": each.message}


def _row(each: Difference) -> dict[str, Any]:
    """A difference by the names of DIFFERENCE_NAMES."""
    return {**(_side(each.a or each.b) or {}), "kind": str(each.level), **_object(each)}


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {"path": side.path, "spans": side.spans, "value": json.loads(json_text(side.value))}
