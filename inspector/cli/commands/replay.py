"""``replay``: what a writer does to an archive, write by write, over an overlay: nothing is written but new files."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from inspector.cli.bootstrap import FINE
from inspector.cli.commands.check import status_of
from inspector.cli.commands.header import HEADER_CHANGES, requested_changes
from inspector.cli.options import (
    CONNECTION,
    JSON,
    PROGRESS,
    Option,
    connection_of,
    location,
    non_empty_name,
    one_or_more,
)
from inspector.cli.output import ProgressBar, painted_report, say, show, wants_colour
from inspector.cli.write_options import OVERWRITE, RCA_OPTIONS
from inspector.core.names import visible
from inspector.core.numbers import count, in_bytes
from inspector.core.program.progress import Progress
from inspector.core.source import Source
from inspector.operations.check.checking import CheckReport, check_location, with_readers
from inspector.operations.check.report import as_object, as_text
from inspector.operations.create.creating_rca import rca_options
from inspector.operations.edit import edits
from inspector.operations.edit.edits import header_draft, preview
from inspector.operations.jobs.operation_error import OperationError
from inspector.operations.open.nested import open_nested
from inspector.operations.open.opening import decoded
from inspector.operations.protocol.audit_views import UNCHECKED
from inspector.operations.protocol.header_draft import with_changes
from inspector.operations.protocol.replay_views import CRASH_MEANINGS, Matrix, MatrixRow, Point, StepView
from inspector.operations.trials.matrix import crash_matrix
from inspector.operations.trials.replay import Replay
from inspector.operations.trials.writers import (
    replay_append,
    replay_edit,
    replay_past,
    replay_repair,
    replay_segments,
)
from inspector.sources.local.file import FileSource, LocalFolder
from inspector.sources.s3.address import is_s3
from inspector.sources.s3.prefix import S3Prefix

_MAX_JSON_BYTES = 1 << 16
"""Bytes of a write that JSON holds; of more it says only where they are."""
_MAX_SHOWN_BYTES = 16
_WRITERS = ("append", "set", "repair", "patch", "past", "segments")


def _point(text: str) -> Point:
    found = re.fullmatch(r"([0-9]{1,9})(?:\.([0-9]{1,18}))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"“{visible(text)}” is not N or N.BYTES, such as 1 or 1.58")
    return Point(int(found[1]), int(found[2] or 0))


_WRITTEN, _SHOWN = "what is written; one of these", "what is shown"
OPTIONS = (
    location("the archive, which is never written"),
    Option(
        "--append",
        group=_WRITTEN,
        nargs="+",
        action="extend",
        metavar="INPUT",
        help="an append of files and folders to an RCA archive",
    ),
    *(Option(*each.names, group=_WRITTEN, **each.settings) for each in HEADER_CHANGES),
    Option("--repair", group=_WRITTEN, action="store_true", help="the plan of repairs"),
    Option(
        "--patch",
        group=_WRITTEN,
        type=non_empty_name,
        metavar="FILE.json",
        help="a patch, as experiment saves it",
    ),
    Option(
        "--past",
        group=_WRITTEN,
        type=one_or_more,
        metavar="N",
        help="an earlier write by this program, 1 the last",
    ),
    Option(
        "--segments",
        group=_WRITTEN,
        action="store_true",
        help="how an RCA archive grew, segment by segment",
    ),
    Option("--accept", action="append", default=[], metavar="CODE", help="with --repair: also what needs this consent"),
    *RCA_OPTIONS,
    Option(
        "--at",
        group=_SHOWN,
        type=_point,
        metavar="N[.BYTES]",
        help="check the archive after N writes, and BYTES of the next one",
    ),
    Option(
        "--readers",
        group=_SHOWN,
        action="store_true",
        help="with --at: also what each known reader makes of it",
    ),
    Option("--matrix", group=_SHOWN, action="store_true", help="what each reader makes of a crash at each write"),
    Option(
        "--to",
        group=_SHOWN,
        type=non_empty_name,
        metavar="NEWFILE",
        help="write the archive at that point to a new file",
    ),
    OVERWRITE,
    PROGRESS,
    JSON,
    *CONNECTION,
)


def run(options: argparse.Namespace) -> int:
    """Show the writes and what was asked about them; give the exit status of a check at ``--at``.

    Raises OperationError for what cannot be done, and SourceError.
    """
    source = _opened(options)
    report, matrix, digest = None, None, ""
    with ProgressBar(Progress(), log_interval_s=options.progress) as progress:
        replay = _replay(source, options, progress)
        point = options.at if options.at is not None else replay.view.end
        shown = replay.source(point)
        if options.at is not None:
            report = check_location(options.location, progress, place=shown)
            report = with_readers(report, progress) if options.readers else report
        if options.matrix:
            more = () if options.at is None else (options.at,)
            matrix = crash_matrix(replay, progress, more)
        if options.to:
            replay.require_not_read(Path(options.to))
            digest = replay.save(point, Path(options.to), progress, replace=options.overwrite)
    _show(replay, options, report, matrix)
    if options.to:
        words = f"Written to {visible(options.to)}: {in_bytes(shown.size)}, SHA-256 {digest}."
        show({"source": options.location, "written": options.to, "sha256": digest}, words)
    return FINE if report is None else status_of(str(report.state or UNCHECKED), strict=False)


def _opened(options: argparse.Namespace) -> Source:
    """The archive. Raises OperationError for what cannot be done, and SourceError."""
    wanted = [each for each in _WRITERS if getattr(options, each)]
    if options.count is not None and "set" not in wanted:
        wanted.append("set")
    if len(wanted) != 1:
        names = ", ".join(f"--{each}" for each in _WRITERS)
        raise OperationError(f"Say what is written with one of {names}.")
    if options.readers and options.at is None:
        raise OperationError("--readers says what readers make of one point: give --at too, or --matrix for all.")
    if options.accept and not options.repair:
        raise OperationError("--accept consents to a repair: give --repair too.")
    if options.to and (is_s3(options.to) or (Path(options.to).exists() and not options.overwrite)):
        why = (
            "is on S3, and a replay is written to a local file only"
            if is_s3(options.to)
            else "exists already, and --overwrite is not given"
        )
        raise OperationError(f"{visible(options.to)} {why}. Choose another name.")
    place = open_nested(options.location, connection_of(options))
    if isinstance(place, (LocalFolder, S3Prefix)):
        raise OperationError("Writes are replayed on one archive, and this is a folder: name the file.")
    return place


def _replay(source: Source, options: argparse.Namespace, progress: Progress) -> Replay:
    if options.append:
        return replay_append(
            source,
            options.append,
            rca_options(options.level, options.hash_convention),
            progress,
            connection_of(options),
        )
    if options.past:
        return replay_past(options.location, options.past - 1, source, progress)
    if options.patch:
        return replay_edit(source, edits.decoded(FileSource(Path(options.patch)), source), progress)
    archive = decoded(source, progress)
    if options.segments:
        return replay_segments(archive)
    if options.repair:
        return replay_repair(archive, progress, options.accept)
    changes = requested_changes(options)
    assert changes is not None
    return replay_edit(source, preview(archive, with_changes(header_draft(archive), *changes)), progress)


# ---- what is shown ---------------------------------------------------------------------------------------------------


def _show(replay: Replay, options: argparse.Namespace, report: CheckReport | None, matrix: Matrix | None) -> None:
    name, view = visible(options.location), replay.view
    steps = count(len(view.steps), "append" if options.segments else "write")
    sizes = f"{in_bytes(view.base_size)} become {replay.source(view.end).size:,}"
    say(f"{name}: {view.title}: {steps}, {sizes}; nothing is written to it.")
    most = _MAX_JSON_BYTES if options.json else _MAX_SHOWN_BYTES
    steps_of_writes = zip(view.titles(), view.steps, replay.bytes_of_steps(most), strict=True)
    for number, (title, step, (old, new)) in enumerate(steps_of_writes, 1):
        lines = [f"  {title}{'; then it waits for the disk' if step.synced else ''}"]
        if new:
            lines += [f"      old  {_hex(old, step.size - step.new)}", f"      new  {_hex(new, step.size)}"]
        show({"source": options.location} | _write_object(number, step, old, new), *lines)
    for note in view.notes:
        say(f"  {visible(note)}")
    if report is not None:
        words = view.words(options.at)
        text = f"{words[0].upper()}{words[1:]}{as_text(report).removeprefix(name)}".removesuffix("\n")
        place = {"at": str(options.at), "base_size": view.base_size, "size": replay.source(options.at).size}
        show(as_object(report) | place, painted_report(text) if wants_colour(sys.stdout) else text)
    if matrix is not None and options.json:
        for row in matrix.rows:
            show({"source": options.location} | _crash_object(row, matrix))
    elif matrix is not None:
        for line in matrix_lines(matrix):
            say(line)


def _write_object(number: int, step: StepView, old: bytes, new: bytes) -> dict[str, Any]:
    whole = step.size <= _MAX_JSON_BYTES and bool(new)
    found = {"write": number, "kind": step.kind, "offset": step.offset, "size": step.size, "grows_by": step.new}
    shown = {"old": old.hex() if whole else None, "new": new.hex() if whole else None}
    return {**found, "what": step.what, "synced": step.synced, **shown}


def _crash_object(row: MatrixRow, matrix: Matrix) -> dict[str, Any]:
    readers = {
        reader.name: {"verdict": cell.name.lower(), "message": message}
        for reader, cell, message in zip(matrix.readers, row.cells, row.messages, strict=True)
    }
    crash = {"crash": str(row.point), "state": row.state, "repair": row.repair.name.lower()}
    return {**crash, "accept": row.accept or None, "readers": readers}


def _hex(data: bytes, size: int) -> str:
    if not data:
        return "(after the end of the file)"
    return f"{data.hex(' ')}{' …' if size > len(data) else ''}"


def matrix_lines(matrix: Matrix) -> list[str]:
    """The matrix as a table, and below it what its words mean."""
    heads = ["a crash", "check", *(each.name for each in matrix.readers), "repair leads"]
    rows = [[row.words, str(row.state), *map(str, row.cells), row.leads] for row in matrix.rows]
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (heads, *rows)]
    met = {cell for row in matrix.rows for cell in row.cells}
    lines = [f"  {line.rstrip()}" for line in lines]
    lines += [f"  {state}: the reader {what}." for state, what in CRASH_MEANINGS.items() if state in met]
    if matrix.absent:
        lines.append(f"  Not installed: {', '.join(matrix.absent)}.")
    return lines
